# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "parameter/reassigned-by-computed-tensor",
#     "inventory/module-assign-arithmetic-result-to-parameter",
#     "inventory/module-assign-tensor-to-parameter",
#     "inventory/module-register-parameter-wrong-type",
# ]
#
# [[tool.autograd-errors.error]]
# raises = "TypeError"
# message = "cannot assign '<type>' as parameter '<name>' (torch.nn.Parameter or None expected)"
# source = "torch/nn/modules/module.py"
#
# [[tool.autograd-errors.error]]
# raises = "TypeError"
# message = "cannot assign '<type>' object to parameter '<name>' (torch.nn.Parameter or None required)"
# source = "torch/nn/modules/module.py"
# ///
"""
A tensor assigned where a module keeps a parameter
==================================================

You assigned a tensor to a module attribute that holds a `parameter`. The
module refuses, since it would lose the object that the `optimizer` updates.
What to do instead depends on one question: is the new value computed from the
parameter on every call, or is it a new starting value?
"""

import traceback

import torch
from torch import nn
from torch.nn.utils import parametrize

# %%
# The errors
# ----------
#
# A layer mixes three experts. Its ``forward`` turns the logits into weights
# and puts them back under the same name.

experts = torch.tensor([1.0, 2.0, 4.0])


class Mixture(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.tensor([0.0, 1.0, 2.0]))

    def forward(self, x):
        self.weight = torch.softmax(self.weight, 0)
        return (self.weight * x).sum()


try:
    Mixture()(experts)
except TypeError:
    traceback.print_exc()

# %%
# ``register_parameter`` asks for the same thing in other words:

try:
    nn.Module().register_parameter("weight", torch.zeros(3))
except TypeError:
    traceback.print_exc()

# %%
# The type in quotes is what you assigned. A result of a computation is a
# tensor with a `grad_fn`, never a parameter, even if a parameter went in:

layer = Mixture()
weight = torch.softmax(layer.weight, 0)

print(isinstance(layer.weight, nn.Parameter), isinstance(weight, nn.Parameter))
print(weight.grad_fn)

# draw: weight

# %%
# To use a computed value, keep it in a local variable
# ----------------------------------------------------
#
# The parameter stays what the optimizer learns, and every call computes from
# it anew. For ``weight = softmax(logits)`` the gradient by hand is
# ``weight * (x - mean)``, where ``mean`` is the mixture itself.


class LocalMixture(Mixture):
    def forward(self, x):
        weight = torch.softmax(self.weight, 0)
        return (weight * x).sum()


def gradient_by_hand(logits, x):
    weight = logits.exp() / logits.exp().sum()
    return weight * (x - (weight * x).sum())


layer = LocalMixture()
expected = gradient_by_hand(layer.weight.detach(), experts)
layer(experts).backward()

print(layer.weight.grad)
torch.testing.assert_close(layer.weight.grad, expected)

# %%
# To show the computed value under the name, parametrize
# ------------------------------------------------------
#
# When other code reads ``layer.weight``, let PyTorch compute it at each access.
# The learned tensor moves to ``layer.parametrizations.weight.original``.


class Softmax(nn.Module):
    def forward(self, logits):
        return torch.softmax(logits, 0)


class PlainMixture(Mixture):
    def forward(self, x):
        return (self.weight * x).sum()


layer = PlainMixture()
parametrize.register_parametrization(layer, "weight", Softmax())
layer(experts).backward()
logits = layer.parametrizations.weight.original

print(layer.weight)
torch.testing.assert_close(logits.grad, gradient_by_hand(logits.detach(), experts))

# %%
# To set a starting value, copy it into the parameter
# ---------------------------------------------------
#
# The object stays the same, so an optimizer built earlier still updates it.
# `torch.no_grad` keeps the write out of the graph.

linear = nn.Linear(2, 2, bias=False)
optimizer = torch.optim.SGD(linear.parameters(), lr=0.5)

try:
    linear.weight = torch.eye(2)
except TypeError:
    traceback.print_exc()

with torch.no_grad():
    linear.weight.copy_(torch.eye(2))

linear(torch.ones(1, 2)).sum().backward()
optimizer.step()

# Each entry of the gradient is 1, so the step takes 0.5 off each.
print(linear.weight)
torch.testing.assert_close(linear.weight.detach(), torch.eye(2) - 0.5)

# %%
# What only hides the error
# -------------------------
#
# Wrapping the result in ``nn.Parameter`` satisfies the check. It makes a new
# `leaf tensor`: the logits never get a gradient, the optimizer still holds the
# old object, and the next call takes the softmax of a softmax.


class Wrapped(Mixture):
    def forward(self, x):
        self.weight = nn.Parameter(torch.softmax(self.weight, 0))
        return (self.weight * x).sum()


layer = Wrapped()
logits = layer.weight
first, second = layer(experts), layer(experts)
second.backward()

print(first.item(), second.item())
print(logits.grad, logits is layer.weight)
assert logits.grad is None and first != second

# %%
# Assigning to `.data` keeps the object, but hides the softmax from autograd:
# the gradient is the one of a plain weighted sum.


class Hidden(Mixture):
    def forward(self, x):
        self.weight.data = torch.softmax(self.weight, 0).data
        return (self.weight * x).sum()


layer = Hidden()
layer(experts).backward()

print(layer.weight.grad)
torch.testing.assert_close(layer.weight.grad, experts)
assert not torch.allclose(layer.weight.grad, expected)

# %%
# See also
# --------
#
# * `optimizer-non-leaf`: the optimizer got the computed tensor
# * `parameter-non-leaf`: a parameter that a computation has changed
# * `guide-initialize-parameters`
