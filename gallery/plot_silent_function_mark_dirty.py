# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "silent/custom-function-without-mark-dirty",
#     "silent/silent-custom-function-inplace-no-mark-dirty",
#     "silent/silent-custom-op-mutation-not-tracked",
#     "silent/silent-custom-op-mutates-leaf",
# ]
# symptom = "My own in-place function computes the right values, but the gradients ignore what it did."
# symptom-zh = "自定义原地操作数值正确，但梯度没有反映它"
# ///
"""
An in-place custom function that does not say so
================================================

Your `custom function` writes into its input without ``ctx.mark_dirty``, so
autograd goes on with the graph of the value that was there before.
"""

import torch

# %%
# The mistake
# -----------
#
# The function doubles its input in place. The caller goes on with the same
# variable, as with any in-place operation.


class DoubleInPlace(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x.mul_(2.0)
        return x.clone()

    @staticmethod
    def backward(ctx, grad):
        return grad * 2.0


x = torch.tensor([1.0], requires_grad=True)
hidden = x * 1.0
DoubleInPlace.apply(hidden)
hidden.sum().backward()

print(hidden, x.grad)
assert x.grad != 2.0

# %%
# The value is doubled, the gradient is not: ``hidden`` still has the `grad_fn`
# of the multiplication by one.
#
# Mark the input and return it
# ----------------------------


class DoubleMarked(DoubleInPlace):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(2.0)


x = torch.tensor([1.0], requires_grad=True)
hidden = x * 1.0
DoubleMarked.apply(hidden)
# draw: hidden
hidden.sum().backward()

print(x.grad)
torch.testing.assert_close(x.grad, torch.tensor([2.0]))

# %%
# Better still, do not write
# --------------------------
#
# A function that returns a new tensor needs no mark, and nobody can use the
# old variable by mistake.


class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2.0

    @staticmethod
    def backward(ctx, grad):
        return grad * 2.0


x = torch.tensor([1.0], dtype=torch.float64, requires_grad=True)
Double.apply(x).sum().backward()
torch.testing.assert_close(x.grad, torch.tensor([2.0], dtype=torch.float64))
assert torch.autograd.gradcheck(Double.apply, (x,))

# %%
# What does not help
# ------------------
#
# Declaring the write to `torch.library.custom_op` with ``mutates_args`` bumps
# the `version counter`, but the write has no derivative: the gradient passes
# as if nothing had happened. It even writes into a `leaf tensor`.


@torch.library.custom_op("autograd_errors::double_", mutates_args=("x",))
def double_(x: torch.Tensor) -> None:
    x *= 2.0


x = torch.tensor([1.0], requires_grad=True)
hidden = x * 1.0
double_(hidden)
hidden.sum().backward()
print(hidden, x.grad, hidden._version)
assert x.grad != 2.0

weight = torch.tensor([1.0], requires_grad=True)
double_(weight)
print(weight)
assert weight == 2.0

# %%
# See also
# --------
#
# * `function-mark-dirty`: what PyTorch says when the mark does not fit
# * `leaf-inplace`
