# /// script
# requires-python = ">=3.10"
# dependencies = ["numpy", "torch"]
#
# [tool.autograd-errors]
# causes = [
#     "silent/silent-numpy-shared-memory",
#     "silent/silent-from-numpy-buffer-reused",
#     "silent/silent-storage-write",
#     "silent/silent-apply-on-detached",
# ]
# symptom = "Gradients belong to the next batch, or are zero, after I reused a NumPy buffer."
# symptom-zh = "复用 numpy 缓冲区后梯度错误，没有报错"
# ///
"""
Writing through NumPy or a storage after forward
================================================

A NumPy array, or the `storage` itself, shares memory with a tensor that autograd has
saved, and you wrote into it. Neither has a `version counter`.
"""

import numpy as np
import torch

# %%
# The mistake
# -----------
#
# A data loader fills the same buffer for every batch, while the graph of the last batch
# is still waiting for ``backward``. The gradient of the weight is the input, two.

buffer = np.array([2.0], dtype=np.float32)
weight = torch.ones(1, requires_grad=True)
loss = (weight * torch.from_numpy(buffer)).sum()
buffer[:] = 50.0
loss.backward()

print(weight.grad)
assert weight.grad != 2.0

# %%
# The other way round, an array that was taken from a tensor, a storage, and a function
# applied to every element:

for write in (
    lambda y: y.detach().numpy().fill(0.0),
    lambda y: y.untyped_storage().fill_(0),
    lambda y: y.detach().apply_(lambda value: 0.0),
):
    x = torch.tensor([1.0], requires_grad=True)
    y = x.exp()
    write(y)
    y.sum().backward()
    print(x.grad, y._version)
    assert x.grad == 0.0

# %%
# Copy on the way in
# ------------------
#
# ``torch.tensor`` copies, `torch.from_numpy` shares.

buffer = np.array([2.0], dtype=np.float32)
weight = torch.ones(1, requires_grad=True)
loss = (weight * torch.tensor(buffer)).sum()
buffer[:] = 50.0
loss.backward()

print(weight.grad)
torch.testing.assert_close(weight.grad, torch.tensor([2.0]))

# %%
# Copy on the way out
# -------------------

x = torch.tensor([1.0], requires_grad=True)
y = x.exp()
array = y.detach().numpy().copy()
array[:] = 0.0
y.sum().backward()

print(x.grad)
torch.testing.assert_close(x.grad, torch.exp(torch.ones(1)))

# %%
# What does not help
# ------------------
#
# `clone` after the write copies what is already wrong, and `torch.no_grad` around the
# write does not make NumPy count.

x = torch.tensor([1.0], requires_grad=True)
y = x.exp()
with torch.no_grad():
    y.numpy().fill(0.0)
y.clone().sum().backward()
print(x.grad)
assert x.grad == 0.0

# %%
# See also
# --------
#
# * `silent-data-edit`
# * `numpy-requires-grad`
