# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "inventory/grad-dtype-conflicts-existing", "inventory/grad-dtype-get-nonleaf",
#     "inventory/grad-dtype-set-nonleaf", "inventory/grad-dtype-wrong-type",
# ]
# shows = ["grad-of-nonleaf"]
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "Cannot set grad_dtype to '<grad_dtype>' because there is already a gradient with dtype '<dtype>'. Please clear the gradient (.grad = None) before changing grad_dtype, or ensure the new grad_dtype matches the existing gradient's dtype."
# source = "torch/csrc/autograd/python_variable.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "grad_dtype can only be accessed on leaf tensors."
# source = "torch/csrc/autograd/python_variable.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "grad_dtype can only be set on leaf tensors."
# source = "torch/csrc/autograd/variable.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "grad_dtype must be a torch.dtype or None, but got <type>"
# source = "torch/csrc/autograd/python_variable.cpp"
# ///
"""
A gradient in another dtype than its tensor
===========================================

You set ``grad_dtype``, which lets a tensor accumulate its gradient in another
`dtype`, and set it too late, on the wrong tensor or to the wrong thing. It
belongs to a `leaf tensor`, before the first gradient.
"""

import traceback

import torch

# %%
# The errors
# ----------
#
# A weight in half precision shall sum up its gradients in single precision. A
# backward has run already.

weight = torch.ones(2, dtype=torch.float16, requires_grad=True)
weight.sum().backward()

try:
    weight.grad_dtype = torch.float32
except RuntimeError:
    traceback.print_exc()

# %%
# Set it before the first backward, or clear the gradient
# -------------------------------------------------------
#
# Here it pays: half precision has no room for 2049, so adding 1 to 2048 leaves
# it as it is. Single precision counts on.

plain = torch.ones(2, dtype=torch.float16, requires_grad=True)
weight = torch.ones(2, dtype=torch.float16, requires_grad=True)
weight.grad_dtype = torch.float32

for factor in (2048.0, 1.0):
    (factor * plain).sum().backward()
    (factor * weight).sum().backward()

print(plain.grad, weight.grad)
torch.testing.assert_close(weight.grad, torch.full((2,), 2048.0 + 1.0))
assert plain.grad[0] == 2048

# %%
# With a gradient in place, ``.grad = None`` comes first.

plain.grad = None
plain.grad_dtype = torch.float32
(3 * plain).sum().backward()
torch.testing.assert_close(plain.grad, torch.full((2,), 3.0))

# %%
# On a result, ask the leaf
# -------------------------
#
# A `non-leaf tensor` accumulates nothing, so it has no such setting, neither to
# read nor to write. The attempt to write looks at ``.grad`` first, which has a
# warning of its own, `grad-of-nonleaf`.

hidden = weight * 2

try:
    print(hidden.grad_dtype)
except RuntimeError:
    traceback.print_exc()

try:
    hidden.grad_dtype = torch.float32
except RuntimeError:
    traceback.print_exc()

print(weight.grad_dtype)
assert weight.grad_dtype == torch.float32

# %%
# To get the gradient of a result in another dtype, convert the gradient.

(gradient,) = torch.autograd.grad((hidden * hidden).sum(), hidden)
torch.testing.assert_close(gradient.float(), torch.full((2,), 2 * 2.0))

# %%
# Give it a dtype, not its name
# -----------------------------
#
# A dtype from a configuration file is a string. ``getattr(torch, name)`` turns it
# into a dtype. ``None`` is allowed, too, and accepts any gradient.

weight = torch.ones(2, requires_grad=True)
name = "float64"

try:
    weight.grad_dtype = name
except RuntimeError:
    traceback.print_exc()

weight.grad_dtype = getattr(torch, name)
(3 * weight).sum().backward()
torch.testing.assert_close(weight.grad, torch.full((2,), 3.0, dtype=torch.float64))

# %%
# Related: `grad-assign-type`.
