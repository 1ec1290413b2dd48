# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = ["inventory/inference-version-counter", "inventory/inference-unsafe-set-version"]
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "Inference tensors do not track version counter."
# source = "c10/core/TensorImpl.h"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "Tried to call torch.autograd._unsafe_set_version() on a tensor that does not have a version counter. Was it created in inference mode?"
# source = "torch/csrc/autograd/init.cpp"
# ///
"""
The version of a tensor that has none
=====================================

You, or a library that watches for changes, read or set the `version counter` of
a tensor from `inference mode`. Inference tensors are faster because they do not
have one.
"""

import traceback

import torch

# %%
# The errors
# ----------
#
# A cache recomputes its entry whenever its input has changed, and compares
# versions to find out.

with torch.inference_mode():
    x = torch.ones(2)

try:
    print(x._version)
except RuntimeError:
    traceback.print_exc()

# %%
# Code that wants to change a tensor without being noticed sets the counter back:

try:
    torch._C._autograd._unsafe_set_version_counter((x,), (0,))
except RuntimeError:
    traceback.print_exc()

# %%
# Ask before reading
# ------------------
#
# ``is_inference()`` tells whether there is a counter. Treat a tensor without one
# as always changed.


def version_of(tensor):
    return None if tensor.is_inference() else tensor._version


ordinary = torch.ones(2)
ordinary.add_(1)

print(version_of(x), version_of(ordinary))
assert version_of(x) is None and version_of(ordinary) == 1

# %%
# To count changes, make the tensor outside
# -----------------------------------------
#
# A `clone` outside the mode, or `torch.no_grad` instead of the mode, gives a
# tensor with a counter. Writes under ``no_grad`` are counted.

with torch.no_grad():
    watched = torch.ones(2)
copied = x.clone()

for tensor in (watched, copied):
    before = tensor._version
    with torch.no_grad():
        tensor.add_(1)
        tensor.mul_(2)
    print(tensor._version - before)
    assert tensor._version - before == 2

# %%
# Do not set the counter back
# ---------------------------
#
# The counter is what protects a saved value. With it set back, backward uses the
# new value without a word: the gradient of ``weight**2`` at 3 should be 6.

weight = torch.tensor([3.0], requires_grad=True)
loss = (weight**2).sum()
version = weight._version
with torch.no_grad():
    weight.mul_(10)
torch._C._autograd._unsafe_set_version_counter((weight,), (version,))
loss.backward()

print(weight.grad)
assert not torch.allclose(weight.grad, torch.tensor([6.0]))

# %%
# See also
# --------
#
# * `inference-mode-tensors`
# * `inference-mode-inplace`
# * `version-modified`
