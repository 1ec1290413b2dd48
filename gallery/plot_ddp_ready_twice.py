# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "ddp/marked-ready-twice",
#     "inventory/ddp-marked-ready-twice",
#     "silent/silent-ddp-reentrant-checkpoint-reuse",
# ]
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "Expected to mark a variable ready only once. This error is caused by one of the following reasons: 1) Use of a module parameter outside the `forward` function. Please make sure model parameters are not shared across multiple concurrent forward-backward passes. or try to use _set_static_graph() as a workaround if this module graph does not change during training loop.2) Reused parameters in multiple reentrant backward passes. For example, if you use multiple `checkpoint` functions to wrap the same part of your model, it would result in the same set of parameters been used by different reentrant backward passes multiple times, and hence marking a variable ready multiple times. DDP does not support such use cases in default. You can try to use _set_static_graph() as a workaround if your module graph does not change over iterations.\nParameter at index <index> with name <name> has been marked as ready twice. This means that multiple autograd engine  hooks have fired for this particular parameter during this iteration."
# source = "torch/csrc/distributed/c10d/reducer.cpp"
# ///
"""
A parameter whose gradient comes twice under DDP
================================================

`DDP` averages a parameter's gradient as soon as it is complete, and in your
model it was completed twice in one `backward pass`. Reentrant `checkpointing`
of a layer that is used twice does this.
"""

import traceback

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.checkpoint import checkpoint

dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)

# %%
# The error
# ---------
#
# The same block is applied twice, each time checkpointed. Each checkpoint runs a
# ``backward`` of its own, and each of those finishes the block's gradient.


class Twice(torch.nn.Module):
    def __init__(self, reentrant):
        super().__init__()
        self.first = torch.nn.Linear(1, 1, bias=False)
        self.block = torch.nn.Linear(1, 1, bias=False)
        self.reentrant = reentrant
        torch.nn.init.constant_(self.first.weight, 1.0)
        torch.nn.init.constant_(self.block.weight, 3.0)

    def forward(self, x):
        hidden = self.first(x)
        for _ in range(2):
            hidden = checkpoint(self.block, hidden, use_reentrant=self.reentrant)
        return hidden


batch = torch.ones(1, 1)
net = DistributedDataParallel(Twice(reentrant=True))
try:
    net(batch).sum().backward()
except RuntimeError:
    traceback.print_exc()

# %%
# A parameter that is used outside of ``forward`` brings the same message. With
# ``find_unused_parameters=True`` DDP counts it as finished when ``forward`` returns
# without it, and then its gradient comes after all.


class Scaled(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(1, 1, bias=False)
        self.scale = torch.nn.Parameter(torch.tensor([2.0]))
        torch.nn.init.constant_(self.layer.weight, 3.0)

    def forward(self, x):
        return self.layer(x)


net = DistributedDataParallel(Scaled(), find_unused_parameters=True)
try:
    (net(batch) * net.module.scale).sum().backward()
except RuntimeError:
    traceback.print_exc()

# %%
# Use checkpoints that are not reentrant
# --------------------------------------
#
# They run inside the one `backward pass`, and a parameter is finished once. The
# output is the square of the block's weight, so its gradient is twice the weight.

net = DistributedDataParallel(Twice(reentrant=False))
net(batch).sum().backward()

print(net.module.block.weight.grad)
torch.testing.assert_close(net.module.block.weight.grad, torch.tensor([[2 * 3.0]]))

# %%
# If the library fixes use_reentrant=True, promise a static graph
# ---------------------------------------------------------------
#
# Then DDP counts in the first iteration how often each gradient comes.

net = DistributedDataParallel(Twice(reentrant=True), static_graph=True)
net(batch).sum().backward()

print(net.module.block.weight.grad)
torch.testing.assert_close(net.module.block.weight.grad, torch.tensor([[2 * 3.0]]))

# %%
# If a parameter is used outside of forward, move that into forward
# -----------------------------------------------------------------
#
# All that a loss needs of the model comes out of one call. The scale's gradient is
# what it multiplies, the layer's output.


class ScaledInside(Scaled):
    def forward(self, x):
        return self.layer(x) * self.scale


net = DistributedDataParallel(ScaledInside())
net(batch).sum().backward()

print(net.module.scale.grad)
torch.testing.assert_close(net.module.scale.grad, torch.tensor([3.0]))

# %%
# What only hides the error
# -------------------------
#
# The error needs a parameter that is still waited for. If all parameters lie in
# the checkpointed block, DDP is done after the first time and misses the second:
# no message, and the processes go on with different gradients. Two processes show
# it, with inputs one and two; the gradient of the average is three in both.


class OnlyBlock(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.block = torch.nn.Linear(1, 1, bias=False)
        torch.nn.init.constant_(self.block.weight, 1.0)

    def forward(self, x):
        return checkpoint(
            self.block, checkpoint(self.block, x, use_reentrant=True), use_reentrant=True
        )


def worker(rank, port, results):
    store = dist.TCPStore("127.0.0.1", port, is_master=False)
    dist.init_process_group("gloo", store=store, rank=rank, world_size=2)
    net = DistributedDataParallel(OnlyBlock())
    net(torch.full((1, 1), rank + 1.0, requires_grad=True)).sum().backward()
    results.put((rank, net.module.block.weight.grad.item()))
    dist.barrier()
    dist.destroy_process_group()


dist.destroy_process_group()
server = dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)
context = torch.multiprocessing.get_context("fork")
results = context.SimpleQueue()
processes = [context.Process(target=worker, args=(r, server.port, results)) for r in range(2)]
for process in processes:
    process.start()
gradients = dict(results.get() for _ in processes)
for process in processes:
    process.join(20)

print([gradients[rank] for rank in range(2)])
assert gradients[0] != gradients[1]

# %%
# If a library raised it
# ----------------------
#
# The name in the message, or the index among ``net.parameters()``, says which layer it
# is. Trainers that checkpoint for you take an option for the kind: in the arguments of
# the Hugging Face trainer it is ``gradient_checkpointing_kwargs={"use_reentrant": False}``.
# If the search for unused parameters is on and all are used, switch it off: it marks
# parameters as finished that a checkpoint still needs.

# %%
# See also
# --------
#
# * `checkpoint-use-reentrant`
# * `ddp-unused-parameters`
