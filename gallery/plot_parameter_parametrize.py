# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = ["inventory/parametrize-no-right-inverse", "inventory/parametrize-changes-dtype"]
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "parametrization <name> does not implement right_inverse."
# source = "torch/nn/utils/parametrize.py"
# reworded = true
#
# [[tool.autograd-errors.error]]
# raises = "ValueError"
# message = "Registering a parametrization may not change the dtype of the tensor, unless `unsafe` flag is enabled.\nunparametrized dtype: <dtype>\nparametrized dtype: <new_dtype>"
# source = "torch/nn/utils/parametrize.py"
# ///
"""
A parametrization that cannot go back
=====================================

You assigned to a `parameter` that a parametrization computes, or registered
one whose result has another `dtype`. PyTorch then needs something your class
does not have: a way from the wanted value back to the tensor it stores, or a
stored tensor of the same kind.
"""

import traceback

import torch
from torch import nn
from torch.nn.utils import parametrize

# %%
# The errors
# ----------
#
# A layer keeps its weight symmetric. You want it to start at the identity.


class Symmetric(nn.Module):
    def forward(self, weight):
        return weight.triu() + weight.triu(1).T


net = nn.Linear(2, 2, bias=False)
parametrize.register_parametrization(net, "weight", Symmetric())

try:
    net.weight = torch.eye(2)
except RuntimeError:
    traceback.print_exc()

# %%
# A second parametrization rounds the weight to a shorter dtype.


class Short(nn.Module):
    def forward(self, weight):
        return weight.to(torch.bfloat16)


try:
    parametrize.register_parametrization(nn.Linear(2, 2), "weight", Short())
except ValueError:
    traceback.print_exc()

# %%
# ``net.weight`` is recomputed at each access. What is stored, and learned, is
# another tensor:

print(net.weight.grad_fn is not None, [name for name, _ in net.named_parameters()])

# %%
# To allow assignments, write right_inverse
# -----------------------------------------
#
# ``right_inverse`` returns a tensor that ``forward`` turns into the wanted
# value. Here the upper triangle is enough. For ``sum(weight @ x)`` the
# gradient collects both places where an entry appears.


class Assignable(Symmetric):
    def right_inverse(self, weight):
        return weight.triu()


net = nn.Linear(2, 2, bias=False)
parametrize.register_parametrization(net, "weight", Assignable())
net.weight = torch.eye(2)
x = torch.tensor([3.0, 5.0])
net(x).sum().backward()
original = net.parametrizations.weight.original

print(net.weight, original.grad, sep="\n")
torch.testing.assert_close(net.weight.detach(), torch.eye(2))
torch.testing.assert_close(original.grad, torch.tensor([[3.0, 3.0 + 5.0], [0.0, 5.0]]))

# %%
# Without right_inverse, write into the original
# ----------------------------------------------
#
# You can set the stored tensor yourself, outside the graph.

net = nn.Linear(2, 2, bias=False)
parametrize.register_parametrization(net, "weight", Symmetric())
with torch.no_grad():
    net.parametrizations.weight.original.copy_(torch.eye(2))

print(net.weight)
torch.testing.assert_close(net.weight.detach(), torch.eye(2))

# %%
# To compute in a shorter dtype, convert back or in forward
# ---------------------------------------------------------
#
# Rounding and returning to the stored dtype keeps the rule. The gradient of a
# conversion is the incoming gradient.


class Rounded(nn.Module):
    def forward(self, weight):
        return weight.to(torch.bfloat16).to(weight.dtype)


net = nn.Linear(2, 2, bias=False)
parametrize.register_parametrization(net, "weight", Rounded())
net(x).sum().backward()

print(net.parametrizations.weight.original.grad)
torch.testing.assert_close(net.parametrizations.weight.original.grad, x.expand(2, 2))

# %%
# See also
# --------
#
# * `copy-pickle`: saving a parametrized module
# * `parameter-assign-tensor`
