# /// script
# requires-python = ">=3.10"
# dependencies = ["torch", "numpy"]
#
# [tool.autograd-errors]
# causes = ["inventory/increment-version-non-tensor"]
# shows = ["version-modified"]
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "increment_version expects each element of the iterable to be a tensor"
# source = "torch/csrc/autograd/init.cpp"
# reworded = true
# ///
"""
increment_version wants tensors
===============================

You told autograd about a write it could not see, and passed something that is
no tensor. ``increment_version`` takes one tensor or an iterable of tensors.
"""

import traceback

import numpy as np
import torch
from torch.autograd.graph import increment_version

# %%
# The error
# ---------
#
# A kernel of your own, here NumPy, writes into a tensor's memory, and you pass
# its array instead of the tensor.

x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x.exp()
array = y.detach().numpy()
np.multiply(array, 2.0, out=array)

try:
    increment_version([array])
except RuntimeError:
    traceback.print_exc()

# %%
# Pass the tensor whose memory was written
# ----------------------------------------
#
# Its `version counter` goes up by one, and backward notices that the value it
# saved is gone. That is what the function is for: without it the gradient would
# be wrong and nobody would say so.

increment_version([y])
print(y._version)

try:
    y.sum().backward()
except RuntimeError:
    traceback.print_exc()

# %%
# Then repair the write
# ---------------------
#
# Let the kernel work on a copy, or write the operation in PyTorch.

y = x.exp() * 2.0
y.sum().backward()

print(x.grad)
torch.testing.assert_close(x.grad, torch.from_numpy(2.0 * np.exp([1.0, 2.0])).float())

# %%
# See also
# --------
#
# * `silent-shared-memory`: what happens without it
# * `version-modified`
