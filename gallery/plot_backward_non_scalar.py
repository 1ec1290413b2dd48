# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "non-scalar/reduction-none",
#     "inventory/grad-nonscalar-implicit",
#     "inventory/grad-nonscalar-implicit-autograd-grad",
#     "inventory/grad-tensor-none-nonscalar-in-list",
# ]
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "grad can be implicitly created only for scalar outputs"
# source = "torch/autograd/__init__.py"
# ///
"""
Backward from a loss with more than one element
===============================================

You called ``backward`` on a tensor with several numbers. A gradient belongs to
one number; for several, autograd cannot guess how you want them weighted.
"""

import traceback

import torch

# %%
# The error
# ---------
#
# The loss is computed per sample, because some samples are to be weighted.

prediction = torch.tensor([1.0, 2.0, 4.0, 8.0], requires_grad=True)
target = torch.zeros(4)
losses = torch.nn.functional.mse_loss(prediction, target, reduction="none")

try:
    losses.backward()
except RuntimeError:
    traceback.print_exc()

# %%
# How to read the message
# -----------------------
#
# "Implicitly created" means: without a gradient to start from. For a single
# number autograd starts with one. Print the shape; a loss has none left.

print(losses.shape, losses.mean().shape)
assert losses.numel() > 1

# %%
# `torch.autograd.grad` says it in the same words, and so does a list of tensors
# of which one is not a scalar:

try:
    torch.autograd.grad(losses, prediction)
except RuntimeError:
    traceback.print_exc()

try:
    torch.autograd.backward([losses, losses.sum()], [None, None])
except RuntimeError:
    traceback.print_exc()

# %%
# Which page is yours
# -------------------
#
# - The loss has one element for each GPU: `backward-gathered-loss`.
# - You want the gradient of every element: see the last fix below.
# - You pass a gradient, and its shape is refused: `backward-gradient-shape`.
# - The loss is complex: `complex-loss`.
# - The loss has the right reduction and the wrong shape before it:
#   `loss-target-size`.

# %%
# Take the mean, if the batch is one loss
# ---------------------------------------
#
# Every built-in loss does so unless ``reduction="none"`` is set. The gradient of
# the mean square is ``2 x / n``.

prediction = torch.tensor([1.0, 2.0, 4.0, 8.0], requires_grad=True)
losses = torch.nn.functional.mse_loss(prediction, target, reduction="none")
losses.mean().backward()

mean_gradient = 2 * prediction.detach() / 4
print(prediction.grad)
torch.testing.assert_close(prediction.grad, mean_gradient)

# %%
# If the samples have weights, divide by their sum
# ------------------------------------------------
#
# A sample of weight zero then leaves no trace, as if it were not in the batch.

weights = torch.tensor([1.0, 0.0, 2.0, 1.0])
prediction = torch.tensor([1.0, 2.0, 4.0, 8.0], requires_grad=True)
losses = torch.nn.functional.mse_loss(prediction, target, reduction="none")
((weights * losses).sum() / weights.sum()).backward()

print(prediction.grad)
torch.testing.assert_close(prediction.grad, 2 * prediction.detach() * weights / 4)

# %%
# If you want a gradient for every element, ask for the Jacobian
# --------------------------------------------------------------
#
# `torch.func.jacrev` gives one row per output. Rows of elements that do not
# depend on each other make a diagonal.

rows = torch.func.jacrev(lambda x: x**2)(torch.tensor([1.0, 2.0, 4.0]))

print(rows)
torch.testing.assert_close(rows, torch.diag(2 * torch.tensor([1.0, 2.0, 4.0])))

# %%
# What only hides the error
# -------------------------
#
# ``losses.backward(torch.ones_like(losses))`` is found everywhere, with the note
# that it "does not influence the result". It is the gradient of the *sum*: larger
# by the number of elements, which a learning rate feels, and so does a last
# batch that is smaller.

prediction = torch.tensor([1.0, 2.0, 4.0, 8.0], requires_grad=True)
losses = torch.nn.functional.mse_loss(prediction, target, reduction="none")
losses.backward(torch.ones_like(losses))

print("ratio to the mean:", prediction.grad / mean_gradient)
torch.testing.assert_close(prediction.grad, losses.numel() * mean_gradient)
assert not torch.allclose(prediction.grad, mean_gradient)

# %%
# If a library raised it
# ----------------------
#
# The library's model returns a loss with a dimension. Look for its option
# ``reduction``, or reduce what it returns before ``backward``. If the library
# itself calls ``backward``, look for several GPUs: most trainers reduce the loss
# when they know that there are several, and not when you wrapped the model.


def library_loss(prediction):
    return prediction**2


prediction = torch.tensor([1.0, 2.0, 4.0, 8.0], requires_grad=True)
library_loss(prediction).mean().backward()

print(prediction.grad)
torch.testing.assert_close(prediction.grad, mean_gradient)

# %%
# Am I right now?
# ---------------
#
# The sum and the mean both look like success. Compare with the number that you
# log as the loss: move one element a little both ways.


def logged_loss(prediction):
    return (prediction**2).mean()


prediction = torch.tensor([1.0, 2.0, 4.0, 8.0], dtype=torch.float64, requires_grad=True)
logged_loss(prediction).backward()
step = torch.tensor([1e-6, 0.0, 0.0, 0.0], dtype=torch.float64)
with torch.no_grad():
    slope = (logged_loss(prediction + step) - logged_loss(prediction - step)) / 2e-6

print(slope, prediction.grad[0])
torch.testing.assert_close(slope, prediction.grad[0])
