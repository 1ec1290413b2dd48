# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# cause-of = "view-multi-output"
# causes = ["multi-view/iterating-a-buffer", "inventory/view-multi-output-of-plain-buffer-inplace"]
# ///
"""
A buffer filled through a loop variable
=======================================

You looped over an empty tensor and added results of your model to each row.
The message speaks of ``no_grad``, which you did not use: rows of a tensor that
needs no gradient are made without recording, as if inside it.
"""

import traceback

import torch

# %%
# The error
# ---------
#
# Each row of the output sums the messages of one node of a graph.

weight = torch.tensor([1.0, 2.0], requires_grad=True)
output = torch.zeros(3, 2)
try:
    for row in output:
        row += weight
except RuntimeError:
    traceback.print_exc()

# %%
# The message is wrong about `no_grad`. `grad mode` is on; the loop made the rows as a
# group, and the group has no node in the graph. PyTorch takes a view without a node
# for one made inside `no_grad`:

row, *_ = output
print(torch.is_grad_enabled(), row.requires_grad, row._base is output)

# %%
# Write through an index
# ----------------------
#
# One row at a time is a single `view`. The first write connects the buffer to
# the graph, and each row hands the gradient one to ``weight``.

weight = torch.tensor([1.0, 2.0], requires_grad=True)
output = torch.zeros(3, 2)
for row in range(len(output)):
    output[row] += weight
output.sum().backward()

print(weight.grad, output.grad_fn)
torch.testing.assert_close(weight.grad, torch.full((2,), 3.0))

# %%
# Or collect the rows and stack them
# ----------------------------------
#
# Nothing is written at all.

weight = torch.tensor([1.0, 2.0], requires_grad=True)
output = torch.stack([row + weight for row in torch.zeros(3, 2)])
output.sum().backward()

print(weight.grad)
torch.testing.assert_close(weight.grad, torch.full((2,), 3.0))

# %%
# What only hides the error
# -------------------------
#
# `no_grad` around the loop is what the message seems to suggest. The numbers
# arrive in the buffer and the way back to ``weight`` does not:

weight = torch.tensor([1.0, 2.0], requires_grad=True)
output = torch.zeros(3, 2)
with torch.no_grad():
    for row in output:
        row += weight

print(output[0], output.requires_grad)
assert not output.requires_grad

# %%
# - `view-multi-output`, all causes of this message
# - `view-output-buffer`, when the buffer has ``requires_grad=True``
# - `view-no-grad`, when you did use `no_grad`
