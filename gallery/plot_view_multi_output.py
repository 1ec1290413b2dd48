# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "multi-view/base-modified-later",
#     "multi-view/metadata-only-inplace",
#     "inventory/view-inplace-multi-output-leaf",
#     "inventory/view-base-modified-multi-output",
#     "inventory/view-multi-output-no-grad-base-modified",
# ]
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "Output <index> of <node> is a view and is being modified inplace. This view is the output of a function that returns multiple views. Such functions do not allow the output views to be modified inplace. You should replace the inplace operation by an out-of-place one."
# source = "torch/csrc/autograd/variable.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "Output <index> of <node> is a view and its base or another view of its base has been modified inplace. This view is the output of a function that returns multiple views. Such functions do not allow the output views to be modified inplace. You should replace the inplace operation by an out-of-place one."
# source = "torch/csrc/autograd/variable.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "A view was created in no_grad mode and is being modified inplace with grad mode enabled. This view is the output of a function that returns multiple views. Such functions do not allow the output views to be modified inplace. You should replace the inplace operation by an out-of-place one."
# source = "torch/csrc/autograd/variable.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "A view was created in no_grad mode and its base or another view of its base has been modified inplace with grad mode enabled. This view is the output of a function that returns multiple views. Such functions do not allow the output views to be modified inplace. You should replace the inplace operation by an out-of-place one."
# source = "torch/csrc/autograd/variable.cpp"
# ///
"""
Writing into one of several views made at once
==============================================

You split a tensor, or looped over it, and wrote into a piece. ``chunk``,
``split``, ``unbind`` and a ``for`` loop make several views in one node of the
graph, and autograd cannot rewrite the history of one output without the others.
"""

import traceback

import torch

# %%
# The errors
# ----------
#
# A layer's output holds two halves, and the first one is scaled in place.

weight = torch.tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True)
hidden = weight * 1.0
first, second = hidden.chunk(2)
try:
    first.mul_(5.0)
except RuntimeError:
    traceback.print_exc()

# %%
# Read the beginning of the message. The number says which piece, counted from
# zero. The name says what made the pieces: ``Unbind`` is a loop or ``unbind``,
# ``Split`` is ``split`` or ``chunk``. All pieces share one node:

print(first.grad_fn is second.grad_fn, first.grad_fn)
assert first.grad_fn is second.grad_fn

# draw: first, second

# %%
# The wording changes when the *other* side is written, and the piece is used
# afterwards:

hidden = weight * 1.0
first, second = hidden.chunk(2)
hidden.mul_(5.0)
try:
    first.sum()
except RuntimeError:
    traceback.print_exc()

# %%
# And it speaks of ``no_grad``, although nobody used it, when the pieces come from
# a plain tensor. Nothing records the split of a tensor that needs no gradient.

buffer = torch.ones(4)
first, second = buffer.chunk(2)
try:
    first.mul_(weight[:2])
except RuntimeError:
    traceback.print_exc()

buffer = torch.ones(4)
first, second = buffer.chunk(2)
buffer.mul_(weight)
try:
    first.sum()
except RuntimeError:
    traceback.print_exc()

# %%
# A change of shape alone counts as a write, and so does a piece of a
# `leaf tensor`:

row, _ = (weight * 1.0).view(2, 1, 2).unbind()
try:
    row.squeeze_(0)
except RuntimeError:
    traceback.print_exc()

first, second = weight.chunk(2)
try:
    first.add_(1.0)
except RuntimeError:
    traceback.print_exc()

# %%
# Which page is yours
# -------------------
#
# - The message says ``Unbind`` and you loop over a tensor: `view-iterating`.
# - It says ``Split``, often in a gated layer: `view-split-gate`.
# - It says "created in no_grad mode" and you fill a buffer row by row:
#   `view-iterating-buffer`.
# - It has the words "ambiguous and error-prone": `view-no-grad`.

# %%
# Compute a new piece instead of writing
# --------------------------------------
#
# The gradient of the sum of squares is twice the value, and the factor comes in
# twice for the scaled half.

weight = torch.tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True)
first, second = (weight * 1.0).chunk(2)
first = first * 5.0
torch.cat([first, second]).pow(2).sum().backward()

print(weight.grad)
factor = torch.tensor([5.0, 5.0, 1.0, 1.0])
torch.testing.assert_close(weight.grad, 2 * factor**2 * weight.detach())

# %%
# If the whole tensor is to change, write through an index
# --------------------------------------------------------
#
# An index makes one view, and a write into one view is recorded: the base gets
# `CopySlices`, and the gradient is right.

weight = torch.tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True)
hidden = weight * 1.0
hidden[:2] *= 5.0
hidden.pow(2).sum().backward()

print(weight.grad, hidden.grad_fn)
torch.testing.assert_close(weight.grad, 2 * factor**2 * weight.detach())

# %%
# If the base changes afterwards, split again
# -------------------------------------------
#
# Pieces made before the write are stale. Make them after it.

weight = torch.tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True)
hidden = weight * 1.0
hidden.mul_(5.0)
first, second = hidden.chunk(2)
first.sum().backward()

print(weight.grad)
torch.testing.assert_close(weight.grad, torch.tensor([5.0, 5.0, 0.0, 0.0]))

# %%
# For a change of shape, drop the underscore
# ------------------------------------------

weight = torch.tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True)
row, _ = (weight * 1.0).view(2, 1, 2).unbind()
row = row.squeeze(0)
(row * torch.tensor([6.0, 7.0])).sum().backward()

print(weight.grad)
torch.testing.assert_close(weight.grad, torch.tensor([6.0, 7.0, 0.0, 0.0]))

# %%
# What only hides the error
# -------------------------
#
# Under `no_grad` the write goes through, and nothing records it. Backward still
# uses a factor of one:

weight = torch.tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True)
hidden = weight * 1.0
first, second = hidden.chunk(2)
with torch.no_grad():
    first.mul_(5.0)
hidden.sum().backward()

print("got", weight.grad, "instead of", factor)
assert not torch.equal(weight.grad, factor)

# %%
# ``unsafe_chunk`` and ``unsafe_split`` leave the check out. They are right only
# if nothing reads the base, or another view of it, any more:

weight = torch.tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True)
hidden = weight * 1.0
first, second = hidden.unsafe_chunk(2)
first.mul_(5.0)
hidden.sum().backward()

print("value", hidden.detach(), "got", weight.grad, "instead of", factor)
assert torch.equal(hidden.detach(), factor * weight.detach())
assert not torch.equal(weight.grad, factor)

# %%
# If a library raised it
# ----------------------
#
# Go to the last line of the traceback outside ``torch``. It writes into a loop
# variable, or into one of several names assigned at once. Turn ``a *= b`` into
# ``a = a * b``, ``a.clamp_(...)`` into ``a = a.clamp(...)``, and where a module
# with ``inplace=True`` is called, hand it ``a.clone()``. If the loop is there to
# change the whole tensor, write ``for i in range(len(x)): x[i] *= ...``.

# %%
# Am I right now?
# ---------------
#
# Move one element a little both ways, and compare the slope with the gradient.


def loss_of(weight):
    first, second = (weight * 1.0).chunk(2)
    return torch.cat([first * 5.0, second]).pow(2).sum()


weight = torch.tensor([1.0, 2.0, 3.0, 4.0], dtype=torch.float64, requires_grad=True)
loss_of(weight).backward()
step = torch.tensor([1e-6, 0.0, 0.0, 0.0], dtype=torch.float64)
with torch.no_grad():
    slope = (loss_of(weight + step) - loss_of(weight - step)) / 2e-6

print(slope, weight.grad[0])
torch.testing.assert_close(slope, weight.grad[0])
