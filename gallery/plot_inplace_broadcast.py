# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = ["inventory/inplace-broadcast-shape"]
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "output with shape <shape> doesn't match the broadcast shape <broadcast_shape>"
# source = "aten/src/ATen/TensorIterator.cpp"
# ///
"""
In-place result larger than its tensor
======================================

You added, or multiplied, something with more elements into a tensor in place.
Out of place, `broadcasting` would return a tensor of the larger shape; an
`in-place operation` must fit its result into the memory that is there.
"""

import traceback

import torch

# %%
# The error
# ---------
#
# A bias of three features is updated with the values of a batch of two.

bias = torch.zeros(3)
batch = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], requires_grad=True)

try:
    bias += batch
except RuntimeError:
    traceback.print_exc()

# %%
# The first shape in the message is the tensor on the left, the second is the
# shape of the result:

print(bias.shape, torch.broadcast_shapes(bias.shape, batch.shape))

# %%
# If you want the larger result, do not write in place
# ----------------------------------------------------
#
# ``x = x + y`` makes a new tensor. Every element of the batch counts once, so the
# gradient of the sum is 1.

shifted = bias + batch
shifted.sum().backward()

print(shifted.shape, batch.grad)
torch.testing.assert_close(batch.grad, torch.ones(2, 3))

# %%
# If you want to collect over the batch, reduce it first
# ------------------------------------------------------
#
# Sum, or take the mean, over the dimension that the tensor on the left does not
# have. The mean over two rows gives each a gradient of a half.

bias = torch.zeros(3)
batch.grad = None
bias += batch.mean(dim=0)
bias.sum().backward()

print(bias, batch.grad)
torch.testing.assert_close(bias.detach(), torch.tensor([2.5, 3.5, 4.5]))
torch.testing.assert_close(batch.grad, torch.full((2, 3), 0.5))

# %%
# If the shapes should have been equal, reshape one
# -------------------------------------------------
#
# A column against a row is the usual surprise: ``(3, 1)`` with ``(3,)`` gives
# ``(3, 3)``. ``unsqueeze``, ``squeeze`` or ``view`` put the numbers where they
# belong.

total = torch.zeros(3, 1)
values = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)

try:
    total += values
except RuntimeError:
    traceback.print_exc()

total += values.unsqueeze(1)
(total**2).sum().backward()

print(total.shape, values.grad)
torch.testing.assert_close(values.grad, 2 * values.detach())

# %%
# What only hides the error
# -------------------------
#
# Writing ``total = total + values`` for the column above ends the message with a
# square of sums. Nine numbers go into the loss instead of three, and the
# gradient is not ``2 * values``.

values = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
total = torch.zeros(3, 1) + values
(total**2).sum().backward()

print(total.shape, values.grad)
assert not torch.allclose(values.grad, 2 * values.detach())

# %%
# See also
# --------
#
# * `inplace-setitem-size`: the same in an index assignment
# * `inplace-dtype`
