# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "silent/backward-mutates-incoming-grad",
#     "custom-function/backward-mutates-saved",
#     "silent/silent-hook-before-inplace",
#     "silent/silent-hook-inplace-shared-grad",
# ]
# symptom = "A backward hook changes gradients it should not touch, or sees values that do not fit."
# symptom-zh = "hook 看到的梯度不对，或影响了别的参数的梯度"
# ///
"""
A hook that sees or changes the wrong gradient
==============================================

Your `hook` runs without complaint and does something else than you meant: it was put on
the tensor before an in-place write, or writes into a gradient that others share.
"""

import torch

# %%
# The mistake
# -----------
#
# A hook is registered, and then the tensor is multiplied in place. The hook belongs to
# the value before: it sees five times the gradient of the present one.

x = torch.ones(1, requires_grad=True)
hidden = x * 1.0
seen = []
hidden.register_hook(lambda grad: seen.append(grad.item()))
hidden.mul_(5.0)
hidden.sum().backward()

print(seen)
assert seen == [5.0]

# %%
# The other one: the gradient of one input is zeroed in place. A sum hands the same tensor
# to both inputs, and the other one is gone as well.

x, y = torch.ones(1, requires_grad=True), torch.ones(1, requires_grad=True)
first, second = x * 1.0, y * 1.0
second.register_hook(lambda grad: grad.zero_())
(first + second).sum().backward()

print(x.grad)
assert x.grad == 0.0

# %%
# Register after the last write
# -----------------------------

x = torch.ones(1, requires_grad=True)
hidden = x * 1.0
hidden.mul_(5.0)
seen = []
hidden.register_hook(lambda grad: seen.append(grad.item()))
hidden.sum().backward()

print(seen)
assert seen == [1.0]

# %%
# Return a new gradient
# ---------------------

x, y = torch.ones(1, requires_grad=True), torch.ones(1, requires_grad=True)
first, second = x * 1.0, y * 1.0
second.register_hook(lambda grad: torch.zeros_like(grad))
(first + second).sum().backward()

print(x.grad, y.grad)
torch.testing.assert_close(x.grad, torch.ones(1))
torch.testing.assert_close(y.grad, torch.zeros(1))

# %%
# In a custom backward as well
# ----------------------------
#
# The incoming gradient of a `custom function` is shared in the same way. A ``backward``
# that writes into it changes the gradient of a sibling.


class InPlaceBackward(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2.0

    @staticmethod
    def backward(ctx, grad):
        return grad.mul_(2.0)


class Backward(InPlaceBackward):
    @staticmethod
    def backward(ctx, grad):
        return grad * 2.0


def gradients(function):
    x, y = torch.ones(1, requires_grad=True), torch.ones(1, requires_grad=True)
    (y * 1.0 + function(x)).sum().backward()
    return x.grad, y.grad


print(gradients(InPlaceBackward.apply), gradients(Backward.apply))
torch.testing.assert_close(gradients(Backward.apply), (torch.full((1,), 2.0), torch.ones(1)))
assert gradients(InPlaceBackward.apply)[1] != 1.0

# %%
# What does not help
# ------------------
#
# `gradcheck` of the function alone passes: it has no sibling.

x = torch.ones(1, dtype=torch.float64, requires_grad=True)
assert torch.autograd.gradcheck(InPlaceBackward.apply, (x,), check_undefined_grad=False)

# %%
# See also
# --------
#
# * `grad-of-nonleaf`: `retain_grad`, which follows an in-place write
# * `hook-tensor`: hooks that raise
