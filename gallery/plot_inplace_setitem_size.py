# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = ["inventory/inplace-size-mismatch-setitem"]
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "The expanded size of the tensor (<size>) must match the existing size (<value_size>) at non-singleton dimension <dimension>.  Target sizes: <target_shape>.  Tensor sizes: <value_shape>"
# source = "aten/src/ATen/ExpandUtils.h"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "shape mismatch: value tensor of shape <value_shape> cannot be broadcast to indexing result of shape <target_shape>"
# source = "aten/src/ATen/native/TensorAdvancedIndexing.cpp"
# ///
"""
A value that does not fit the place it is assigned to
=====================================================

You assigned a tensor to a part of another one, and the two shapes differ.
Assignment stretches a dimension of size 1 to the size of the place, by
`broadcasting`, but it never cuts and never repeats.
"""

import traceback

import torch

# %%
# The errors
# ----------
#
# A buffer for sequences of at most three steps receives one that is longer.

buffer = torch.zeros(3)
sequence = torch.tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True)

try:
    buffer[:3] = sequence
except RuntimeError:
    traceback.print_exc()

# %%
# Target sizes are the place on the left, tensor sizes the value on the right.
# With a mask or a list as the index, the message has other words:

mask = torch.tensor([True, False, True])

try:
    buffer[mask] = sequence
except RuntimeError:
    traceback.print_exc()

# %%
# Print both before you assign:

print(buffer[:3].shape, buffer[mask].shape, sequence.shape)

# %%
# If the value is too long, cut it
# --------------------------------
#
# Elements that were cut off do not reach the loss, so their gradient is 0. The
# write is recorded, and the others get ``2 * value``.

buffer = torch.zeros(3)
buffer[:3] = sequence[:3]
(buffer**2).sum().backward()

print(sequence.grad)
torch.testing.assert_close(sequence.grad, torch.tensor([2.0, 4.0, 6.0, 0.0]))

# %%
# If it is too short, choose the place by its length
# --------------------------------------------------

short = torch.tensor([1.0, 2.0], requires_grad=True)
buffer = torch.zeros(3)
buffer[: len(short)] = short
(buffer**2).sum().backward()

print(buffer, short.grad)
torch.testing.assert_close(short.grad, torch.tensor([2.0, 4.0]))

# %%
# For a whole batch, pad instead of assigning: ``pad_sequence`` needs no buffer.

sequence.grad = short.grad = None
padded = torch.nn.utils.rnn.pad_sequence([sequence, short], batch_first=True)
(padded**2).sum().backward()

print(padded.shape, short.grad)
torch.testing.assert_close(sequence.grad, 2 * sequence.detach())
torch.testing.assert_close(short.grad, 2 * short.detach())

# %%
# With a mask, index the value with the same mask
# -----------------------------------------------
#
# `torch.where` takes whole tensors and saves you from counting.

values = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
buffer = torch.zeros(3)
buffer[mask] = values[mask]
chosen = torch.where(mask, values, torch.zeros(3))
(buffer**2).sum().backward()

print(values.grad)
torch.testing.assert_close(buffer, chosen)
torch.testing.assert_close(values.grad, torch.tensor([2.0, 0.0, 6.0]))

# %%
# What only hides the error
# -------------------------
#
# A mean, or any single number, fits everywhere. It is repeated into all places and
# collects their gradients, so each value moves for all of them:

values = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
buffer = torch.zeros(2)
buffer[:] = values.mean()
(buffer**2).sum().backward()

print(buffer, values.grad)
torch.testing.assert_close(values.grad, torch.full((3,), 2 * 2 * 2.0 / 3))
assert not torch.allclose(values.grad, 2 * values.detach())

# %%
# See also
# --------
#
# * `inplace-broadcast`
# * `guide-assignment`: index assignment and gradients
