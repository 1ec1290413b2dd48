# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = ["inventory/saved-tensor-detached-inplace"]
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "Trying to use a saved tensor that has been detached in-place, i.e. with .detach_().This is not supported, please use out-of-place `.detach()` instead"
# source = "torch/csrc/autograd/saved_variable.cpp"
# ///
"""
Detaching in place what backward still needs
============================================

You called ``detach_()`` on a tensor after an operation had saved it. It takes
the history away from the tensor itself, and the operation that saved it has
nowhere left to send its gradient.
"""

import traceback

import torch

# %%
# The error
# ---------
#
# A recurrent state is cut off for the next step, before backward of this one.

weight = torch.tensor([0.5], dtype=torch.float64, requires_grad=True)

hidden = weight * 2.0
loss = (hidden * hidden).sum()
hidden.detach_()

try:
    loss.backward()
except RuntimeError:
    traceback.print_exc()

# %%
# The product saved ``hidden``, and that very tensor has no `grad_fn` now:

print(hidden.grad_fn, hidden.requires_grad)

# %%
# Detach without the underscore
# -----------------------------
#
# `detach` returns a second tensor for the next step and leaves the first one
# its history. The loss is four times the weight squared.

hidden = weight * 2.0
loss = (hidden * hidden).sum()
hidden = hidden.detach()
loss.backward()

print(weight.grad, hidden.requires_grad)
torch.testing.assert_close(weight.grad, 8 * weight.detach())

# %%
# Or detach after backward
# ------------------------

weight.grad = None
hidden = weight * 2.0
loss = (hidden * hidden).sum()
loss.backward()
hidden.detach_()

torch.testing.assert_close(weight.grad, 8 * weight.detach())

# %%
# See also
# --------
#
# * `version-hidden-state`: the state was not cut off at all
# * `view-detach`: ``detach_`` on a view
