# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "inventory/leaf-is-leaf-readonly", "inventory/leaf-grad-fn-readonly",
#     "inventory/leaf-grad-fn-set", "inventory/leaf-grad-fn-delete",
# ]
#
# [[tool.autograd-errors.error]]
# raises = "AttributeError"
# message = "attribute 'is_leaf' of 'torch._C.TensorBase' objects is not writable"
# source = "torch/csrc/autograd/python_variable.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "AttributeError"
# message = "attribute 'grad_fn' of 'torch._C.TensorBase' objects is not writable"
# source = "torch/csrc/autograd/python_variable.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "_grad_fn can be only set to None"
# source = "torch/csrc/autograd/python_variable.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "Deletion of _grad_fn not allowed. Detach tensor instead!"
# source = "torch/csrc/autograd/python_variable.cpp"
# ///
"""
Setting is_leaf or grad_fn by hand
==================================

You tried to make a tensor a leaf, or to give it another history, by setting the
attribute. ``is_leaf`` and `grad_fn` report what autograd recorded; neither is a
switch.
"""

import traceback

import torch

# %%
# The errors
# ----------
#
# An optimizer wants a `leaf tensor`, and this weight was scaled.

weight = torch.tensor([1.0, 2.0], requires_grad=True) * 0.5

try:
    weight.is_leaf = True
except AttributeError:
    traceback.print_exc()

# %%
# A leaf is a tensor without ``grad_fn``, so next you take that away.

try:
    weight.grad_fn = None
except AttributeError:
    traceback.print_exc()

# %%
# To get a leaf, detach and ask for gradients
# -------------------------------------------
#
# ``detach`` is a new tensor with the same value and without history, and
# `requires_grad` makes it one whose gradient is kept. The gradient of
# ``sum(leaf**2)`` is ``2 * leaf``.

leaf = weight.detach().requires_grad_()
(leaf**2).sum().backward()

print(leaf.is_leaf, leaf.grad)
torch.testing.assert_close(leaf.grad, 2 * leaf.detach())

# %%
# Better still: scale first, ask for gradients last.

leaf = (torch.tensor([1.0, 2.0]) * 0.5).requires_grad_()
(leaf**2).sum().backward()
torch.testing.assert_close(leaf.grad, 2 * leaf.detach())

# %%
# To keep the same object, detach it in place
# -------------------------------------------
#
# With the underscore it cuts the history of the tensor itself, which other
# variables and containers may hold.

weight = torch.tensor([1.0, 2.0], requires_grad=True) * 0.5
held = [weight]
weight.detach_().requires_grad_()
(held[0] ** 2).sum().backward()

print(held[0].is_leaf, held[0].grad)
torch.testing.assert_close(weight.grad, 2 * weight.detach())

# %%
# To change the history, write a function
# ---------------------------------------
#
# There is an attribute with an underscore, for PyTorch's own use. It accepts
# ``None`` and nothing else, not even its deletion.

weight = torch.tensor([1.0, 2.0], requires_grad=True) * 0.5

try:
    weight._grad_fn = torch.exp
except RuntimeError:
    traceback.print_exc()

try:
    del weight._grad_fn
except RuntimeError:
    traceback.print_exc()

# %%
# What you want from it, another derivative, is a `custom function`. This one
# rounds in forward and passes the gradient on unchanged.


class Round(torch.autograd.Function):
    @staticmethod
    def forward(ctx, value):
        return value.round()

    @staticmethod
    def backward(ctx, gradient):
        return gradient


x = torch.tensor([1.2, 2.7], requires_grad=True)
(3 * Round.apply(x)).sum().backward()

print(x.grad)
torch.testing.assert_close(x.grad, torch.full((2,), 3.0))

# %%
# Related: `leaf-what-is`, `optimizer-non-leaf`, `requires-grad-set`.
