# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = ["inventory/module-assign-before-init"]
#
# [[tool.autograd-errors.error]]
# raises = "AttributeError"
# message = "cannot assign parameters before Module.__init__() call"
# source = "torch/nn/modules/module.py"
#
# [[tool.autograd-errors.error]]
# raises = "AttributeError"
# message = "cannot assign module before Module.__init__() call"
# source = "torch/nn/modules/module.py"
#
# [[tool.autograd-errors.error]]
# raises = "AttributeError"
# message = "cannot assign buffer before Module.__init__() call"
# source = "torch/nn/modules/module.py"
# ///
"""
A module that skips super().__init__()
======================================

Your module assigns a `parameter`, a layer or a `buffer` before
``nn.Module.__init__`` has run. That method creates the lists in which a module
keeps them; without it there is no place to register anything.
"""

import traceback
from dataclasses import dataclass

import torch
from torch import nn

# %%
# The errors
# ----------
#
# The message names the first thing you assign: a parameter, a layer, a buffer.


class Scale(nn.Module):
    def __init__(self):
        self.factor = nn.Parameter(torch.ones(2))


class Net(nn.Module):
    def __init__(self):
        self.layer = nn.Linear(2, 1)


class Normalize(nn.Module):
    def __init__(self):
        self.register_buffer("mean", torch.zeros(2))


for module in (Scale, Net, Normalize):
    try:
        module()
    except AttributeError:
        traceback.print_exc()

# %%
# Call super().__init__() first
# -----------------------------
#
# It must be the first line of ``__init__``, with its parentheses twice. Now the
# parameter is registered, and the loss ``3 * factor[0] + 4 * factor[1]`` has
# the gradient 3 and 4.


class RightScale(nn.Module):
    def __init__(self):
        super().__init__()
        self.factor = nn.Parameter(torch.ones(2))

    def forward(self, x):
        return (self.factor * x).sum()


net = RightScale()
net(torch.tensor([3.0, 4.0])).backward()

print([name for name, _ in net.named_parameters()], net.factor.grad)
torch.testing.assert_close(net.factor.grad, torch.tensor([3.0, 4.0]))

# %%
# If a dataclass writes __init__ for you
# --------------------------------------
#
# The generated ``__init__`` does not call the one of ``nn.Module``. Call it in
# ``__post_init__``. ``eq=False`` keeps the module hashable, which PyTorch needs
# to walk through it. A field that is itself a layer would be assigned too
# early; pass its size instead.


@dataclass(eq=False)
class DataScale(nn.Module):
    size: int

    def __post_init__(self):
        super().__init__()
        self.factor = nn.Parameter(torch.ones(self.size))

    def forward(self, x):
        return (self.factor * x).sum()


net = DataScale(2)
net(torch.tensor([3.0, 4.0])).backward()

print(len(list(net.parameters())), net.factor.grad)
torch.testing.assert_close(net.factor.grad, torch.tensor([3.0, 4.0]))

# %%
# What only hides the error
# -------------------------
#
# Dropping ``nn.Module`` as the parent, or ``nn.Parameter`` around the tensor,
# ends the message too. Nothing is registered then, and an `optimizer` over the
# module's parameters has nothing to update.


class Unregistered(nn.Module):
    def __init__(self):
        super().__init__()
        self.factor = torch.ones(2, requires_grad=True)


print(list(Unregistered().parameters()))
assert not list(Unregistered().parameters())

# %%
# See also
# --------
#
# * `parameter-assign-tensor`
# * `optimizer-empty`: what the optimizer says about an empty module
