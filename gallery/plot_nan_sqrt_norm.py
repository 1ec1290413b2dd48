# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "nan/sqrt-at-zero",
#     "nan/pow-log-of-nonpositive",
#     "nan/mask-after-division",
#     "silent/silent-norm-at-zero-nan",
# ]
# symptom = "The loss becomes nan after some steps although its value was fine."
# symptom-zh = "训练几步之后 loss 变成 nan，梯度是 nan"
# ///
"""
NaN from a root, norm, power or logarithm at zero
=================================================

Your loss takes a root, a power or a logarithm of a number that is zero, where the slope
is infinite. Multiplied by a zero from outside, it becomes ``nan`` and spreads to all
weights.
"""

import torch

# %%
# The mistake
# -----------
#
# The distance between two embeddings that happen to be equal.

first = torch.tensor([1.0, 2.0], requires_grad=True)
second = torch.tensor([1.0, 2.0])
distance = (first - second).pow(2).sum().sqrt()
distance.backward()

print(distance, first.grad)
assert first.grad.isnan().all()

# %%
# Powers, logarithms and quotients do the same at their own edges, and a mask applied
# after a division comes too late:

for function in (
    lambda x: x.pow(0.5),
    lambda x: x * x.log(),
    lambda x: torch.tensor([1.0, 0.0]) * (x / x),
):
    x = torch.tensor([1.0, 0.0], requires_grad=True)
    function(x).sum().backward()
    print(x.grad)
    assert not x.grad[1].isfinite()

# %%
# Use the function that knows its edge
# ------------------------------------
#
# `torch.linalg.vector_norm` takes zero as its slope at zero, which is a valid choice, and
# ``torch.special.xlogy`` does without the logarithm where its factor is zero.

first = torch.tensor([1.0, 2.0], requires_grad=True)
torch.linalg.vector_norm(first - second).backward()
print(first.grad)
torch.testing.assert_close(first.grad, torch.zeros(2))

away = torch.tensor([3.0, 4.0], dtype=torch.float64, requires_grad=True)
assert torch.autograd.gradcheck(torch.linalg.vector_norm, (away,))

# %%
# Add a small number inside the root
# ----------------------------------
#
# It belongs under the root: added outside, it changes the value and not the slope.

first = torch.tensor([1.0, 2.0], requires_grad=True)
((first - second).pow(2).sum() + 1e-12).sqrt().backward()
print(first.grad)
torch.testing.assert_close(first.grad, torch.zeros(2))

# %%
# Mask before you divide
# ----------------------

x = torch.tensor([1.0, 0.0], requires_grad=True)
safe = torch.where(x != 0, x, torch.ones(2))
torch.where(x != 0, 3.0 / safe, torch.zeros(2)).sum().backward()
print(x.grad)
torch.testing.assert_close(x.grad, torch.tensor([-3.0, 0.0]))

# %%
# What does not help
# ------------------
#
# Clipping gradients, or zeroing the ``nan`` in a hook, keeps the run alive. Clipping
# divides by a norm that is ``nan`` itself, and takes all other weights along.

first = torch.tensor([1.0, 2.0], requires_grad=True)
other = torch.tensor([1.0], requires_grad=True)
((first - second).pow(2).sum().sqrt() + other.sum()).backward()
torch.nn.utils.clip_grad_norm_([first, other], 1.0)
print(other.grad)
assert other.grad.isnan().all()

# %%
# See also
# --------
#
# * `nan-where`: the guard that does not guard
# * `nan-decomposition`: equal singular values
