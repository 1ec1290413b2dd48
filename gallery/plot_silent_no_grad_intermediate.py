# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "silent/no-grad-view-inplace",
#     "silent/silent-no-grad-inplace-on-intermediate",
# ]
# symptom = "I scaled activations under no_grad and the gradient does not know about it."
# symptom-zh = "在 no_grad 中修改中间结果，梯度没有变化"
# ///
"""
Changing an intermediate result under no_grad
=============================================

You changed a `non-leaf tensor` in place inside `no_grad`. Its value changed, its
history did not, and the gradient is that of the value before.
"""

import torch

# %%
# The mistake
# -----------
#
# Activations are rescaled, and `torch.no_grad` was added because that looked like the
# thing to do around an in-place write.

x = torch.tensor([1.0], requires_grad=True)
hidden = x * 2.0
with torch.no_grad():
    hidden.mul_(3.0)
# draw: hidden
hidden.sum().backward()

print(hidden, x.grad)
assert x.grad != 6.0

# %%
# The value knows the factor, the gradient does not. No `saved tensor` was touched, so there
# is nothing to compare and nothing to raise.
#
# Let autograd see the write
# --------------------------
#
# On an intermediate result an `in-place operation` is allowed and recorded.

x = torch.tensor([1.0], requires_grad=True)
hidden = x * 2.0
hidden.mul_(3.0)
# draw: hidden
hidden.sum().backward()

print(x.grad)
torch.testing.assert_close(x.grad, torch.tensor([2.0 * 3.0]))

# %%
# If the factor should be a constant to the gradient, say that
# ------------------------------------------------------------
#
# A normalization by a norm that is not to be differentiated detaches the norm, not the
# write.

x = torch.tensor([3.0, 4.0], requires_grad=True)
hidden = x * 2.0
hidden = hidden / hidden.detach().norm()
hidden.sum().backward()

print(x.grad)
torch.testing.assert_close(x.grad, torch.full((2,), 2.0 / 10.0))

# %%
# What does not help
# ------------------
#
# ``.data`` and ``detach()`` do the same as `no_grad` here.

for change in (lambda t: t.data.mul_(3.0), lambda t: t.detach().mul_(3.0)):
    x = torch.tensor([1.0], requires_grad=True)
    hidden = x * 2.0
    change(hidden)
    hidden.sum().backward()
    print(x.grad)
    assert x.grad != 6.0

# %%
# See also
# --------
#
# * `version-no-grad-update`: the write that backward notices and refuses
# * `silent-data-edit`: a saved value changed through ``.data``
