# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "non-leaf/grad-access-warning", "confusion/retain-grad-docs",
#     "inventory/nonleaf-grad-access", "inventory/nonleaf-grad-access-to-device",
# ]
#
# [[tool.autograd-errors.error]]
# raises = "UserWarning"
# message = "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute won't be populated during autograd.backward(). If you indeed want the .grad field to be populated for a non-leaf Tensor, use .retain_grad() on the non-leaf Tensor. If you access the non-leaf Tensor by mistake, make sure you access the leaf Tensor instead. See github.com/pytorch/pytorch/pull/30531 for more information."
# source = "build/aten/src/ATen/core/TensorBody.h"
# ///
"""
The gradient of a non-leaf tensor is None
=========================================

You read ``.grad`` of a tensor that an operation made. Backward passes through
such a `non-leaf tensor` and keeps nothing there: the gradients stay with the
leaves at the end of the graph.
"""

import torch

# %%
# The warning
# -----------
#
# You want to know how the loss depends on a pixel, and you prepare the image
# in one line: make it, turn on gradients, move it to the type of the model.

image = torch.tensor([1.0, 2.0, 3.0], requires_grad=True).to(torch.float64)
(image**2).sum().backward()

print(image.grad)

# %%
# ``.to`` is an operation like any other, and so are ``.cuda()``, ``* 0.01`` and
# ``.view``. The `leaf tensor` that got the gradient is the one before it, and
# it has no name:

print(image.is_leaf, image.grad_fn)

# draw: image

# %%
# To get the gradient of the input, turn on gradients last
# --------------------------------------------------------
#
# Create and move first. `requires_grad` set on the result makes that tensor the
# leaf. By hand, the gradient of ``sum(image**2)`` is ``2 * image``.

image = torch.tensor([1.0, 2.0, 3.0]).to(torch.float64).requires_grad_()
(image**2).sum().backward()

print(image.is_leaf, image.grad)
torch.testing.assert_close(image.grad, 2 * image.detach())

# %%
# The creation function can do all of it at once:
# ``torch.tensor(..., dtype=..., device=..., requires_grad=True)``. Where you
# need both tensors, keep a name for the leaf and read ``.grad`` there.

pixels = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
image = pixels.to(torch.float64)
(image**2).sum().backward()

print(pixels.grad)
torch.testing.assert_close(pixels.grad, 2 * pixels.detach())

# %%
# To see the gradient inside the network, retain it
# -------------------------------------------------
#
# If the tensor in the middle is what you are after, say so before backward.
# `retain_grad` changes no gradient; it keeps one more. With
# ``loss = sum(hidden**2)`` it is ``2 * hidden``.

x = torch.tensor([1.0, 2.0], requires_grad=True)
hidden = 3 * x
hidden.retain_grad()
(hidden**2).sum().backward()

print(hidden.is_leaf, hidden.grad, x.grad)
torch.testing.assert_close(hidden.grad, 2 * hidden.detach())
torch.testing.assert_close(x.grad, 18 * x.detach())

# %%
# `torch.autograd.grad` answers the same question without storing anything.

hidden = 3 * x
(gradient,) = torch.autograd.grad((hidden**2).sum(), hidden)
torch.testing.assert_close(gradient, 2 * hidden.detach())

# %%
# If you also write in place, retain_grad means the last value
# ------------------------------------------------------------
#
# An `in-place operation` gives the variable a new `grad_fn`. Which gradient do
# you get, the one before the write or the one after it? Let the write multiply
# by ten, and call ``retain_grad`` on either side.

x = torch.tensor([1.0, 2.0], requires_grad=True)
before = 3 * x
before.retain_grad()
before.mul_(10)
(before**2).sum().backward()

after = 3 * x
after.mul_(10)
after.retain_grad()
(after**2).sum().backward()

print(before.grad, after.grad)

# %%
# The request moves along with the variable. By hand: the final value is
# ``30 * x``, so its gradient is ``60 * x``, in both cases.

torch.testing.assert_close(before.grad, 60 * x.detach())
torch.testing.assert_close(after.grad, 60 * x.detach())

# %%
# A `hook` does not move. Registered before the write, it gets the gradient of
# the value before the write, which is ten times as large.

seen = []
hidden = 3 * x
hidden.register_hook(seen.append)
hidden.mul_(10)
(hidden**2).sum().backward()

print(seen)
torch.testing.assert_close(seen[0], 600 * x.detach())

# %%
# Only where the tensor does not require grad before the write, as in a buffer
# that is about to be filled, do you have to wait: `grad-retain-without-graph`.

filled = torch.zeros(2)
filled[0] = x.sum()
filled.retain_grad()
filled[1] = x.prod()
(filled**2).sum().backward()

print(filled.grad)
torch.testing.assert_close(filled.grad, torch.tensor([2 * 3.0, 2 * 2.0]))

# %%
# What only hides the error
# -------------------------
#
# ``image.requires_grad_()`` is often tried, and ``image.detach()`` with it. On a
# tensor that requires grad already the first does nothing at all. The second
# makes a new leaf, which gets the gradient, but nothing behind it does: whatever
# made ``hidden`` stops learning.

weight = torch.tensor([1.0, 2.0], requires_grad=True)
hidden = (3 * weight).requires_grad_()
print(hidden.is_leaf)
assert not hidden.is_leaf

hidden = (3 * weight).detach().requires_grad_()
(hidden**2).sum().backward()
print(hidden.grad, weight.grad)
assert weight.grad is None

# %%
# If a library raised it
# ----------------------
#
# The warning names the line that read ``.grad``. If a library reads it only to
# clear it, you lose nothing: there was no gradient to clear. If it reads it to
# use it, you handed over a non-leaf; hand over the leaf.
#
# Related: `leaf-what-is`, `grad-is-none`, `optimizer-non-leaf`,
# `grad-retain-without-graph`.
