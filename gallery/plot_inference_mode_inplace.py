# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "inventory/inference-inplace-outside",
#     "inventory/inference-module-optimizer-step",
#     "inventory/inference-backward-leaf-grad",
# ]
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "Inplace update to inference tensor outside InferenceMode is not allowed.You can make a clone to get a normal tensor before doing inplace update.See https://github.com/pytorch/rfcs/pull/17 for more details."
# source = "torch/csrc/autograd/VariableTypeUtils.h"
# ///
"""
A write into a tensor from inference mode
=========================================

You changed a tensor in place that was made in `inference mode`, and the mode is
over. Such a tensor has no `version counter`, so an `in-place operation` on it
would be invisible to autograd. Backward and the `optimizer` write in place
too: into gradients, and into parameters.
"""

import traceback

import torch
from torch import nn

# %%
# The error
# ---------
#
# A running average starts with the result of an evaluation.

with torch.inference_mode():
    average = torch.tensor([1.0, 2.0])

try:
    average.mul_(0.5)
except RuntimeError:
    traceback.print_exc()

# %%
# The exception comes after the write. The values are halved already:

print(average)
torch.testing.assert_close(average, torch.tensor([0.5, 1.0]))

# %%
# An optimizer writes into a `parameter` that was made in the mode:

with torch.inference_mode():
    weight = nn.Parameter(torch.ones(2))

optimizer = torch.optim.SGD([weight], lr=0.5)
weight.grad = torch.ones(2)

try:
    optimizer.step()
except RuntimeError:
    traceback.print_exc()

# %%
# Backward adds to a gradient that was made in it:

weight = torch.ones(2, requires_grad=True)
with torch.inference_mode():
    weight.grad = torch.zeros(2)

try:
    (weight**2).sum().backward()
except RuntimeError:
    traceback.print_exc()

# %%
# In all three, the tensor that was written to says so itself:

print(average.is_inference(), weight.grad.is_inference())

# %%
# To go on with the values, write out of place or clone
# -----------------------------------------------------
#
# The result of an operation outside the mode is an ordinary tensor.

with torch.inference_mode():
    average = torch.tensor([1.0, 2.0])

halved = average * 0.5
copied = average.clone()
copied.mul_(0.5)

print(halved, copied)
torch.testing.assert_close(copied, torch.tensor([0.5, 1.0]))
torch.testing.assert_close(halved, torch.tensor([0.5, 1.0]))

# %%
# To update a tensor across evaluations, create it outside
# --------------------------------------------------------
#
# An ordinary tensor may be written to inside the mode and afterwards.

average = torch.zeros(2)
with torch.inference_mode():
    average.add_(torch.tensor([1.0, 2.0]))
average.mul_(0.5)

print(average, average.is_inference())
torch.testing.assert_close(average, torch.tensor([0.5, 1.0]))

# %%
# To train, build parameters and gradients outside
# ------------------------------------------------
#
# A step of ``SGD`` takes the learning rate times the gradient, here ``2 * weight``.

weight = nn.Parameter(torch.ones(2))
weight.grad = torch.zeros(2)
optimizer = torch.optim.SGD([weight], lr=0.25)
(weight**2).sum().backward()
optimizer.step()

print(weight.grad, weight)
torch.testing.assert_close(weight.grad, torch.full((2,), 2.0))
torch.testing.assert_close(weight.detach(), torch.full((2,), 1 - 0.25 * 2))

# %%
# If you evaluate for others, use no_grad
# ---------------------------------------
#
# `torch.no_grad` makes ordinary tensors that whoever receives them may change.

with torch.no_grad():
    average = torch.tensor([1.0, 2.0]) * 2
average.mul_(0.5)

torch.testing.assert_close(average, torch.tensor([1.0, 2.0]))

# %%
# What only hides the error
# -------------------------
#
# Catching the exception and repeating the write on a clone writes twice, since
# the first write was not undone. The result should be a half and 1.

with torch.inference_mode():
    average = torch.tensor([1.0, 2.0])

try:
    average.mul_(0.5)
except RuntimeError:
    average = average.clone()
    average.mul_(0.5)

print(average)
torch.testing.assert_close(average, torch.tensor([0.25, 0.5]))

# %%
# Skipping the batch after a failed backward does not leave the gradients as they
# were either:

weight = torch.ones(2, requires_grad=True)
with torch.inference_mode():
    weight.grad = torch.zeros(2)
try:
    (weight**2).sum().backward()
except RuntimeError:
    print("skipped this batch")

print(weight.grad)
assert not torch.equal(weight.grad, torch.zeros(2))

# %%
# See also
# --------
#
# * `inference-mode-tensors`
# * `inference-mode-version`
