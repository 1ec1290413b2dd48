# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "silent/silent-svd-degenerate-nan",
# ]
# symptom = "nan gradients through svd or eigh of a symmetric or identity-like matrix."
# symptom-zh = "svd 或特征分解的梯度为 nan"
# ///
"""
NaN from equal singular values or eigenvalues
=============================================

You differentiated singular vectors or eigenvectors of a matrix in which two of the values
are equal. The vectors are then not determined, and their formula divides by zero.
"""

import torch

# %%
# The mistake
# -----------
#
# A rotation is read off a matrix that starts as the identity.

matrix = torch.eye(2, requires_grad=True)
left, values, right = torch.linalg.svd(matrix)
left[0, 1].backward()

print(matrix.grad)
assert matrix.grad.isnan().all()

# %%
# Ask for something that is determined
# ------------------------------------
#
# The singular values themselves, and the nearest rotation, have derivatives even there:
# the polar factor's is found without single vectors. Newton's iteration uses only
# products and inverses.


def rotation_of(matrix):
    for _ in range(10):
        matrix = 0.5 * (matrix + torch.linalg.inv(matrix).T)
    return matrix


matrix = torch.eye(2, dtype=torch.float64, requires_grad=True)
rotation_of(matrix)[0, 1].backward()
print(matrix.grad)
torch.testing.assert_close(
    matrix.grad, torch.tensor([[0.0, 0.5], [-0.5, 0.0]], dtype=torch.float64)
)
assert torch.autograd.gradcheck(rotation_of, (matrix,))

# %%
# Start from distinct values
# --------------------------
#
# If single vectors are needed, keep the values apart; the derivative then exists.

matrix = torch.diag(torch.tensor([2.0, 1.0], dtype=torch.float64)).requires_grad_()


def first_vector(matrix):
    vector = torch.linalg.svd(matrix)[0][:, 0]
    return vector * vector[0].sign()


first_vector(matrix)[1].backward()
print(matrix.grad)
assert torch.autograd.gradcheck(first_vector, (matrix,))

# %%
# What does not help
# ------------------
#
# A tiny perturbation removes the ``nan`` and leaves a gradient as large as the
# perturbation is small.

matrix = (torch.eye(2) + torch.diag(torch.tensor([1e-6, 0.0]))).requires_grad_()
torch.linalg.svd(matrix)[0][0, 1].backward()
print(matrix.grad.abs().max() > 1e4)
assert matrix.grad.abs().max() > 1e4
