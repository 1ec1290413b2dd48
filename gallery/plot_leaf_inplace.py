# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "leaf-inplace/unknown-site",
#     "leaf-inplace/mutates-before-raising",
#     "leaf-inplace/explained-wrongly",
#     "inventory/leaf-inplace-op",
#     "inventory/leaf-inplace-foreach",
#     "inventory/leaf-inplace-metadata-op",
#     "inventory/ddp-create-graph-leaf",
# ]
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "a leaf Variable that requires grad is being used in an in-place operation."
# source = "torch/csrc/autograd/VariableTypeUtils.h"
# ///
"""
In-place operation on a leaf that requires grad
===============================================

You changed a tensor that requires grad with ``+=``, a method that ends in
``_``, or an assignment. The tensor is a `leaf tensor`: its gradient is asked
for at the value you gave it, and an `in-place operation` would turn it into a
result of something else.
"""

import traceback

import torch

# %%
# The error
# ---------
#
# A learnable scale starts at one too low and is corrected.

scale = torch.tensor([1.0, 2.0], requires_grad=True)
try:
    scale += 1.0
except RuntimeError:
    traceback.print_exc()

# %%
# The statement is refused before it does anything. No backward is needed for
# the error, and the tensor keeps its value:

print(scale.is_leaf, scale.requires_grad, scale.grad_fn)
print(scale.detach())
assert scale.tolist() == [1.0, 2.0]

# draw: scale

# %%
# Which page is yours
# -------------------
#
# Decide first whether the change belongs to the model's computation.
#
# - You update weights by hand in a training loop: `leaf-sgd-step`.
# - You set starting values or load weights: `leaf-initial-values`.
# - You zero some weights with a mask: `leaf-masked-assignment`.
# - Your model's forward adds to a parameter or an input: `leaf-forward-assign`.
# - The first layer is ``ReLU(inplace=True)``: `leaf-relu-on-input`.
# - You clamp an image that you optimize: `leaf-clamp-input`.
# - It happens only in a thread: `leaf-other-thread`.
# - ``backward`` raises it, under `DDP` with ``create_graph=True``: `ddp-limits`.
# - The message says "a view of a leaf": `view-of-leaf`.
# - The message says "has been used": `leaf-mark-dirty`.

# %%
# If the change is not to be learned from, turn recording off
# -----------------------------------------------------------
#
# Under `no_grad` the leaf takes the new value and stays a leaf. A loss computed
# afterwards is differentiated at that new value: for ``scale**2`` twice it.

scale = torch.tensor([1.0, 2.0], requires_grad=True)
with torch.no_grad():
    scale += 1.0
(scale**2).sum().backward()

print(scale.is_leaf, scale.grad)
torch.testing.assert_close(scale.grad, 2 * torch.tensor([2.0, 3.0]))

# %%
# A write through `detach` does the same without a block. That it "kills the
# gradient" is a rumor; only a loss computed from the detached tensor has none.

scale = torch.tensor([1.0, 2.0], requires_grad=True)
scale.detach().zero_()
(scale**2 + scale).sum().backward()

print(scale.grad)
torch.testing.assert_close(scale.grad, 2 * torch.zeros(2) + 1)

# %%
# If the change is part of the computation, make a new tensor
# -----------------------------------------------------------
#
# Both lines leave ``scale`` alone. Use `clone` where more in-place lines
# follow.

for shift in (lambda leaf: leaf + 1.0, lambda leaf: leaf.clone().add_(1.0)):
    scale = torch.tensor([1.0, 2.0], requires_grad=True)
    shifted = shift(scale)
    (shifted**2).sum().backward()
    print(scale.detach(), scale.grad)
    torch.testing.assert_close(scale.grad, 2 * (torch.tensor([1.0, 2.0]) + 1.0))

# %%
# If the operation only turns the shape, or changes a list
# --------------------------------------------------------
#
# ``t_``, ``squeeze_`` and ``unsqueeze_`` move no number and are refused all the
# same, and so are the list versions that optimizers use. Take the
# out-of-place name, or `no_grad`.

weight = torch.tensor([[1.0, 2.0, 3.0]], requires_grad=True)
try:
    weight.t_()
except RuntimeError:
    traceback.print_exc()

try:
    torch._foreach_add_([weight], 1.0)
except RuntimeError:
    traceback.print_exc()

(weight.t() * torch.tensor([[4.0], [5.0], [6.0]])).sum().backward()

print(weight.grad)
torch.testing.assert_close(weight.grad, torch.tensor([[4.0, 5.0, 6.0]]))

# %%
# What only hides the error
# -------------------------
#
# "Use ``detach()``" is right for a change nobody learns from, and wrong when the
# loss continues on the detached tensor. No gradient comes back, and the leaf
# has changed as well, since both share one `storage`:

scale = torch.tensor([1.0, 2.0], requires_grad=True)
shifted = scale.detach()
shifted += 1.0
loss = (shifted**2).sum()

print(loss.requires_grad, scale.grad, scale.detach())
assert not loss.requires_grad
assert scale.tolist() == [2.0, 3.0]

# %%
# ``.data`` is worse, because no check can see it. Here the loss was computed
# before the change, so its gradient is twice the old value:

scale = torch.tensor([1.0, 2.0], requires_grad=True)
loss = (scale**2).sum()
scale.data += 1.0
loss.backward()

right = 2 * torch.tensor([1.0, 2.0])
print("got", scale.grad, "instead of", right)
assert not torch.equal(scale.grad, right)

# timeline: scale

# %%
# The same line under `no_grad` is counted, and backward refuses to lie. See
# `version-modified`.

scale = torch.tensor([1.0, 2.0], requires_grad=True)
loss = (scale**2).sum()
with torch.no_grad():
    scale += 1.0

refused = False
try:
    loss.backward()
except RuntimeError:
    refused = True

print("refused:", refused, "version:", scale._version, "grad:", scale.grad)
assert refused and scale.grad is None

# timeline: scale

# %%
# If a library raised it
# ----------------------
#
# The line is the last one of the traceback that is not inside ``torch``. Look
# there for ``+=``, ``-=``, ``*=``, a method that ends in ``_`` or ``[...] =``.
#
# - In a file that builds the model, put the line under `no_grad`.
# - In ``forward``, write ``x = x + y`` for ``x += y``.
# - If the tensor is your own input, hand the library ``x.clone()`` instead of
#   ``x``. The gradient still arrives at ``x``:


def library_normalize(image):
    image -= 0.5
    return image / 0.5


image = torch.tensor([0.25, 0.75], requires_grad=True)
library_normalize(image.clone()).sum().backward()

print(image.grad)
torch.testing.assert_close(image.grad, torch.full((2,), 1 / 0.5))

# %%
# Am I right now?
# ---------------
#
# Move one element a little both ways, and compare the slope of the loss with
# the gradient. Put your own loss and tensor in their places.


def loss_of(scale):
    return ((scale + 1.0) ** 2).sum()


scale = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
loss_of(scale).backward()
step = torch.tensor([1e-6, 0.0], dtype=torch.float64)
with torch.no_grad():
    slope = (loss_of(scale + step) - loss_of(scale - step)) / 2e-6

print(slope, scale.grad[0])
torch.testing.assert_close(slope, scale.grad[0])
