# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "inventory/grad-unused-input-view-after",
#     "inventory/grad-unused-input-wrong-tensor",
#     "silent/silent-allow-unused-fix",
# ]
# cause-of = "grad-unused-input"
# symptom = "grad returns None with allow_unused=True, although the tensor is in the loss."
# symptom-zh = "加了 allow_unused=True 之后梯度是 None，明明用到了这个张量"
# ///
"""
A view or copy made after the forward pass
==========================================

You computed the loss from one tensor and asked for the gradient of another that
was made from it, or beside it. A `view`, a clone or a moved copy has the same
numbers and its own place in the graph.
"""

import traceback

import torch

# %%
# The error
# ---------
#
# The loss uses an image; its gradient is wanted as a flat vector.

image = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
loss = (image**2).sum()

try:
    torch.autograd.grad(loss, image.view(4))
except RuntimeError:
    traceback.print_exc()

# %%
# ``image.view(4)`` is a new tensor that comes *after* ``image``. Nothing leads from
# it to the loss.
#
# Differentiate what was used, then reshape
# -----------------------------------------

image = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
(gradient,) = torch.autograd.grad((image**2).sum(), image)
flat = gradient.view(4)

print(flat)
torch.testing.assert_close(flat, 2 * image.detach().view(4))

# %%
# Or make the view first, and use it
# ----------------------------------
#
# Then the view is on the way, and the gradient of just one part can be asked for:
# here of the first row, in a loss that reads the row.

first, second = image[0], image[1]
(gradient,) = torch.autograd.grad((first**2 + second).sum(), first)

print(gradient)
torch.testing.assert_close(gradient, 2 * image[0].detach())

# %%
# If a wrapper made the second tensor, remove the wrapper
# -------------------------------------------------------
#
# Old code wraps a tensor in ``Variable(x.data, requires_grad=True)``. That is a
# second leaf; the loss was computed from the first.

x = torch.tensor([1.0, 2.0], requires_grad=True)
wrapped = torch.autograd.Variable(x.data, requires_grad=True)
loss = (x**2).sum()
try:
    torch.autograd.grad(loss, wrapped)
except RuntimeError:
    traceback.print_exc()

(gradient,) = torch.autograd.grad((wrapped**2).sum(), wrapped)
torch.testing.assert_close(gradient, 2 * x.detach())

# %%
# What only hides the error
# -------------------------
#
# With ``allow_unused=True`` the answer is ``None``, and nothing says why.

image = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
copy = image.clone()
(gradient,) = torch.autograd.grad((image**2).sum(), copy, allow_unused=True)

print(gradient)
assert gradient is None

# %%
# Together with ``materialize_grads=True`` it is worse: a zero that looks like a
# gradient.

(gradient,) = torch.autograd.grad((image**2).sum(), image.view(4), materialize_grads=True)

print(gradient, "instead of", flat)
assert not torch.allclose(gradient, flat)

# %%
# See also
# --------
#
# * `grad-unused-input`: the other causes of the message
# * `grad-of-nonleaf`: ``.grad`` of such a tensor
