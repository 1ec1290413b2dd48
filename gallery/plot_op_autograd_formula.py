# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "inventory/custom-op-no-autograd-formula",
#     "inventory/custom-op-autograd-mutable",
#     "inventory/custom-op-backward-structure",
#     "inventory/custom-op-backward-wrong-grad",
#     "inventory/custom-op-returns-input",
#     "inventory/lib-op-no-autograd-kernel",
# ]
# shows = ["function-gradient-count", "ddp-limits"]
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "Trying to backward through <operation> but no autograd formula was registered. Please use register_autograd to add one."
# source = "torch/_library/autograd.py"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "Cannot register autograd formula for non-functional operator <operation> with schema <schema>. Please create a functional operator and register an autograd formula for that."
# source = "torch/_library/custom_ops.py"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "Expected the return from backward to be of the same structure as the inputs. Got: <returned> (return from backward), <expected> (inputs)"
# source = "torch/_library/autograd.py"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "<operation> (with implementation in <module>): The output of this custom operator (1) must not also be an input to this custom operator and (2) may not alias any inputs to this custom operator or other returns. The most common way to trigger this error is if we have y = custom_op(x) and y and x are the same Tensor. Please instead return a clone of the offending output tensor(s) (e.g. return x.clone()) or refactor the custom operator to not return y."
# source = "torch/_library/custom_ops.py"
# ///
"""
A custom operator without a derivative
======================================

You registered an operator with `torch.library.custom_op` and told PyTorch how to
compute it, but not how to differentiate it.
"""

import traceback

import torch

# %%
# The error
# ---------
#
# A C++ or CUDA kernel is wrapped as an operator. The `forward pass` works, and even
# gives the result a `grad_fn`.


@torch.library.custom_op("autograd_errors::twice", mutates_args=())
def twice(x: torch.Tensor) -> torch.Tensor:
    return x * 2


x = torch.ones(2, requires_grad=True)
try:
    twice(x).sum().backward()
except RuntimeError:
    traceback.print_exc()

# %%
# An operator defined through a ``Library`` warns instead, and the gradient does not
# pass it. The warning's text is the one that collectives give, see `ddp-limits`.

library = torch.library.Library("autograd_errors_library", "DEF")
library.define("twice(Tensor x) -> Tensor")
library.impl("twice", lambda x: x.detach().clone() * 2, "CPU")

x = torch.ones(2, requires_grad=True)
torch.ops.autograd_errors_library.twice(x).sum().backward()
print(x.grad)
assert x.grad is None

# %%
# Register the formula
# --------------------
#
# ``setup_context`` keeps what backward needs, as in a `custom function`.


@torch.library.custom_op("autograd_errors::power", mutates_args=())
def power(x: torch.Tensor, exponent: float) -> torch.Tensor:
    return x**exponent


def setup_context(ctx, inputs, output):
    x, ctx.exponent = inputs
    ctx.save_for_backward(x)


def backward(ctx, grad):
    (x,) = ctx.saved_tensors
    return grad * ctx.exponent * x ** (ctx.exponent - 1), None


power.register_autograd(backward, setup_context=setup_context)

x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
power(x, 3.0).sum().backward()

print(x.grad)
torch.testing.assert_close(x.grad, 3 * x.detach() ** 2)
assert torch.autograd.gradcheck(lambda x: power(x, 3.0), (x,))

# %%
# What only hides the error
# -------------------------
#
# Wrapping the call in `torch.no_grad`, or detaching the input, silences the message
# and cuts the graph: nothing before the operator learns.

x = torch.tensor([1.0, 2.0], requires_grad=True)
(twice(x.detach()) + x).sum().backward()

print(x.grad, "is not", torch.full((2,), 3.0))
assert x.grad[0] != 3.0

# %%
# The other rules of a formula
# ----------------------------
#
# It returns a gradient for each input, in the structure of the inputs: a list for a
# list. The numbers in the message count one hidden input.


@torch.library.custom_op("autograd_errors::scale", mutates_args=())
def scale(x: torch.Tensor, factor: float) -> torch.Tensor:
    return x * factor


@torch.library.custom_op("autograd_errors::total", mutates_args=())
def total(tensors: list[torch.Tensor]) -> torch.Tensor:
    return tensors[0] * 1 + tensors[1]


scale.register_autograd(lambda ctx, grad: grad)
total.register_autograd(lambda ctx, grad: grad)
x = torch.ones(2, requires_grad=True)
for call in (lambda: scale(x, 2.0), lambda: total([x, x])):
    try:
        call().sum().backward()
    except RuntimeError:
        traceback.print_exc()

# %%
# An operator that writes into its argument has no formula, and one may not return
# its argument:


@torch.library.custom_op("autograd_errors::add_one_", mutates_args=("x",))
def add_one_(x: torch.Tensor) -> None:
    x += 1


@torch.library.custom_op("autograd_errors::same", mutates_args=())
def same(x: torch.Tensor) -> torch.Tensor:
    return x


for call in (lambda: add_one_.register_autograd(backward), lambda: same(torch.ones(2))):
    try:
        call()
    except RuntimeError:
        traceback.print_exc()

# %%
# The repaired formula for a list:


@torch.library.custom_op("autograd_errors::total_right", mutates_args=())
def total_right(tensors: list[torch.Tensor]) -> torch.Tensor:
    return tensors[0] * 1 + tensors[1]


total_right.register_autograd(lambda ctx, grad: [grad, grad])
x = torch.ones(2, requires_grad=True)
total_right([x, x]).sum().backward()

print(x.grad)
torch.testing.assert_close(x.grad, torch.full((2,), 2.0))
