# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "inventory/functional-hessian-not-scalar",
#     "inventory/functional-hessian-not-tensor",
#     "inventory/functional-hessian-strict-linear",
#     "inventory/functional-hvp-v-size",
#     "inventory/functional-jacobian-forward-create-graph",
#     "inventory/functional-jacobian-forward-no-vectorize",
#     "inventory/functional-jacobian-list-output",
#     "inventory/functional-jacobian-strict",
#     "inventory/functional-jacobian-strict-independent",
#     "inventory/functional-jacobian-strict-vectorize",
#     "inventory/functional-jacobian-wrong-input",
#     "inventory/functional-jvp-v-none",
#     "inventory/functional-v-tuple-length",
#     "inventory/functional-vjp-v-none",
# ]
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "The Tensor returned by the function given to <function> should contain a single element"
# source = "torch/autograd/functional.py"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "The function given to <function> should return a single Tensor"
# source = "torch/autograd/functional.py"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "While computing the hessian, found that the jacobian of the user-provided function with respect to input <input> is independent of the input. This is not allowed in strict mode. You should ensure that your function is twice differentiable and that the jacobian depends on the inputs (this would be violated by a linear function for example)."
# source = "torch/autograd/functional.py"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "v has invalid size: should be <expected> but got <shape>."
# source = "torch/autograd/functional.py"
#
# [[tool.autograd-errors.error]]
# raises = "NotImplementedError"
# message = "torch.autograd.functional.jacobian: `create_graph=True` and `strategy=\"forward-mode\"` are not supported together (yet). Please either set `create_graph=False` or `strategy=\"reverse-mode\"`."
# source = "torch/autograd/functional.py"
#
# [[tool.autograd-errors.error]]
# raises = "NotImplementedError"
# message = "Computing Jacobian using forward-AD or forward-over-reverse Hessian isonly implemented for `vectorize=True`."
# source = "torch/autograd/functional.py"
#
# [[tool.autograd-errors.error]]
# raises = "TypeError"
# message = "The outputs of the user-provided function given to <function> must be either a Tensor or a tuple of Tensors but the given outputs of the user-provided function has type <type>."
# source = "torch/autograd/functional.py"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "Output <output> of the user-provided function does not require gradients. The outputs must be computed in a differentiable manner from the input when running in strict mode."
# source = "torch/autograd/functional.py"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "Output <output> of the user-provided function is independent of input <input>. This is not allowed in strict mode."
# source = "torch/autograd/functional.py"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "torch.autograd.functional.jacobian: `strict=True` and `vectorized=True` are not supported together. Please either set `strict=False` or `vectorize=False`."
# source = "torch/autograd/functional.py"
#
# [[tool.autograd-errors.error]]
# raises = "TypeError"
# message = "The inputs given to <function> must be either a Tensor or a tuple of Tensors but the given inputs has type <type>."
# source = "torch/autograd/functional.py"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "The vector v can only be None if the input to the user-provided function is a single Tensor with a single element."
# source = "torch/autograd/functional.py"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "v is a tuple of invalid length: should be <expected> but got <count>."
# source = "torch/autograd/functional.py"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "The vector v can only be None if the user-provided function returns a single Tensor with a single element."
# source = "torch/autograd/functional.py"
# ///
"""
What torch.autograd.functional accepts
======================================

You called ``jacobian``, ``hessian`` or one of their products with a function or a
vector that it does not take.
"""

import traceback

import torch
from torch.autograd.functional import hessian, hvp, jacobian, jvp, vjp

x = torch.tensor([1.0, 2.0])

# %%
# The errors
# ----------
#
# A Hessian belongs to a function with one number as its result.

for function in (torch.sin, lambda x: (x.sum(), x.sum())):
    try:
        hessian(function, x)
    except RuntimeError:
        traceback.print_exc()

# %%
# Inputs and outputs are tensors or tuples of tensors, not lists.

for function, inputs in ((torch.sin, [x, 3]), (lambda x: [x, x], x)):
    try:
        jacobian(function, inputs)
    except TypeError:
        traceback.print_exc()

# %%
# The vector of a product has the shape of what it multiplies, and may be left out for
# single numbers only.

for call in (
    lambda: vjp(torch.sin, x),
    lambda: jvp(torch.sin, x),
    lambda: hvp(lambda x: x.pow(3).sum(), x, torch.ones(3)),
    lambda: hvp(lambda a, b: (a * b).sum(), (x, x), (x,)),
):
    try:
        call()
    except RuntimeError:
        traceback.print_exc()

# %%
# With ``strict=True`` a result that does not depend on an input is an error. It does not
# go with ``vectorize``, and the forward-mode strategy needs ``vectorize`` and no graph.

for call in (
    lambda: jacobian(lambda x: torch.ones(2), x, strict=True),
    lambda: jacobian(lambda a, b: a * 2, (x, x), strict=True),
    lambda: hessian(lambda x: x.sum(), x, strict=True),
    lambda: jacobian(torch.sin, x, strict=True, vectorize=True),
    lambda: jacobian(torch.sin, x, strategy="forward-mode"),
    lambda: jacobian(torch.sin, x, create_graph=True, strategy="forward-mode"),
):
    try:
        call()
    except (RuntimeError, NotImplementedError):
        traceback.print_exc()

# %%
# Match the function and the tool
# -------------------------------
#
# A vector function has a `Jacobian`, a loss has a Hessian.

print(jacobian(torch.sin, x))
torch.testing.assert_close(jacobian(torch.sin, x), torch.diag(torch.cos(x)))

print(hessian(lambda x: x.pow(3).sum(), x))
torch.testing.assert_close(hessian(lambda x: x.pow(3).sum(), x), torch.diag(6 * x))

# %%
# Give the vector of the product
# ------------------------------

_, product = vjp(torch.sin, x, torch.ones(2))
torch.testing.assert_close(product, torch.cos(x))
_, product = hvp(lambda x: x.pow(3).sum(), x, torch.ones(2))
print(product)
torch.testing.assert_close(product, 6 * x)

# %%
# For forward mode, vectorize, or use torch.func
# ----------------------------------------------

forward = jacobian(torch.sin, x, strategy="forward-mode", vectorize=True)
torch.testing.assert_close(forward, torch.func.jacfwd(torch.sin)(x))

# %%
# What only hides the error
# -------------------------
#
# Without ``strict`` a function that loses its input gives zeros, as if it were
# constant. Here a detour through a Python number does it.


def through_a_number(x):
    return torch.stack([torch.tensor(x.sum().item()), x[1]])


print(jacobian(through_a_number, x), "is not", torch.tensor([[1.0, 1.0], [0.0, 1.0]]))
assert jacobian(through_a_number, x)[0, 0] == 0.0

# %%
# See also
# --------
#
# * `func-grad-output`: the same questions for `torch.func.grad`
