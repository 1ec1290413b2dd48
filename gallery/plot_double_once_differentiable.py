# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = ["double-backward/once-differentiable", "inventory/function-once-differentiable-twice"]
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "trying to differentiate twice a function that was marked with @once_differentiable"
# source = "torch/autograd/function.py"
# ///
"""
Differentiating a once-differentiable function twice
====================================================

You asked for the gradient of a gradient, and a `custom function` on the way
was marked by its author: its ``backward`` is right for one derivative only.
"""

import traceback

import torch
from torch.autograd.function import once_differentiable

# %%
# The error
# ---------
#
# A kernel written in C++ or CUDA computes its own gradient; the Python wrapper
# carries the mark. A gradient penalty then meets it.


class FastCube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    @once_differentiable
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * 3 * x**2


x = torch.tensor(2.0, requires_grad=True)
(slope,) = torch.autograd.grad(FastCube.apply(x).square(), x, create_graph=True)
print(slope)

try:
    (slope - 1.0).square().backward()
except RuntimeError:
    traceback.print_exc()

# draw: slope

# %%
# If the formula uses torch operations, drop the mark
# ---------------------------------------------------
#
# A ``backward`` made of differentiable operations on saved tensors and the
# incoming gradient has a derivative itself. `torch.autograd.gradgradcheck`
# decides whether it is right.


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * 3 * x**2


x = torch.tensor(2.0, dtype=torch.float64, requires_grad=True)
(slope,) = torch.autograd.grad(Cube.apply(x).square(), x, create_graph=True)
(slope - 1.0).square().backward()

# The square of the cube is the sixth power: 6 x**5, then 30 x**4.
print(x.grad)
torch.testing.assert_close(x.grad, 2 * (6 * x.detach() ** 5 - 1) * 30 * x.detach() ** 4)
assert torch.autograd.gradgradcheck(Cube.apply, (x,))

# %%
# If a kernel computes it, give backward its own function
# -------------------------------------------------------
#
# The first derivative becomes a `custom function` of its own, with the second
# derivative as its ``backward``.


class CubeSlope(torch.autograd.Function):
    @staticmethod
    def forward(ctx, grad, x):
        ctx.save_for_backward(grad, x)
        return grad * 3 * x**2  # the kernel's result

    @staticmethod
    def backward(ctx, grad_grad):
        grad, x = ctx.saved_tensors
        return grad_grad * 3 * x**2, grad_grad * grad * 6 * x


class CubeInTwoSteps(Cube):
    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return CubeSlope.apply(grad, x)


assert torch.autograd.gradgradcheck(CubeInTwoSteps.apply, (x,))

# %%
# What only hides the error
# -------------------------
#
# Switching off ``create_graph`` (libraries call it ``first_order=True`` or
# ``track_higher_grads=False``) turns the slope into a constant. If it is one
# term of the loss, the training goes on with part of the gradient missing.

x = torch.tensor(2.0, requires_grad=True)
(slope,) = torch.autograd.grad(FastCube.apply(x).square(), x)
(x + (slope - 1.0).square()).backward()

right = 1 + 2 * (6 * 2.0**5 - 1) * 30 * 2.0**4
print(x.grad, "is not", right)
assert x.grad != right

# %%
# The mark itself is no full protection. It speaks up only if the gradient that
# arrives has a history. Here it is the number one, so the result of the marked
# function is a constant without a word:

x = torch.tensor(2.0, requires_grad=True)
(slope,) = torch.autograd.grad(FastCube.apply(x), x, create_graph=True)
(x + (slope - 1.0).square()).backward()

right = 1 + 2 * (3 * 2.0**2 - 1) * 6 * 2.0
print(x.grad, "is not", right)
assert x.grad != right
