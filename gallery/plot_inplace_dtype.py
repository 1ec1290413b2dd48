# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = ["inventory/inplace-dtype-cast", "inventory/inplace-div-int"]
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "result type <dtype> can't be cast to the desired output type <output_dtype>"
# source = "aten/src/ATen/TensorIterator.cpp"
# ///
"""
A fractional result written into integers
=========================================

You wrote the result of a computation in place into a tensor whose `dtype`
cannot hold it: floats into integers, complex numbers into real ones, numbers
into booleans. An `in-place operation` keeps the dtype, and PyTorch does not
round for you.
"""

import traceback

import torch

# %%
# The error
# ---------
#
# A tensor of counts was created from Python integers, and then collects
# weights.

counts = torch.tensor([0, 0, 0])
weights = torch.tensor([0.5, 1.0, 1.5], requires_grad=True)

try:
    counts += weights
except RuntimeError:
    traceback.print_exc()

# %%
# Division always has a fraction in its result type, even for even numbers:

sizes = torch.tensor([4, 2])

try:
    sizes /= 2
except RuntimeError:
    traceback.print_exc()

# %%
# The first type in the message is the one of the result, the second the one of
# the tensor on the left:

print(torch.result_type(counts, weights), counts.dtype)

# %%
# If fractions belong there, create it as floating point
# ------------------------------------------------------
#
# Write ``0.0`` instead of ``0``, or give the dtype. The sum of the collected
# squares has the gradient ``2 * weights``.

counts = torch.zeros(3)
counts += weights
(counts**2).sum().backward()

print(weights.grad)
torch.testing.assert_close(weights.grad, 2 * weights.detach())

# %%
# If you get the integers from elsewhere, do not write in place
# -------------------------------------------------------------
#
# ``x = x + y`` makes a tensor of the result type.

received = torch.tensor([1, 1, 1])
weights.grad = None
total = received + weights
(total**2).sum().backward()

print(total.dtype, weights.grad)
torch.testing.assert_close(weights.grad, 2 * (1 + weights.detach()))

# %%
# If integers are right, divide without a fraction
# ------------------------------------------------
#
# ``//=`` rounds down and stays with integers. It has no gradient, like
# everything with integers.

sizes = torch.tensor([5, 2])
sizes //= 2

print(sizes)
assert sizes.tolist() == [5 // 2, 2 // 2]

# %%
# What only hides the error
# -------------------------
#
# Converting the right side to integers cuts off the fractions. It also ends the
# graph there: the result does not know ``weights`` any more.

counts = torch.tensor([0, 0, 0])
counts += weights.long()

print(counts, counts.requires_grad)
assert counts.tolist() == [0, 1, 1] and not counts.requires_grad

# %%
# An index assignment into integers does the same without being asked:

counts = torch.tensor([0, 0, 0])
counts[:] = weights

print(counts, counts.requires_grad)
assert counts.tolist() == [0, 1, 1] and not counts.requires_grad

# %%
# See also
# --------
#
# * `inplace-broadcast`
# * `requires-grad-set`: why integers have no gradient
