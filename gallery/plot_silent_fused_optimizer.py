# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "silent/missing-version-bump",
#     "silent/silent-fused-optimizer-no-version-bump",
#     "silent/silent-fused-adam-no-version-bump",
# ]
# symptom = "With fused=True my GAN trains without the in-place error, but badly."
# symptom-zh = "用 fused=True 后不再报 in-place 错误，但训练效果变差"
# shows = ["version-modified"]
# ///
"""
A fused optimizer steps between forward and backward
====================================================

You step a fused `optimizer` while another loss still needs the old weights. The fused
kernels do not raise the `version counter`, so the error of `version-optimizer-step`
disappears and its mistake stays.
"""

import traceback

import torch

# %%
# The mistake
# -----------
#
# Two losses share a weight of three. The optimizer steps for the first one before the
# second one's ``backward``: the derivative of the square is no longer six.


def second_gradient(make_optimizer):
    weight = torch.nn.Parameter(torch.tensor([3.0]))
    optimizer = make_optimizer([weight])
    first, second = weight.sum(), (weight * weight).sum()
    first.backward()
    optimizer.step()
    optimizer.zero_grad()
    second.backward()
    return weight.grad


for make_optimizer in (
    lambda parameters: torch.optim.SGD(parameters, lr=0.5, fused=True),
    lambda parameters: torch.optim.Adam(parameters, lr=0.5, fused=True),
):
    gradient = second_gradient(make_optimizer)
    print(gradient)
    assert gradient != 6.0

# %%
# This is a gap in PyTorch, not a rule. The ordinary kernels write into the same weight,
# and tell you:

try:
    second_gradient(lambda parameters: torch.optim.SGD(parameters, lr=0.5))
except RuntimeError:
    traceback.print_exc()

# %%
# Run every backward before the first step
# ----------------------------------------
#
# Gradients of both losses add up, one and six.

weight = torch.nn.Parameter(torch.tensor([3.0]))
optimizer = torch.optim.SGD([weight], lr=0.5, fused=True)
first, second = weight.sum(), (weight * weight).sum()
first.backward()
second.backward()

print(weight.grad)
torch.testing.assert_close(weight.grad, torch.tensor([1.0 + 2 * 3.0]))
optimizer.step()

# %%
# If the losses belong to different steps, compute the second one again
# ---------------------------------------------------------------------
#
# After the step the weight is two and a half, and the new loss's gradient is twice that.

weight = torch.nn.Parameter(torch.tensor([3.0]))
optimizer = torch.optim.SGD([weight], lr=0.5, fused=True)
weight.sum().backward()
optimizer.step()
optimizer.zero_grad()
(weight * weight).sum().backward()

print(weight.grad)
torch.testing.assert_close(weight.grad, torch.tensor([2 * (3.0 - 0.5)]))

# %%
# To find such a step, switch fusing off
# --------------------------------------
#
# One run with ``fused=False`` raises where the order is wrong. If it runs through, the
# order is right.

weight = torch.nn.Parameter(torch.tensor([3.0]))
optimizer = torch.optim.SGD([weight], lr=0.5, fused=False)
(weight * weight).sum().backward()
optimizer.step()
torch.testing.assert_close(weight.detach(), torch.tensor([3.0 - 0.5 * 6.0]))

# %%
# What does not help
# ------------------
#
# ``fused=True`` is sometimes named as a cure for "modified by an inplace operation".
# `anomaly mode` does not notice either: it checks for ``nan``.

with torch.autograd.set_detect_anomaly(True, check_nan=True):
    gradient = second_gradient(lambda parameters: torch.optim.SGD(parameters, lr=0.5, fused=True))
print(gradient, "is not", torch.tensor([6.0]))
assert gradient != 6.0
