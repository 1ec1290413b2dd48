# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = ["silent/ddp-bypassed", "silent/silent-ddp-module-bypass"]
# symptom = "With several GPUs the processes drift apart: each has other weights, and results differ by rank."
# symptom-zh = "多卡训练时各进程的权重不一致，梯度没有同步"
# ///
"""
Calling the wrapped module instead of DDP
=========================================

You called ``net.module(x)``, or a method of it, so the forward of `DDP` never
ran. It arms the averaging of gradients; without it every process keeps its own.
"""

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

# %%
# The mistake
# -----------
#
# Two processes train one weight, with inputs one and two. The averaged gradient
# is one and a half in both.


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(1, 1, bias=False)

    def forward(self, x):
        return self.layer(x)

    def loss(self, x):
        return self(x).sum()


def worker(rank, port, step, results):
    store = dist.TCPStore("127.0.0.1", port, is_master=False)
    dist.init_process_group("gloo", store=store, rank=rank, world_size=2)
    net = DistributedDataParallel(Model())
    step(net, torch.full((1, 1), rank + 1.0)).backward()
    results.put((rank, net.module.layer.weight.grad.item()))
    dist.barrier()
    dist.destroy_process_group()


def run(step):
    """Return the gradient that each of two processes ends with."""
    server = dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)
    context = torch.multiprocessing.get_context("fork")
    results = context.SimpleQueue()
    processes = [
        context.Process(target=worker, args=(rank, server.port, step, results)) for rank in range(2)
    ]
    for process in processes:
        process.start()
    gradients = dict(results.get() for _ in processes)
    for process in processes:
        process.join(20)
    return [gradients[rank] for rank in range(2)]


gradients = run(lambda net, x: net.module.loss(x))
print(gradients)
assert gradients[0] != gradients[1]

# %%
# Call the wrapper
# ----------------
#
# Put what you need into ``forward``, or compute the loss from its output.

gradients = run(lambda net, x: net(x).sum())
print(gradients)
assert gradients == [1.5, 1.5]

# %%
# If you need several methods, let forward choose between them, and pass the
# name of the one you want.
#
# What does not help
# ------------------
#
# This call is also the popular way around `ddp-unused-parameters`: that error
# disappears, because nothing waits for any gradient any more.

gradients = run(lambda net, x: net.module(x).sum())
print(gradients)
assert gradients[0] != gradients[1]
