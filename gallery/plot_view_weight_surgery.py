# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# cause-of = "view-of-leaf"
# shows = ["leaf-inplace"]
# causes = ["view-of-leaf/weight-surgery", "view-of-leaf/constant-table-in-parameter"]
# ///
"""
Rows or columns of a trained weight edited
==========================================

You changed a part of a layer's weight: a column, a kernel, a row of a table.
The part is a `view` of a `leaf tensor`, and a surgical edit is nothing that
the model should learn through.
"""

import traceback

import torch

# %%
# The error
# ---------
#
# One column of a trained layer is moved from an old fact to a new one.

layer = torch.nn.Linear(3, 2, bias=False)
new = torch.tensor([1.0, 2.0])
try:
    layer.weight[:, 1] += 0.5 * new
except RuntimeError:
    traceback.print_exc()

# %%
# A full index, here of a convolution with four colons, selects everything and
# is the parameter itself. The message changes, the mistake and its repair stay:

conv = torch.nn.Conv2d(1, 1, 2, bias=False)
try:
    conv.weight[:, :, :, :] = torch.ones(1, 1, 2, 2)
except RuntimeError:
    traceback.print_exc()

# %%
# Edit under no_grad
# ------------------
#
# The parameter is still the same object, so the `optimizer` goes on with it.
# The output for a one-hot input is the edited column.

with torch.no_grad():
    layer.weight.zero_()
    layer.weight[:, 1] += 0.5 * new
    conv.weight.copy_(torch.ones(1, 1, 2, 2))

output = layer(torch.tensor([0.0, 1.0, 0.0]))
output.sum().backward()

print(output, layer.weight.grad, sep="\n")
torch.testing.assert_close(output.detach(), 0.5 * new)
torch.testing.assert_close(layer.weight.grad, torch.tensor([[0.0, 1.0, 0.0]]).repeat(2, 1))

# %%
# If the edit itself is to be learned, edit a copy in forward
# -----------------------------------------------------------
#
# The new column is a parameter here. With a one-hot input and a sum as the
# loss, its gradient is one for each row, times the factor.

edit = torch.nn.Parameter(torch.tensor([1.0, 2.0]))
weight = layer.weight.detach().clone()
weight[:, 1] += 0.5 * edit
# draw: weight
(weight @ torch.tensor([0.0, 1.0, 0.0])).sum().backward()

print(edit.grad)
torch.testing.assert_close(edit.grad, torch.full((2,), 0.5))

# %%
# If the table is constant, make it a buffer
# ------------------------------------------
#
# A table of positions, filled row by row, is no parameter at all. A `buffer`
# moves and saves with the module, needs no `requires_grad`, and may be written.


class Positions(torch.nn.Module):
    def __init__(self, length):
        super().__init__()
        self.register_buffer("table", torch.zeros(length, 2))
        self.table[:, 0] = torch.arange(length)
        self.table[:, 1] = 1.0

    def forward(self, hidden):
        return hidden + self.table


hidden = torch.ones(3, 2, requires_grad=True)
positions = Positions(3)
(positions(hidden) ** 2).sum().backward()

print(hidden.grad)
torch.testing.assert_close(
    hidden.grad, 2 * torch.tensor([[1.0 + 0, 2.0], [1.0 + 1, 2.0], [1.0 + 2, 2.0]])
)
assert list(positions.parameters()) == []

# %%
# - `view-of-leaf`, all causes of this message
# - `leaf-initial-values`, when you write the whole parameter
# - `leaf-masked-assignment`, when a mask chooses what to write
