# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "pytorch-bug/internal-inplace-jvp",
#     "inventory/vander-internal-inplace",
# ]
# cause-of = "version-modified"
# when = { frame = "(?:vander|jvp|forward_ad)" }
# ///
"""
PyTorch's own function writes in place
======================================

You wrote nothing in place, and the message comes all the same. A few functions
of PyTorch build their result with in-place writes of their own, and one of
those hits a value that another saved.
"""

import traceback

import torch

# %%
# The error
# ---------
#
# The matrix of powers for a polynomial fit. One line, nothing written.

points = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64, requires_grad=True)

try:
    torch.vander(points).sum().backward()
except RuntimeError:
    traceback.print_exc()

# %%
# How do you know that it is not you? Your tensor has not been written since it
# was made, and the shape in the message belongs to none of yours:

print(points._version, list(points.shape))

# %%
# Find a function that does the same
# ----------------------------------
#
# `torch.linalg.vander` computes the same powers in the opposite order, and its
# gradient agrees with `finite differences`.


def powers(points):
    return torch.linalg.vander(points).flip(-1)


torch.testing.assert_close(powers(points), torch.vander(points).detach())

powers(points).sum().backward()
print(points.grad)
torch.testing.assert_close(points.grad, 1 + 2 * points.detach())
assert torch.autograd.gradcheck(powers, (points,))

# %%
# Or write it out of place
# ------------------------
#
# Two lines of your own often replace the function. Then look whether the fault
# is known, and report it with the line that raises.


def stacked_powers(points):
    return torch.stack([points**2, points, torch.ones_like(points)], dim=-1)


points.grad = None
stacked_powers(points).sum().backward()
torch.testing.assert_close(points.grad, 1 + 2 * points.detach())

# %%
# If it appears only in a second derivative or a Jacobian
# -------------------------------------------------------
#
# A backward formula can have the same fault; then the first derivative is right
# and the next one raises. Check the function alone, at both orders, before you
# look for the mistake in your model:

assert torch.autograd.gradgradcheck(powers, (points,))
assert torch.autograd.gradcheck(powers, (points,), check_forward_ad=True)

# %%
# See also
# --------
#
# * `version-modified`: the causes in your own code, which are far more frequent
# * `silent-kron`: a function that overlooks a write instead
# * `a report of vander <https://github.com/pytorch/pytorch/issues/60197>`__
