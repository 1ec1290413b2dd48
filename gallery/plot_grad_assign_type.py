# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "inventory/grad-assign-wrong-type", "inventory/grad-assign-wrong-dtype",
#     "inventory/grad-assign-wrong-device", "inventory/grad-assign-different-layout-type",
#     "inventory/grad-assign-self",
# ]
#
# [[tool.autograd-errors.error]]
# raises = "TypeError"
# message = "assigned grad expected to be a Tensor or None but got grad of type <type>"
# source = "torch/csrc/autograd/python_variable.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "attempting to assign a gradient with dtype '<dtype>' to a tensor with grad_dtype '<grad_dtype>'. The gradient must match the tensor's grad_dtype (defaults to the tensor's dtype). You can set the tensor's grad_dtype attribute with a specific dtype, or None to allow any dtype. Set grad_dtype with caution. Diverging the dtypes of a tensor and its gradient may break downstream systems that assume they match."
# source = "torch/csrc/autograd/python_variable.cpp"
# reworded = true
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "attempting to assign a gradient with device type '<gradient_device>' to a tensor with device type '<device>'. Please ensure that the gradient and the tensor are on the same device"
# source = "torch/csrc/autograd/python_variable.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "attempting to assign a gradient to a tensor that has data of a different type"
# source = "torch/csrc/autograd/python_variable.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "can't assign Variable as its own grad"
# source = "torch/csrc/autograd/python_variable.cpp"
# ///
"""
Something that is no gradient assigned to .grad
===============================================

You assigned to ``.grad`` a number, or a tensor of another kind than the one it
belongs to. An `optimizer` will combine the two number by number, so PyTorch
wants the same dtype, device and layout.
"""

import traceback

import torch

# %%
# The errors
# ----------
#
# To reset a gradient, a number looks natural.

weight = torch.tensor([1.0, 2.0], requires_grad=True)

try:
    weight.grad = 0
except TypeError:
    traceback.print_exc()

# %%
# To reset a gradient, assign None
# --------------------------------
#
# ``None`` is no gradient, and the next backward starts from there. Zeros would be
# a gradient of zero. Only one of the two makes an optimizer skip the tensor.

weight = torch.tensor([1.0, 2.0], requires_grad=True)
for _ in range(2):
    weight.grad = None
    (weight**2).sum().backward()

print(weight.grad)
torch.testing.assert_close(weight.grad, 2 * weight.detach())

# %%
# If it has another dtype, convert the gradient
# ---------------------------------------------
#
# Gradients summed up in double precision, or read from NumPy, meet a weight in
# single precision.

total = torch.tensor([2.0, 4.0], dtype=torch.float64)

try:
    weight.grad = total
except RuntimeError:
    traceback.print_exc()

weight.grad = total.to(weight.dtype)
torch.testing.assert_close(weight.grad, 2 * weight.detach())

# %%
# `grad-dtype` is about the attribute that the message offers.
#
# If it is on another device, move the gradient
# ---------------------------------------------
#
# A gradient computed elsewhere must come to the tensor, ``.to(weight.device)``.
# The device ``meta`` stands in for a GPU here. It holds shapes without numbers,
# so there is nothing to move: make the gradient anew.

elsewhere = torch.ones(2, device="meta")
weight = torch.tensor([1.0, 2.0], requires_grad=True)

try:
    weight.grad = elsewhere
except RuntimeError:
    traceback.print_exc()

weight.grad = torch.ones_like(weight)
torch.testing.assert_close(weight.grad, torch.autograd.grad(weight.sum(), weight)[0])

# %%
# If it has another layout, convert it back
# -----------------------------------------
#
# Some formats keep their numbers in an order of their own, like MKL-DNN's on
# the CPU. A sparse gradient is accepted, since embeddings make such ones.

weight = torch.tensor([1.0, 2.0], device="cpu", requires_grad=True)
blocked = torch.tensor([2.0, 4.0], device="cpu").to_mkldnn()

try:
    weight.grad = blocked
except RuntimeError:
    traceback.print_exc()

weight.grad = blocked.to_dense()
torch.testing.assert_close(weight.grad, 2 * weight.detach())
weight.grad = blocked.to_dense().to_sparse()
torch.testing.assert_close(weight.grad.to_dense(), 2 * weight.detach())

# %%
# If you assigned the tensor itself, compute the gradient
# -------------------------------------------------------
#
# The gradient of ``0.5 * sum(weight**2)`` is the weight, so the assignment is
# tempting. The next step would then change the gradient together with the
# weight. A copy is what you mean.

try:
    weight.grad = weight
except RuntimeError:
    traceback.print_exc()

weight.grad = weight.detach().clone()
torch.testing.assert_close(weight.grad, torch.autograd.grad(0.5 * (weight**2).sum(), weight)[0])

# %%
# What only hides the error
# -------------------------
#
# ``weight.grad = weight.detach()``, without the copy, is accepted. It shares the
# memory of the weight: when the next backward adds to the gradient, it adds to
# the weight.

weight = torch.tensor([1.0, 2.0], requires_grad=True)
weight.grad = weight.detach()
weight.sum().backward()

print(weight)
assert not torch.equal(weight, torch.tensor([1.0, 2.0]))

# %%
# Related: `grad-assign-shape`, `grad-dtype`, `grad-is-none`.
