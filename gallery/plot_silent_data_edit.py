# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "silent/data-attribute",
#     "silent/silent-data-edit-after-save",
#     "silent/silent-data-edit-intermediate",
#     "silent/silent-data-assign-after-save",
#     "silent/silent-vector-to-parameters",
#     "silent/silent-module-to-dtype-between-forward-backward",
# ]
# symptom = "My gradients are wrong after I edited weights through .data; there is no error."
# symptom-zh = "通过 .data 修改参数后梯度不对，但没有报错"
# shows = ["version-modified"]
# ///
"""
Editing .data between forward and backward
==========================================

You changed a tensor through `.data` after the `forward pass` had saved it, and
backward computed with the new value. The write bypasses the `version counter`, so
nothing raises.
"""

import traceback

import torch

# %%
# The mistake
# -----------
#
# A weight is rescaled between the loss and its ``backward``. The derivative of the
# square at three is six.

weight = torch.tensor([3.0], requires_grad=True)
loss = (weight * weight).sum()
weight.data.mul_(10.0)
loss.backward()

print(weight.grad, weight._version)
assert weight.grad != 6.0

# timeline: weight

# %%
# The counter is still at zero, so backward believed its `saved tensor`.
#
# Assigning to ``.data`` does the same, and so do the tools that are built on it:

weight = torch.nn.Parameter(torch.tensor([3.0]))
loss = (weight * weight).sum()
torch.nn.utils.vector_to_parameters(torch.tensor([100.0]), [weight])
loss.backward()
print(weight.grad)
assert weight.grad != 6.0

layer = torch.nn.Linear(1, 1, bias=False)
loss = layer(torch.ones(1, 1)).sum()
layer.to(torch.float64)
loss.backward()
print(layer.weight.dtype, layer.weight.grad.dtype)
assert layer.weight.grad.dtype != layer.weight.dtype

# %%
# An output that an operation has saved is no safer. The exponential function needs its
# own result:

x = torch.tensor([1.0], requires_grad=True)
y = x.exp()
y.data.zero_()
y.sum().backward()
print(x.grad, "is not", x.detach().exp())
assert x.grad == 0.0

# %%
# Run backward before you change anything
# ---------------------------------------

weight = torch.tensor([3.0], requires_grad=True)
(weight * weight).sum().backward()
with torch.no_grad():
    weight.mul_(10.0)

print(weight.grad)
torch.testing.assert_close(weight.grad, torch.tensor([2 * 3.0]))

# %%
# Write under no_grad instead
# ---------------------------
#
# The same write, seen by the counter. If it comes at a bad time, you are told so, in the
# words of `version-modified`.

weight = torch.tensor([3.0], requires_grad=True)
loss = (weight * weight).sum()
with torch.no_grad():
    weight.mul_(10.0)
try:
    loss.backward()
except RuntimeError:
    traceback.print_exc()

# timeline: weight

# %%
# What does not help
# ------------------
#
# ``.data`` is itself the popular answer to `leaf-inplace`. It is harmless only while no
# graph needs the old value, as in an initialization. `detach` keeps the check:

weight = torch.tensor([3.0], requires_grad=True)
loss = (weight * weight).sum()
weight.detach().mul_(10.0)
print(weight._version)
assert weight._version == 1

# %%
# See also
# --------
#
# * `silent-shared-memory`: NumPy arrays and storages, which have no counter
# * `silent-fused-optimizer`
