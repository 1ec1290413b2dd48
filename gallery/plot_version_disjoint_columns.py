# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = ["version-counter/disjoint-region-same-storage"]
# cause-of = "version-modified"
# when = { node = "^(AsStrided|Select|Slice|Split|Unbind)(Backward\\d*)?$" }
# ///
"""
A write into columns that nothing else uses
===========================================

You wrote into some columns of a tensor, and an operation had saved other
columns. The two do not overlap, but all views of a tensor share one version
counter, so autograd cannot tell them apart.
"""

import traceback

import torch

# %%
# The error
# ---------
#
# A detection head decodes boxes. The center is squared for a loss; then width
# and height are replaced by their exponentials.

raw = torch.tensor([[1.0, 2.0, 0.5, -0.5]], dtype=torch.float64, requires_grad=True)

boxes = raw * 1.0
center_loss = (boxes[:, :2] * boxes[:, :2]).sum()
boxes[:, 2:] = boxes[:, 2:].exp()

try:
    (center_loss + boxes.sum()).backward()
except RuntimeError:
    traceback.print_exc()

# %%
# The product saved two columns as a `view`; the write went into the other two.
# They have the same `base` and therefore the same `version counter`:

center, size = boxes[:, :2], boxes[:, 2:]
# facts: center, size as "Before one more write into size"
size *= 1.0
assert center._base is size._base is boxes
assert center._version == size._version

# facts: center, size as "After it"

# %%
# Compute the parts, then join them
# ---------------------------------
#
# `torch.cat` makes one tensor of the finished columns. Nothing is overwritten.


def decode(raw):
    center, size = raw[:, :2], raw[:, 2:].exp()
    boxes = torch.cat([center, size], dim=1)
    return (center * center).sum() + boxes.sum()


decode(raw).backward()
print(raw.grad)
assert torch.autograd.gradcheck(decode, (raw,))

# %%
# If the library's code must stay, give one part its own memory
# -------------------------------------------------------------
#
# A `clone` where the columns are read is enough: the product saves the copy.
# Look for ``y[..., 0:2] = ...`` in detection heads.

raw.grad = None
boxes = raw * 1.0
center = boxes[:, :2].clone()
center_loss = (center * center).sum()
boxes[:, 2:] = boxes[:, 2:].exp()
(center_loss + boxes.sum()).backward()

by_hand = torch.cat([2 * raw[:, :2] + 1, raw[:, 2:].exp()], dim=1).detach()
print(raw.grad)
torch.testing.assert_close(raw.grad, by_hand)

# %%
# What only hides the error
# -------------------------
#
# ``boxes.data[:, 2:] = ...`` is not seen by the counter, and not by autograd
# either: the exponential is missing from the gradient.

raw.grad = None
boxes = raw * 1.0
center_loss = (boxes[:, :2] * boxes[:, :2]).sum()
boxes.data[:, 2:] = boxes.data[:, 2:].exp()
(center_loss + boxes.sum()).backward()

print(raw.grad, by_hand)
assert not torch.allclose(raw.grad, by_hand)

# %%
# See also
# --------
#
# * `version-slice-write`: rows filled in a loop
# * `version-modified`: how to read the message
