# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "inventory/gradcheck-jacobian-mismatch",
#     "inventory/gradcheck-jacobian-mismatch-float32",
#     "inventory/gradcheck-float32-input",
#     "inventory/gradcheck-no-requires-grad",
#     "inventory/gradcheck-forward-ad-jvp-mismatch",
#     "inventory/gradgradcheck-first-order-only",
#     "inventory/gradcheck-non-differentiable-nonzero",
#     "inventory/gradcheck-not-multiplied-by-grad-output",
#     "inventory/gradcheck-nondeterministic",
#     "inventory/gradcheck-undefined-grad",
#     "inventory/gradcheck-no-check-selected",
#     "inventory/gradcheck-output-shape-changes",
#     "inventory/gradcheck-overlapping-input",
#     "inventory/gradcheck-sparse-output",
#     "inventory/gradcheck-batched-grad",
# ]
#
# [[tool.autograd-errors.error]]
# raises = "GradcheckError"
# message = "Jacobian mismatch for output <output> with respect to input <input>,\nnumerical:<numerical>\nanalytical:<analytical>"
# source = "torch/autograd/gradcheck.py"
#
# [[tool.autograd-errors.error]]
# raises = "UserWarning"
# message = "Input #<input> requires gradient and is not a double precision floating point or complex. This check will likely fail if all the inputs are not of double precision floating point or complex."
# source = "torch/autograd/gradcheck.py"
#
# [[tool.autograd-errors.error]]
# raises = "ValueError"
# message = "gradcheck expects at least one input tensor to require gradient, but none of them have requires_grad=True."
# source = "torch/autograd/gradcheck.py"
#
# [[tool.autograd-errors.error]]
# raises = "GradcheckError"
# message = "Jacobian computed with forward mode mismatch for output <output> with respect to input <input>,\nnumerical:<numerical>\nanalytical:<analytical>"
# source = "torch/autograd/gradcheck.py"
#
# [[tool.autograd-errors.error]]
# raises = "GradcheckError"
# message = "Numerical gradient for function expected to be zero"
# source = "torch/autograd/gradcheck.py"
#
# [[tool.autograd-errors.error]]
# raises = "GradcheckError"
# message = "backward not multiplied by grad_output"
# source = "torch/autograd/gradcheck.py"
#
# [[tool.autograd-errors.error]]
# raises = "GradcheckError"
# message = "Backward is not reentrant, i.e., running backward with same input and grad_output multiple times gives different values, although analytical gradient matches numerical gradient.The tolerance for nondeterminism was <tolerance>.\n\nNOTE: If your op relies on non-deterministic operations i.e., it is listed here:\nhttps://pytorch.org/docs/stable/generated/torch.use_deterministic_algorithms.html\nthis failure might be expected.\n\nIf you are adding a new operator, please file an issue and then use one of the\nworkarounds. The workaround depends on how your test invokes gradcheck/gradgradcheck.\nIf the test\n- manually invokes gradcheck/gradgradcheck, then call gradcheck/gradgradcheck\n  with `nondet_tol=<tol>` as a keyword argument.\n- is OpInfo-based (e.g., in test_ops_gradients.py), then modify the OpInfo for the test\n  to have `gradcheck_nondet_tol=<tol2>`.\n- is a Module test (e.g., in common_nn.py), then modify the corresponding\n  module_test entry to have `gradcheck_nondet_tol=<tol3>`"
# source = "torch/autograd/gradcheck.py"
#
# [[tool.autograd-errors.error]]
# raises = "UserWarning"
# message = "Backwards compatibility: New undefined gradient support checking feature is enabled by default, but it may break existing callers of this function. If this is true for you, you can call this function with \"check_undefined_grad=False\" to disable the feature"
# source = "torch/autograd/gradcheck.py"
#
# [[tool.autograd-errors.error]]
# raises = "GradcheckError"
# message = "Expected all input grads to be undefined or zero when all output grads are undefined or zero. Please look at \"Notes about undefined output gradients\" in \"tools/autograd/derivatives.yaml\""
# source = "torch/autograd/gradcheck.py"
#
# [[tool.autograd-errors.error]]
# raises = "AssertionError"
# message = "Expected at least one of check_forward_ad or check_backward_ad to be True"
# source = "torch/autograd/gradcheck.py"
#
# [[tool.autograd-errors.error]]
# raises = "AssertionError"
# message = "Expected `func` to return outputs with the same shape when inputs are perturbed on index <index> by <eps>, but got: shapes <shape> and <other_shape>."
# source = "torch/autograd/gradcheck.py"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "The <input>th input has a dimension with stride 0. gradcheck only supports inputs that are non-overlapping to be able to compute the numerical gradients correctly. You should call .contiguous on the input before passing it to gradcheck."
# source = "torch/autograd/gradcheck.py"
#
# [[tool.autograd-errors.error]]
# raises = "ValueError"
# message = "Sparse output is not supported at gradcheck yet. Please call to_dense(masked_grad=...) on the output of fn for gradcheck."
# source = "torch/autograd/gradcheck.py"
#
# [[tool.autograd-errors.error]]
# raises = "GradcheckError"
# message = "While computing batched gradients, got: Batching rule not implemented for <operation>. We could not generate a fallback.\n\ngradcheck or gradgradcheck failed while testing batched gradient computation.\nThis could have been invoked in a number of ways (via a test that calls\ngradcheck/gradgradcheck directly or via an autogenerated test).\n\nIf you are adding a new operator, please file an issue and then use one of the\nworkarounds. The workaround depends on how your test invokes gradcheck/gradgradcheck.\nIf the test\n- manually invokes gradcheck/gradgradcheck, then call gradcheck/gradgradcheck\n  with `check_batched_grad=False` as a keyword argument.\n- is OpInfo-based (e.g., in test_ops_gradients.py), then modify the OpInfo for the test\n  to have `check_batched_grad=False` and/or `check_batched_gradgrad=False`.\n\nIf you're modifying an existing operator that supports batched grad computation,\nor wish to make a new operator work with batched grad computation, please read\nthe following.\n\nTo compute batched grads (e.g., jacobians, hessians), we vmap over the backward\ncomputation. The most common failure case is if there is a 'vmap-incompatible\noperation' in the backward pass. Please see\nNOTE: [How to write vmap-compatible backward formulas]\nin the codebase for an explanation of how to fix this."
# source = "torch/autograd/gradcheck.py"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "Batching rule not implemented for <operation>. We could not generate a fallback."
# source = "torch/autograd/gradcheck.py"
# ///
"""
Gradcheck says the gradient is wrong
====================================

`torch.autograd.gradcheck` compared your gradient with `finite differences`, and they
disagree, or it could not compare them at all. Often the function is right and the
precision is not.
"""

import traceback

import torch
from torch.autograd import gradcheck, gradgradcheck
from torch.autograd.gradcheck import GradcheckError

# %%
# The errors
# ----------
#
# The gradient of the exponential function is right. In single precision the finite
# differences are not.

x = torch.ones(2, requires_grad=True)
try:
    gradcheck(torch.exp, (x,))
except GradcheckError:
    traceback.print_exc()

# %%
# The two matrices are the `Jacobian` from finite differences and the one from your
# formulas. Here the formula is wrong by a factor:


class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return grad * 3

    @staticmethod
    def jvp(ctx, tangent):
        return tangent * 3


x = torch.ones(2, dtype=torch.float64, requires_grad=True)
for options in ({}, {"check_forward_ad": True, "check_backward_ad": False}):
    try:
        gradcheck(Double.apply, (x,), **options)
    except GradcheckError:
        traceback.print_exc()

# %%
# If only the last digits differ, use float64
# -------------------------------------------

x = torch.ones(2, dtype=torch.float64, requires_grad=True)
print(gradcheck(torch.exp, (x,)))
assert gradcheck(torch.exp, (x,))

# %%
# If a factor differs, derive the formula again
# ---------------------------------------------


class DoubleRight(Double):
    @staticmethod
    def backward(ctx, grad):
        return grad * 2

    @staticmethod
    def jvp(ctx, tangent):
        return tangent * 2


print(gradcheck(DoubleRight.apply, (x,), check_forward_ad=True))
assert gradcheck(DoubleRight.apply, (x,), check_forward_ad=True)
assert gradgradcheck(DoubleRight.apply, (x,))

# %%
# What only hides the error
# -------------------------
#
# A large ``atol`` makes the check pass, for wrong formulas too.

assert gradcheck(Double.apply, (x,), atol=2.0)

# %%
# The other things gradcheck notices
# ----------------------------------
#
# A ``backward`` that is not a linear function of the incoming gradient, that gives
# another value each time, or one for a gradient that does not exist; a function marked
# once differentiable; a result that was detached; and one that has no batching rule:


class Base(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2


class NotLinear(Base):
    @staticmethod
    def backward(ctx, grad):
        return torch.ones_like(grad) if grad.abs().sum() == 0 else grad * 2


class Noisy(Base):
    @staticmethod
    def backward(ctx, grad):
        return grad * 2 + 1e-6 * torch.rand_like(grad)


class FromNothing(Base):
    @staticmethod
    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return grad * 2 if grad is not None else torch.ones(2, dtype=torch.float64)


class Once(Base):
    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, grad):
        return grad * 2


class TakesNumber(Base):
    @staticmethod
    def backward(ctx, grad):
        return grad * 2 * (1.0 if grad.sum().item() < 1e9 else 0.0)


for check in (
    lambda: gradcheck(NotLinear.apply, (x,)),
    lambda: gradcheck(Noisy.apply, (x,), atol=1e-3),
    lambda: gradcheck(FromNothing.apply, (x,)),
    lambda: gradgradcheck(Once.apply, (x,)),
    lambda: gradcheck(lambda x: x.detach() * 2, (x,)),
    lambda: gradcheck(TakesNumber.apply, (x,), check_batched_grad=True),
):
    try:
        check()
    except GradcheckError:
        traceback.print_exc()

# %%
# And the arguments it does not take: nothing to check, no input that requires grad,
# outputs that change their shape or are sparse, and an input whose elements share
# memory through `expand`:

row = torch.ones(1, dtype=torch.float64).expand(2).requires_grad_()
square = torch.eye(2, dtype=torch.float64, requires_grad=True)
for check in (
    lambda: gradcheck(torch.sin, (x,), check_backward_ad=False),
    lambda: gradcheck(torch.sin, (x.detach(),)),
    lambda: gradcheck(lambda x: x[: 1 if x[0] > 1 else 2] * 2, (x,)),
    lambda: gradcheck(lambda x: x.to_sparse(), (square,)),
    lambda: gradcheck(torch.sin, (row,)),
):
    try:
        check()
    except (AssertionError, ValueError, RuntimeError):
        traceback.print_exc()

# %%
# The repaired calls: a dense output, and an input with memory of its own.

assert gradcheck(lambda x: x.to_sparse().to_dense(masked_grad=False), (square,), masked=True)
assert gradcheck(torch.sin, (row.detach().contiguous().clone().requires_grad_(),))
