# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = ["inventory/device-mismatch-addition-meta"]
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "Tensor on device <device> is not on the expected device <expected_device>!"
# source = "aten/src/ATen/TensorIterator.cpp"
# ///
"""
Two tensors on different devices
================================

An operation got tensors that live on different devices. PyTorch never moves
data between devices by itself. This page uses the ``meta`` device, which every
computer has: its tensors have a shape and no values. With a GPU the message has
other words, and the repairs are the same.
"""

import traceback

import torch
from torch import nn

# %%
# The error
# ---------
#
# A model was built on the meta device, which takes no time and no memory, and
# never got real parameters.

x = torch.tensor([1.0, 2.0], requires_grad=True)

with torch.device("meta"):
    scale = nn.Parameter(torch.ones(2))

try:
    x + scale
except RuntimeError:
    traceback.print_exc()

# %%
# The first device is where the tensor is, the second is where the others are.
# Not every function checks. A matrix product with the missing weight returns a
# tensor on the CPU that holds whatever was in memory:

product = x[None] @ scale[:, None]
print(x.device, scale.device, product.device)
assert product.device.type == "cpu" and not scale.is_cpu

# %%
# To fill a model from the meta device
# ------------------------------------
#
# ``to_empty`` gives it memory on the device you name, with arbitrary contents.
# Initialize or load them before use. The gradient of ``sum(weight * x)`` is
# ``x``.

with torch.device("meta"):
    net = nn.Linear(2, 1, bias=False)
net.to_empty(device="cpu")
nn.init.ones_(net.weight)

net(x).sum().backward()

print(net.weight.grad)
torch.testing.assert_close(net.weight.grad, x.detach()[None])

# %%
# A state can also be assigned instead of copied, which takes over its device.

with torch.device("meta"):
    net = nn.Linear(2, 1, bias=False)
net.load_state_dict({"weight": torch.ones(1, 2)}, assign=True)

print(net.weight.device)
torch.testing.assert_close(net(x), x.sum()[None])

# %%
# To keep everything together, move the module and the batch
# ----------------------------------------------------------
#
# ``module.to(device)`` moves parameters and buffers. A tensor in a plain
# attribute stays behind: register it as a `buffer`. Make new tensors in
# ``forward`` from an existing one, by ``zeros_like`` or ``device=x.device``.


class Center(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.ones(2))
        self.plain = torch.ones(2)

    def forward(self, x):
        return x - self.mean + torch.zeros(2, device=x.device)


moved = Center().to("meta")
print(moved.mean.device, moved.plain.device)
assert moved(torch.ones(2, device="meta")).device.type == "meta"

center = Center()
x = torch.tensor([1.0, 2.0], requires_grad=True)
(center(x) ** 2).sum().backward()

print(x.grad)
torch.testing.assert_close(x.grad, 2 * (torch.tensor([1.0, 2.0]) - 1))

# %%
# To move a leaf, ask for its gradient afterwards
# -----------------------------------------------
#
# ``x.to(device)`` is recorded. If ``x`` required a gradient before, the moved
# tensor is a `non-leaf tensor`, and the gradient arrives at the tensor that
# stayed.

moved = torch.ones(2, requires_grad=True).to("meta")
leaf = torch.ones(2).to("meta").requires_grad_()

print(moved.is_leaf, leaf.is_leaf)
assert leaf.is_leaf and not moved.is_leaf

# %%
# See also
# --------
#
# * `optimizer-non-leaf`: what the optimizer says about a moved tensor
# * `grad-of-nonleaf`: what its ``.grad`` is
# * `device-cuda`: the messages of a GPU
