# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "inventory/complex-op-no-autograd",
#     "inventory/complex-to-sparse-no-autograd",
#     "inventory/inplace-abs-complex",
#     "inventory/linalg-eig-gauge",
#     "inventory/linalg-eigh-gauge",
#     "inventory/linalg-svd-gauge",
# ]
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "<operation> does not support automatic differentiation for outputs with complex dtype."
# source = "torch/csrc/autograd/VariableTypeUtils.h"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "In-place abs is not supported for complex tensors."
# source = "aten/src/ATen/native/UnaryOps.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "<operation>: The eigenvectors in the complex case are specified up to multiplication by e^{i phi}. The specified loss function depends on this quantity, so it is ill-defined."
# source = "torch/csrc/autograd/FunctionsManual.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "svd_backward: The singular vectors in the complex case are specified up to multiplication by e^{i phi}. The specified loss function depends on this phase term, making it ill-defined."
# source = "torch/csrc/autograd/FunctionsManual.cpp"
# ///
"""
Complex operations that cannot be differentiated
================================================

The operation has a derivative for real numbers only, or your loss depends on a
phase that the operation is free to choose.
"""

import traceback

import torch

# %%
# The errors
# ----------
#
# Some operations refuse in the `forward pass`, so the line in the traceback is
# the guilty one.

z = torch.tensor([1.0 + 1.0j, 2.0 + 0.0j], requires_grad=True)
for operation in (torch.nn.functional.silu, lambda z: torch.diag(z).to_sparse()):
    try:
        operation(z)
    except RuntimeError:
        traceback.print_exc()
try:
    z.detach().abs_()
except RuntimeError:
    traceback.print_exc()

# %%
# Eigenvectors and singular vectors stay eigenvectors when they are turned by
# any phase. A loss that changes under such a turn has no derivative.

matrix = torch.tensor([[2.0, 1.0j], [-1.0j, 3.0]], dtype=torch.complex128, requires_grad=True)
for vectors in (
    lambda a: torch.linalg.eig(a).eigenvectors,
    lambda a: torch.linalg.eigh(a).eigenvectors,
    lambda a: torch.linalg.svd(a).U,
):
    try:
        vectors(matrix).real.sum().backward()
    except RuntimeError:
        traceback.print_exc()

# %%
# Write the operation in a form that has a derivative
# ---------------------------------------------------


def silu(z):
    return z / (1 + torch.exp(-z))


z = torch.tensor([1.0 + 1.0j, 2.0 + 0.0j], dtype=torch.complex128, requires_grad=True)
print(silu(z))
torch.testing.assert_close(silu(z).detach(), torch.nn.functional.silu(z.detach()))
assert torch.autograd.gradcheck(silu, (z,))

# %%
# The absolute value changes the dtype, so it needs a tensor of its own:

assert torch.autograd.gradcheck(torch.abs, (z,))

# %%
# Make the loss independent of the phase
# --------------------------------------
#
# The product of a vector with its own conjugate stays the same under every
# turn: it is the projection onto the eigenvector.


def projection(a):
    vector = torch.linalg.eigh((a + a.mH) / 2).eigenvectors[:, :1]
    return (vector @ vector.mH).real


projection(matrix)[0, 0].backward()
print(matrix.grad)
assert torch.autograd.gradcheck(projection, (matrix,))

# %%
# See also
# --------
#
# * `complex-loss`
# * `derivative-limits`
