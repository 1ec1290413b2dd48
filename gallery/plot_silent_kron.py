# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = ["pytorch-bug/kron-input-unchecked"]
# shows = ["version-modified"]
# symptom = "The gradient through torch.kron is wrong, and nothing raises."
# symptom-zh = "torch.kron 的梯度错误，但没有报错"
# ///
"""
A factor of kron overwritten
============================

You wrote into a tensor that `torch.kron` still needs for backward, and backward did not
notice. For a plain product PyTorch compares the `version counter`; for ``kron`` it does not.
"""

import traceback

import torch

# %%
# The mistake
# -----------
#
# A factor is rescaled in place once the product has been made. The gradient of the sum
# with respect to each entry of ``b`` is the sum of the other factor.

a = torch.tensor([1.0, 2.0])
b = torch.tensor([3.0, 4.0], requires_grad=True)
product = torch.kron(a, b)
a.mul_(10.0)
product.sum().backward()

right = torch.full((2,), 1.0 + 2.0)
print(b.grad, right)
assert not torch.allclose(b.grad, right)

# %%
# An outer product saves the same tensor and raises where ``kron`` is silent. So this is a
# gap in PyTorch, not a rule:

a = torch.tensor([1.0, 2.0])
b = torch.tensor([3.0, 4.0], requires_grad=True)
product = torch.outer(a, b)
a.mul_(10.0)

try:
    product.sum().backward()
except RuntimeError:
    traceback.print_exc()

# %%
# Make a new tensor instead of writing
# ------------------------------------

a = torch.tensor([1.0, 2.0])
b = torch.tensor([3.0, 4.0], requires_grad=True)
product = torch.kron(a, b)
scaled = a * 10.0
product.sum().backward()

print(b.grad, scaled)
torch.testing.assert_close(b.grad, right)

# %%
# If you must write, let kron have a copy
# ---------------------------------------

a = torch.tensor([1.0, 2.0])
b = torch.tensor([3.0, 4.0], requires_grad=True)
product = torch.kron(a.clone(), b)
a.mul_(10.0)
product.sum().backward()

print(b.grad)
torch.testing.assert_close(b.grad, right)

# %%
# If you want to be warned, write it with an outer product
# --------------------------------------------------------
#
# For two vectors it is the same numbers in another shape, and every write is noticed.


def checked(a, b):
    return torch.outer(a, b).flatten()


a = torch.tensor([1.0, 2.0], dtype=torch.float64)
b = torch.tensor([3.0, 4.0], dtype=torch.float64, requires_grad=True)
torch.testing.assert_close(checked(a, b), torch.kron(a, b))
assert torch.autograd.gradcheck(checked, (a, b))

# %%
# What does not help
# ------------------
#
# Anomaly mode. It tells where a failing node came from, and here no node fails.

a = torch.tensor([1.0, 2.0])
b = torch.tensor([3.0, 4.0], requires_grad=True)
with torch.autograd.set_detect_anomaly(True, check_nan=False):
    product = torch.kron(a, b)
    a.mul_(10.0)
    product.sum().backward()

print(b.grad)
assert not torch.allclose(b.grad, right)

# %%
# See also
# --------
#
# * `version-saved-input`: the error you would have got
# * `silent-data-edit`: writes that hide themselves
# * `version-library-bug`: a function of PyTorch that raises without your doing
