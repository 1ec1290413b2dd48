# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = ["inventory/version-modified-int-index"]
# cause-of = "version-modified"
# when = { node = "^$", tensor_type = "(?:Long|Int|Short|Byte|Char|Bool)Tensor" }
# ///
"""
An index was changed after it had been used
===========================================

You looked values up with an index tensor and then moved the index on in place.
Indexing saves the index: backward needs it to know where each gradient goes.
"""

import traceback

import torch

# %%
# The error
# ---------
#
# A decoding loop keeps the positions in one tensor and counts them up.

table = torch.tensor([1.0, 2.0, 4.0], requires_grad=True)
position = torch.tensor([0, 1])

first = table[position]
position += 1
second = table[position]

try:
    (first + second).sum().backward()
except RuntimeError:
    traceback.print_exc()

# %%
# The type in the message is an integer one. Integers have no gradient, but they
# have a `version counter`:

print(position.dtype, position._version)

# %%
# Make a new index
# ----------------
#
# ``position = position + 1``. The first lookup reads places 0 and 1, the second
# 1 and 2, so the middle value counts twice.

position = torch.tensor([0, 1])
first = table[position]
position = position + 1
second = table[position]
(first + second).sum().backward()

print(table.grad)
torch.testing.assert_close(table.grad, torch.tensor([1.0, 2.0, 1.0]))

# %%
# If the loop is not yours, look up with a copy
# ---------------------------------------------
#
# ``gather``, ``scatter`` and ``embedding`` save their index as well. So does a
# mask: ``x[mask]`` and ``masked_fill``.

table.grad = None
position = torch.tensor([0, 1])
first = table[position.clone()]
position += 1
second = table[position]
(first + second).sum().backward()

torch.testing.assert_close(table.grad, torch.tensor([1.0, 2.0, 1.0]))

# %%
# What only hides the error
# -------------------------
#
# ``position.data += 1`` sends the gradients of the first lookup to the places
# of the second:

table.grad = None
position = torch.tensor([0, 1])
first = table[position]
position.data += 1
second = table[position]
(first + second).sum().backward()

print(table.grad)
assert not torch.equal(table.grad, torch.tensor([1.0, 2.0, 1.0]))

# %%
# See also
# --------
#
# * `version-modified`: how to read the message
# * `version-saved-input`: the same with masks that are multiplied
