# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "custom-function/legacy-style",
#     "inventory/function-backward-arg-per-output",
#     "inventory/function-backward-missing-ctx",
#     "inventory/function-forward-missing-ctx",
#     "inventory/function-apply-missing-arg",
#     "inventory/function-apply-kwargs-unknown",
#     "inventory/function-no-backward",
#     "inventory/function-no-forward",
#     "inventory/function-instantiated",
#     "inventory/function-legacy-call",
#     "inventory/function-both-backward-and-vjp",
#     "inventory/function-backward-none-grad-arith",
# ]
#
# [[tool.autograd-errors.error]]
# raises = "TypeError"
# message = "<function>.backward() takes <expected> positional arguments but <count> were given"
# source = "torch/csrc/autograd/python_function.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "TypeError"
# message = "<function>.backward() takes 1 positional argument but 2 were given"
# source = "torch/csrc/autograd/python_function.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "TypeError"
# message = "unsupported operand type(s) for *: 'NoneType' and '<type>'"
# source = "torch/csrc/autograd/python_function.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "TypeError"
# message = "<function>.forward() takes 1 positional argument but 2 were given"
# source = "torch/csrc/autograd/python_function.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "TypeError"
# message = "<function>.forward() missing 1 required positional argument: '<name>'"
# source = "torch/csrc/autograd/python_function.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "TypeError"
# message = "forward() got an unexpected keyword argument '<name>'"
# source = "torch/csrc/autograd/python_function.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "NotImplementedError"
# message = "You must implement either the backward or vjp method for your custom autograd.Function to use it with backward mode AD."
# source = "torch/autograd/function.py"
#
# [[tool.autograd-errors.error]]
# raises = "NotImplementedError"
# message = "You must implement the forward function for custom autograd.Function."
# source = "torch/autograd/function.py"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You should only implement one of them."
# source = "torch/autograd/function.py"
#
# [[tool.autograd-errors.error]]
# raises = "DeprecationWarning"
# message = "<function> should not be instantiated. Methods on autograd functions are all static, so you should invoke them on the class itself. Instantiating an autograd function will raise an error in a future version of PyTorch."
# source = "torch/autograd/function.py"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "Legacy autograd function with non-static forward method is deprecated. Please use new-style autograd function with static forward method. (Example: https://pytorch.org/docs/stable/autograd.html#torch.autograd.Function)"
# source = "torch/autograd/function.py"
# ///
"""
A custom function with the wrong signature
==========================================

PyTorch called your ``forward`` or ``backward`` with other arguments than the
`custom function` takes. Both are static methods whose first argument is
``ctx``; ``forward`` then takes what you give to ``apply``, and ``backward``
takes one gradient for every output.
"""

import traceback

import torch

x = torch.ones(2, requires_grad=True)

# %%
# The errors
# ----------
#
# An old repository writes its function as an object with ordinary methods. It
# warns when it is made and fails when it is called.


class OldDouble(torch.autograd.Function):
    def forward(self, x):
        return x * 2

    def backward(self, grad):
        return grad * 2


try:
    OldDouble()(x)
except RuntimeError:
    traceback.print_exc()

# %%
# Two outputs need a ``backward`` with two gradients, even if the loss uses one
# output.


class SumAndDifference(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        return x + y, x - y

    @staticmethod
    def backward(ctx, grad):
        return grad, grad


try:
    SumAndDifference.apply(x, x)[0].sum().backward()
except TypeError:
    traceback.print_exc()

# %%
# With ``set_materialize_grads(False)`` an unused output's gradient is ``None``, and
# ``backward`` must expect that.


class Unmaterialized(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        return x * 2.0, x * 3.0

    @staticmethod
    def backward(ctx, grad_first, grad_second):
        return grad_first * 2.0 + grad_second * 3.0


try:
    Unmaterialized.apply(x)[0].sum().backward()
except TypeError:
    traceback.print_exc()

# %%
# Without ``ctx`` the first gradient, or the first input, has no place.


class NoContext(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(grad):
        return grad * 2


class NoContextAtAll(torch.autograd.Function):
    @staticmethod
    def forward(x):
        return x * 2


try:
    NoContext.apply(x).sum().backward()
except TypeError:
    traceback.print_exc()
try:
    NoContextAtAll.apply(x)
except TypeError:
    traceback.print_exc()

# %%
# ``apply`` passes on what it gets: an argument too few, or one with an unknown
# name, fails in ``forward``.


class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, factor):
        return x * factor


for arguments, names in (((x,), {}), ((x,), {"scale": 3.0})):
    try:
        Scale.apply(*arguments, **names)
    except TypeError:
        traceback.print_exc()

# %%
# A function needs ``forward``, and exactly one of ``backward`` and ``vjp``,
# which is another name for the same method.


class Nothing(torch.autograd.Function):
    pass


class Both(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return grad * 2

    vjp = backward


try:
    Scale.apply(x, 3.0).sum().backward()
except NotImplementedError:
    traceback.print_exc()
try:
    Nothing.apply(x)
except NotImplementedError:
    traceback.print_exc()
try:
    Both.apply(x).sum().backward()
except RuntimeError:
    traceback.print_exc()

# %%
# Write static methods with ctx first
# -----------------------------------
#
# The state that an old object kept in ``self`` goes to ``ctx``. Call the class
# through ``apply``, never an instance.


class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return grad * 2


x = torch.ones(2, dtype=torch.float64, requires_grad=True)
Double.apply(x).sum().backward()

print(x.grad)
torch.testing.assert_close(x.grad, torch.full_like(x, 2.0))
assert torch.autograd.gradcheck(Double.apply, (x,))

# %%
# Take one gradient for every output
# ----------------------------------
#
# An output that the loss does not use arrives as a gradient of zeros.


class SumAndDifferenceRight(SumAndDifference):
    @staticmethod
    def backward(ctx, grad_sum, grad_difference):
        return grad_sum + grad_difference, grad_sum - grad_difference


x = torch.ones(2, dtype=torch.float64, requires_grad=True)
y = torch.ones(2, dtype=torch.float64, requires_grad=True)
SumAndDifferenceRight.apply(x, y)[0].sum().backward()

print(x.grad, y.grad)
torch.testing.assert_close(x.grad, torch.ones_like(x))
assert torch.autograd.gradcheck(SumAndDifferenceRight.apply, (x, y))

# %%
# What only hides the error
# -------------------------
#
# Adding ``@staticmethod`` and nothing else is the usual advice for the legacy
# error. The first argument is then still called ``self``, which works, but a
# class that keeps its state in ``__init__`` loses it, and calling an instance
# fails as before.


class OldScale(torch.autograd.Function):
    def __init__(self, factor):
        self.factor = factor

    @staticmethod
    def forward(self, x):
        return x * self.factor


try:
    OldScale(3.0)(x)
except RuntimeError:
    traceback.print_exc()

# %%
# See also
# --------
#
# * `function-gradient-count`
# * `silent-function-forward-called`: ``forward`` without ``apply`` drops your
#   ``backward``
