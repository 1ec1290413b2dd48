# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "inventory/clip-grad-empty-generator",
#     "inventory/clip-grad-nonfinite",
#     "inventory/clip-grad-norm-deprecated",
# ]
#
# [[tool.autograd-errors.error]]
# raises = "UserWarning"
# message = "`parameters` is an empty generator, no gradient clipping will occur."
# source = "torch/nn/utils/clip_grad.py"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "The total norm of order <order> for gradients from `parameters` is non-finite, so it cannot be clipped. To disable this error and scale the gradients by the non-finite norm anyway, set `error_if_nonfinite=False`"
# source = "torch/nn/utils/clip_grad.py"
#
# [[tool.autograd-errors.error]]
# raises = "FutureWarning"
# message = "`torch.nn.utils.clip_grad_norm` is now deprecated in favor of `torch.nn.utils.clip_grad_norm_`."
# source = "torch/nn/utils/clip_grad.py"
# ///
"""
Gradient clipping that clips nothing
====================================

The function that clips gradients had nothing to clip, or found an infinite or
undefined gradient that no factor can bring back to a finite length. The page
also shows the old name of the function.
"""

import traceback

import torch
from torch import nn

# %%
# The errors
# ----------
#
# The parameters were put into a variable once. ``parameters()`` is a generator,
# and the first use reads it to the end.

net = nn.Linear(2, 1, bias=False)
parameters = net.parameters()
optimizer = torch.optim.SGD(parameters, lr=1.0)
net(torch.tensor([3.0, 4.0])).sum().backward()
nn.utils.clip_grad_norm_(parameters, max_norm=1.0)

# %%
# The gradient is as long as before, by Pythagoras 5:

print(net.weight.grad.norm())
torch.testing.assert_close(net.weight.grad.norm(), torch.tensor(5.0))

# %%
# The second case is a gradient that is not finite. The square root has an
# infinite slope at 0.

weight = torch.tensor([0.0, 1.0], requires_grad=True)
weight.sqrt().sum().backward()

try:
    nn.utils.clip_grad_norm_([weight], max_norm=1.0, error_if_nonfinite=True)
except RuntimeError:
    traceback.print_exc()

# %%
# The third is only a name: the function without the underscore is the old one.

weight = torch.zeros(2, requires_grad=True)
(torch.tensor([3.0, 4.0]) * weight).sum().backward()
nn.utils.clip_grad_norm(weight, max_norm=1.0)

# %%
# Ask the module again each time
# ------------------------------
#
# ``net.parameters()`` makes a fresh generator, and a list can be read twice. The
# clipped gradient keeps its direction and has the length 1.

net = nn.Linear(2, 1, bias=False)
optimizer = torch.optim.SGD(net.parameters(), lr=1.0)
net(torch.tensor([3.0, 4.0])).sum().backward()
length = nn.utils.clip_grad_norm_(net.parameters(), max_norm=1.0)

print(length, net.weight.grad)
torch.testing.assert_close(net.weight.grad, torch.tensor([[3.0, 4.0]]) / 5)

# %%
# If a gradient is not finite, keep the value in the domain
# ---------------------------------------------------------
#
# Find where it arises, with `anomaly mode` or by printing gradients, and repair
# the formula there. A small constant under the root makes the slope finite:
# ``1 / (2 * sqrt(weight + epsilon))``.

weight = torch.tensor([0.0, 1.0], requires_grad=True)
epsilon = 1e-2
(weight + epsilon).sqrt().sum().backward()
by_hand = 0.5 / (weight.detach() + epsilon).sqrt()
torch.testing.assert_close(weight.grad, by_hand)

nn.utils.clip_grad_norm_([weight], max_norm=1.0, error_if_nonfinite=True)

print(weight.grad)
torch.testing.assert_close(weight.grad, by_hand / by_hand.norm())

# %%
# To survive one bad batch, skip its step
# ---------------------------------------
#
# Clip, look at the returned length, and step only if it is finite.

weight = torch.tensor([0.0, 1.0], requires_grad=True)
optimizer = torch.optim.SGD([weight], lr=1.0)
weight.sqrt().sum().backward()
length = nn.utils.clip_grad_norm_([weight], max_norm=1.0)
if length.isfinite():
    optimizer.step()

print(length, weight)
assert torch.equal(weight.detach(), torch.tensor([0.0, 1.0]))

# %%
# What only hides the error
# -------------------------
#
# ``error_if_nonfinite=False``, which is the default, divides by infinity. The
# finite gradients become 0 and the infinite one becomes undefined; one step
# later the weight is lost.

weight = torch.tensor([0.0, 1.0], requires_grad=True)
optimizer = torch.optim.SGD([weight], lr=1.0)
weight.sqrt().sum().backward()
nn.utils.clip_grad_norm_([weight], max_norm=1.0, error_if_nonfinite=False)
optimizer.step()

print(weight.grad, weight)
assert weight[0].isnan() and weight.grad[1] == 0

# %%
# See also
# --------
#
# * `nan-where`
# * `anomaly-mode`
# * `optimizer-empty`
