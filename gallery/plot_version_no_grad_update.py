# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = ["inventory/version-modified-under-no-grad"]
# cause-of = "version-modified"
# when = { node = "^$" }
# ///
"""
A weight changed under no_grad between forward and backward
===========================================================

You clipped, averaged or updated a parameter by hand inside ``torch.no_grad()``,
after forward had used it. ``no_grad`` allows the write, but backward still
needs the value from before.
"""

import traceback

import torch
from torch import nn

# %%
# The error
# ---------
#
# A critic clips its weight to a small range, as Wasserstein GANs do, one line
# too early.

weight = nn.Parameter(torch.tensor([1.0, 2.0]))
loss = (weight**2).sum()

with torch.no_grad():
    weight.clamp_(-0.5, 0.5)

try:
    loss.backward()
except RuntimeError:
    traceback.print_exc()

# %%
# `no_grad` switches off recording, not counting. The parameter is a `leaf
# tensor`, so the message names no operation:

print(weight.grad_fn, weight._version)

# %%
# Run backward first, then write
# ------------------------------
#
# The gradient belongs to the weight that forward used.

weight = nn.Parameter(torch.tensor([1.0, 2.0]))
loss = (weight**2).sum()
loss.backward()

with torch.no_grad():
    weight.clamp_(-0.5, 0.5)

print(weight.grad, weight.detach())
torch.testing.assert_close(weight.grad, torch.tensor([2.0 * 1.0, 2.0 * 2.0]))

# %%
# If forward should use the clipped weight, write first
# -----------------------------------------------------

weight = nn.Parameter(torch.tensor([1.0, 2.0]))
with torch.no_grad():
    weight.clamp_(-0.5, 0.5)
(weight**2).sum().backward()

print(weight.grad)
torch.testing.assert_close(weight.grad, torch.full((2,), 2.0 * 0.5))

# %%
# If both values must live, give forward a copy
# ---------------------------------------------
#
# A weight that is perturbed between two losses, as in adversarial training. Add
# the change to the weight out of place; the parameter stays what it is.

weight = nn.Parameter(torch.tensor([1.0, 2.0]))
clean = (weight**2).sum()
noisy = ((weight + 0.5) ** 2).sum()
(clean + noisy).backward()

print(weight.grad)
torch.testing.assert_close(weight.grad, 2 * weight.detach() + 2 * (weight.detach() + 0.5))

# %%
# What only hides the error
# -------------------------
#
# ``weight.data.clamp_()`` is not counted. Backward multiplies with the clipped
# weight and returns a gradient that belongs to neither value:

weight = nn.Parameter(torch.tensor([1.0, 2.0]))
loss = (weight**2).sum()
weight.data.clamp_(-0.5, 0.5)
loss.backward()

print(weight.grad)
assert not torch.equal(weight.grad, torch.tensor([2.0, 4.0]))

# %%
# See also
# --------
#
# * `version-optimizer-step`: the write is an optimizer's
# * `silent-no-grad-intermediate`: a result changed under ``no_grad``, without a message
# * `silent-data-edit`: the same mistake without a message
