# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "forward-ad/op-not-supported",
#     "inventory/fwad-not-implemented",
#     "inventory/fwad-not-implemented-op",
#     "inventory/fwad-out-variant",
#     "inventory/function-no-jvp",
#     "inventory/function-jvp-grad-for-nondiff-output",
#     "inventory/function-jvp-wrong-count",
#     "inventory/function-jvp-inplace-not-as-is",
#     "inventory/function-jvp-inplace-not-modified",
#     "inventory/function-jvp-view-not-view",
#     "inventory/function-jvp-view-of-other",
# ]
#
# [[tool.autograd-errors.error]]
# raises = "NotImplementedError"
# message = "Trying to use forward AD with <operation> that does not support it because it has not been implemented yet.\nPlease file an issue to PyTorch at https://github.com/pytorch/pytorch/issues/new?template=feature-request.yml so that we can prioritize its implementation."
# source = "torch/csrc/autograd/FunctionsManual"
#
# [[tool.autograd-errors.error]]
# raises = "NotImplementedError"
# message = "Trying to use forward AD with <operation> that does not support it because it has not been implemented yet.\nPlease file an issue to PyTorch at https://github.com/pytorch/pytorch/issues/new?template=feature-request.yml so that we can prioritize its implementation or submit a PR adding the implementation to derivatives.yaml"
# source = "torch/csrc/autograd/generated/VariableType"
#
# [[tool.autograd-errors.error]]
# raises = "NotImplementedError"
# message = "Trying to use forward AD with <operation> that does not support it because it is an out= function"
# source = "torch/csrc/autograd/generated/VariableType"
#
# [[tool.autograd-errors.error]]
# raises = "NotImplementedError"
# message = "You must implement the jvp function for custom autograd.Function to use it with forward mode AD."
# source = "torch/autograd/function.py"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "Function's jvp returned a gradient at position <position>, but  the corresponding forward output is not a differentiable Tensor.You should return None at that position instead."
# source = "torch/csrc/autograd/custom_function.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "Function's jvp returned an invalid number of forward gradients (expected <expected> but got <count>)"
# source = "torch/csrc/autograd/custom_function.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "An inplace custom Function is not returning the forward mode gradients as-is. If the forward is modifying an input inplace, then the jvp function must modify the gradient inplace and return it as-is."
# source = "torch/csrc/autograd/custom_function.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "An inplace custom Function is not modifying the forward mode gradients inplace. If the forward is modifying an input inplace, then the jvp function must modify the corresponding gradient inplace."
# source = "torch/csrc/autograd/custom_function.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "A custom Function's forward is returning a view (or an input as-is) but the jvp is not returning a view."
# source = "torch/csrc/autograd/custom_function.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "A custom Function is returning a view but the jvp is not returning a view of the given grad input."
# source = "torch/csrc/autograd/custom_function.cpp"
# ///
"""
An operation without a forward-mode formula
===========================================

You sent a dual tensor through an operation that has no rule for `forward-mode AD`, or
through a `custom function` whose ``jvp`` is missing or breaks a rule.
"""

import traceback

import torch
import torch.autograd.forward_ad as forward_ad

x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])

# %%
# The errors
# ----------
#
# Many distances between points at once, another tensor's memory, and an ``out=``
# argument:

with forward_ad.dual_level():
    dual = forward_ad.make_dual(x, torch.ones_like(x))
    for call in (
        lambda: torch.nn.functional.pdist(dual),
        lambda: torch.empty(0).set_(dual),
        lambda: torch.add(dual, 1.0, out=torch.empty(2, 2)),
    ):
        try:
            call()
        except NotImplementedError:
            traceback.print_exc()

# %%
# A custom function needs ``jvp``:


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(x):
        return x**3

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)
        ctx.save_for_forward(*inputs)

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * 3 * x**2


with forward_ad.dual_level():
    dual = forward_ad.make_dual(x, torch.ones_like(x))
    try:
        Cube.apply(dual)
    except NotImplementedError:
        traceback.print_exc()

# %%
# Write the operation out
# -----------------------
#
# Plain operations have forward rules. `gradcheck` tries them if asked to.


def distances(points):
    first, second = torch.triu_indices(len(points), len(points), offset=1)
    return (points[first] - points[second]).norm(dim=1)


points = torch.tensor([[0.0, 0.0], [3.0, 4.0]], dtype=torch.float64, requires_grad=True)
print(distances(points))
torch.testing.assert_close(distances(points), torch.nn.functional.pdist(points))
assert torch.autograd.gradcheck(distances, (points,), check_forward_ad=True)

# %%
# Give the custom function its jvp
# --------------------------------
#
# It takes one direction for each input and returns one for each output.


class CubeForward(Cube):
    @staticmethod
    def jvp(ctx, tangent):
        (x,) = ctx.saved_tensors
        return tangent * 3 * x**2


with forward_ad.dual_level():
    dual = forward_ad.make_dual(x, torch.ones_like(x))
    tangent = forward_ad.unpack_dual(CubeForward.apply(dual)).tangent

print(tangent)
torch.testing.assert_close(tangent, 3 * x**2)
assert torch.autograd.gradcheck(CubeForward.apply, (points,), check_forward_ad=True)

# %%
# Or turn the vector-Jacobian product around
# ------------------------------------------
#
# Two reverse passes give the product with a direction for any function that can be
# differentiated twice, without a forward rule.


def product_with_direction(function, x, direction):
    x = x.detach().requires_grad_()
    weight = torch.ones_like(function(x)).requires_grad_()
    (gradient,) = torch.autograd.grad(function(x), x, weight, create_graph=True)
    return torch.autograd.grad(gradient, weight, direction)[0]


tangent = product_with_direction(Cube.apply, x, torch.ones_like(x))
torch.testing.assert_close(tangent, 3 * x**2)

# %%
# What only hides the error
# -------------------------
#
# Unpacking the value first lets the function run, and drops the direction: the result
# looks like a constant.

with forward_ad.dual_level():
    dual = forward_ad.make_dual(x, torch.ones_like(x))
    value = forward_ad.unpack_dual(dual).primal
    tangent = forward_ad.unpack_dual(Cube.apply(value)).tangent

print(tangent)
assert tangent is None

# %%
# The rules for jvp
# -----------------
#
# No direction for an output that is not differentiable, as many directions as outputs,
# the incoming direction changed in place if ``forward`` works in place, and a `view` of
# it if ``forward`` returns a view.


class ForIndex(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.argmax()

    @staticmethod
    def jvp(ctx, tangent):
        return tangent


class TooMany(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def jvp(ctx, tangent):
        return tangent, tangent


class InPlaceReturnsNew(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x.mul_(2))
        return x

    @staticmethod
    def jvp(ctx, tangent):
        return torch.ones(2, 2).add_(tangent).add_(1)


class InPlaceChangesNothing(InPlaceReturnsNew):
    @staticmethod
    def jvp(ctx, tangent):
        return tangent


class ViewReturnsCopy(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.view(-1)

    @staticmethod
    def jvp(ctx, tangent):
        return tangent.reshape(-1).clone()


class ViewOfAnother(ViewReturnsCopy):
    @staticmethod
    def jvp(ctx, tangent):
        return torch.ones(2, 2).view(-1)


functions = (
    ForIndex,
    TooMany,
    InPlaceReturnsNew,
    InPlaceChangesNothing,
    ViewReturnsCopy,
    ViewOfAnother,
)
with forward_ad.dual_level():
    for function in functions:
        try:
            function.apply(forward_ad.make_dual(x.clone(), torch.ones_like(x)))
        except RuntimeError:
            traceback.print_exc()

# %%
# The repaired lines, in place and for a view:


class InPlaceRight(InPlaceReturnsNew):
    @staticmethod
    def jvp(ctx, tangent):
        return tangent.mul_(2)


class ViewRight(ViewReturnsCopy):
    @staticmethod
    def jvp(ctx, tangent):
        return tangent.view(-1)


with forward_ad.dual_level():
    for function in (InPlaceRight, ViewRight):
        dual = forward_ad.make_dual(x.clone(), torch.ones_like(x))
        tangent = forward_ad.unpack_dual(function.apply(dual)).tangent
        expected = torch.full((2, 2), 2.0) if function is InPlaceRight else torch.ones(4)
        torch.testing.assert_close(tangent, expected)

# %%
# See also
# --------
#
# * `forward-dual-numbers`
# * `derivative-not-implemented`: the same in reverse
