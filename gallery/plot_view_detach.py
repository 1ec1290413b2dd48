# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "view/detach-inplace",
#     "inventory/view-detach-inplace",
#     "inventory/ddp-bucket-view-zero-grad",
# ]
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "Can't detach views in-place. Use detach() instead. If you are using DistributedDataParallel (DDP) for training, and gradient_as_bucket_view is set as True, gradients are views of DDP buckets, and hence detach_() cannot be called on these gradients. To fix this error, please refer to the Optimizer.zero_grad() function in torch/optim/optimizer.py as the solution."
# source = "torch/csrc/autograd/VariableTypeManual.cpp"
# ///
"""
Detaching a view in place
=========================

You called ``detach_`` on a reshaped or sliced tensor. A `view` follows its
`base`, so it cannot leave the graph on its own.
"""

import traceback

import torch

# %%
# The error
# ---------
#
# Rotations come out of a layer as flat rows, and no gradient is to flow back
# through them.

weight = torch.tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True)
rotation = (weight * 1.0).view(2, 2)
try:
    rotation.detach_()
except RuntimeError:
    traceback.print_exc()

# %%
# A slice, an index and a transpose are views too; ``_is_view`` tells:

print(rotation._is_view(), rotation.T._is_view(), (rotation * 1.0)._is_view())

# draw: rotation

# %%
# Use detach, and rebind the name
# -------------------------------
#
# The graph of ``weight`` stays whole for its other uses. In a product with its
# own detached value only one factor has a gradient.

weight = torch.tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True)
rotation = (weight * 1.0).view(2, 2)
constant = rotation.detach()
(rotation * constant).sum().backward()

print(weight.grad)
torch.testing.assert_close(weight.grad, torch.tensor([1.0, 2.0, 3.0, 4.0]))

# %%
# If the base is to leave the graph, detach it before
# ---------------------------------------------------
#
# ``detach_`` is allowed on a tensor that is no view. Views made afterwards need
# no gradient either, so only the scale learns here.

weight = torch.tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True)
scale = torch.tensor(1.0, requires_grad=True)
hidden = weight * 1.0
hidden.detach_()
(hidden.view(2, 2) * scale).sum().backward()

print(weight.grad, scale.grad)
assert weight.grad is None
torch.testing.assert_close(scale.grad, torch.tensor(1.0 + 2.0 + 3.0 + 4.0))

# %%
# If the views are gradients, set them to None
# --------------------------------------------
#
# The message speaks of `DDP`, which may keep all gradients in one large buffer.
# Here a buffer does the same by hand. ``zero_grad`` releases the gradient
# instead of detaching it:

layer = torch.nn.Linear(2, 1, bias=False)
bucket = torch.zeros(4)
layer.weight.grad = bucket[:2].view(1, 2)
layer(torch.tensor([5.0, 6.0])).sum().backward()
print(layer.weight.grad, bucket)
torch.testing.assert_close(bucket, torch.tensor([5.0, 6.0, 0.0, 0.0]))

layer.zero_grad()
print(layer.weight.grad)
assert layer.weight.grad is None

# %%
# What only hides the error
# -------------------------
#
# ``clone().detach_()`` runs, and detaches the copy. If you keep using the old
# name, the gradient flows through it as before:

weight = torch.tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True)
rotation = (weight * 1.0).view(2, 2)
rotation.clone().detach_()
rotation.sum().backward()

print(weight.grad)
assert weight.grad is not None

# %%
# If a library raised it
# ----------------------
#
# The line reads ``x.detach_()``. Write ``x = x.detach()``; inside a loop over
# gradients, write ``p.grad = None``.

# %%
# Am I right now?
# ---------------
#
# A detached factor counts as a constant. Hold it fixed, move one element of
# the other a little both ways, and compare the slope with the gradient.


def loss_of(weight, constant):
    return (weight.view(2, 2) * constant).sum()


weight = torch.tensor([1.0, 2.0, 3.0, 4.0], dtype=torch.float64, requires_grad=True)
constant = weight.detach().view(2, 2)
loss_of(weight, constant).backward()
step = torch.tensor([1e-6, 0.0, 0.0, 0.0], dtype=torch.float64)
with torch.no_grad():
    constant = constant.clone()
    slope = (loss_of(weight + step, constant) - loss_of(weight - step, constant)) / 2e-6

print(slope, weight.grad[0])
torch.testing.assert_close(slope, weight.grad[0])
