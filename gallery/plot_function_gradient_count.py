# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "custom-function/wrong-number-of-gradients",
#     "inventory/function-wrong-grad-count",
#     "inventory/function-too-many-grads",
#     "inventory/function-grad-list-not-tuple",
#     "inventory/function-grad-for-non-tensor-input",
# ]
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "function <node> returned an incorrect number of gradients (expected <expected>, got <count>)"
# source = "torch/csrc/autograd/python_function.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "function <node> returned a gradient different than None at position <position>, but the corresponding forward input was not a Variable"
# source = "torch/csrc/autograd/python_function.cpp"
# ///
"""
A custom backward returns the wrong number of gradients
=======================================================

Your `custom function` must return one value from ``backward`` for every
argument of ``forward``, in the same order. Arguments that are not tensors
count too: their value is ``None``.
"""

import traceback

import torch

# %%
# The error
# ---------
#
# A loss scales its input by a number, and ``backward`` forgets the number.


class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, factor):
        ctx.factor = factor
        return x * factor

    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.factor


x = torch.tensor([1.0, 2.0], requires_grad=True)

try:
    Scale.apply(x, 3.0).sum().backward()
except RuntimeError:
    traceback.print_exc()

# %%
# The name in the message is your class with ``Backward`` behind it. The two
# numbers are the arguments of ``forward`` without ``ctx``, and what
# ``backward`` returned. A list counts as one value, so this one fails as well:


class ScaleList(Scale):
    @staticmethod
    def backward(ctx, grad):
        return [grad * ctx.factor, None]


try:
    ScaleList.apply(x, 3.0).sum().backward()
except RuntimeError:
    traceback.print_exc()

# %%
# A gradient for an argument that cannot have one is refused too. The position
# counts from one.


class ScaleBoth(Scale):
    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.factor, grad


try:
    ScaleBoth.apply(x, 3.0).sum().backward()
except RuntimeError:
    traceback.print_exc()

# %%
# Return a tuple with None for what is not a tensor
# -------------------------------------------------


class ScaleRight(Scale):
    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.factor, None


x = torch.tensor([1.0, 2.0], requires_grad=True)
ScaleRight.apply(x, 3.0).sum().backward()

print(x.grad)
torch.testing.assert_close(x.grad, torch.full((2,), 3.0))

x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
assert torch.autograd.gradcheck(lambda x: ScaleRight.apply(x, 3.0), (x,))

# %%
# To learn the number too, pass a tensor
# --------------------------------------
#
# A factor that should get a gradient is a tensor with `requires_grad`, and
# then its place in the tuple holds its gradient.


class ScaleLearned(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, factor):
        ctx.save_for_backward(x, factor)
        return x * factor

    @staticmethod
    def backward(ctx, grad):
        x, factor = ctx.saved_tensors
        return grad * factor, (grad * x).sum()


x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
factor = torch.tensor(3.0, dtype=torch.float64, requires_grad=True)
ScaleLearned.apply(x, factor).sum().backward()

print(factor.grad)
torch.testing.assert_close(factor.grad, x.detach().sum())
assert torch.autograd.gradcheck(ScaleLearned.apply, (x, factor))

# %%
# See also
# --------
#
# * `function-gradient-shape`: the right number of gradients, the wrong kind
# * `torch.autograd.gradcheck`, which finds the wrong values as well
