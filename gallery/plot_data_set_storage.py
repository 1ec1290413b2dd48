# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = ["inventory/set-storage-requires-grad"]
# cause-of = "leaf-inplace"
# ///
"""
A leaf pointed at other memory in place
=======================================

You called ``set_`` to give a tensor the memory and the shape of another one.
For autograd that is an `in-place operation` like any other, and this tensor is
a `leaf tensor` that requires a gradient.
"""

import traceback

import torch
from torch import nn

# %%
# The error
# ---------
#
# A vocabulary has grown, and the weight should become the larger table.

weight = nn.Parameter(torch.zeros(2))
optimizer = torch.optim.SGD([weight], lr=0.5)
larger = torch.ones(3)

try:
    weight.set_(larger)
except RuntimeError:
    traceback.print_exc()

# %%
# To exchange the contents, stop recording
# ----------------------------------------
#
# Under `torch.no_grad` the `parameter` takes the new memory and stays the same
# object, so the `optimizer` still updates it. The gradient of the sum is 1, and a
# step takes a half.

with torch.no_grad():
    weight.set_(larger)
weight.sum().backward()
optimizer.step()

print(weight)
torch.testing.assert_close(weight.detach(), torch.full((3,), 0.5))

# %%
# From now on both names mean the same memory. Give ``larger.clone()`` if
# ``larger`` is used elsewhere:

print(larger)
torch.testing.assert_close(larger, torch.full((3,), 0.5))

# %%
# Or build a new parameter and a new optimizer
# --------------------------------------------
#
# This is the clearer way when the shape changes: a saved momentum or an old
# ``.grad`` has the old shape. Copy what you want to keep.

old = nn.Parameter(torch.tensor([2.0, 3.0]))
grown = nn.Parameter(torch.cat([old.detach(), torch.zeros(1)]))
optimizer = torch.optim.SGD([grown], lr=0.5)
(grown**2).sum().backward()

print(grown.grad)
torch.testing.assert_close(grown.grad, torch.tensor([4.0, 6.0, 0.0]))

# %%
# What only hides the error
# -------------------------
#
# Assigning to `.data` does the same exchange and hides it from a graph that
# already uses the weight. The gradient of ``weight**2`` at 2 should be 4.

weight = nn.Parameter(torch.tensor([2.0]))
loss = (weight**2).sum()
weight.data = torch.tensor([100.0])
loss.backward()

print(weight.grad)
assert not torch.allclose(weight.grad, torch.tensor([4.0]))

# %%
# See also
# --------
#
# * `leaf-inplace`
# * `data-set`
# * `optimizer-groups`: a saved state for other parameters
