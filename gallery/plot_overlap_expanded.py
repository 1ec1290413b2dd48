# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "expand/write-to-expanded",
#     "inventory/overlap-expanded-inplace",
#     "inventory/overlap-expanded-grad-inplace",
# ]
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "unsupported operation: more than one element of the written-to tensor refers to a single memory location. Please clone() the tensor before performing the operation."
# source = "aten/src/ATen/MemoryOverlap.cpp"
# ///
"""
Writing into an expanded tensor
===============================

You wrote into the result of ``expand`` or ``broadcast_to``. Its rows are one
row seen several times, so one place in memory would have to take several
values at once.
"""

import traceback

import torch

# %%
# The error
# ---------
#
# One bias is spread over a batch, and each sample adds its own offset.

bias = torch.tensor([[1.0, 2.0]])
offset = torch.tensor([[10.0, 20.0], [30.0, 40.0]])
batch = bias.expand(2, 2)
try:
    batch += offset
except RuntimeError:
    traceback.print_exc()

# %%
# `expand` sets a stride of zero: the step from one row to the next stays where
# it is.

print(batch.shape, batch.stride(), batch[0].data_ptr() == batch[1].data_ptr())
assert batch.stride(0) == 0

# %%
# ``meshgrid`` expands too, and so does backward. The gradient of a sum is a
# single one, expanded, and a `hook` that scales it in place stops:

weight = torch.tensor([1.0, 2.0], requires_grad=True)
hidden = weight * 1.0
hidden.register_hook(lambda grad: grad.mul_(2.0))
try:
    hidden.sum().backward()
except RuntimeError:
    traceback.print_exc()

# %%
# Add out of place
# ----------------
#
# Nothing is written, and `broadcasting` makes the expansion unnecessary. The
# gradient of the bias is the sum over the batch.

bias = torch.tensor([[1.0, 2.0]], requires_grad=True)
(bias + offset).pow(2).sum().backward()

print(bias.grad)
torch.testing.assert_close(bias.grad, torch.tensor([[2 * (11.0 + 31.0), 2 * (22.0 + 42.0)]]))

# %%
# Or give every row its own memory
# --------------------------------
#
# `clone` copies the rows apart, and ``repeat`` makes them apart. Use this
# where more in-place lines follow.

for spread in (lambda bias: bias.expand(2, 2).clone(), lambda bias: bias.repeat(2, 1)):
    bias = torch.tensor([[1.0, 2.0]], requires_grad=True)
    batch = spread(bias)
    batch += offset
    batch.pow(2).sum().backward()
    print(batch.stride(), bias.grad)
    torch.testing.assert_close(bias.grad, torch.tensor([[2 * (11.0 + 31.0), 2 * (22.0 + 42.0)]]))

# %%
# In a hook, return a new gradient
# --------------------------------
#
# A hook's result replaces the gradient. Nobody else's tensor is touched.

weight = torch.tensor([1.0, 2.0], requires_grad=True)
hidden = weight * 1.0
hidden.register_hook(lambda grad: grad * 2.0)
hidden.sum().backward()

print(weight.grad)
torch.testing.assert_close(weight.grad, torch.tensor([2.0, 2.0]))

# %%
# What only hides the error
# -------------------------
#
# Writing one row after the other passes the check, which looks at each write
# alone. Every write changes all rows:

bias = torch.tensor([[1.0, 2.0]])
batch = bias.expand(2, 2)
for row in range(2):
    batch[row] += offset[row]

right = torch.tensor([[11.0, 22.0], [31.0, 42.0]])
print("got", batch, "instead of", right)
assert not torch.equal(batch, right)
assert torch.equal(batch[0], batch[1])

# %%
# ``contiguous()`` is no general cure either. It copies only where strides ask
# for it, and returns the very same tensor otherwise; a `clone` says what you
# mean. Here one row was "expanded" to one row:

bias = torch.tensor([[1.0, 2.0]])
batch = bias.expand(1, 2).contiguous()
batch += offset[:1]

print(bias)
assert not torch.equal(bias, torch.tensor([[1.0, 2.0]]))

# %%
# If a library raised it
# ----------------------
#
# The last line of the traceback outside ``torch`` writes. Look up where the
# tensor on its left is made: ``expand``, ``expand_as``, ``broadcast_to``, ``meshgrid``
# or ``broadcast_tensors``. Put ``.clone()`` there. If the line stands in a hook
# or changes ``.grad``, make it out of place.

# %%
# Am I right now?
# ---------------
#
# Move one element a little both ways, and compare the slope with the gradient.


def loss_of(bias):
    batch = bias.expand(2, 2).clone()
    batch += offset
    return batch.pow(2).sum()


bias = torch.tensor([[1.0, 2.0]], dtype=torch.float64, requires_grad=True)
loss_of(bias).backward()
step = torch.tensor([[1e-6, 0.0]], dtype=torch.float64)
with torch.no_grad():
    slope = (loss_of(bias + step) - loss_of(bias - step)) / 2e-6

print(slope, bias.grad[0, 0])
torch.testing.assert_close(slope, bias.grad[0, 0])
