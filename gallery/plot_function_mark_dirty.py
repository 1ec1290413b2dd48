# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "inventory/function-mark-dirty-non-tensor",
#     "inventory/function-mark-dirty-not-input",
#     "inventory/function-mark-dirty-not-returned",
#     "inventory/function-dirty-tensors-not-tuple",
#     "inventory/function-mark-non-diff-non-tensor",
#     "inventory/function-non-differentiable-not-tuple",
#     "inventory/function-mark-shared-storage-deprecated",
#     "inventory/view-custom-function-multi-out-view-dirty",
# ]
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "Some elements marked as dirty during the forward method were not returned as output. The inputs that are modified inplace must all be outputs of the Function."
# source = "torch/csrc/autograd/custom_function.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "UserWarning"
# message = "ctx.mark_dirty() received a tensor that was not an input. Only input Tensors that have been mutated should be passed to ctx.mark_dirty()."
# source = "torch/csrc/autograd/custom_function.cpp"
# reworded = true
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "If your Function modifies inplace an input that is a view of another Tensor, your Function cannot return more than one Tensor. This is not supported by the current autograd engine. You should either make sure the input is not a view (using .clone() for example) or make your Function only return one Tensor (potentially splitting it into two Functions: one doing the inplace that returns a single Tensor and a second one that does the other operations). You can ask on the forum https://discuss.pytorch.org/ if you need help to do this change."
# source = "torch/csrc/autograd/custom_function.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "mark_dirty can only accept variables, but argument "
# source = "torch/csrc/autograd/python_function.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "mark_non_differentiable only accepts variable arguments, but got "
# source = "torch/csrc/autograd/python_function.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "autograd internal error: dirty_tensors attribute is expected to be a tuple but is "
# source = "torch/csrc/autograd/python_function.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "autograd internal error: non_differentiable attribute is expected to be a tuple but is "
# source = "torch/csrc/autograd/python_function.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "FutureWarning"
# message = "`mark_shared_storage` is deprecated. Tensors with shared storages are automatically tracked. Note that calls to `set_()` are not tracked"
# source = "torch/autograd/function.py"
# ///
"""
Marking what a custom function changed
======================================

Your `custom function` declared with ``ctx.mark_dirty`` that it changed a
tensor, and the declaration does not fit what it did. Mark exactly the inputs
that ``forward`` writes into, and return each of them.
"""

import traceback

import torch

# %%
# The errors
# ----------
#
# A function clips its input in place, marks it, and returns another tensor.


class ClipAndDouble(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x.clamp_(max=1.0)
        ctx.mark_dirty(x)
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return grad * 2


hidden = torch.ones(2, requires_grad=True) * 3.0
try:
    ClipAndDouble.apply(hidden)
except RuntimeError:
    traceback.print_exc()

# %%
# The other way round, a new tensor is marked that no caller knows:


class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = x * 2
        ctx.mark_dirty(y)
        return y

    @staticmethod
    def backward(ctx, grad):
        return grad * 2


y = Double.apply(torch.ones(2, requires_grad=True))

# %%
# An input that is a `view` of a larger tensor may be written only by a
# function with one output.


class AddOneAndCopy(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x.add_(1.0))
        return x, x * 2

    @staticmethod
    def backward(ctx, grad, grad_copy):
        return grad + 2 * grad_copy


hidden = torch.ones(4, requires_grad=True) * 1.0
try:
    AddOneAndCopy.apply(hidden[:2])
except RuntimeError:
    traceback.print_exc()

# %%
# Mark the input and return it
# ----------------------------
#
# Autograd then gives the caller's tensor the function's `grad_fn`, so a later
# use of the variable is right as well. Where the clip is active the gradient
# is zero.


class Clip(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x > 1.0)
        ctx.mark_dirty(x)
        return x.clamp_(max=1.0)

    @staticmethod
    def backward(ctx, grad):
        (clipped,) = ctx.saved_tensors
        return grad.masked_fill(clipped, 0.0)


x = torch.tensor([0.5, 3.0], dtype=torch.float64, requires_grad=True)
hidden = x * 1.0
Clip.apply(hidden)
# draw: hidden as "Marked"
hidden.sum().backward()

print(x.grad, type(hidden.grad_fn).__name__)
torch.testing.assert_close(x.grad, torch.tensor([1.0, 0.0], dtype=torch.float64))
assert torch.autograd.gradcheck(lambda x: Clip.apply(x * 1.0), (x,))

# %%
# For two outputs, write into a copy
# ----------------------------------
#
# `clone` makes the input a tensor of its own, as the message suggests.

x = torch.ones(4, requires_grad=True)
hidden = x * 1.0
first, second = AddOneAndCopy.apply(hidden[:2].clone())
(first.sum() + second.sum()).backward()

print(x.grad)
torch.testing.assert_close(x.grad, torch.tensor([3.0, 3.0, 0.0, 0.0]))

# %%
# What only hides the error
# -------------------------
#
# Leaving ``mark_dirty`` out silences all of this. The write is then a secret:
# the caller's variable keeps its old `grad_fn`, and the element that was
# clipped still gets a gradient. `silent-function-mark-dirty` shows more of it.


class ClipSecretly(Clip):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x > 1.0)
        x.clamp_(max=1.0)
        return x.clone()


x = torch.tensor([0.5, 3.0], requires_grad=True)
hidden = x * 1.0
ClipSecretly.apply(hidden)
# draw: hidden as "Not marked"
hidden.sum().backward()

print(x.grad, "is not", torch.tensor([1.0, 0.0]))
assert x.grad[1] != 0.0

# %%
# Rarer messages about marks
# --------------------------
#
# The marks take tensors; the message breaks off before it says what it got. That is
# PyTorch's slip, not a cut in your log.
# Assigning the attributes behind them takes a tuple. ``mark_shared_storage``
# has no effect any more.


class MarksWrong(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, mark):
        mark(ctx)
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return grad * 2, None


x = torch.ones(2, requires_grad=True)
for mark in (
    lambda ctx: ctx.mark_dirty(3),
    lambda ctx: ctx.mark_non_differentiable(3),
    lambda ctx: setattr(ctx, "dirty_tensors", [3]),
    lambda ctx: setattr(ctx, "non_differentiable", [3]),
):
    try:
        MarksWrong.apply(x, mark)
    except RuntimeError:
        traceback.print_exc()

y = MarksWrong.apply(x, lambda ctx: ctx.mark_shared_storage())

# %%
# A function with nothing to mark marks nothing:

y = MarksWrong.apply(x, lambda ctx: None)
y.sum().backward()
torch.testing.assert_close(x.grad, torch.full((2,), 2.0))
