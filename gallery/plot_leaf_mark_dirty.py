# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = ["leaf-inplace/custom-function-on-leaf", "inventory/leaf-mark-dirty-has-been-used"]
# cause-of = "leaf-inplace"
# when = { frame = "\\.apply\\(" }
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "a leaf Variable that requires grad has been used in an in-place operation."
# source = "torch/csrc/autograd/custom_function.cpp"
# ///
"""
A custom function wrote into a leaf
===================================

Your `custom function` changed its input, said so with ``mark_dirty``, and was
called with a `leaf tensor` that requires grad. Today only a custom function
gets the words "has been used"; any other write to a leaf says "is being used".
Old releases used the first words for both: see `leaf-inplace`.
"""

import traceback

import torch

# %%
# The error
# ---------
#
# An activation works in place to save memory, and is called on a parameter.


class AddOneInPlace(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x.add_(1.0)
        ctx.mark_dirty(x)
        return x

    @staticmethod
    def backward(ctx, grad):
        return grad


weight = torch.tensor([1.0, 2.0], requires_grad=True)
try:
    AddOneInPlace.apply(weight)
except RuntimeError:
    traceback.print_exc()

# %%
# ``forward`` had run before the check. Unlike an ordinary operation it leaves
# the leaf changed:

print(weight.detach())
assert weight.tolist() == [2.0, 3.0]

# %%
# Call it on a copy
# -----------------
#
# Afterwards the leaf has its value and its gradient: twice the shifted weight
# for the sum of squares.

weight = torch.tensor([1.0, 2.0], requires_grad=True)
(AddOneInPlace.apply(weight.clone()) ** 2).sum().backward()

print(weight.detach(), weight.grad)
torch.testing.assert_close(weight.grad, 2 * (torch.tensor([1.0, 2.0]) + 1.0))

# %%
# If you own the function, write out of place
# -------------------------------------------
#
# Then nothing is dirty, and every input is welcome.


class AddOne(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x + 1.0

    @staticmethod
    def backward(ctx, grad):
        return grad


weight = torch.tensor([1.0, 2.0], requires_grad=True, dtype=torch.float64)

print(torch.autograd.gradcheck(AddOne.apply, (weight,)))
assert torch.autograd.gradcheck(AddOne.apply, (weight,))

# %%
# What only hides the error
# -------------------------
#
# Without ``mark_dirty`` nothing complains, and nothing knows that the input
# changed. The loss is ``weight**2`` plus the shifted weight. Its gradient at
# the values you gave is twice them plus one, and you get another:


class Unmarked(AddOneInPlace):
    @staticmethod
    def forward(ctx, x):
        x.add_(1.0)
        return x.view_as(x)


weight = torch.tensor([1.0, 2.0], requires_grad=True)
loss = (Unmarked.apply(weight) + weight**2).sum()
loss.backward()

right = 2 * torch.tensor([1.0, 2.0]) + 1
print("got", weight.grad, "instead of", right)
assert not torch.equal(weight.grad, right)

# %%
# - `leaf-inplace`, the same rule for ordinary operations
# - `function-mark-dirty`, what ``mark_dirty`` expects
# - `silent-function-mark-dirty`, what a missing mark does
