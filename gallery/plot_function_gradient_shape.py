# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "custom-function/wrong-gradient-shape",
#     "inventory/function-grad-wrong-shape",
#     "inventory/function-grad-not-tensor",
#     "inventory/function-grad-wrong-device",
#     "inventory/function-grad-wrong-layout",
#     "inventory/function-grad-complex-for-real",
# ]
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "Function <node> returned an invalid gradient at index <index> - got [<shape>] but expected shape compatible with [<expected>]"
# source = "torch/csrc/autograd/engine.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "expected Variable or None (got <type>)"
# source = "torch/csrc/autograd/python_function.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "Function <node> returned an invalid gradient at index <index> - expected device <expected> but got <device>"
# source = "torch/csrc/autograd/engine.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "Function <node> returned an invalid gradient at index <index> - expected layout <expected> but got <layout>"
# source = "torch/csrc/autograd/engine.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "Expected isFloatingType(grad.scalar_type()) || (input_is_complex == grad_is_complex) to be true, but got false.  (Could this error message be improved?  If so, please report an enhancement request to PyTorch.)"
# source = "torch/csrc/autograd/engine.cpp"
# ///
"""
A custom backward returns a gradient of the wrong kind
======================================================

The gradient that your ``backward`` returned does not fit the input it belongs
to. It must have that input's shape, device and layout, and be real if the
input is real. Only one difference is repaired for you: a gradient that is
larger through `broadcasting` is summed to the input's shape.
"""

import traceback

import torch

# %%
# The error
# ---------
#
# A linear layer written as a `custom function` gets the transposes wrong.


class Linear(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight):
        ctx.save_for_backward(x, weight)
        return x @ weight.T

    @staticmethod
    def backward(ctx, grad):
        x, weight = ctx.saved_tensors
        return grad @ weight, x.T @ grad


x = torch.tensor([[1.0, 2.0, 3.0]])
weight = torch.zeros(2, 3, requires_grad=True)

try:
    Linear.apply(x, weight).sum().backward()
except RuntimeError:
    traceback.print_exc()

# %%
# The index counts the arguments of ``forward`` from zero: the second one is at
# fault. First stands the shape you returned, then the shape of the input.
#
# Derive the shape, then check the values
# ---------------------------------------
#
# The gradient of ``weight`` has the shape of ``weight``: outputs times inputs.
# `gradcheck` compares every entry with `finite differences`.


class LinearRight(Linear):
    @staticmethod
    def backward(ctx, grad):
        x, weight = ctx.saved_tensors
        return grad @ weight, grad.T @ x


weight = torch.zeros(2, 3, requires_grad=True)
LinearRight.apply(x, weight).sum().backward()

print(weight.grad)
torch.testing.assert_close(weight.grad, torch.tensor([[1.0, 2.0, 3.0], [1.0, 2.0, 3.0]]))

inputs = (torch.rand(4, 3, dtype=torch.float64), torch.rand(2, 3, dtype=torch.float64))
assert torch.autograd.gradcheck(LinearRight.apply, [i.requires_grad_() for i in inputs])

# %%
# What only hides the error
# -------------------------
#
# Forcing the shape also silences the message. The entries end up in the wrong
# places.


class LinearForced(Linear):
    @staticmethod
    def backward(ctx, grad):
        x, weight = ctx.saved_tensors
        return grad @ weight, (x.T @ grad).reshape(weight.shape)


weight = torch.zeros(2, 3, requires_grad=True)
LinearForced.apply(x, weight).sum().backward()

right = torch.tensor([[1.0, 2.0, 3.0], [1.0, 2.0, 3.0]])
print(weight.grad, "is not", right)
assert not torch.equal(weight.grad, right)

# %%
# The other kinds: type, device, layout, complex
# ----------------------------------------------
#
# The same `backward pass` refuses a Python number, a tensor on another device,
# another layout, and a complex gradient for a real input.


class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, wrong):
        ctx.wrong = wrong
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return ctx.wrong, None


x = torch.ones(2, 2, requires_grad=True)
complex_gradient = torch.ones(2, 2, dtype=torch.complex64)
for wrong in (2.0, torch.ones(2, 2, device="meta"), torch.eye(2).to_mkldnn(), complex_gradient):
    try:
        Double.apply(x, wrong).sum().backward()
    except RuntimeError:
        traceback.print_exc()

# %%
# Compute the gradient from ``grad``
# ----------------------------------
#
# What you compute from the incoming gradient has its device, layout and kind
# already. For a real input under a complex computation, return the real part.


class DoubleRight(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return grad * 2


x = torch.ones(2, 2, requires_grad=True)
DoubleRight.apply(x).sum().backward()

print(x.grad)
torch.testing.assert_close(x.grad, torch.full((2, 2), 2.0))

# %%
# If a library raised it
# ----------------------
#
# Then the node is a class that you did not write, as in renderers with kernels of
# their own. A kernel reads a fixed number of columns; your input has more, and backward
# returns what was read
# (`a report <https://github.com/hbb1/2d-gaussian-splatting/issues/43>`__):


class Area(torch.autograd.Function):  # reads two columns
    @staticmethod
    def forward(ctx, sides):
        ctx.save_for_backward(sides)
        return sides[:, 0] * sides[:, 1]

    @staticmethod
    def backward(ctx, grad):
        (sides,) = ctx.saved_tensors
        return grad[:, None] * torch.stack([sides[:, 1], sides[:, 0]], dim=1)


sides = torch.tensor([[2.0, 3.0, 5.0]], requires_grad=True)
try:
    Area.apply(sides).sum().backward()
except RuntimeError:
    traceback.print_exc()

# %%
# Compare the two shapes with what the library documents, and pass what it takes. The
# third column has no part in the area, and its gradient is zero.

Area.apply(sides[:, :2]).sum().backward()

print(sides.grad)
torch.testing.assert_close(sides.grad, torch.tensor([[3.0, 2.0, 0.0]]))

# %%
# A node of PyTorch's own, such as ``MmBackward``, stands in reports from older releases
# (`one <https://github.com/rosinality/stylegan2-pytorch/issues/260>`__), where shapes in
# forward did not fit. Run one batch on the CPU of this release. It refuses at the line
# itself:

try:
    torch.ones(1, 4) @ torch.ones(3, 2)
except RuntimeError as refused:
    print(refused)

# %%
# See also
# --------
#
# * `function-gradient-count`: too many or too few gradients
# * `torch.autograd.gradcheck`
