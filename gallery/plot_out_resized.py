# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = ["inventory/out-resized"]
#
# [[tool.autograd-errors.error]]
# raises = "UserWarning"
# message = "An output with one or more elements was resized since it had shape <shape>, which does not match the required output shape <required_shape>. This behavior is deprecated, and in a future PyTorch release outputs will not be resized unless they have zero elements. You can explicitly reuse an out tensor t by resizing it, inplace, to zero elements with t.resize_(0)."
# source = "aten/src/ATen/native/Resize.cpp"
# ///
"""
A buffer of the wrong shape given to out=
=========================================

The tensor you gave to ``out=`` had another shape than the result. PyTorch
changed its shape for you, and warns, because memory that belongs to another
`view` can be overwritten that way.
"""

import torch

# %%
# The warning
# -----------
#
# Sums and counts share one tensor of statistics. The new values are one more
# than the part for the sums holds.

statistics = torch.zeros(4)
sums, counts = statistics[:2], statistics[2:]
torch.add(torch.tensor([1.0, 2.0, 3.0]), 1, out=sums)

# %%
# The sums have three elements now, and the third lies where the first count was:

print(sums, counts)
assert counts[0] == 3.0 + 1

# %%
# Let the function make the result
# --------------------------------
#
# Without ``out=`` the shape is right, and the call can be recorded. For the sum
# of squares of ``x + 1`` the gradient is ``2 * (x + 1)``.

x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
result = torch.add(x, 1)
(result**2).sum().backward()

print(x.grad)
torch.testing.assert_close(x.grad, torch.tensor([4.0, 6.0, 8.0]))

# %%
# To reuse one buffer for many sizes, cut it
# ------------------------------------------
#
# Make the buffer as large as the largest batch, and give the function the part
# that it fills. Views of the buffer then show the new values.

buffer = torch.zeros(4)
first = buffer[:1]
values = torch.tensor([1.0, 2.0, 3.0])
torch.add(values, 1, out=buffer[: len(values)])

print(buffer, first)
torch.testing.assert_close(buffer[:3], values + 1)
torch.testing.assert_close(first, values[:1] + 1)

# %%
# If it may be resized, empty it first
# ------------------------------------
#
# ``resize_(0)`` says that nobody needs the old contents.

buffer = torch.zeros(2)
torch.add(values, 1, out=buffer.resize_(0))

torch.testing.assert_close(buffer, values + 1)

# %%
# See also
# --------
#
# * `out-requires-grad`
# * `data-resize`
