# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "version-counter/embedding-max-norm",
#     "inventory/version-modified-embedding-max-norm",
# ]
# cause-of = "version-modified"
# when = { node = "^$", shape = "^\\[?\\d+, ?\\d+\\]?$" }
# ///
"""
An embedding with max_norm rescaled its weight
==============================================

With ``max_norm`` a lookup changes the embedding's own weight in place. You used
the weight directly before, for example to tie it to an output layer.
"""

import traceback

import torch
from torch import nn

# %%
# The error
# ---------
#
# The first row is longer than allowed. The projection uses the whole table, then
# the lookup shortens that row.


def new_table():
    """Return an embedding whose first row has length five."""
    table = nn.Embedding(2, 2, max_norm=1.0, dtype=torch.float64)
    with torch.no_grad():
        table.weight.copy_(torch.tensor([[3.0, 4.0], [0.1, 0.2]]))
    return table


projection = torch.ones(2, 1, dtype=torch.float64, requires_grad=True)
table = new_table()
tied = table.weight @ projection
looked_up = table(torch.tensor([0]))

try:
    (tied.sum() + looked_up.sum()).backward()
except RuntimeError:
    traceback.print_exc()

# %%
# A lookup is an `in-place operation` here:

table = new_table()
before = table.weight._version
table(torch.tensor([0]))
print(before, table.weight._version)
print(table.weight.detach())
assert table.weight._version > before

# %%
# Look up first, use the weight afterwards
# ----------------------------------------
#
# Both parts then see the same, shortened table.

table = new_table()
looked_up = table(torch.tensor([0]))
tied = table.weight @ projection
(tied.sum() + looked_up.sum()).backward()

print(projection.grad.T)
shortened = torch.tensor([[3.0 / 5.0 + 0.1], [4.0 / 5.0 + 0.2]], dtype=torch.float64)
torch.testing.assert_close(projection.grad, shortened, rtol=1e-6, atol=0)

# %%
# If the order is fixed, use a copy of the weight
# -----------------------------------------------
#
# The projection then keeps the long row, which may or may not be what you mean.

projection.grad = None
table = new_table()
tied = table.weight.clone() @ projection
looked_up = table(torch.tensor([0]))
(tied.sum() + looked_up.sum()).backward()

print(projection.grad.T)
long = torch.tensor([[3.0 + 0.1], [4.0 + 0.2]], dtype=torch.float64)
torch.testing.assert_close(projection.grad, long)

# %%
# If the limit need not change the table, apply it in forward
# -----------------------------------------------------------
#
# Scale what was looked up, out of place. The table is never written, and the
# gradient includes the scaling; `gradcheck` confirms it.


def limited(weight):
    rows = nn.functional.embedding(torch.tensor([0]), weight)
    return rows / rows.norm(dim=1, keepdim=True).clamp(min=1.0)


table = new_table()
assert torch.autograd.gradcheck(limited, (table.weight,))
print(limited(table.weight).detach())

# %%
# See also
# --------
#
# * `version-no-grad-update`: other writes into a weight
# * `version-modified`: how to read the message
