# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "overlap/shift-in-place",
#     "inventory/overlap-input-output",
#     "inventory/overlap-out-arg",
# ]
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single memory location. Please clone() the tensor before performing the operation."
# source = "aten/src/ATen/MemoryOverlap.cpp"
# reworded = true
# ///
"""
Reading and writing overlapping parts of one tensor
===================================================

You shifted, transposed or concatenated a tensor into itself. Some elements
would be overwritten before they are read, and the result would depend on the
order of the loop inside.
"""

import traceback

import torch

# %%
# The error
# ---------
#
# A memory of the last steps moves every entry one place on.

memory = torch.tensor([1.0, 2.0, 3.0, 4.0])
try:
    memory[1:] = memory[:-1]
except RuntimeError:
    traceback.print_exc()

# %%
# The slices are views of one `storage` and share all but one of their elements:

print(memory[1:].data_ptr() == memory[:-1][1:].data_ptr())

# %%
# Adding a neighbor, or the transpose, and giving a part of the input as ``out``
# are the same mistake:

try:
    memory[1:].add_(memory[:-1])
except RuntimeError:
    traceback.print_exc()

square = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
try:
    square += square.t()
except RuntimeError:
    traceback.print_exc()

try:
    torch.cat([memory[2:], memory[:2]], out=memory)
except RuntimeError:
    traceback.print_exc()

# %%
# All four are refused before they write:

print(memory, square)
assert memory.tolist() == [1.0, 2.0, 3.0, 4.0]

# %%
# Copy what is read
# -----------------
#
# The `clone` belongs to the right side. One on the left would take the write
# and throw it away.

memory = torch.tensor([1.0, 2.0, 3.0, 4.0])
memory[1:] = memory[:-1].clone()

print(memory)
torch.testing.assert_close(memory, torch.tensor([1.0, 1.0, 2.0, 3.0]))

# %%
# Or use a function that makes a new tensor
# -----------------------------------------
#
# ``roll``, ``+`` and ``cat`` without ``out`` write nowhere else.

print(memory.roll(1), square + square.t(), torch.cat([memory[2:], memory[:2]]), sep="\n")
torch.testing.assert_close(square + square.t(), torch.tensor([[2.0, 5.0], [5.0, 8.0]]))

# %%
# If gradients pass through the shift
# -----------------------------------
#
# Both repairs are differentiable. Each weight arrives at the next place, where
# it meets that place's factor; the first one stays and moves.

factor = torch.tensor([10.0, 20.0, 30.0, 40.0])
weight = torch.tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True)
memory = weight * 1.0
memory[1:] = memory[:-1].clone()
(memory * factor).sum().backward()

print(weight.grad)
torch.testing.assert_close(weight.grad, torch.tensor([10.0 + 20.0, 30.0, 40.0, 0.0]))

# %%
# What only hides the error
# -------------------------
#
# A loop moves one element at a time, in an order that you choose. In the wrong
# one the first value runs through to the end, and nothing is said:

memory = torch.tensor([1.0, 2.0, 3.0, 4.0])
for place in range(1, len(memory)):
    memory[place] = memory[place - 1]

right = torch.tensor([1.0, 1.0, 2.0, 3.0])
print("got", memory, "instead of", right)
assert not torch.equal(memory, right)

# %%
# If a library raised it
# ----------------------
#
# The last line of the traceback outside ``torch`` names one tensor on both
# sides. Put ``.clone()`` behind the right one, or drop ``out=``.

# %%
# Am I right now?
# ---------------
#
# Move one element a little both ways, and compare the slope with the gradient.


def loss_of(weight):
    memory = weight * 1.0
    memory[1:] = memory[:-1].clone()
    return (memory * factor).sum()


weight = torch.tensor([1.0, 2.0, 3.0, 4.0], dtype=torch.float64, requires_grad=True)
loss_of(weight).backward()
step = torch.tensor([1e-6, 0.0, 0.0, 0.0], dtype=torch.float64)
with torch.no_grad():
    slope = (loss_of(weight + step) - loss_of(weight - step)) / 2e-6

print(slope, weight.grad[0])
torch.testing.assert_close(slope, weight.grad[0])
