# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "inventory/data-set-int",
#     "inventory/data-set-incompatible-type",
#     "inventory/data-set-non-tensor",
#     "inventory/data-delete",
#     "inventory/legacy-variable-not-tensor",
# ]
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "data set to a tensor that requires gradients must be floating point or complex dtype"
# source = "torch/csrc/autograd/variable.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "Attempted to call `variable.set_data(tensor)`, but `variable` and `tensor` have incompatible tensor type."
# source = "torch/csrc/autograd/variable.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "TypeError"
# message = "Variable data has to be a tensor, but got <type>"
# source = "torch/csrc/autograd/python_variable.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "Deleting tensor data is not allowed. Delete tensor instead!"
# source = "torch/csrc/autograd/python_variable.cpp"
# ///
"""
Something assigned to .data that cannot be there
================================================

You assigned to `.data` a value that the tensor cannot hold: integers where a
gradient is required, another layout or device, or no tensor at all. The
assignment gives the tensor new contents; the kind of tensor stays.
"""

import traceback

import torch
from torch import nn

# %%
# The errors
# ----------
#
# A program rounds the weights of a model to integers to make it smaller.

weight = nn.Parameter(torch.tensor([1.2, 2.7]))

try:
    weight.data = weight.data.round().to(torch.int8)
except RuntimeError:
    traceback.print_exc()

# %%
# Another stores a mostly empty weight in a sparse layout, which is a different
# kind of tensor. Contents on another device give the same message.

matrix = nn.Parameter(torch.eye(2))

for contents in (torch.eye(2).to_sparse(), torch.eye(2, device="meta")):
    try:
        matrix.data = contents
    except RuntimeError:
        traceback.print_exc(limit=1)

# %%
# Numbers read from a file are a list, and a tensor cannot give its contents
# away:

try:
    weight.data = [1.0, 3.0]
except TypeError:
    traceback.print_exc()
try:
    del weight.data
except RuntimeError:
    traceback.print_exc()

# %%
# To set values, copy them in
# ---------------------------
#
# ``copy_`` under `torch.no_grad` converts dtype and device, keeps the tensor that
# the `optimizer` knows, and moves the `version counter`. The gradient of the sum
# of squares is twice the new value.

weight = nn.Parameter(torch.tensor([1.2, 2.7]))
with torch.no_grad():
    weight.copy_(torch.tensor([1, 3], dtype=torch.int8))
(weight**2).sum().backward()

print(weight, weight.grad)
torch.testing.assert_close(weight.grad, torch.tensor([2.0, 6.0]))

# %%
# To change the kind of tensor, make a new parameter
# --------------------------------------------------
#
# Assign it to the module before you build the optimizer. The gradient of
# ``sum(matrix @ x)`` is ``x`` in every row, here also where the sparse matrix
# stores nothing.

net = nn.Module()
net.matrix = nn.Parameter(torch.eye(2).to_sparse())
x = torch.tensor([[3.0], [5.0]])
torch.sparse.mm(net.matrix, x).sum().backward()

print(net.matrix.grad.layout)
torch.testing.assert_close(net.matrix.grad.to_dense().diagonal(), x.squeeze(1))

# %%
# To keep integers, use a buffer
# ------------------------------
#
# A rounded weight is not learned. Register it as a `buffer` and convert it where
# it is used; gradients still pass to ``x``.

net = nn.Module()
net.register_buffer("weight", torch.tensor([1, 3], dtype=torch.int8))
x = torch.tensor([1.0, 1.0], requires_grad=True)
(net.weight * x).sum().backward()

print(x.grad)
torch.testing.assert_close(x.grad, torch.tensor([1.0, 3.0]))

# %%
# To free the memory, delete the tensor
# -------------------------------------
#
# ``del weight`` removes your name for it; the memory goes when nobody else has
# one. To keep the name, give it an empty tensor: ``weight = None`` or a new value.
#
# What only hides the error
# -------------------------
#
# Rounding into a float passes. Assigning to ``.data`` also passes between forward
# and backward, and then backward computes with values that forward did not see.
# At 1.2 and 2.7 the gradient of the squares is 2.4 and 5.4.

weight = nn.Parameter(torch.tensor([1.2, 2.7]))
loss = (weight**2).sum()
weight.data = weight.data.round()
loss.backward()

print(weight.grad)
torch.testing.assert_close(weight.grad, torch.tensor([2.0, 6.0]))
assert not torch.allclose(weight.grad, torch.tensor([2.4, 5.4]))

# %%
# See also
# --------
#
# * `silent-data-edit`
# * `parameter-integer-dtype`
# * `data-resize`
