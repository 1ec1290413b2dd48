# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "inventory/derivative-not-implemented-aten",
#     "inventory/derivative-not-implemented-aten-set",
#     "inventory/derivative-not-implemented-heaviside",
#     "inventory/derivative-not-implemented-histogram",
#     "inventory/derivative-not-implemented-named",
#     "inventory/derivative-not-implemented-named-arg",
#     "inventory/derivative-not-implemented-scatter-reduce",
# ]
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "derivative for aten::<operation> is not implemented"
# source = "torch/csrc/autograd/functions/basic_ops.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "derivative for <operation> is not implemented"
# source = "torch/csrc/autograd/functions/basic_ops.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "NotImplementedError"
# message = "the derivative for '<operation>' is not implemented."
# source = "torch/csrc/autograd/FunctionsManual.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "UserWarning"
# message = "The reduce argument of torch.scatter with Tensor src is deprecated and will be removed in a future PyTorch release. Use torch.scatter_reduce instead for more reduction options."
# source = "aten/src/ATen/native/TensorAdvancedIndexing.cpp"
# ///
"""
An operation without a derivative
=================================

Your loss goes through an operation for which PyTorch has no backward formula.
The `forward pass` works and gives the result a `grad_fn`; only the
`backward pass` finds out that there is nothing behind it.
"""

import traceback

import torch

# %%
# The error
# ---------
#
# A loss compares histograms of two images.

image = torch.tensor([0.1, 0.4, 0.6, 0.9], requires_grad=True)
target = torch.tensor([1.0, 3.0])

counts = torch.histogram(image, bins=2, range=(0.0, 1.0)).hist
print(counts, type(counts.grad_fn).__name__)

try:
    (counts - target).square().sum().backward()
except RuntimeError:
    traceback.print_exc()

# %%
# The name behind ``aten::`` is the operation. A count does not change when a
# pixel changes a little: its derivative is zero wherever it exists.
#
# To learn, use a smooth stand-in
# -------------------------------
#
# Let each value belong to both bins, more to the nearer one. The weights of a
# linear kernel sum to one, and they have a derivative.


def soft_histogram(values, centers, width):
    distance = (values[:, None] - centers).abs() / width
    return (1.0 - distance).clamp(min=0.0).sum(0)


centers = torch.tensor([0.25, 0.75], dtype=torch.float64)
image = torch.tensor([0.1, 0.4, 0.6, 0.9], dtype=torch.float64, requires_grad=True)
counts = soft_histogram(image, centers, 0.5)
(counts - target.double()).square().sum().backward()

print(counts, image.grad)
assert torch.autograd.gradcheck(lambda v: soft_histogram(v, centers, 0.5), (image,))

# %%
# If the result is a constant of the loss, detach it
# --------------------------------------------------
#
# A number of bins, a set of unique labels, a rank: where no gradient should
# flow, `detach` says so. Only the other factor gets a gradient.

x = torch.tensor([1.0, 2.0, 2.0], requires_grad=True)
distinct = torch.unique(x.detach()).numel()
(x.sum() / distinct).backward()

print(x.grad)
torch.testing.assert_close(x.grad, torch.full((3,), 1.0 / 2))

# %%
# What only hides the error
# -------------------------
#
# Converting the histogram to a new tensor, or setting `requires_grad` on it,
# silences the message and cuts the graph. No pixel gets a gradient.

image = torch.tensor([0.1, 0.4, 0.6, 0.9], requires_grad=True)
counts = torch.histogram(image.detach(), bins=2, range=(0.0, 1.0)).hist.requires_grad_()
(counts - target).square().sum().backward()

print(image.grad)
assert image.grad is None

# %%
# The other operations that answer like this
# ------------------------------------------
#
# The message has two forms, by how the missing formula is noted down. A name
# behind a colon is the one argument that has no formula: here ``input`` of
# ``igamma``, while ``other`` has one.


def new_storage(x):
    return torch.empty(0).set_(x)


def multiply_scatter(x):
    return torch.ones(3).scatter(0, torch.tensor([0, 1, 2]), x, reduce="multiply")


for operation in (
    lambda x: torch.floor_divide(x, 2.0),
    lambda x: torch.heaviside(x, torch.zeros(3)),
    new_storage,
    multiply_scatter,
    torch.unique,
    lambda x: torch.igamma(x, torch.ones(3)),
):
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    try:
        operation(x).sum().backward()
    except (RuntimeError, NotImplementedError):
        traceback.print_exc()

# %%
# For the deprecated ``reduce`` argument there is an operation with a derivative:

src = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64, requires_grad=True)
base = torch.full((3,), 2.0, dtype=torch.float64)
index = torch.tensor([0, 1, 2])
base.scatter_reduce(0, index, src, reduce="prod").sum().backward()

print(src.grad)
torch.testing.assert_close(src.grad, base)

# %%
# If a library raised it
# ----------------------
#
# The message names the operation. Search the library's ``forward`` for it. If its result
# is only counted or logged, pass ``x.detach()``; if the loss needs it, replace it as above.

# %%
# Am I right now?
# ---------------
#
# Move one element a little both ways and compare the slope with the gradient, by
# `finite differences`:


def loss_of(src):
    return base.scatter_reduce(0, index, src, reduce="prod").square().sum()


src = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64, requires_grad=True)
loss_of(src).backward()
step = torch.tensor([1e-6, 0.0, 0.0], dtype=torch.float64)
with torch.no_grad():
    slope = (loss_of(src + step) - loss_of(src - step)) / 2e-6

print(slope, src.grad[0])
torch.testing.assert_close(slope, src.grad[0])

# %%
# See also
# --------
#
# * `double-backward-missing`: the first derivative exists, the second does not
# * `derivative-argument`: an argument that cannot have a gradient at all
