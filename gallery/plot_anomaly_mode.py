# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "inventory/anomaly-enabled",
#     "inventory/anomaly-error-detected-forward-traceback",
#     "inventory/anomaly-nan",
#     "inventory/anomaly-no-forward-info",
#     "inventory/anomaly-previous-calculation",
#     "inventory/anomaly-previous-no-forward-info",
# ]
# shows = ["version-modified"]
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "Function '<node>' returned nan values in its <index>th output."
# source = "torch/csrc/autograd/engine.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "UserWarning"
# message = "Error detected in <node>. Traceback of forward call that caused the error:\n<traceback>"
# source = "torch/csrc/autograd/python_anomaly_mode.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "UserWarning"
# message = "Error detected in <node>. No forward pass information available. Enable detect anomaly during forward pass for more information."
# source = "torch/csrc/autograd/python_anomaly_mode.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "UserWarning"
# message = "Previous calculation was induced by <node>. Traceback of forward call that induced the previous calculation:\n<traceback>"
# source = "torch/csrc/autograd/python_anomaly_mode.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "UserWarning"
# message = "Anomaly Detection has been enabled. This mode will increase the runtime and should only be enabled for debugging."
# source = "torch/autograd/anomaly_mode.py"
# ///
"""
What anomaly mode reports, and where it points
==============================================

Anomaly mode stops backward at the first operation whose gradient holds a nan,
and shows the forward line that made this operation. It points at a place to
look, not at the mistake: the line it shows is often innocent.
"""

import traceback

import torch

# %%
# The errors
# ----------
#
# A regularizer takes a square root of values that can be 0 and is switched off
# by a weight of 0. `anomaly mode` is on for forward and backward.

scale = torch.tensor([0.0, 4.0], requires_grad=True)

with torch.autograd.set_detect_anomaly(True):
    penalty = scale.sqrt() * 0.0
    try:
        penalty.sum().backward()
    except RuntimeError:
        traceback.print_exc()

# %%
# Two texts belong together. The warning holds the traceback of *forward*: the
# line that made the node. The error says which node's backward returned the
# nan, and for which of its inputs, counted from 0. The incoming gradient was 0,
# the slope of the square root at 0 is infinite, and their product is nan:

print(torch.tensor(0.0) * torch.inf)

# %%
# Repair the operation it names
# -----------------------------
#
# Keep the input away from the point where the slope is infinite. `nan-sqrt-norm`
# and `nan-where` have the usual cases. The penalty has weight 0, so its
# gradient is 0:

scale = torch.tensor([0.0, 4.0], requires_grad=True)

with torch.autograd.set_detect_anomaly(True):
    penalty = scale.clamp(min=1e-8).sqrt() * 0.0
    penalty.sum().backward()

print(scale.grad)
torch.testing.assert_close(scale.grad, torch.zeros(2))

# %%
# If it has no forward information, switch it on earlier
# ------------------------------------------------------
#
# The traceback is taken in forward. If only backward runs in anomaly mode,
# there is none to show:

scale = torch.tensor([0.0, 4.0], requires_grad=True)
penalty = scale.sqrt() * 0.0

with torch.autograd.set_detect_anomaly(True):
    try:
        penalty.sum().backward()
    except RuntimeError:
        traceback.print_exc()

# %%
# Each node carries its traceback, so you can ask one whether it has any:

with torch.autograd.set_detect_anomaly(True):
    root = scale.sqrt()

print("traceback_" in penalty.grad_fn.metadata, "traceback_" in root.grad_fn.metadata)
assert "traceback_" in root.grad_fn.metadata

# %%
# If the gradient was differentiated again, read the second traceback
# -------------------------------------------------------------------
#
# In a `double backward` the failing node was itself made by a backward. The
# last warning leads to the forward line behind it.

scale = torch.zeros(1, requires_grad=True)

with torch.autograd.set_detect_anomaly(True):
    cost = scale.abs().pow(1.5).sum()
    (slope,) = torch.autograd.grad(cost, scale, create_graph=True)
    try:
        (slope * 0.0).sum().backward()
    except RuntimeError:
        traceback.print_exc()

# %%
# The slope of the power is infinite at 0, the second derivative too. A smooth
# power in its place passes, and agrees with `finite differences`:

scale = torch.zeros(1, dtype=torch.float64, requires_grad=True)
with torch.autograd.set_detect_anomaly(True):
    assert torch.autograd.gradgradcheck(lambda x: x.pow(2), (scale,))

# %%
# If a value was overwritten, look after the line it shows
# --------------------------------------------------------
#
# For a changed `saved tensor` the traceback shows the operation that *saved*
# it. The line that wrote comes later, and anomaly mode does not know it.
# ``check_nan=False`` leaves out the search for nan. The context manager
# ``detect_anomaly`` is the same mode and says that it is slow.

logits = torch.zeros(2, requires_grad=True)

with torch.autograd.detect_anomaly(check_nan=False):
    probability = logits.sigmoid()
    probability *= 0.5  # this line is to blame
    try:
        probability.sum().backward()
    except RuntimeError:
        traceback.print_exc()

# %%
# `version-modified` shows how to find that line. Out of place it works; the
# slope of the sigmoid at 0 is a quarter:

with torch.autograd.set_detect_anomaly(True, check_nan=False):
    probability = logits.sigmoid() * 0.5
    probability.sum().backward()

print(logits.grad)
torch.testing.assert_close(logits.grad, torch.full((2,), 0.5 * 0.25))

# %%
# What only hides the error
# -------------------------
#
# Switching the mode off removes the error and keeps the nan, and the next
# optimizer step writes it into the weights. And the mode is no proof either: an
# infinite gradient passes it.

scale = torch.tensor([0.0, 4.0], requires_grad=True)
(scale.sqrt() * 0.0).sum().backward()
print(scale.grad)
assert scale.grad[0].isnan()

scale.grad = None
with torch.autograd.set_detect_anomaly(True):
    scale.sqrt().sum().backward()
print(scale.grad)
assert scale.grad[0].isinf()
