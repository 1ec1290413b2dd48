# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "view/made-without-grad-mode",
#     "inventory/view-created-no-grad-inplace",
#     "inventory/view-created-no-grad-leaf-inplace",
#     "inventory/view-created-no-grad-base-modified",
#     "inventory/view-of-no-grad-view-inplace",
#     "inventory/view-created-inference-mode-inplace",
#     "inventory/view-created-inference-mode-base-modified",
# ]
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "A view was created in no_grad mode and is being modified inplace with grad mode enabled. Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify your code by moving both the view and the inplace either both inside the no_grad block (if you don't want the inplace to be tracked) or both outside (if you want the inplace to be tracked)."
# source = "torch/csrc/autograd/variable.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "A view was created in no_grad mode and its base or another view of its base has been modified inplace with grad mode enabled. Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify your code by moving both the view and the inplace either both inside the no_grad block (if you don't want the inplace to be tracked) or both outside (if you want the inplace to be tracked)."
# source = "torch/csrc/autograd/variable.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "Output <index> of <node> is a view of a view which was created in no_grad mode and is being modified inplace with grad mode enabled. Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify your code by moving both the view and the inplace either both inside the no_grad block (if you don't want the inplace to be tracked) or both outside (if you want the inplace to be tracked)."
# source = "torch/csrc/autograd/variable.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "A view was created in inference mode and is being modified inplace in normal mode. Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify your code by moving both the view and the inplace either both inside the inference_mode block (if you don't want the inplace to be tracked) or both outside (if you want the inplace to be tracked)."
# source = "torch/csrc/autograd/variable.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "A view was created in inference mode and its base or another view of its base has been modified inplace in normal mode. Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify your code by moving both the view and the inplace either both inside the inference_mode block (if you don't want the inplace to be tracked) or both outside (if you want the inplace to be tracked)."
# source = "torch/csrc/autograd/variable.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "Output <index> of <node> is a view of a view which was created in no_grad mode and its base or another view of its base has been modified inplace with grad mode enabled. Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify your code by moving both the view and the inplace either both inside the no_grad block (if you don't want the inplace to be tracked) or both outside (if you want the inplace to be tracked)."
# source = "torch/csrc/autograd/variable.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "Output <index> of <node> is a view of a view which was created in inference mode and is being modified inplace in normal mode. Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify your code by moving both the view and the inplace either both inside the inference_mode block (if you don't want the inplace to be tracked) or both outside (if you want the inplace to be tracked)."
# source = "torch/csrc/autograd/variable.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "Output <index> of <node> is a view of a view which was created in inference mode and its base or another view of its base has been modified inplace in normal mode. Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify your code by moving both the view and the inplace either both inside the inference_mode block (if you don't want the inplace to be tracked) or both outside (if you want the inplace to be tracked)."
# source = "torch/csrc/autograd/variable.cpp"
# ///
"""
A view made inside no_grad, written outside
===========================================

You made a `view` where autograd does not record and wrote into it where it
does. Autograd cannot tell whether you want the write to be differentiated, and
refuses to guess.
"""

import traceback

import torch

# %%
# The errors
# ----------
#
# A table of weights is reshaped once, under `no_grad`, and adjusted later.

bias = torch.nn.Parameter(torch.zeros(4))
with torch.no_grad():
    table = bias.view(2, 2)

try:
    table += 1.0
except RuntimeError:
    traceback.print_exc()

# %%
# The view has no `grad_fn` to continue from, yet its `base` is part of the
# graph:

print(table.grad_fn, table._base is bias, bias.requires_grad)

# draw: table

# %%
# The same happens when a view of that view is written, and the message then
# names the last step:

hidden = torch.ones(4, requires_grad=True) * 1.0
with torch.no_grad():
    most = hidden[:3]
try:
    most[:2].mul_(2.0)
except RuntimeError:
    traceback.print_exc()

# %%
# When the base is written after the view was made, the view itself is stale.
# The next use of it stops. This often is a slice of a buffer:

cache = torch.ones(4)
weight = torch.ones(4, requires_grad=True)
with torch.no_grad():
    recent = cache[:2]
cache.mul_(weight)
try:
    recent.sum()
except RuntimeError:
    traceback.print_exc()

# %%
# `inference mode` has the same rule and its own words:

hidden = torch.ones(4, requires_grad=True) * 1.0
with torch.inference_mode():
    half = hidden[:2]
try:
    half.mul_(2.0)
except RuntimeError:
    traceback.print_exc()

cache = torch.ones(4)
with torch.inference_mode():
    recent = cache[:2]
cache.mul_(weight)
try:
    recent.sum()
except RuntimeError:
    traceback.print_exc()

# %%
# Views of these views have a `grad_fn` and are named by it. All read alike: the
# end of the first sentence says what was written, the view or its `base`.

hidden = torch.ones(4, requires_grad=True) * 1.0
with torch.no_grad():
    most = hidden[:3]
few = most[:2]
hidden.mul_(2.0)
try:
    few.sum()
except RuntimeError:
    traceback.print_exc()

hidden = torch.ones(4, requires_grad=True) * 1.0
with torch.inference_mode():
    most = hidden[:3]
few = most[:2]
try:
    few.mul_(2.0)
except RuntimeError:
    traceback.print_exc()

hidden.mul_(2.0)
try:
    few.sum()
except RuntimeError:
    traceback.print_exc()

# %%
# Which page is yours
# -------------------
#
# - You did not use `no_grad` anywhere, and loop over a tensor:
#   `view-iterating-buffer`.
# - The text goes on with "This view was created inside a custom Function":
#   `view-custom-function`. There need not be any `no_grad` either.
# - The tensor itself, and not a view, was made in inference mode:
#   `inference-mode-tensors`.
# - You set starting values: the next section.

# %%
# To change a value without a gradient, do both inside
# ----------------------------------------------------
#
# View and write belong to the same block. The square of one has the gradient
# two.

bias = torch.nn.Parameter(torch.zeros(4))
with torch.no_grad():
    table = bias.view(2, 2)
    table += 1.0
(bias**2).sum().backward()

print(bias.is_leaf, bias.grad)
torch.testing.assert_close(bias.grad, torch.full((4,), 2.0))

# %%
# To learn through the change, do both outside
# --------------------------------------------
#
# With a `leaf tensor` take a copy, for its views may not be written
# (`view-of-leaf`). With any other tensor the view can be written directly.

weight = torch.ones(4, requires_grad=True)
hidden = weight * 1.0
hidden[:2].mul_(3.0)
hidden.sum().backward()

print(weight.grad)
torch.testing.assert_close(weight.grad, torch.tensor([3.0, 3.0, 1.0, 1.0]))

# %%
# If you want the values apart from the graph, detach
# ---------------------------------------------------
#
# A `clone` of a detached tensor shares nothing. Write into it anywhere.

weight = torch.ones(4, requires_grad=True)
hidden = weight * 1.0
snapshot = hidden.detach()[:2].clone()
snapshot *= 3.0
hidden.sum().backward()

print(snapshot, hidden.detach(), weight.grad)
torch.testing.assert_close(weight.grad, torch.ones(4))

# %%
# If the base is written later, make the view again
# -------------------------------------------------
#
# The gradient of ``weight`` is the value that it multiplied, where it is used.

cache = torch.ones(4)
weight = torch.ones(4, requires_grad=True)
cache.mul_(weight)
cache[:2].sum().backward()

print(weight.grad)
torch.testing.assert_close(weight.grad, torch.tensor([1.0, 1.0, 0.0, 0.0]))

# %%
# What only hides the error
# -------------------------
#
# The message offers "both inside". For an activation that is the wrong half:
# the number is tripled and the gradient does not know.

weight = torch.ones(4, requires_grad=True)
hidden = weight * 1.0
with torch.no_grad():
    half = hidden[:2]
    half.mul_(3.0)
hidden.sum().backward()

right = torch.tensor([3.0, 3.0, 1.0, 1.0])
print("got", weight.grad, "instead of", right)
assert not torch.equal(weight.grad, right)

# %%
# If a library raised it
# ----------------------
#
# Two lines matter: the one in the traceback, which writes, and an earlier one
# that makes the view under `no_grad`. Search upward for a
# ``@torch.no_grad()`` above a method that returns ``x.view(...)``, ``x[...]``
# or ``x.t()``. Let that method return ``x[...].clone()``, or put the write under
# `no_grad` when the tensor is a parameter or a cache.

# %%
# Am I right now?
# ---------------
#
# Move one element a little both ways, and compare the slope with the gradient.


def loss_of(weight):
    hidden = weight * 1.0
    hidden[:2].mul_(3.0)
    return hidden.sum()


weight = torch.ones(4, dtype=torch.float64, requires_grad=True)
loss_of(weight).backward()
step = torch.tensor([1e-6, 0.0, 0.0, 0.0], dtype=torch.float64)
with torch.no_grad():
    slope = (loss_of(weight + step) - loss_of(weight - step)) / 2e-6

print(slope, weight.grad[0])
torch.testing.assert_close(slope, weight.grad[0])
