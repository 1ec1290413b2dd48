# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "inventory/requires-grad-inference-tensor",
#     "inventory/inference-requires-grad-parameter",
# ]
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed."
# source = "c10/core/TensorImpl.cpp"
# ///
"""
A gradient asked of a tensor from inference mode
================================================

You wanted a gradient for a tensor that was made in `inference mode`, with
``requires_grad_()`` or by making a `parameter` of it. Autograd does not follow
such tensors, wherever they are used.
"""

import traceback

import torch
from torch import nn

# %%
# The error
# ---------
#
# You search for the input that a model likes best, starting from features that a
# decorated function has computed.


@torch.inference_mode()
def extract(images):
    return images * 2


features = extract(torch.tensor([1.0, 2.0]))

try:
    features.requires_grad_()
except RuntimeError:
    traceback.print_exc()

# %%
# The same happens when prompts or centers are initialized with such features:

try:
    nn.Parameter(features)
except RuntimeError:
    traceback.print_exc()

# %%
# Take a clone first
# ------------------
#
# A `clone` made outside the mode is an ordinary `leaf tensor` and may require a
# gradient. For the sum of squares it is twice the value.

features = extract(torch.tensor([1.0, 2.0])).clone().requires_grad_()
(features**2).sum().backward()

print(features.grad)
torch.testing.assert_close(features.grad, torch.tensor([4.0, 8.0]))

centers = nn.Parameter(extract(torch.tensor([1.0, 2.0])).clone())
(centers**2).sum().backward()

print(centers.grad)
torch.testing.assert_close(centers.grad, torch.tensor([4.0, 8.0]))

# %%
# Or extract with no_grad
# -----------------------
#
# `torch.no_grad` returns tensors without history that may be used for anything.

with torch.no_grad():
    features = torch.tensor([1.0, 2.0]) * 2
features.requires_grad_()
(features**2).sum().backward()

torch.testing.assert_close(features.grad, torch.tensor([4.0, 8.0]))

# %%
# What only hides the error
# -------------------------
#
# Inside the mode the flag can be set, and stays set. It has no effect: an
# operation on the tensor is not recorded, neither inside nor outside.

with torch.inference_mode():
    features = torch.tensor([1.0, 2.0]).requires_grad_()

loss = (features**2).sum()

print(features.requires_grad, loss.requires_grad, loss.grad_fn)
assert features.requires_grad and not loss.requires_grad

# %%
# See also
# --------
#
# * `inference-mode-tensors`
# * `inference-mode-inplace`
# * `requires-grad-set`
