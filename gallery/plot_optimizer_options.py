# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "inventory/foreach-no-autograd",
#     "inventory/optim-fused-unsupported-dtype",
#     "inventory/optim-adam-differentiable-step-requires-grad",
# ]
#
# [[tool.autograd-errors.error]]
# raises = "AssertionError"
# message = "_foreach ops don't support autograd"
# source = "torch/optim/adam.py"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "`fused=True` requires all the params to be floating point Tensors of supported devices: <devices> but <dtype> and <device>"
# source = "torch/optim/optimizer.py"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "`requires_grad` is not supported for `step` in differentiable mode"
# source = "torch/optim/adam.py"
# ///
"""
Optimizer options that exclude each other
=========================================

You switched on a variant of the `optimizer` that cannot do what your parameters
or another option ask for. ``foreach`` and ``fused`` are faster ways to make the
same step; ``differentiable`` records the step, which they cannot.
"""

import traceback

import torch
from torch import nn

# %%
# The errors
# ----------
#
# ``foreach`` updates many parameters in one call that autograd does not record.

weight = nn.Parameter(torch.zeros(2))
weight.grad = torch.ones(2)
optimizer = torch.optim.Adam([weight], lr=0.5, foreach=True, differentiable=True)

try:
    optimizer.step()
except AssertionError:
    traceback.print_exc()

# %%
# ``fused`` needs floating point parameters on a device that has such a kernel.

phase = nn.Parameter(torch.zeros(2, dtype=torch.complex64))
phase.grad = torch.ones_like(phase)

try:
    torch.optim.Adam([phase], lr=0.5, fused=True).step()
except RuntimeError:
    traceback.print_exc()

# %%
# Adam counts its steps in a tensor. In differentiable mode a counter that asks
# for a gradient is refused.

weight = nn.Parameter(torch.zeros(2))
weight.grad = torch.ones(2)
optimizer = torch.optim.Adam([weight], lr=0.5, differentiable=True)
optimizer.state[weight] = {
    "step": torch.tensor(0.0, requires_grad=True),
    "exp_avg": torch.zeros(2),
    "exp_avg_sq": torch.zeros(2),
}

try:
    optimizer.step()
except RuntimeError:
    traceback.print_exc()

# %%
# For an ordinary step, leave the options alone
# ---------------------------------------------
#
# The default chooses what the parameters allow, complex ones included. The
# first step of Adam has the length of the learning rate; for a complex number
# that holds for its real and imaginary part, and here only the real one has a
# gradient.

phase = nn.Parameter(torch.zeros(2, dtype=torch.complex64))
phase.grad = torch.ones_like(phase)
torch.optim.Adam([phase], lr=0.5).step()

print(phase)
torch.testing.assert_close(phase.detach(), torch.full((2,), -0.5 + 0j))

# %%
# To learn through the step, choose differentiable alone
# ------------------------------------------------------
#
# The recorded step writes into a `non-leaf tensor`, which this mode accepts; make
# one with `clone`. Take the gradient from the tensor that stays unchanged. With
# one step of ``SGD`` the new weight is
# ``start - rate * 2 * start`` for the loss ``start**2``, so the derivative of
# the new weight by the start is ``1 - 2 * rate``.

start = torch.tensor([3.0], requires_grad=True)
weight = start.clone()
optimizer = torch.optim.SGD([weight], lr=0.25, differentiable=True)

(weight.grad,) = torch.autograd.grad((start**2).sum(), start, create_graph=True)
optimizer.step()
(slope,) = torch.autograd.grad(weight.sum(), start)

print(weight, slope)
torch.testing.assert_close(weight.detach(), torch.tensor([3.0 - 0.25 * 6.0]))
torch.testing.assert_close(slope, torch.tensor([1 - 2 * 0.25]))

# %%
# Let the optimizer make its own state
# ------------------------------------
#
# If you restore a state by hand, give the counter no gradient.

weight = nn.Parameter(torch.zeros(2))
weight.grad = torch.ones(2)
optimizer = torch.optim.Adam([weight], lr=0.5)
optimizer.state[weight] = {
    "step": torch.tensor(0.0),
    "exp_avg": torch.zeros(2),
    "exp_avg_sq": torch.zeros(2),
}
optimizer.step()

print(weight)
torch.testing.assert_close(weight.detach(), torch.full((2,), -0.5))

# %%
# See also
# --------
#
# * `optimizer-differentiable`: the step fails on the parameter itself
# * `version-optimizer-step`: ``fused`` and a graph that is still needed
