# /// script
# requires-python = ">=3.10"
# dependencies = ["torch", "numpy"]
#
# [tool.autograd-errors]
# causes = [
#     "inventory/dlpack-requires-grad",
#     "inventory/dlpack-numpy-requires-grad",
#     "inventory/apply-requires-grad",
#     "inventory/map-requires-grad",
#     "inventory/map2-requires-grad",
# ]
#
# [[tool.autograd-errors.error]]
# raises = "BufferError"
# message = "Can't export tensors that require gradient, use tensor.detach()"
# source = "torch/_tensor.py"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "Can't call apply_() on Variable that requires grad. Use var.detach().apply_() instead."
# source = "torch/csrc/autograd/generated/python_variable_methods.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "Can't call map_() on Variable that requires grad. Use var.detach().map_() instead."
# source = "torch/csrc/autograd/generated/python_variable_methods.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "Can't call map2_() on Variable that requires grad. Use var.detach().map2_() instead."
# source = "torch/csrc/autograd/generated/python_variable_methods.cpp"
# ///
"""
A tensor with gradients handed to other code
============================================

You exported a tensor that requires a gradient to another library through
DLPack, or let a Python function write into it. In both cases someone else
computes, and autograd could not follow.
"""

import traceback

import numpy as np
import torch

# %%
# The errors
# ----------
#
# DLPack is how libraries pass arrays to each other without a copy.

weight = torch.tensor([1.0, 4.0], requires_grad=True)

for export in (np.from_dlpack, torch.from_dlpack):
    try:
        export(weight)
    except BufferError:
        traceback.print_exc(limit=1)

# %%
# ``apply_``, ``map_`` and ``map2_`` call a Python function for each element, with
# one, two and three tensors. The function sees numbers, not tensors.

try:
    weight.apply_(lambda value: value**0.5)
except RuntimeError:
    traceback.print_exc()
try:
    weight.map_(torch.ones(2), lambda value, other: value + other)
except RuntimeError:
    traceback.print_exc()
try:
    weight.map2_(torch.ones(2), torch.ones(2), lambda value, first, second: first)
except RuntimeError:
    traceback.print_exc()

# %%
# To share values, detach
# -----------------------
#
# The other library gets the same memory and no history.

array = np.from_dlpack(weight.detach())

print(array)
np.testing.assert_array_equal(array, [1.0, 4.0])

# %%
# To compute with gradients, write tensor operations
# --------------------------------------------------
#
# What the Python function does to one number, PyTorch does to all at once, and
# records it. The derivative of the root is ``1 / (2 * sqrt(weight))``; where a
# function has a case, use `torch.where`.

weight = torch.tensor([1.0, 4.0], requires_grad=True)
result = torch.where(weight > 2, weight.sqrt(), weight * 3)
result.sum().backward()

print(result, weight.grad)
torch.testing.assert_close(weight.grad, torch.tensor([3.0, 1 / 4]))

# %%
# To set starting values, write before recording
# ----------------------------------------------
#
# If the function computes an initial value, fill a plain tensor first and copy
# it in under `torch.no_grad`.

weight = torch.zeros(2, requires_grad=True)
start = torch.tensor([1.0, 4.0]).apply_(lambda value: value**0.5)
with torch.no_grad():
    weight.copy_(start)
(weight**2).sum().backward()

print(weight, weight.grad)
torch.testing.assert_close(weight.grad, 2 * torch.tensor([1.0, 2.0]))

# %%
# What only hides the error
# -------------------------
#
# ``detach().apply_``, as the message says, writes into the shared memory, and
# the `version counter` does not move. If forward has saved the value, backward
# computes with the new one. The gradient of ``weight**2`` at 1 and 4 is 2 and 8.

weight = torch.tensor([1.0, 4.0], requires_grad=True)
loss = (weight**2).sum()
weight.detach().apply_(lambda value: value**0.5)
loss.backward()

print(weight._version, weight.grad)
torch.testing.assert_close(weight.grad, 2 * torch.tensor([1.0, 2.0]))
assert not torch.allclose(weight.grad, torch.tensor([2.0, 8.0]))

# %%
# The same happens through an exported array:

weight = torch.tensor([1.0, 4.0], requires_grad=True)
loss = (weight**2).sum()
array = torch.from_dlpack(weight.detach()).numpy()
np.sqrt(array, out=array)
loss.backward()

print(weight._version, weight.grad)
assert not torch.allclose(weight.grad, torch.tensor([2.0, 8.0]))

# %%
# See also
# --------
#
# * `numpy-requires-grad`
# * `silent-data-edit`
# * `version-modified`
