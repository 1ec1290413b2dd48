# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "silent/silent-collective-no-version-bump",
# ]
# symptom = "Gradients are wrong on several GPUs since I average a value across processes for logging."
# symptom-zh = "多卡时为了打印而 all_reduce 之后梯度错误"
# ///
"""
A collective changes a tensor that autograd saved
=================================================

You reduced a tensor across processes in place while a graph still needed its old value.
Collectives do not raise the `version counter`.
"""

import torch
import torch.distributed as dist

# %%
# The mistake
# -----------
#
# A loss value is averaged for logging, through `detach`, before ``backward``. The
# exponential function has saved that very memory. Two processes show it; one sums what
# both have.


def worker(rank, port, copy_first, results):
    store = dist.TCPStore("127.0.0.1", port, is_master=False)
    dist.init_process_group("gloo", store=store, rank=rank, world_size=2)
    x = torch.tensor([1.0], requires_grad=True)
    y = x.exp()
    dist.all_reduce(y.detach().clone() if copy_first else y.detach())
    y.sum().backward()
    results.put((rank, x.grad.item()))
    dist.barrier()
    dist.destroy_process_group()


def run(copy_first):
    """Return the gradient in each of two processes."""
    server = dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)
    context = torch.multiprocessing.get_context("fork")
    results = context.SimpleQueue()
    processes = [
        context.Process(target=worker, args=(rank, server.port, copy_first, results))
        for rank in range(2)
    ]
    for process in processes:
        process.start()
    gradients = dict(results.get() for _ in processes)
    for process in processes:
        process.join(20)
    return torch.tensor([gradients[rank] for rank in range(2)])


gradients = run(copy_first=False)
right = torch.ones(2).exp()
print(gradients, "is not", right)
assert not torch.allclose(gradients, right)

# %%
# Reduce a copy
# -------------

gradients = run(copy_first=True)
print(gradients)
torch.testing.assert_close(gradients, right)

# %%
# What does not help
# ------------------
#
# `detach` alone does not copy: it shares the `storage`.

y = torch.tensor([1.0], requires_grad=True).exp()
print(y.detach().data_ptr() == y.data_ptr())
assert y.detach().data_ptr() == y.data_ptr()

# %%
# See also
# --------
#
# * `ddp-limits`
# * `silent-data-edit`
