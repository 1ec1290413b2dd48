# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "version-counter/input-saved-by-pow-modified",
#     "inventory/version-modified-copyslices",
#     "inventory/version-modified-mul-input-plain-tensor",
# ]
# cause-of = "version-modified"
# when = { node = "^((torch::autograd::)?CopySlices|(Mul|Div|Add|Addmm|Mm|Sub|Pow|Convolution|Clone|Neg)(Backward\\d*)?)$" }
# ///
"""
The input of a product or a power was overwritten
=================================================

You changed a tensor after it had been multiplied, squared or divided. The
derivative of a product is the other factor, so products keep their inputs
until backward.
"""

import traceback

import torch

# %%
# The error
# ---------
#
# A penalty squares the residuals; afterwards the first residual is ignored by
# setting it to 0.

x = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64, requires_grad=True)
residual = x * 2.0
penalty = residual**2
residual[0] = 0.0

try:
    penalty.sum().backward()
except RuntimeError:
    traceback.print_exc()

# %%
# The power node holds its base, and the base is now at another `version`:

print(penalty.grad_fn.name(), residual._version)

# %%
# A tensor that is not trained is saved as well. Here a mask is used and then
# changed for the next layer; the message names no operation, since none made it.

weight = torch.ones(3, dtype=torch.float64, requires_grad=True)
mask = torch.ones(3, dtype=torch.float64)
first = (weight * mask).sum()
mask[0] = 0.0
second = (weight * mask).sum()

try:
    (first + second).backward()
except RuntimeError:
    traceback.print_exc()

# %%
# If the earlier result keeps the old value, write into a copy
# ------------------------------------------------------------
#
# `clone` before the write: both results are differentiated where they were
# computed. `finite differences` agree.


def both_penalties(x):
    residual = x * 2.0
    penalty = residual**2
    changed = residual.clone()
    changed[0] = 0.0
    return penalty.sum() + changed.sum()


both_penalties(x).backward()
print(x.grad)
assert torch.autograd.gradcheck(both_penalties, (x,))

mask = torch.ones(3, dtype=torch.float64)
first = (weight * mask).sum()
mask = mask.clone()
mask[0] = 0.0
second = (weight * mask).sum()
(first + second).backward()

print(weight.grad)
torch.testing.assert_close(weight.grad, torch.tensor([1.0, 2.0, 2.0], dtype=torch.float64))

# %%
# If it should not count at all, write before you use it
# ------------------------------------------------------
#
# The first residual was to be ignored. Move the write up, and the square sees
# the 0.

x.grad = None
residual = x * 2.0
residual[0] = 0.0
(residual**2).sum().backward()

by_hand = 8.0 * x.detach()
by_hand[0] = 0.0
print(x.grad)
torch.testing.assert_close(x.grad, by_hand)

# %%
# To normalize, divide out of place
# ---------------------------------
#
# ``features /= norm`` is the same mistake twice: the norm keeps the features,
# and ``/=`` overwrites them.

features = x * 1.0
norm = features.norm()
try:
    features /= norm
    (features[0] * norm).backward()
except RuntimeError:
    traceback.print_exc()


def first_direction(x):
    return (x / x.norm())[0]


x.grad = None
first_direction(x).backward()
print(x.grad)
assert torch.autograd.gradcheck(first_direction, (x,))

# %%
# See also
# --------
#
# * `version-mutated-argument`: the write happens inside a function you call
# * `version-slice-write`: a tensor is filled element by element
