# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "inventory/ddp-bucket-view-zero-grad",
#     "inventory/ddp-comm-hook-not-future",
#     "inventory/ddp-comm-hook-twice",
#     "inventory/ddp-create-graph",
#     "inventory/ddp-create-graph-leaf",
#     "inventory/ddp-grad-strides",
#     "inventory/ddp-shape-mismatch-across-ranks",
#     "inventory/dist-all-reduce-backward",
#     "inventory/lib-op-no-autograd-kernel",
#     "inventory/dist-autograd-no-context",
#     "inventory/dist-autograd-no-init",
#     "inventory/dist-autograd-unknown-context",
# ]
# shows = ["leaf-inplace", "view-detach", "backward-create-graph-cycle"]
#
# [[tool.autograd-errors.error]]
# raises = "UserWarning"
# message = "<operation>: an autograd kernel was not registered to the Autograd key(s) but we are trying to backprop through it. This may lead to silently incorrect behavior. This behavior is deprecated and will be removed in a future version of PyTorch. If your operator is differentiable, please ensure you have registered an autograd kernel to the correct Autograd key (e.g. DispatchKey::Autograd, DispatchKey::CompositeImplicitAutograd). If your operator is not differentiable, or to squash this warning and use the previous behavior, please register torch::CppFunction::makeFallthrough() to DispatchKey::Autograd."
# source = "torch/csrc/autograd/autograd_not_implemented_fallback.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "Warning"
# message = "Using DistributedDataParallel with create_graph=True  is not well-supported. The higher-order gradient will  not be synchronized across ranks, and backpropagation  through all_reduce operations will not occur. If you require  DDP to work with higher-order gradients for your use case,  please ping https://github.com/pytorch/pytorch/issues/63929"
# source = "torch/csrc/distributed/c10d/reducer.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "UserWarning"
# message = "Grad strides do not match bucket view strides. This may indicate grad was not created according to the gradient layout contract, or that the param's strides changed since DDP was constructed.  This is not an error, but may impair performance.\ngrad.sizes() = [<shape>], strides() = [<strides>]\nbucket_view.sizes() = [<bucket_shape>], strides() = [<bucket_strides>]"
# source = "torch/csrc/distributed/c10d/reducer.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "register_comm_hook or register_builtin_comm_hook can only be called once."
# source = "torch/csrc/distributed/c10d/reducer.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "Unable to cast Python instance of type <type> to C++ type '?' (#define PYBIND11_DETAILED_ERROR_MESSAGES or compile in debug mode for details). DDP communication hook's callback must return a torch.futures.Future object, but got <class>"
# source = "torch/csrc/distributed/c10d/python_comm_hook.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "[<rank>]: params[<index>] in this process with sizes [<shape>] appears not to match sizes of the same param in process 0."
# source = "torch/csrc/distributed/c10d/reducer.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "Need to initialize distributed autograd using torch.distributed.autograd.init()"
# source = "torch/csrc/distributed/autograd/context/container.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "Current thread doesn't have a valid autograd context. Please wrap your code using: `with torch.distributed.autograd.context() as context_id` to generate a valid context"
# source = "torch/csrc/distributed/autograd/context/container.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "Could not find autograd context with id: <id>"
# source = "torch/csrc/distributed/autograd/context/container.cpp"
# ///
"""
What DDP and collectives do not differentiate
=============================================

You differentiated through a collective, or did something to a model under `DDP`
that its averaging of gradients does not know.
"""

import traceback

import torch
import torch.distributed as dist
import torch.distributed.autograd as dist_autograd
from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import allreduce_hook
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
batch = torch.ones(1, 2)

# %%
# The errors
# ----------
#
# A collective on a tensor with a graph warns: its derivative is not known, and
# the gradient passes as if the processes had not been added up.

x = torch.ones(2, requires_grad=True)
total = x * 2.0
dist.all_reduce(total)
total.sum().backward()

# %%
# A gradient penalty with ``backward(create_graph=True)`` ends in the message of
# `leaf-inplace`: DDP copies the average into gradients that now have a graph.

net = DistributedDataParallel(torch.nn.Linear(2, 2))
try:
    net(batch).square().sum().backward(create_graph=True)
except RuntimeError:
    traceback.print_exc()
net.zero_grad()

# %%
# With ``gradient_as_bucket_view`` a gradient is a `view`, and cannot be detached
# in place:

net = DistributedDataParallel(torch.nn.Linear(2, 2), gradient_as_bucket_view=True)
net(batch).sum().backward()
try:
    net.module.weight.grad.detach_()
except RuntimeError:
    traceback.print_exc()

# %%
# A parameter that changed its memory layout after the model was wrapped costs a
# copy in every iteration:

net = DistributedDataParallel(torch.nn.Linear(3, 2))
weight = net.module.weight
weight.data = weight.data.t().contiguous().t()
net(torch.ones(1, 3)).sum().backward()

# %%
# A communication hook is registered once and returns a future:

net = DistributedDataParallel(torch.nn.Linear(2, 2))
net.register_comm_hook(None, allreduce_hook)
try:
    net.register_comm_hook(None, allreduce_hook)
except RuntimeError:
    traceback.print_exc()

net = DistributedDataParallel(torch.nn.Linear(2, 2))
net.register_comm_hook(None, lambda state, bucket: bucket.buffer())
try:
    net(batch).sum().backward()
except RuntimeError:
    traceback.print_exc()

# %%
# Distributed autograd, for remote procedure calls, works within its context:

try:
    with dist_autograd.context():
        pass
except RuntimeError:
    traceback.print_exc()

torch._C._distributed_autograd._init(0)
try:
    torch._C._distributed_autograd._current_context()
except RuntimeError:
    traceback.print_exc()
try:
    dist_autograd.backward(123, [torch.ones(1, requires_grad=True).sum()])
except RuntimeError as error:
    print(f"RuntimeError: {error}".splitlines()[0])

dist.destroy_process_group()

# %%
# Models of different shapes are noticed when they are wrapped, by the processes
# that differ from the first:


def worker(rank, port, results):
    store = dist.TCPStore("127.0.0.1", port, is_master=False)
    dist.init_process_group("gloo", store=store, rank=rank, world_size=2)
    if rank == 1:
        try:
            DistributedDataParallel(torch.nn.Linear(2, 3))
        except RuntimeError as error:
            results.put(f"RuntimeError: {error}")
    else:
        try:
            DistributedDataParallel(torch.nn.Linear(2, 2))
        except RuntimeError:
            pass  # the first process only learns that the second one is gone


server = dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)
context = torch.multiprocessing.get_context("fork")
results = context.SimpleQueue()
processes = [context.Process(target=worker, args=(r, server.port, results)) for r in range(2)]
for process in processes:
    process.start()
print(results.get())
for process in processes:
    process.join(5)
    process.kill()

# %%
# To differentiate a collective, use the one with a derivative
# ------------------------------------------------------------
#
# The functional collectives return a new tensor and have a derivative. With one
# process the sum is the value itself.

from torch.distributed._functional_collectives import all_reduce

dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
x = torch.ones(2, requires_grad=True)
all_reduce(x * 2.0, "sum", dist.group.WORLD).square().sum().backward()

print(x.grad)
torch.testing.assert_close(x.grad, 2 * (2 * x.detach()) * 2)

# %%
# For a gradient penalty, take the inner gradient with grad
# ---------------------------------------------------------
#
# `torch.autograd.grad` for the inputs leaves the parameters' gradients alone, and
# the one ``backward`` at the end is averaged as usual.

net = DistributedDataParallel(torch.nn.Linear(2, 1, bias=False))
torch.nn.init.constant_(net.module.weight, 3.0)
inputs = torch.ones(1, 2, requires_grad=True)
(slope,) = torch.autograd.grad(net(inputs).sum(), inputs, create_graph=True)
slope.square().sum().backward()

print(net.module.weight.grad)
torch.testing.assert_close(net.module.weight.grad, torch.full((1, 2), 2 * 3.0))

# %%
# For gradients in buckets, reset them to None
# --------------------------------------------

net = DistributedDataParallel(torch.nn.Linear(2, 2), gradient_as_bucket_view=True)
for _ in range(2):
    net.zero_grad(set_to_none=True)
    net(batch).sum().backward()

torch.testing.assert_close(net.module.bias.grad, torch.ones(2))
dist.destroy_process_group()
