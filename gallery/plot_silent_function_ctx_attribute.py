# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "custom-function/saved-input-modified-later",
#     "silent/silent-custom-function-ctx-attribute",
#     "silent/silent-custom-function-double-backward-intermediate",
# ]
# symptom = "My custom function passes its tests, but training or a gradient penalty gets wrong gradients from it."
# symptom-zh = "自定义 Function 单独测试正确，训练时或求二阶导时梯度错误"
# shows = ["version-modified"]
# ///
"""
Keeping tensors on ctx as attributes
====================================

You stored a tensor as ``ctx.x = x``, where autograd sees neither a later write
to it nor how it was computed. ``ctx.save_for_backward`` keeps the tensor with
its `version counter` and its place in the `computational graph`.
"""

import traceback

import torch

# %%
# The mistake
# -----------
#
# The input is overwritten between forward and backward, as an optimizer step
# does. The derivative of the square at 3 comes out as the one at 300.


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.x = x
        return x * x

    @staticmethod
    def backward(ctx, grad):
        return 2 * ctx.x * grad


x = torch.tensor(3.0, requires_grad=True)
y = Square.apply(x)
with torch.no_grad():
    x.mul_(100.0)
y.backward()

print(x.grad, "is not", 2 * 3.0)
assert x.grad != 2 * 3.0

# timeline: x, y

# %%
# Save inputs and outputs with save_for_backward
# ----------------------------------------------
#
# Now the write is an error, the one that `version-modified` explains, and
# without the write the gradient is right.


class SquareSaved(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return 2 * x * grad


x = torch.tensor(3.0, requires_grad=True)
y = SquareSaved.apply(x)
with torch.no_grad():
    x.mul_(100.0)
try:
    y.backward()
except RuntimeError:
    traceback.print_exc()

x = torch.tensor(3.0, requires_grad=True)
SquareSaved.apply(x).backward()
print(x.grad)
torch.testing.assert_close(x.grad, torch.tensor(2 * 3.0))

# timeline: x, y

# %%
# For second derivatives, compute in backward
# -------------------------------------------
#
# An intermediate result that ``forward`` keeps on ``ctx`` is a constant to
# `double backward`: ``forward`` runs without recording. The second derivative
# of the cube at 2 loses its factor.


class CubeKept(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.derivative = 3 * x * x
        return x**3

    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.derivative


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * 3 * x * x


def second_derivative(function):
    x = torch.tensor(2.0, dtype=torch.float64, requires_grad=True)
    (first,) = torch.autograd.grad(function(x) * x, x, create_graph=True)
    (second,) = torch.autograd.grad(first, x)
    return second


print("kept:", second_derivative(CubeKept.apply), "computed:", second_derivative(Cube.apply))
right = torch.tensor(12 * 2.0**2, dtype=torch.float64)
torch.testing.assert_close(second_derivative(Cube.apply), right)
assert second_derivative(CubeKept.apply) != right

# %%
# `torch.autograd.gradgradcheck` tells the two apart:

x = torch.tensor(2.0, dtype=torch.float64, requires_grad=True)
assert torch.autograd.gradgradcheck(Cube.apply, (x,))
assert not torch.autograd.gradgradcheck(CubeKept.apply, (x,), raise_exception=False)

# %%
# What does not help
# ------------------
#
# `gradcheck` alone passes on both versions of the cube, and on the square: it
# neither writes into the input nor asks for second derivatives.

assert torch.autograd.gradcheck(CubeKept.apply, (x,))
assert torch.autograd.gradcheck(Square.apply, (x,))
