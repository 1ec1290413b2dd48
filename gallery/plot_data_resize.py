# /// script
# requires-python = ">=3.10"
# dependencies = ["torch", "numpy"]
#
# [tool.autograd-errors]
# causes = [
#     "inventory/resize-requires-grad",
#     "inventory/resize-as-requires-grad",
#     "inventory/resize-numpy-storage",
#     "inventory/non-inplace-resize-deprecated",
# ]
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "cannot resize variables that require grad"
# source = "torch/csrc/autograd/VariableTypeManual.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "Trying to resize storage that is not resizable"
# source = "aten/src/ATen/native/Resize.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "UserWarning"
# message = "non-inplace resize is deprecated"
# source = "torch/_tensor.py"
# ///
"""
A tensor resized where its size must stay
=========================================

You changed the size of a tensor that requires a gradient, or of one whose
memory belongs to NumPy. A new size means other elements, and a gradient for
the old ones would no longer fit.
"""

import traceback

import numpy as np
import torch

# %%
# The errors
# ----------
#
# You want the features without their last two elements.

x = torch.tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True)
features = x * 1

try:
    features.resize_(2)
except RuntimeError:
    traceback.print_exc()
try:
    features.resize_as_(torch.ones(2))
except RuntimeError:
    traceback.print_exc()

# %%
# An array of NumPy lends its memory; PyTorch must not replace it.

try:
    torch.from_numpy(np.ones(2)).resize_(5)
except RuntimeError:
    traceback.print_exc()

# %%
# The old method without the underscore still works, and warns. It is a reshape
# under a misleading name.

print(x.resize(2, 2).shape)

# %%
# To change the shape, reshape
# ----------------------------
#
# ``reshape`` and ``view`` keep all elements and are recorded. The gradient of the
# sum of squares is ``2 * x``.

x = torch.tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True)
square = x.reshape(2, 2)
(square**2).sum().backward()

print(square.shape, x.grad)
torch.testing.assert_close(x.grad, 2 * x.detach())

# %%
# To take fewer elements, slice
# -----------------------------
#
# What is cut off has the gradient 0.

x.grad = None
(x[:2] ** 2).sum().backward()

print(x.grad)
torch.testing.assert_close(x.grad, torch.tensor([2.0, 4.0, 0.0, 0.0]))

# %%
# To take more, pad
# -----------------
#
# ``resize_`` would show whatever was in memory; padding says what the new
# elements are.

x.grad = None
longer = torch.nn.functional.pad(x, (0, 2), value=1.0)
(longer**2).sum().backward()

print(longer, x.grad)
torch.testing.assert_close(longer.detach(), torch.tensor([1.0, 2.0, 3.0, 4.0, 1.0, 1.0]))
torch.testing.assert_close(x.grad, 2 * x.detach())

# %%
# To resize memory from NumPy, copy it
# ------------------------------------
#
# A `clone` has memory of its own.

own = torch.from_numpy(np.ones(2)).clone().resize_(1)

print(own)
torch.testing.assert_close(own, torch.ones(1, dtype=torch.float64))

# %%
# What only hides the error
# -------------------------
#
# ``detach`` and ``.data`` allow ``resize_``. It changes the detached tensor only:
# the features keep their four elements, and a loss on the short one has no
# graph.

features = x * 1
short = features.detach().resize_(2)

print(short.shape, features.shape, (short**2).sum().requires_grad)
assert features.shape == (4,) and not (short**2).sum().requires_grad

# %%
# See also
# --------
#
# * `inplace-setitem-size`
# * `data-set`
# * `numpy-requires-grad`
