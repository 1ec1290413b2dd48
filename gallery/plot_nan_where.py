# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "silent/where-nan-gradient",
#     "silent/silent-where-nan-gradient",
# ]
# symptom = "nan from a branch I did not take: the loss is finite, the gradient is nan."
# symptom-zh = "torch.where 没有选中的分支导致梯度为 nan，但 loss 正常"
# ///
"""
NaN from the branch that where did not take
===========================================

You guarded a division, root or logarithm with `torch.where`, and the gradient is ``nan``
at the very elements you guarded. Both branches are differentiated, and zero times
infinity is not a number.
"""

import torch

# %%
# The mistake
# -----------
#
# The square root at zero has an infinite slope, so the code chooses zero there.

x = torch.tensor([0.0, 4.0], requires_grad=True)
y = torch.where(x > 0, x.sqrt(), torch.zeros(2))
# draw: y
y.sum().backward()

print(y, x.grad)
assert x.grad[0].isnan()

# %%
# The value is right. Backward hands zero to the root's branch, and the root's formula
# multiplies it by infinity.
#
# Guard the input as well
# -----------------------
#
# Replace the dangerous inputs before the function, and the results after it: the root
# never sees a zero. Both uses of `torch.where` are needed.

x = torch.tensor([0.0, 4.0], dtype=torch.float64, requires_grad=True)


def guarded_sqrt(x):
    safe = torch.where(x > 0, x, torch.ones_like(x))
    return torch.where(x > 0, safe.sqrt(), torch.zeros_like(x))


guarded_sqrt(x).sum().backward()
print(x.grad)
torch.testing.assert_close(x.grad, torch.tensor([0.0, 0.25], dtype=torch.float64))

# %%
# `finite differences` agree away from the edge:

inside = torch.tensor([-1.0, 4.0], dtype=torch.float64, requires_grad=True)
assert torch.autograd.gradcheck(guarded_sqrt, (inside,))

# %%
# If the edge may move a little, clamp
# ------------------------------------
#
# A lower bound gives every element below it the gradient zero.

x = torch.tensor([0.0, 4.0], requires_grad=True)
x.clamp(min=1e-12).sqrt().sum().backward()

print(x.grad)
torch.testing.assert_close(x.grad, torch.tensor([0.0, 0.25]))

# %%
# What does not help
# ------------------
#
# A mask after the fact, ``nan_to_num`` on the value, and indexing the loss all leave the
# root with its infinite slope. The value has no ``nan`` to remove.

for choose in (
    lambda y, x: y * (x > 0),
    lambda y, x: y.nan_to_num(),
    lambda y, x: y.masked_fill(x <= 0, 0.0),
):
    x = torch.tensor([0.0, 4.0], requires_grad=True)
    choose(x.sqrt(), x).sum().backward()
    print(x.grad)
    assert not x.grad[0].isfinite()

# %%
# See also
# --------
#
# * `nan-sqrt-norm`: roots, norms and logarithms at their edges
# * `anomaly-mode`: which operation made the nan
