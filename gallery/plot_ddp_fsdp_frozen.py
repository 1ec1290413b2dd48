# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = ["ddp/fsdp-mixed-requires-grad"]
#
# [[tool.autograd-errors.error]]
# raises = "ValueError"
# message = "Must flatten tensors with uniform `requires_grad` when `use_orig_params=False`"
# source = "torch/distributed/fsdp/_flat_param.py"
# ///
"""
FSDP around frozen and trained parameters
=========================================

You froze a part of the model, for adapters or a new head, and FSDP was to pack
frozen and trained parameters into one flat parameter. One parameter has one
``requires_grad``, so that cannot be done.
"""

import traceback
import warnings

import torch
import torch.distributed as dist
from torch.distributed.fsdp import FullyShardedDataParallel

dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
warnings.filterwarnings("ignore", "FSDP is switching")  # one process has nothing to shard


def backbone_and_head():
    net = torch.nn.Sequential(
        torch.nn.Linear(2, 2, bias=False),
        torch.nn.Linear(2, 1, bias=False),
    )
    for layer in net:
        torch.nn.init.constant_(layer.weight, 0.5)
    net[0].requires_grad_(False)
    return net


# %%
# The error
# ---------
#
# A frozen backbone with a new head is wrapped as a whole.

try:
    FullyShardedDataParallel(backbone_and_head(), device_id=torch.device("cpu"))
except ValueError:
    traceback.print_exc()

# %%
# If you may choose the options, use the original parameters
# ----------------------------------------------------------
#
# With ``use_orig_params=True`` the optimizer and you see the parameters that the
# model has, and each keeps its own flag. With inputs of one the backbone puts out
# ones, which are the gradient of the head.

net = FullyShardedDataParallel(
    backbone_and_head(), device_id=torch.device("cpu"), use_orig_params=True
)
net(torch.ones(1, 2)).sum().backward()

gradients = [parameter.grad for parameter in net.parameters()]
print(gradients)
assert gradients[0] is None
torch.testing.assert_close(gradients[1], torch.ones(1, 2))

# %%
# If not, wrap the frozen part by itself
# --------------------------------------
#
# Each wrapped module has a flat parameter of its own, all frozen or all trained. In a
# trainer this is the list of layers to wrap, ``auto_wrap_policy``.

net = backbone_and_head()
net[0] = FullyShardedDataParallel(net[0], device_id=torch.device("cpu"))
net = FullyShardedDataParallel(net, device_id=torch.device("cpu"))
net(torch.ones(1, 2)).sum().backward()

gradients = {parameter.requires_grad: parameter.grad for parameter in net.parameters()}
print(gradients)
assert gradients[False] is None
torch.testing.assert_close(gradients[True], torch.ones(2))

# %%
# What only hides the error
# -------------------------
#
# Unfreezing everything runs, and then the optimizer trains what you had frozen. A
# learning rate of zero for it needs groups, and one flat parameter is in one group.

net = FullyShardedDataParallel(
    backbone_and_head().requires_grad_(True), device_id=torch.device("cpu")
)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
net(torch.ones(1, 2)).sum().backward()
optimizer.step()

with FullyShardedDataParallel.summon_full_params(net):
    print(net[0].weight)
    assert not torch.equal(net[0].weight, torch.full((2, 2), 0.5))
dist.destroy_process_group()

# %%
# If a library raised it
# ----------------------
#
# Adapters (LoRA, prompt tuning) freeze all but a few parameters of each layer. Look for
# the trainer's option that ends in ``use_orig_params``, and set it to true.

# %%
# See also
# --------
#
# * `requires-grad-sharded`: freezing after the wrapping
# * `ddp-unused-parameters`
