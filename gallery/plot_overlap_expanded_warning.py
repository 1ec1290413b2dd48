# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "silent/expand-masked-fill",
#     "inventory/expanded-masked-fill-deprecated",
#     "inventory/expanded-index-put-deprecated",
#     "inventory/expanded-index-fill-deprecated",
# ]
#
# [[tool.autograd-errors.error]]
# raises = "UserWarning"
# message = "Use of masked_fill_ on expanded tensors is deprecated. Please clone() the tensor before performing this operation. This also applies to advanced indexing e.g. tensor[mask] = scalar"
# source = "aten/src/ATen/native/TensorAdvancedIndexing.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "UserWarning"
# message = "Use of index_put_ on expanded tensors is deprecated. Please clone() the tensor before performing this operation. This also applies to advanced indexing e.g. tensor[indices] = tensor"
# source = "aten/src/ATen/native/TensorAdvancedIndexing.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "UserWarning"
# message = "Use of index_fill_ on expanded tensors is deprecated. Please clone() the tensor before performing this operation. This also applies to advanced indexing e.g. tensor[mask] = scalar"
# source = "aten/src/ATen/native/TensorAdvancedIndexing.cpp"
# ///
"""
A masked or indexed write into an expanded tensor
=================================================

You masked or indexed an expanded tensor and assigned to it. The elements that
the mask leaves out share memory with those it selects, so they change as well,
and all you get is a warning about a deprecation.
"""

import torch

# %%
# The warnings
# ------------
#
# One score per query is spread over its keys, and one key is masked.

scores = torch.tensor([[1.0], [2.0]])
mask = torch.tensor([[False, True, False], [False, False, False]])

masked = scores.expand(2, 3)
masked.masked_fill_(mask, 9.0)

# %%
# One element was to change. The whole row did:

wanted = torch.tensor([[1.0, 9.0, 1.0], [2.0, 2.0, 2.0]])
print(masked)
assert not torch.equal(masked, wanted)

# %%
# Assigning to an index and filling by index have warnings of their own, and do
# the same:

indexed = torch.tensor([[1.0], [2.0]]).expand(2, 3)
indexed[torch.tensor([0]), torch.tensor([1])] = torch.tensor([9.0])
print(indexed)
assert not torch.equal(indexed, wanted)

filled = torch.tensor([[1.0, 2.0, 3.0]]).expand(2, 3)
filled.index_fill_(0, torch.tensor([0]), 9.0)
print(filled)
assert torch.equal(filled[1], filled[0])

# %%
# Fill out of place
# -----------------
#
# ``masked_fill`` returns a new tensor with memory for each element. The
# gradient of the sum of squares is twice each score for every unmasked key.

scores = torch.tensor([[1.0], [2.0]], requires_grad=True)
masked = scores.expand(2, 3).masked_fill(mask, 9.0)
masked.pow(2).sum().backward()

print(masked.detach(), scores.grad, sep="\n")
torch.testing.assert_close(masked.detach(), wanted)
torch.testing.assert_close(scores.grad, torch.tensor([[2 * 2 * 1.0], [3 * 2 * 2.0]]))

# %%
# Or copy the expanded tensor apart
# ---------------------------------
#
# After a `clone` every in-place line means what it says.

scores = torch.tensor([[1.0], [2.0]], requires_grad=True)
masked = scores.expand(2, 3).clone()
masked[torch.tensor([0]), torch.tensor([1])] = torch.tensor([9.0])
masked.pow(2).sum().backward()

print(masked.detach(), scores.grad, sep="\n")
torch.testing.assert_close(masked.detach(), wanted)
torch.testing.assert_close(scores.grad, torch.tensor([[2 * 2 * 1.0], [3 * 2 * 2.0]]))

# %%
# What only hides the error
# -------------------------
#
# A loop over the mask makes the warning go away. Each write is to one element
# and all of its twins follow:

masked = torch.tensor([[1.0], [2.0]]).expand(2, 3)
for row, column in mask.nonzero().tolist():
    masked[row, column] = 9.0

print("got", masked, "instead of", wanted)
assert not torch.equal(masked, wanted)

# %%
# - `overlap-expanded`, the operations that refuse to do this
# - `overlap-input-output`, when source and target overlap
