# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "silent/silent-round-zero-grad",
#     "silent/silent-threshold-compare",
#     "silent/silent-special-function-no-grad",
#     "silent/silent-histc-no-grad",
# ]
# symptom = "The loss is flat: my model rounds, thresholds or counts."
# symptom-zh = "使用 round、比较或阈值后梯度为零，loss 不变"
# ///
"""
Rounding and comparing: a gradient of zero, or none
===================================================

Your model rounds, compares or counts. Such a step is flat wherever it has a derivative,
so the gradient is zero, or the result does not even require grad.
"""

import torch

# %%
# The mistake
# -----------
#
# A threshold turns probabilities into a mask, and a quantizer rounds.

x = torch.tensor([0.7, 1.4], requires_grad=True)
x.round().sum().backward()
print(x.grad)
assert x.grad.eq(0).all()

for result in ((x > 0.5).float(), torch.histc(x, bins=2), torch.special.bessel_j0(x)):
    print(result.requires_grad)
    assert not result.requires_grad

# %%
# The last one has a derivative in mathematics. PyTorch does not implement it and does not
# say so; several functions of ``torch.special`` are like that.
#
# To learn a threshold, make it soft
# ----------------------------------
#
# A steep sigmoid is nearly the same mask, and has a slope.

x = torch.tensor([0.7, 1.4], dtype=torch.float64, requires_grad=True)


def soft_mask(x):
    return torch.sigmoid((x - 0.5) * 10.0)


soft_mask(x).sum().backward()
print(soft_mask(x), x.grad)
assert torch.autograd.gradcheck(soft_mask, (x,))

# %%
# To train through a quantizer, pass the gradient straight through
# ----------------------------------------------------------------
#
# Forward rounds, backward pretends that it did not: a biased estimate that works in
# practice. The gradient is one by construction.

x = torch.tensor([0.7, 1.4], requires_grad=True)
(x + (x.round() - x).detach()).sum().backward()

print(x.grad)
torch.testing.assert_close(x.grad, torch.ones(2))

# %%
# For a special function, use the derivative you know
# ---------------------------------------------------


class BesselJ0(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.special.bessel_j0(x)

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return -grad * torch.special.bessel_j1(x)


x = torch.tensor([0.7, 1.4], dtype=torch.float64, requires_grad=True)
assert torch.autograd.gradcheck(BesselJ0.apply, (x,))

# %%
# What does not help
# ------------------
#
# ``requires_grad_()`` on the mask gives the mask a gradient and the weights none.

x = torch.tensor([0.7, 1.4], requires_grad=True)
mask = (x > 0.5).float().requires_grad_()
mask.sum().backward()
print(mask.grad, x.grad)
assert x.grad is None

# %%
# See also
# --------
#
# * `derivative-not-implemented`: operations that say that they have no derivative
# * `backward-argmax`
