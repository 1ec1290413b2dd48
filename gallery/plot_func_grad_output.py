# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "inventory/functorch-grad-non-scalar",
#     "inventory/functorch-grad-not-tensor",
#     "inventory/functorch-grad-output-list",
#     "inventory/functorch-grad-has-aux-wrong",
#     "inventory/functorch-argnums-range",
#     "inventory/functorch-grad-int-input",
#     "inventory/functorch-grad-non-tensor-input",
#     "inventory/functorch-vjp-int-output",
#     "inventory/functorch-vjp-structure",
#     "inventory/functorch-jvp-primals-not-tuple",
#     "inventory/functorch-jvp-structure",
#     "inventory/functorch-jvp-strict",
#     "inventory/functorch-jacrev-non-tensor-output",
#     "inventory/functorch-jacrev-complex",
# ]
# shows = ["requires-grad-set"]
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "grad_and_value(f)(*args): Expected f(*args) to return a scalar Tensor, got tensor with <dimensions> dims. Maybe you wanted to use the vjp or jacrev APIs instead?"
# source = "torch/_functorch/eager_transforms.py"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "grad_and_value(f)(*args): Expected f(*args) to return a Tensor, got <type>"
# source = "torch/_functorch/eager_transforms.py"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "grad_and_value(f)(*args): output of function f should be a tuple: (output, aux) if has_aux is True"
# source = "torch/_functorch/eager_transforms.py"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "Got argnum=<argument>, but only <count> positional inputs"
# source = "torch/_functorch/eager_transforms.py"
#
# [[tool.autograd-errors.error]]
# raises = "ValueError"
# message = "Thing passed to transform API must be Tensor, got <type>"
# source = "torch/_functorch/eager_transforms.py"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "vjp(f, ...): All outputs of f must be floating-point or complex Tensors, got Tensor with dtype <dtype>"
# source = "torch/_functorch/eager_transforms.py"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "Expected pytree structure of cotangents to be the same as pytree structure of outputs to the function. cotangents: <cotangents>, primal output: <output>"
# source = "torch/_functorch/eager_transforms.py"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "jvp(f, primals, tangents): Expected primals to be a tuple. E.g. it should be valid to call f(*primals)."
# source = "torch/_functorch/eager_transforms.py"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "jvp(f, primals, tangents): Expected primals and tangents to have the same python structure. For example, if primals is a tuple of 3 tensors, tangents also must be. Got primals with structure <primals> and tangents with structure <tangents>"
# source = "torch/_functorch/eager_transforms.py"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "jvp(f, primals, tangents, strict=True): The output of f is independent of the inputs. This is not allowed with strict=True."
# source = "torch/_functorch/eager_transforms.py"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "vjp(f, *primals): expected f(*primals) to return only tensors, got unsupported type <type>"
# source = "torch/_functorch/eager_transforms.py"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "jacrev: Expected all inputs to be real but received complex tensor at flattened input idx: <index>"
# source = "torch/_functorch/eager_transforms.py"
# ///
"""
A function that torch.func cannot differentiate
===============================================

You gave `torch.func.grad` a function whose result is not one number, or inputs that
cannot have a gradient.
"""

import traceback

import torch

x = torch.tensor([1.0, 2.0, 3.0])

# %%
# The errors
# ----------
#
# A function returns a vector, a Python number, or a tuple; says it has an auxiliary
# result and has none; or has fewer arguments than ``argnums``.

for function, options in (
    (lambda x: x * 2, {}),
    (lambda x: (x * 2).sum().item(), {}),
    (lambda x: (x.sum(), x), {}),
    (lambda x: x.sum(), {"has_aux": True}),
    (lambda x: x.sum(), {"argnums": 1}),
):
    try:
        torch.func.grad(function, **options)(x)
    except RuntimeError:
        traceback.print_exc()

# %%
# The input is a tensor of integers, or no tensor:

try:
    torch.func.grad(lambda x: x.sum())(torch.tensor([1, 2, 3]))
except RuntimeError:
    traceback.print_exc()
try:
    torch.func.grad(lambda x: torch.tensor(x) * 2)(3.0)
except ValueError:
    traceback.print_exc()

# %%
# The other transforms check their arguments with words of their own.

_, pullback = torch.func.vjp(torch.sin, x)
for call in (
    lambda: torch.func.vjp(lambda x: x.argmax(), x),
    lambda: pullback((x, x)),
    lambda: torch.func.jvp(torch.sin, x, (x,)),
    lambda: torch.func.jvp(torch.sin, (x,), x),
    lambda: torch.func.jvp(lambda x: torch.ones(3), (x,), (x,), strict=True),
    lambda: torch.func.jacrev(lambda x: {"y": 3.0})(x),
    lambda: torch.func.jacrev(torch.sin)(torch.ones(2, dtype=torch.complex64)),
):
    try:
        call()
    except RuntimeError:
        traceback.print_exc()

# %%
# For a loss, return one number
# -----------------------------

gradient = torch.func.grad(lambda x: (x**2).sum())(x)
print(gradient)
torch.testing.assert_close(gradient, 2 * x)

# %%
# For extra results, return a pair and say so
# -------------------------------------------

gradient, doubled = torch.func.grad(lambda x: ((x**2).sum(), 2 * x), has_aux=True)(x)
print(gradient, doubled)
torch.testing.assert_close(gradient, doubled)

# %%
# For a vector, ask for the Jacobian
# ----------------------------------
#
# The `Jacobian` of the elementwise square is a diagonal matrix. With one vector to
# multiply it by, ``vjp`` is cheaper: the `vector-Jacobian product`.

jacobian = torch.func.jacrev(lambda x: x**2)(x)
print(jacobian)
torch.testing.assert_close(jacobian, torch.diag(2 * x))

_, pullback = torch.func.vjp(lambda x: x**2, x)
torch.testing.assert_close(pullback(torch.ones(3))[0], 2 * x)

# %%
# For forward mode, pass tuples
# -----------------------------

_, tangent = torch.func.jvp(torch.sin, (x,), (torch.ones(3),))
print(tangent)
torch.testing.assert_close(tangent, torch.cos(x))

# %%
# What only hides the error
# -------------------------
#
# Summing an output only to satisfy the message gives the column sums of the Jacobian.
# For a function whose outputs depend on several inputs that is another thing than the
# diagonal that was wanted.


def mix(x):
    return torch.stack([x[0] * x[1], x[1] * x[2], x[2] * x[0]])


summed = torch.func.grad(lambda x: mix(x).sum())(x)
diagonal = torch.func.jacrev(mix)(x).diagonal()
print(summed, "is not", diagonal)
assert not torch.equal(summed, diagonal)

# %%
# See also
# --------
#
# * `backward-non-scalar`: the same mistake with ``backward``
# * `func-requires-grad`
