# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "custom-function/save-non-tensor",
#     "inventory/function-save-non-tensor",
#     "inventory/function-to-save-not-tuple",
#     "inventory/function-saved-variables-deprecated",
#     "inventory/function-setup-context-returned-as-is",
#     "inventory/function-clear-saved-on-access-twice",
#     "inventory/function-clear-saved-flag-type",
#     "inventory/function-boxed-grads-call-type",
#     "inventory/function-saved-tensors-after-free",
#     "inventory/function-save-for-forward-non-tensor",
# ]
# shows = ["backward-twice"]
#
# [[tool.autograd-errors.error]]
# raises = "TypeError"
# message = "save_for_backward can only save variables, but argument <position> is of type <type>"
# source = "torch/csrc/autograd/python_function.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "AssertionError"
# message = "save_for_forward expects all arguments to be tensors; you should save non-tensors as attributes on ctx."
# source = "torch/autograd/function.py"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "autograd internal error: to_save attribute is expected to be a tuple but is "
# source = "torch/csrc/autograd/python_function.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "DeprecationWarning"
# message = "'saved_variables' is deprecated; use 'saved_tensors'"
# source = "torch/csrc/autograd/python_function.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "An input that has been returned as-is as output is being saved for backward. This is not supported if you override setup_context. You should return and save a view of the input instead, e.g. with x.view_as(x) or setup ctx inside the forward function itself."
# source = "torch/csrc/autograd/custom_function.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "saved_tensors can only be accessed once when clear_saved_tensors_on_access=True is set on the autograd.Function. Either access saved_tensors only once, or set clear_saved_tensors_on_access=False."
# source = "torch/csrc/autograd/python_function.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "clear_saved_tensors_on_access must be a bool, got <type>"
# source = "torch/csrc/autograd/python_function.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "boxed_grads_call must be a bool, got <type>"
# source = "torch/csrc/autograd/python_function.cpp"
# ///
"""
Saving the wrong things in a custom function
============================================

You gave ``ctx.save_for_backward`` something that is not a tensor. It keeps
tensors, and with each its `version counter`; numbers, strings and flags go on
``ctx`` as attributes of a `custom function`.
"""

import traceback

import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)

# %%
# The errors
# ----------
#
# A power saves its exponent beside its input.


class Power(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, exponent):
        ctx.save_for_backward(x, exponent)
        return x**exponent

    @staticmethod
    def backward(ctx, grad):
        x, exponent = ctx.saved_tensors
        return grad * exponent * x ** (exponent - 1), None


try:
    Power.apply(x, 3)
except TypeError:
    traceback.print_exc()

# %%
# ``save_for_forward``, for `forward-mode AD`, says the same in other words.


class PowerForward(Power):
    @staticmethod
    def forward(ctx, x, exponent):
        ctx.save_for_forward(x, exponent)
        return x**exponent


try:
    PowerForward.apply(x, 3)
except AssertionError:
    traceback.print_exc()

# %%
# Tensors through save_for_backward, the rest on ctx
# --------------------------------------------------


class PowerRight(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, exponent):
        ctx.save_for_backward(x)
        ctx.exponent = exponent
        return x**exponent

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * ctx.exponent * x ** (ctx.exponent - 1), None


x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
PowerRight.apply(x, 3).sum().backward()

print(x.grad)
torch.testing.assert_close(x.grad, 3 * x.detach() ** 2)
assert torch.autograd.gradcheck(lambda x: PowerRight.apply(x, 3), (x,))

# %%
# What only hides the error
# -------------------------
#
# Putting the tensor on ``ctx`` as well silences the message. An attribute has
# no version check: a write between forward and backward goes unnoticed, see
# `silent-function-ctx-attribute`. Here the derivative at 3 becomes the one at
# 30.


class PowerAttribute(PowerRight):
    @staticmethod
    def forward(ctx, x, exponent):
        ctx.x, ctx.exponent = x, exponent
        return x**exponent

    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.exponent * ctx.x ** (ctx.exponent - 1), None


x = torch.tensor(3.0, requires_grad=True)
y = PowerAttribute.apply(x, 2)
with torch.no_grad():
    x.mul_(10.0)
y.backward()

print(x.grad, "is not", 2 * 3.0)
assert x.grad != 2 * 3.0

# %%
# Rarer messages about saved tensors
# ----------------------------------
#
# Old code assigns ``to_save``, where the message breaks off before it says what it got,
# or reads ``saved_variables``. A tensor that
# ``forward`` returns as it came cannot be saved in ``setup_context``. The two
# class flags must be booleans, and with ``clear_saved_tensors_on_access`` you
# read ``saved_tensors`` once. Each function below does one of these.


class Assigns(PowerRight):
    @staticmethod
    def forward(ctx, x, exponent):
        ctx.to_save = [x]
        return x**exponent


class ReadsOldName(PowerRight):
    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_variables
        return grad * 2 * x, None


class ReturnsInput(torch.autograd.Function):
    @staticmethod
    def forward(x):
        return x

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)


class ReadsTwice(PowerRight):
    clear_saved_tensors_on_access = True

    @staticmethod
    def backward(ctx, grad):
        assert len(ctx.saved_tensors) == 1
        (x,) = ctx.saved_tensors
        return grad * 2 * x, None


class FlagIsText(PowerRight):
    clear_saved_tensors_on_access = "yes"


class OtherFlagIsText(PowerRight):
    boxed_grads_call = "yes"


x = torch.ones(2, requires_grad=True)
for function in (Assigns, ReadsOldName, ReadsTwice, FlagIsText, OtherFlagIsText):
    try:
        function.apply(x, 2).sum().backward()
    except RuntimeError:
        traceback.print_exc()
try:
    ReturnsInput.apply(x)
except RuntimeError:
    traceback.print_exc()

# %%
# The repaired line of the last one returns a `view`:


class ReturnsView(ReturnsInput):
    @staticmethod
    def forward(x):
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * x


x = torch.tensor([2.0], requires_grad=True)
ReturnsView.apply(x).backward()
torch.testing.assert_close(x.grad, torch.tensor([2.0]))

# %%
# Reading saved tensors after the backward pass
# ---------------------------------------------
#
# A second `backward pass` finds them freed, in your function as in PyTorch's
# own; `backward-twice` explains when that is meant.

y = PowerRight.apply(x, 2)
y.backward()
try:
    y.backward()
except RuntimeError:
    traceback.print_exc()
