# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "inventory/scaler-no-inf-checks",
#     "inventory/scaler-not-initialized",
#     "inventory/scaler-step-twice",
#     "inventory/scaler-unscale-twice",
#     "inventory/scaler-update-without-step",
#     "inventory/scaler-scale-non-tensor",
#     "inventory/scaler-closure",
#     "inventory/scaler-cuda-unavailable",
# ]
#
# [[tool.autograd-errors.error]]
# raises = "AssertionError"
# message = "No inf checks were recorded for this optimizer."
# source = "torch/amp/grad_scaler.py"
#
# [[tool.autograd-errors.error]]
# raises = "AssertionError"
# message = "Attempted <operation> but _scale is None.  This may indicate your script did not use scaler.scale(loss or outputs) earlier in the iteration."
# source = "torch/amp/grad_scaler.py"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "unscale_() has already been called on this optimizer since the last update()."
# source = "torch/amp/grad_scaler.py"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "step() has already been called since the last update()."
# source = "torch/amp/grad_scaler.py"
#
# [[tool.autograd-errors.error]]
# raises = "AssertionError"
# message = "No inf checks were recorded prior to update."
# source = "torch/amp/grad_scaler.py"
#
# [[tool.autograd-errors.error]]
# raises = "ValueError"
# message = "outputs must be a Tensor or an iterable of Tensors"
# source = "torch/amp/grad_scaler.py"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "Closure use is not currently supported if GradScaler is enabled."
# source = "torch/amp/grad_scaler.py"
#
# [[tool.autograd-errors.error]]
# raises = "UserWarning"
# message = "torch.cuda.amp.GradScaler is enabled, but CUDA is not available.  Disabling."
# source = "torch/amp/grad_scaler.py"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "unscale_() is being called after step()."
# source = "torch/amp/grad_scaler.py"
# ///
"""
Calling the gradient scaler out of order
========================================

You called a method of ``GradScaler`` at a time when it had nothing to work on.
One iteration is ``scale``, backward, at most one ``unscale_``, ``step``, and
then ``update``, once each.
"""

import traceback

import torch


def training_state():
    weight = torch.nn.Parameter(torch.ones(2))
    return weight, torch.optim.SGD([weight], lr=0.1), torch.amp.GradScaler("cpu")


# %%
# The errors
# ----------
#
# The loss does not reach the parameters of this optimizer: it has no gradient
# to check. `backward-no-grad-fn` and `grad-unused-input` have the usual reasons.

weight, optimizer, scaler = training_state()
other = torch.nn.Parameter(torch.ones(2))
scaler.scale(other.sum()).backward()
try:
    scaler.step(optimizer)
except AssertionError:
    traceback.print_exc()

# %%
# The loss was never scaled:

weight, optimizer, scaler = training_state()
weight.sum().backward()
try:
    scaler.step(optimizer)
except AssertionError:
    traceback.print_exc()

# %%
# Gradients are unscaled for clipping in two places of the loop, or stepped twice,
# or unscaled after the step, or updated without a step:

weight, optimizer, scaler = training_state()
scaler.scale(weight.sum()).backward()
scaler.unscale_(optimizer)
try:
    scaler.unscale_(optimizer)
except RuntimeError:
    traceback.print_exc()

weight, optimizer, scaler = training_state()
scaler.scale(weight.sum()).backward()
scaler.step(optimizer)
try:
    scaler.step(optimizer)
except RuntimeError:
    traceback.print_exc()
try:
    scaler.unscale_(optimizer)
except RuntimeError:
    traceback.print_exc()

weight, optimizer, scaler = training_state()
scaler.scale(weight.sum()).backward()
try:
    scaler.update()
except AssertionError:
    traceback.print_exc()

# %%
# The scaler takes tensors, no closures, and on a machine without CUDA the one for
# CUDA switches itself off with a warning:

weight, optimizer, scaler = training_state()
try:
    scaler.scale(3.0)
except ValueError:
    traceback.print_exc()
try:
    scaler.step(optimizer, closure=lambda: weight.sum())
except RuntimeError:
    traceback.print_exc()
if not torch.cuda.is_available():
    torch.amp.GradScaler("cuda")

# %%
# The order that works
# --------------------
#
# Scale every loss, unscale once before clipping, step every optimizer, update
# once at the end. The gradient is the unscaled one, clipped to norm one.

weight, optimizer, scaler = training_state()

optimizer.zero_grad()
scaler.scale((3.0 * weight).sum()).backward()
scaler.unscale_(optimizer)
torch.nn.utils.clip_grad_norm_([weight], 1.0)
scaler.step(optimizer)
scaler.update()

print(weight.grad)
torch.testing.assert_close(weight.grad, torch.full((2,), 1 / 2**0.5))
torch.testing.assert_close(weight.detach(), torch.ones(2) - 0.1 / 2**0.5)

# %%
# If one optimizer had nothing to do, skip its step
# -------------------------------------------------
#
# A network that took no part in this iteration is left out; ``update`` still
# runs for the other.

weight, optimizer, scaler = training_state()
idle = torch.optim.SGD([torch.nn.Parameter(torch.ones(2))], lr=0.1)

scaler.scale(weight.sum()).backward()
for one in (optimizer, idle):
    if any(p.grad is not None for group in one.param_groups for p in group["params"]):
        scaler.step(one)
scaler.update()

print(weight)
torch.testing.assert_close(weight.detach(), torch.full((2,), 0.9))

# %%
# What only hides the error
# -------------------------
#
# Calling ``optimizer.step()`` past the scaler silences all of it, and steps with
# gradients that still carry the scale.

weight, optimizer, scaler = training_state()
scaler.scale(weight.sum()).backward()
optimizer.step()

print(weight, "is not", torch.full((2,), 0.9))
assert (weight < -1000).all()

# %%
# See also
# --------
#
# * `amp-half-gradients`
