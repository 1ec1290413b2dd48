# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "custom-function/view-returned-then-inplace",
#     "custom-function/alias-returned-by-noop",
#     "custom-function/view-of-input-without-grad",
#     "inventory/view-custom-function-inplace",
#     "inventory/view-custom-function-input-as-is-inplace",
#     "inventory/view-custom-function-base-modified",
# ]
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "Output <index> of <node> is a view and is being modified inplace. This view was created inside a custom Function (or because an input was returned as-is) and the autograd logic to handle view+inplace would override the custom backward associated with the custom Function, leading to incorrect gradients. This behavior is forbidden. You can fix this by cloning the output of the custom Function."
# source = "torch/csrc/autograd/variable.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "Output <index> of <node> is a view and its base or another view of its base has been modified inplace. This view was created inside a custom Function (or because an input was returned as-is) and the autograd logic to handle view+inplace would override the custom backward associated with the custom Function, leading to incorrect gradients. This behavior is forbidden. You can fix this by cloning the output of the custom Function."
# source = "torch/csrc/autograd/variable.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "A view was created in no_grad mode and is being modified inplace with grad mode enabled. This view was created inside a custom Function (or because an input was returned as-is) and the autograd logic to handle view+inplace would override the custom backward associated with the custom Function, leading to incorrect gradients. This behavior is forbidden. You can fix this by cloning the output of the custom Function."
# source = "torch/csrc/autograd/variable.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "A view was created in no_grad mode and its base or another view of its base has been modified inplace with grad mode enabled. This view was created inside a custom Function (or because an input was returned as-is) and the autograd logic to handle view+inplace would override the custom backward associated with the custom Function, leading to incorrect gradients. This behavior is forbidden. You can fix this by cloning the output of the custom Function."
# source = "torch/csrc/autograd/variable.cpp"
# ///
"""
Writing into the output of a custom function
============================================

A `custom function` returned its input, or a `view` of it, and somebody wrote
into that output. To record the write, autograd would have to replace the
function's own backward by that of the view.
"""

import traceback

import torch

# %%
# The errors
# ----------
#
# A gradient reversal layer returns its input and turns the gradient around.


class ReverseGradient(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x

    @staticmethod
    def backward(ctx, grad):
        return -grad


weight = torch.tensor([1.0, 2.0], requires_grad=True)
hidden = ReverseGradient.apply(weight * 1.0)
try:
    hidden += 1.0
except RuntimeError:
    traceback.print_exc()

# %%
# The output is no copy. It is a view with the function as its node:

print(hidden._is_view(), hidden.grad_fn)
assert hidden._is_view()

# %%
# A function that reshapes is refused in the same way:


class Flatten(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.shape = x.shape
        return x.view(-1)

    @staticmethod
    def backward(ctx, grad):
        return grad.view(ctx.shape)


try:
    Flatten.apply(torch.ones(2, 2, requires_grad=True) * 1.0).mul_(2.0)
except RuntimeError:
    traceback.print_exc()

# %%
# If its *input* is written afterwards, the output is stale, and the next use of
# it stops:

image = torch.ones(2, 2, requires_grad=True) * 1.0
flat = Flatten.apply(image)
image.mul_(2.0)
try:
    flat.sum()
except RuntimeError:
    traceback.print_exc()

# %%
# "A view was created in no_grad mode", without any no_grad
# ---------------------------------------------------------
#
# If no input requires a gradient, the output has no node that could be named.
# PyTorch then blames a `no_grad` that nobody wrote. It was met with a batch that
# ``DataParallel`` had split
# (`a report <https://github.com/ccarliu/m3ae/issues/15>`__). Here a learned value is
# written into such a batch.

learned = torch.tensor(0.5, requires_grad=True)
batch = Flatten.apply(torch.ones(2, 2))
print(batch.requires_grad, batch.grad_fn, batch._is_view())
try:
    batch[:2] *= learned
except RuntimeError:
    traceback.print_exc()

# %%
# And if the input is written, the output is stale:

image = torch.ones(2, 2)
batch = Flatten.apply(image)
image.mul_(learned)
try:
    batch.sum()
except RuntimeError:
    traceback.print_exc()

# %%
# Which page is yours
# -------------------
#
# - The message names ``BackwardHookFunction``: a module `hook`, see
#   `view-backward-hook`.
# - It names a class of yours or of a library: this page. The name is the class.
# - Your function writes into its own input: `function-mark-dirty`.

# %%
# If you own the function, return a new view
# ------------------------------------------
#
# ``x.view_as(x)`` is not enough, it is a view as well. `clone` makes the output
# a tensor of its own. The reversed gradient of a sum is minus one.


class ReverseGradientOfCopy(ReverseGradient):
    @staticmethod
    def forward(ctx, x):
        return x.clone()


weight = torch.tensor([1.0, 2.0], requires_grad=True)
hidden = ReverseGradientOfCopy.apply(weight * 1.0)
hidden += 1.0
hidden.sum().backward()

print(weight.grad)
torch.testing.assert_close(weight.grad, torch.full((2,), -1.0))

# %%
# If you own the line that writes, write out of place
# ---------------------------------------------------
#
# This costs the same memory and leaves the function alone.

weight = torch.tensor([1.0, 2.0], requires_grad=True)
hidden = ReverseGradient.apply(weight * 1.0)
hidden = hidden + 1.0
hidden.sum().backward()

print(weight.grad)
torch.testing.assert_close(weight.grad, torch.full((2,), -1.0))

# %%
# If the input is written later, hand over a copy of it
# -----------------------------------------------------
#
# The flattened copy keeps the values of before the write; both ways lead back
# to the same weights, with gradients one and two.

weight = torch.ones(2, 2, requires_grad=True)
image = weight * 1.0
flat = Flatten.apply(image.clone())
image.mul_(2.0)
(flat.sum() + image.sum()).backward()

print(weight.grad)
torch.testing.assert_close(weight.grad, torch.full((2, 2), 1.0 + 2.0))

# %%
# If it speaks of no_grad, write into a copy of the batch
# -------------------------------------------------------
#
# Two of the four ones are multiplied by the learned value, so its gradient is
# two.

learned = torch.tensor(0.5, requires_grad=True)
batch = Flatten.apply(torch.ones(2, 2)).clone()
batch[:2] *= learned
batch.sum().backward()

print(learned.grad)
torch.testing.assert_close(learned.grad, torch.tensor(1.0 + 1.0))

# %%
# What only hides the error
# -------------------------
#
# "Write into ``.data``", or under `no_grad`, runs, and the write is missing from
# the gradient. The output is doubled, so its reversed gradient is minus two:

weight = torch.tensor([1.0, 2.0], requires_grad=True)
hidden = ReverseGradient.apply(weight * 1.0)
hidden.data *= 2.0
hidden.sum().backward()

right = torch.full((2,), -2.0)
print("value", hidden.detach(), "got", weight.grad, "instead of", right)
assert not torch.equal(weight.grad, right)

# %%
# If a library raised it
# ----------------------
#
# The last line of the traceback outside ``torch`` writes: ``+=``, ``relu_``, a
# module with ``inplace=True``. The class named in the message is where the
# tensor came from. Change the first: ``x = x + y`` for ``x += y``, or put
# ``.clone()`` behind the call of the function.

# %%
# Am I right now?
# ---------------
#
# Functions that reverse or scale gradients differ from
# `finite differences` on purpose. For all others, move one element a
# little both ways and compare the slope with the gradient.


def loss_of(image):
    return (Flatten.apply(image * 1.0).clone().mul_(2.0) ** 2).sum()


image = torch.ones(2, 2, dtype=torch.float64, requires_grad=True)
loss_of(image).backward()
step = torch.zeros(2, 2, dtype=torch.float64)
step[0, 0] = 1e-6
with torch.no_grad():
    slope = (loss_of(image + step) - loss_of(image - step)) / 2e-6

print(slope, image.grad[0, 0])
torch.testing.assert_close(slope, image.grad[0, 0])
