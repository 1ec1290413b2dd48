# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "inventory/inplace-elu-negative-slope",
#     "inventory/inplace-leaky-relu-negative-slope",
#     "inventory/linalg-qr-complete",
#     "inventory/linalg-qr-mode-r",
#     "inventory/embedding-bag-max-scale-grad",
#     "inventory/embedding-scale-grad-sparse",
#     "inventory/deterministic-backward",
#     "inventory/sparse-log1p-backward",
#     "inventory/sparse-backend-missing-in-backward",
#     "inventory/nested-chunk-backward",
# ]
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "In-place elu backward calculation is triggered with a negative slope which is not supported. This is caused by calling in-place forward function with a negative slope, please call out-of-place version instead."
# source = "aten/src/ATen/native/Activation.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "In-place leakyReLu backward calculation is triggered with a negative slope which is not supported. This is caused by calling in-place forward function with a negative slope, please call out-of-place version instead. File an issue at https://github.com/pytorch/pytorch if you do require supporting in-place leakRelu backward calculation with negative slope"
# source = "aten/src/ATen/native/Activation.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "The QR decomposition is not differentiable when mode='complete' and nrows > ncols."
# source = "torch/csrc/autograd/FunctionsManual.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "The derivative of linalg.qr depends on Q, which is not computed when mode='r'. Please use linalg.qr(A, mode='reduced') if you are going to differentiate through linalg.qr."
# source = "torch/csrc/autograd/FunctionsManual.cpp"
# reworded = true
#
# [[tool.autograd-errors.error]]
# raises = "ValueError"
# message = "max mode does not support scaling the gradient by the frequency"
# source = "torch/nn/functional.py"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "embedding_backward: scale_grad_by_freq not supported with sparse gradients"
# source = "aten/src/ATen/native/Embedding.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "<operation> does not have a deterministic implementation, but you set 'torch.use_deterministic_algorithms(True)'. You can turn off determinism just for this operation, or you can use the 'warn_only=True' option, if that's acceptable for your application. You can also file an issue at https://github.com/pytorch/pytorch/issues to help us prioritize adding deterministic support for this operation."
# source = "aten/src/ATen/Context.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "UserWarning"
# message = "log1p_backward: received self with sparse layout, but backward requires materialization of a dense tensor with this shape"
# source = "torch/csrc/autograd/FunctionsManual.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "NotImplementedError"
# message = "Could not run '<operation>' with arguments from the '<backend>' backend. <registrations>"
# source = "c10/core/impl/OperatorEntry.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "UserWarning"
# message = "The PyTorch API of nested tensors is in prototype stage and will change in the near future. We recommend specifying layout=torch.jagged when constructing a nested tensor, as this layout receives active development, has better operator coverage, and works with torch.compile."
# source = "aten/src/ATen/NestedTensorImpl.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "self.layout() == c10::kJagged INTERNAL ASSERT FAILED at \"<file>\":<line>, please report a bug to PyTorch. Nested Strided Tensor doesn't support chunk backward."
# source = "torch/csrc/autograd/FunctionsManual.cpp"
# ///
"""
Backward formulas with a condition attached
===========================================

The operation has a derivative, but not for the arguments you gave it: the
`backward pass` names the mode, layout or flag that it cannot handle.
"""

import traceback

import torch

# %%
# The errors
# ----------
#
# An in-place activation with a negative slope. Backward recovers the sign of
# the input from the output, and a negative slope loses it.

x = torch.tensor([-1.0, 2.0], requires_grad=True)
try:
    torch.nn.functional.elu(x * 1.0, alpha=-1.0, inplace=True).sum().backward()
except RuntimeError:
    traceback.print_exc()
try:
    torch.nn.functional.leaky_relu(x * 1.0, negative_slope=-0.1, inplace=True).sum().backward()
except RuntimeError:
    traceback.print_exc()

# %%
# A QR decomposition in a mode that throws away what the formula needs, or that
# adds columns which are not determined by the input.

matrix = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 7.0]], requires_grad=True)
for mode in ("complete", "r"):
    try:
        torch.linalg.qr(matrix, mode=mode).R.sum().backward()
    except RuntimeError:
        traceback.print_exc()

# %%
# Embeddings whose gradient is scaled by frequency, with a maximum or with
# sparse gradients.

table = torch.ones(4, 2, requires_grad=True)
index = torch.tensor([[0, 1]])
try:
    torch.nn.functional.embedding_bag(index, table, mode="max", scale_grad_by_freq=True)
except ValueError:
    traceback.print_exc()
try:
    torch.nn.functional.embedding(
        index, table, sparse=True, scale_grad_by_freq=True
    ).sum().backward()
except RuntimeError:
    traceback.print_exc()

# %%
# A pooling whose inverse is not deterministic, with deterministic algorithms
# asked for.

torch.use_deterministic_algorithms(True)
picture = torch.arange(16.0).reshape(1, 1, 4, 4).requires_grad_()
pooled, where = torch.nn.functional.max_pool2d(picture, 2, return_indices=True)
try:
    torch.nn.functional.max_unpool2d(pooled, where, 2).sum().backward()
except RuntimeError:
    traceback.print_exc()
torch.use_deterministic_algorithms(False)

# %%
# A sparse tensor in a function whose derivative is not sparse: one warns and
# goes on, the other has no kernel. A nested tensor in the older layout cannot
# be cut in chunks.

sparse = torch.eye(3).to_sparse().requires_grad_()
torch.log1p(sparse).to_dense().sum().backward()
try:
    torch.sin(sparse).to_dense().sum().backward()
except NotImplementedError as error:
    print(f"NotImplementedError: {error}".partition("[")[0])

nested = torch.nested.nested_tensor([torch.ones(2, 4), torch.ones(3, 4)], requires_grad=True)
first, second = nested.chunk(2, dim=-1)
try:
    torch.nested.to_padded_tensor(first.contiguous(), 0.0).sum().backward()
except RuntimeError:
    traceback.print_exc()

# %%
# Take the form that has a derivative
# -----------------------------------
#
# Out of place, the activation keeps its input, and any slope is fine.

x = torch.tensor([-1.0, 2.0], dtype=torch.float64, requires_grad=True)
torch.nn.functional.leaky_relu(x, negative_slope=-0.1).sum().backward()
print(x.grad)
torch.testing.assert_close(x.grad, torch.tensor([-0.1, 1.0], dtype=torch.float64))
assert torch.autograd.gradcheck(lambda x: torch.nn.functional.elu(x, alpha=-1.0), (x,))

# %%
# The reduced QR decomposition has the same R and a derivative.

matrix = matrix.detach().double().requires_grad_()
assert torch.autograd.gradcheck(lambda a: torch.linalg.qr(a, mode="reduced").R, (matrix,))

# %%
# Dense gradients can be scaled. Each of two lookups of the same row then counts
# half.

table = torch.ones(4, 2, requires_grad=True)
index = torch.tensor([0, 0, 1])
torch.nn.functional.embedding(index, table, scale_grad_by_freq=True).sum().backward()
print(table.grad)
torch.testing.assert_close(table.grad, torch.tensor([[1.0] * 2, [1.0] * 2, [0.0] * 2, [0.0] * 2]))

# %%
# Make a sparse or nested tensor dense before the function.

values = torch.ones(3, requires_grad=True)
diagonal = torch.tensor([[0, 1, 2], [0, 1, 2]])
torch.sin(
    torch.sparse_coo_tensor(diagonal, values, (3, 3), check_invariants=True).to_dense()
).sum().backward()
torch.testing.assert_close(values.grad, torch.cos(torch.ones(3)))

rows = [torch.ones(2, 4, requires_grad=True), torch.ones(3, 4, requires_grad=True)]
padded = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True)
padded.chunk(2, dim=-1)[0].sum().backward()
torch.testing.assert_close(rows[0].grad, torch.tensor([[1.0, 1.0, 0.0, 0.0]] * 2))

# %%
# See also
# --------
#
# * `derivative-not-implemented`: no formula at all
