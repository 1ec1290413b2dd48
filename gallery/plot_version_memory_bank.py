# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = ["version-counter/memory-bank-updated"]
# cause-of = "version-modified"
# when = { node = "^$", shape = "^\\[?\\d+, ?\\d+\\]?$" }
# ///
"""
A memory bank was updated before backward
=========================================

You compared features with a queue, a memory bank or a codebook, and put the
new features into it before ``backward()``. The product with the features had
saved the whole bank.
"""

import traceback

import torch

# %%
# The error
# ---------
#
# Contrastive learning: logits against a queue of old keys, then the new keys
# replace the oldest ones.

queries = torch.tensor([[1.0, 0.0], [0.5, 2.0]], requires_grad=True)
keys = torch.tensor([[9.0, 9.0], [8.0, 8.0]])
queue = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])

logits = queries @ queue
queue[:, :2] = keys.T

try:
    logits.sum().backward()
except RuntimeError:
    traceback.print_exc()

# %%
# The bank is not trained, but the derivative by the queries *is* the bank. Its
# shape is the one in the message:

print(list(queue.shape), queue._version)

# %%
# Update the bank after backward
# ------------------------------
#
# Or after ``optimizer.step()``, at the end of the training step.

queue = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
logits = queries @ queue
logits.sum().backward()
queue[:, :2] = keys.T

by_hand = torch.tensor([[1.0 + 2.0 + 3.0, 4.0 + 5.0 + 6.0]]).expand(2, 2)
print(queries.grad)
torch.testing.assert_close(queries.grad, by_hand)

# %%
# If the update belongs to forward, compare with a copy
# -----------------------------------------------------
#
# In a library's ``forward`` look for ``self.queue[...] =`` or ``copy_``, and
# take ``self.queue.clone()`` where the product is computed.

queries.grad = None
queue = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
logits = queries @ queue.clone()
queue[:, :2] = keys.T
logits.sum().backward()

print(queries.grad)
torch.testing.assert_close(queries.grad, by_hand)

# %%
# What only hides the error
# -------------------------
#
# ``queue.detach()`` in the product is no copy: `detach` shares memory and
# `version counter`, and the error stays.

queue = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
logits = queries @ queue.detach()
queue[:, :2] = keys.T
try:
    logits.sum().backward()
except RuntimeError:
    traceback.print_exc()

# %%
# Writing through ``queue.data`` is not counted, and the gradient is computed
# with the new keys:

queries.grad = None
queue = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
logits = queries @ queue
queue.data[:, :2] = keys.T
logits.sum().backward()

print(queries.grad, by_hand)
assert not torch.equal(queries.grad, by_hand)

# %%
# See also
# --------
#
# * `version-buffer`: other buffers that forward rewrites
# * `version-saved-input`
