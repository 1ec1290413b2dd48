# /// script
# requires-python = ">=3.10"
# dependencies = ["torch", "numpy"]
#
# [tool.autograd-errors]
# causes = [
#     "numpy/inside-forward",
#     "numpy/plotting",
#     "inventory/numpy-requires-grad",
#     "inventory/numpy-asarray-requires-grad",
#     "inventory/numpy-list-of-scalars-requires-grad",
#     "inventory/numpy-ufunc-requires-grad",
# ]
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead."
# source = "torch/csrc/utils/tensor_numpy.cpp"
# ///
"""
A tensor with gradients handed to NumPy
=======================================

You gave NumPy, or a library built on it, a tensor that requires a gradient.
NumPy computes outside the `computational graph`, so the gradient would end
there. The advice in the message is right if you only look at the values. In
the middle of a model it makes the model stop learning without a word.
"""

import traceback

import numpy as np
import torch

# %%
# The error
# ---------
#
# A recommender adds up what its layers say about each item.

embedding = torch.tensor([1.0, 2.0], requires_grad=True)
layers = [embedding, embedding * 0.5]

try:
    np.sum(layers, axis=0)
except RuntimeError:
    traceback.print_exc()

# %%
# Nobody wrote ``numpy()`` here. A NumPy function converts its arguments itself,
# and so do plotting functions and metrics. These all raise the same message:

losses = [(embedding**2).sum()]

for convert in (
    lambda: embedding.numpy(),
    lambda: np.asarray(embedding),
    lambda: np.exp(embedding),
    lambda: np.array(losses),
):
    try:
        convert()
    except RuntimeError:
        traceback.print_exc(limit=1)

# %%
# Decide what the array is for
# ----------------------------
#
# Look at the last line of your own code in the traceback, and at what happens
# to its result.
#
# * It is printed, plotted, logged or saved: the next section.
# * It goes into the loss, however indirectly: the section after it.
# * It goes into the loss, and PyTorch has no such function: the third section.
#
# To look at values, detach them
# ------------------------------
#
# `detach` leaves the graph, ``numpy`` converts. On a GPU, ``cpu()`` comes in
# between; ``numpy(force=True)`` does all of it. For a curve of losses, keep
# numbers and not tensors: a list of tensors also keeps every graph alive.

array = embedding.detach().numpy()
same = embedding.numpy(force=True)
curve = np.array([loss.item() for loss in losses])

print(array, same, curve)
np.testing.assert_array_equal(array, [1.0, 2.0])
np.testing.assert_array_equal(curve, [1.0**2 + 2.0**2])

# %%
# The array shares the memory of the tensor. Take ``.copy()`` before you edit it:
# a write would change the weight, and autograd would not notice.

edited = array.copy()
edited[0] = 7.0

print(embedding)
torch.testing.assert_close(embedding.detach(), torch.tensor([1.0, 2.0]))

# %%
# Inside the model, use the function of PyTorch
# ---------------------------------------------
#
# Most have the same name. A list of tensors becomes one tensor with `torch.stack`
# or `torch.cat`. The sum is ``1.5 * embedding``, so the gradient of the sum of
# squares is ``2 * 1.5**2 * embedding``.

embedding = torch.tensor([1.0, 2.0], requires_grad=True)
layers = [embedding, embedding * 0.5]

total = torch.stack(layers).sum(dim=0)
(total**2).sum().backward()

print(embedding.grad)
by_hand = 2 * 1.5**2 * embedding.detach()
torch.testing.assert_close(embedding.grad, by_hand)

# %%
# If PyTorch has no such function, give it a backward
# ---------------------------------------------------
#
# A `custom function` may compute with NumPy, if you know the derivative. The
# cube root ``y`` has the derivative ``1 / (3 * y**2)``. `gradcheck` compares it
# with `finite differences`.


class CubeRoot(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        root = torch.from_numpy(np.cbrt(x.detach().numpy()))
        ctx.save_for_backward(root)
        return root

    @staticmethod
    def backward(ctx, grad):
        (root,) = ctx.saved_tensors
        return grad / (3 * root**2)


x = torch.tensor([8.0, -1.0], dtype=torch.float64, requires_grad=True)

print(CubeRoot.apply(x))
assert torch.autograd.gradcheck(CubeRoot.apply, (x,))

# %%
# If a library raised it
# ----------------------
#
# The last line is then ``__array__`` in PyTorch, called by a metric, a plot or
# an image function. Go up to the line that passes your tensor in, and pass
# ``tensor.detach().cpu()`` instead. If the library's result goes into the loss,
# look for a version of it that takes tensors. In a repository that ran under an
# older PyTorch, search the model for ``np.`` and replace those lines by the
# functions of PyTorch.
#
# What only hides the error
# -------------------------
#
# The message's own advice, followed inside the model. The head still learns, so
# the loss still falls. The embedding has no gradient:

embedding = torch.tensor([1.0, 2.0], requires_grad=True)
head = torch.tensor([1.0, 1.0], requires_grad=True)

arrays = [layer.detach().numpy() for layer in (embedding, embedding * 0.5)]
total = torch.from_numpy(np.sum(arrays, axis=0))
((head * total) ** 2).sum().backward()

print(head.grad, embedding.grad)
assert head.grad is not None and embedding.grad is None

# %%
# Asking for a gradient after the way back does not mend the graph. It makes a
# new `leaf tensor`, which nobody updates:

total = torch.from_numpy(np.sum(arrays, axis=0)).requires_grad_()
(total**2).sum().backward()

print(total.grad, embedding.grad)
assert total.is_leaf and embedding.grad is None

# %%
# Am I right now?
# ---------------
#
# Compare one entry of the gradient with `finite differences`, in ``float64``.
# Put in your own model; a tensor that lost its way has ``None`` for a gradient.


def compute_loss(embedding):
    return (torch.stack([embedding, embedding * 0.5]).sum(dim=0) ** 2).sum()


weight = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
compute_loss(weight).backward()
step = torch.tensor([1e-6, 0.0], dtype=torch.float64)
with torch.no_grad():
    slope = (compute_loss(weight + step) - compute_loss(weight - step)) / 2e-6

print(slope.item(), weight.grad[0].item())
assert abs(slope - weight.grad[0]) < 1e-6
