# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "requires-grad-flag/wants-intermediate-gradient", "inventory/requires-grad-change-non-leaf",
# ]
# cause-of = "requires-grad-set"
# ///
"""
Setting requires_grad to see an inner gradient
==============================================

You want the gradient of a value in the middle of the network, so you turned on
``requires_grad`` there. It is on already; what is missing is a request to keep
the gradient of a `non-leaf tensor`.
"""

import traceback

import torch

# %%
# The error
# ---------
#
# How much does each feature contribute to the score? That is the gradient of
# the score with respect to the features, which a first layer computes.

weight = torch.tensor([1.0, 2.0], requires_grad=True)
features = 3 * weight

try:
    features.requires_grad = True
except RuntimeError:
    traceback.print_exc()

# %%
# Nothing had to be turned on:

print(features.requires_grad, features.is_leaf)

# draw: features

# %%
# To read it from .grad, retain it
# --------------------------------
#
# `retain_grad` keeps the gradient when backward passes by. For
# ``sum(features**2)`` it is ``2 * features``, and ``weight`` still gets its own,
# three times as large.

weight = torch.tensor([1.0, 2.0], requires_grad=True)
features = 3 * weight
features.retain_grad()
(features**2).sum().backward()

print(features.grad, weight.grad)
torch.testing.assert_close(features.grad, 2 * features.detach())
torch.testing.assert_close(weight.grad, 3 * 2 * features.detach())

# %%
# To get it as a value, ask autograd for it
# -----------------------------------------
#
# `torch.autograd.grad` returns gradients and touches no ``.grad``.

features = 3 * torch.tensor([1.0, 2.0], requires_grad=True)
(gradient,) = torch.autograd.grad((features**2).sum(), features)

print(gradient)
torch.testing.assert_close(gradient, 2 * features.detach())

# %%
# If a module hides the tensor, hook the module
# ---------------------------------------------
#
# In a finished model you hold no name for the activation. A forward `hook` gets
# it and can retain its gradient; the model's code stays as it is.

model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Tanh(), torch.nn.Linear(2, 1))
kept = []


def keep(module, inputs, output):
    output.retain_grad()
    kept.append(output)


handle = model[1].register_forward_hook(keep)
model(torch.ones(1, 2)).sum().backward()
handle.remove()

torch.testing.assert_close(kept[0].grad, model[2].weight.detach())

# %%
# What only hides the error
# -------------------------
#
# The popular workaround makes a fresh leaf of the value:
# ``Variable(features.data, requires_grad=True)``, today
# ``features.detach().requires_grad_()``. The inner gradient is right. The price
# is that backward ends there, and the layer before it never learns.

weight = torch.tensor([1.0, 2.0], requires_grad=True)
features = (3 * weight).detach().requires_grad_()
(features**2).sum().backward()

print(features.grad, weight.grad)
torch.testing.assert_close(features.grad, 2 * features.detach())
assert weight.grad is None

# %%
# Related: `requires-grad-set`, `grad-of-nonleaf`, `grad-retain-without-graph`.
