# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# shows = ["view-no-grad"]
# causes = [
#     "view-of-leaf/param-init-through-view",
#     "inventory/view-of-leaf-inplace",
#     "inventory/leaf-inplace-setitem",
# ]
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "a view of a leaf Variable that requires grad is being used in an in-place operation."
# source = "torch/csrc/autograd/VariableTypeUtils.h"
# ///
"""
In-place operation on a view of a leaf
======================================

You reshaped or sliced a parameter and wrote into the result. The result is a
`view`: it shares the parameter's memory, so the write would change the
parameter itself, and that parameter is a `leaf tensor` whose value autograd
must not lose.
"""

import traceback

import torch

# %%
# The error
# ---------
#
# A detection head keeps one bias for every anchor and class, and wants the
# first class of each anchor to start at 4.

bias = torch.nn.Parameter(torch.zeros(6))
per_anchor = bias.view(3, 2)

try:
    per_anchor[:, 0] += 4.0
except RuntimeError:
    traceback.print_exc()

# %%
# ``per_anchor`` owns no memory. Its base is the parameter:

print(per_anchor._base is bias, bias.is_leaf)

# draw: per_anchor

# %%
# An index, a slice and a transpose are views as well. A mask is not one, and
# neither is ``[:]``: there the write goes to the parameter itself, and the
# message is the one of `leaf-inplace`.

try:
    bias[0] = 4.0
except RuntimeError:
    traceback.print_exc()

weight = torch.nn.Parameter(torch.zeros(2, 3))
print([made._base is weight for made in (weight[0], weight[:, 1:], weight.t(), weight.mT)])
print(weight[weight > 0]._base)

# %%
# Which page is yours
# -------------------
#
# - You are in YOLO code, at ``b[:, 4] += ...``: `case-yolov5-biases`.
# - You edit rows or columns of trained weights: `view-weight-surgery`.
# - You fill a tensor with results of your model: `view-output-buffer`.
# - You loop over a tensor, or split it: `view-multi-output`.
# - The tensor that you view is no leaf: a write into its view is allowed and
#   differentiated. See the last section of this page.

# %%
# To set a starting value, stop recording
# ---------------------------------------
#
# An initial value is not part of the model's computation, so it needs no
# gradient. Write it where autograd does not look.

bias = torch.nn.Parameter(torch.zeros(6))

with torch.no_grad():
    bias.view(3, 2)[:, 0] += 4.0

loss = (bias**2).sum()
loss.backward()

print(bias.grad)
torch.testing.assert_close(bias.grad, torch.tensor([8.0, 0.0, 8.0, 0.0, 8.0, 0.0]))

# %%
# Make the view inside the block too. One that was made inside `no_grad` and is
# written outside is refused, for it is unclear what you want
# (`view-no-grad`):

bias = torch.nn.Parameter(torch.zeros(6))
with torch.no_grad():
    per_anchor = bias.view(3, 2)

try:
    per_anchor += 4.0
except RuntimeError:
    traceback.print_exc()

# %%
# To write without a block, detach
# --------------------------------
#
# `detach` gives a tensor on the same memory that never requires grad. Unlike
# ``.data`` it shares the `version counter`, so a write at the wrong moment is
# still found out.

bias = torch.nn.Parameter(torch.zeros(6))
bias.detach().view(3, 2)[:, 0] += 4.0
(bias**2).sum().backward()

print(bias.grad, bias._version)
torch.testing.assert_close(bias.grad, torch.tensor([8.0, 0.0, 8.0, 0.0, 8.0, 0.0]))

# %%
# When you create the parameter, fill it first
# --------------------------------------------
#
# A plain tensor has no history to protect. It becomes a parameter when its
# values are there.

values = torch.zeros(3, 2)
values[:, 0] += 4.0
bias = torch.nn.Parameter(values.view(-1))
(bias**2).sum().backward()

print(bias.is_leaf, bias.grad)
torch.testing.assert_close(bias.grad, torch.tensor([8.0, 0.0, 8.0, 0.0, 8.0, 0.0]))

# %%
# To learn through the change, write into a copy
# ----------------------------------------------
#
# `clone` gives the write its own memory and keeps the way back to ``bias``.

bias = torch.nn.Parameter(torch.zeros(6))

shifted = bias.view(3, 2).clone()
shifted[:, 0] += 4.0
(shifted**2).sum().backward()

print(bias.grad)
torch.testing.assert_close(bias.grad, torch.tensor([8.0, 0.0, 8.0, 0.0, 8.0, 0.0]))

# %%
# Or write nothing, and add
# -------------------------
#
# Out of place, the same model needs no copy of its own.

bias = torch.nn.Parameter(torch.zeros(6))
shifted = bias.view(3, 2) + torch.tensor([4.0, 0.0])
(shifted**2).sum().backward()

print(bias.grad)
torch.testing.assert_close(bias.grad, torch.tensor([8.0, 0.0, 8.0, 0.0, 8.0, 0.0]))

# %%
# What only hides the error
# -------------------------
#
# `.data` also silences the message, because it hides the write from the
# version counter. If forward has already used the parameter, backward
# silently computes with the new value. Here the gradient of ``bias**2`` at 0
# should be 0:

bias = torch.nn.Parameter(torch.zeros(6))
loss = (bias**2).sum()
bias.data += 4.0
loss.backward()

right = torch.zeros(6)
print("got", bias.grad, "instead of", right)
assert not torch.equal(bias.grad, right)

# %%
# Assigning a new tensor to ``.data`` has one more effect. The parameter moves
# to other memory, and views made before stay behind on the old one:

bias = torch.nn.Parameter(torch.zeros(6))
per_anchor = bias.view(3, 2)
bias.data = (per_anchor + 4.0).view_as(bias)

print(bias[0], per_anchor[0, 0])
assert bias[0] != per_anchor[0, 0]

# %%
# "Views of parameters must never be written" is not the rule. It is about
# leaves only. A view of a result may be written, and the gradient agrees with
# `finite differences`.

weight = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)


def through_a_view(weight):
    hidden = weight * 1.0
    hidden.view(2, 1)[0] *= 5.0
    return hidden**2


print(torch.autograd.gradcheck(through_a_view, (weight,)))
assert torch.autograd.gradcheck(through_a_view, (weight,))

# %%
# If a library raised it
# ----------------------
#
# The line is the last one of the traceback outside ``torch``. It has an index
# on the left of ``=`` or ``+=``, or calls a method that ends in ``_`` on
# something that came from ``.view``, ``.t()`` or an index.
#
# - While the model is built or loaded: put the statement, together with the
#   one that makes the view, under ``with torch.no_grad():``.
# - In ``forward``: put ``.clone()`` behind the expression that makes the view.
#
# Replacing ``b[...]`` by ``b.data[...]`` is what many repositories did. While a
# model is built it does the same as `no_grad`; later it is the trap above.

# %%
# Am I right now?
# ---------------
#
# Move one element a little both ways, and compare the slope of the loss with
# the gradient. Put your own loss and parameter in their places.


def loss_of(bias):
    shifted = bias.view(3, 2).clone()
    shifted[:, 0] += 4.0
    return (shifted**2).sum()


bias = torch.zeros(6, dtype=torch.float64, requires_grad=True)
loss_of(bias).backward()
step = torch.zeros(6, dtype=torch.float64)
step[0] = 1e-6
with torch.no_grad():
    slope = (loss_of(bias + step) - loss_of(bias - step)) / 2e-6

print(slope, bias.grad[0])
torch.testing.assert_close(slope, bias.grad[0])
