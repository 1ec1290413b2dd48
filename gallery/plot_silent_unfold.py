# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "silent/silent-unfold-overlap-inplace",
# ]
# symptom = "An in-place operation on unfold windows gives wrong gradients without an error."
# symptom-zh = "对 unfold 的窗口做原地操作，梯度错误但不报错"
# ///
"""
Writing in place into overlapping windows
=========================================

You changed the windows that ``unfold`` returned. Inner elements lie in two windows and
are changed twice, but the gradient counts one of the two.
"""

import torch

# %%
# The mistake
# -----------
#
# Every window of two is doubled in place. The middle element is doubled twice.

x = torch.ones(3, requires_grad=True)
signal = x * 1.0
signal.unfold(0, 2, 1).mul_(2.0)
# draw: signal
signal.sum().backward()

print(signal, x.grad)
assert signal[1] == 4.0
assert x.grad[1] != 4.0

# %%
# The value is four times the input, so its derivative is four. `expand` has the same
# kind of overlap, and there PyTorch refuses: see `overlap-expanded`. For windows its test
# would cost too much, so they pass, with no promise about the result.
#
# Compute new windows and add them up
# -----------------------------------
#
# Say what an element in two windows should be. Here it is the sum of what its windows
# make of it.

x = torch.ones(3, dtype=torch.float64, requires_grad=True)


def doubled_windows(x):
    windows = x.unfold(0, 2, 1) * 2.0
    out = torch.zeros_like(x)
    return out.index_add(0, torch.tensor([0, 1, 1, 2]), windows.reshape(-1))


doubled_windows(x).sum().backward()
print(x.grad)
torch.testing.assert_close(x.grad, torch.tensor([2.0, 4.0, 2.0], dtype=torch.float64))
assert torch.autograd.gradcheck(doubled_windows, (x,))

# %%
# If each element should change once, write without windows
# ---------------------------------------------------------

x = torch.ones(3, requires_grad=True)
signal = x * 1.0
signal.mul_(2.0)
signal.sum().backward()

print(x.grad)
torch.testing.assert_close(x.grad, torch.full((3,), 2.0))

# %%
# What does not help
# ------------------
#
# Copying the windows first makes the write harmless and useless: the signal stays as it
# was.

x = torch.ones(3, requires_grad=True)
signal = x * 1.0
signal.unfold(0, 2, 1).clone().mul_(2.0)
print(signal)
assert torch.equal(signal, torch.ones(3))

# %%
# See also
# --------
#
# * `overlap-expanded`: where the overlap is found
# * `the report with the reason why windows pass
#   <https://github.com/pytorch/pytorch/issues/98143>`__
# * `compile-in-place`: under ``torch.compile`` the same write is an error
