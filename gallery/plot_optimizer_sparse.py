# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = ["inventory/optim-adam-sparse-grad", "inventory/optim-sparseadam-dense-grad"]
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "<optimizer> does not support sparse gradients, please consider SparseAdam instead"
# source = "torch/optim/adam.py"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "<optimizer> does not support sparse gradients"
# source = "torch/optim/rmsprop.py"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "SparseAdam does not support dense gradients, please consider Adam instead"
# source = "torch/optim/sparse_adam.py"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "weight_decay option is not compatible with sparse gradients"
# source = "torch/optim/adagrad.py"
# ///
"""
An optimizer that cannot read sparse gradients
==============================================

An embedding with ``sparse=True`` returns a gradient that lists only the rows
you looked up, and your `optimizer` reads only full ones. Or the other way
round: ``SparseAdam`` met the full gradient of an ordinary layer.
"""

import traceback

import torch
from torch import nn

tokens = torch.tensor([1])

# %%
# The errors
# ----------
#
# You train a large embedding and save memory with ``sparse=True``.

for kind in (torch.optim.Adam, torch.optim.RMSprop):
    embedding = nn.Embedding(4, 2, sparse=True)
    optimizer = kind(embedding.parameters(), lr=0.5)
    embedding(tokens).sum().backward()
    try:
        optimizer.step()
    except RuntimeError:
        traceback.print_exc()

# %%
# Following the advice for the whole model fails at the other layers:

model = nn.Sequential(nn.Embedding(4, 2, sparse=True), nn.Linear(2, 1))
optimizer = torch.optim.SparseAdam(model.parameters(), lr=0.5)
model(tokens).sum().backward()

try:
    optimizer.step()
except RuntimeError:
    traceback.print_exc()

# %%
# Adagrad takes sparse gradients, but no weight decay with them, for that changes
# every row:

embedding = nn.Embedding(4, 2, sparse=True)
optimizer = torch.optim.Adagrad(embedding.parameters(), lr=0.5, weight_decay=0.1)
embedding(tokens).sum().backward()
try:
    optimizer.step()
except RuntimeError:
    traceback.print_exc()

# %%
# The layout of each gradient tells which one is which:

print({name: parameter.grad.layout for name, parameter in model.named_parameters()})

# %%
# If the table fits into memory, ask for a full gradient
# ------------------------------------------------------
#
# ``sparse=False`` is the default. Row 1 was read once, so its gradient is 1.
# The first step of Adam moves by the learning rate against the sign of the
# gradient.

embedding = nn.Embedding(4, 2)
before = embedding.weight.detach().clone()
optimizer = torch.optim.Adam(embedding.parameters(), lr=0.5)
embedding(tokens).sum().backward()
optimizer.step()

by_hand = torch.zeros(4, 2)
by_hand[1] = 1.0
print(embedding.weight.grad)
torch.testing.assert_close(embedding.weight.grad, by_hand)
torch.testing.assert_close(before - embedding.weight.detach(), 0.5 * by_hand)

# %%
# To stay sparse, use two optimizers
# ----------------------------------
#
# ``SparseAdam`` takes the embedding, Adam takes the rest. Call ``zero_grad`` and
# ``step`` of both.

model = nn.Sequential(nn.Embedding(4, 2, sparse=True), nn.Linear(2, 1, bias=False))
nn.init.constant_(model[1].weight, -2.0)
optimizers = [
    torch.optim.SparseAdam(model[0].parameters(), lr=0.5),
    torch.optim.Adam(model[1].parameters(), lr=0.1),
]
before = [parameter.detach().clone() for parameter in model.parameters()]
model(tokens).sum().backward()
for optimizer in optimizers:
    optimizer.step()

# By hand: the gradient of row 1 is the layer's weight, the layer's is row 1.
print(model[0].weight.grad.coalesce().indices())
torch.testing.assert_close(model[0].weight.grad.to_dense()[1], before[1][0])
torch.testing.assert_close(model[1].weight.grad[0], before[0][1])
torch.testing.assert_close(before[0][1] - model[0].weight[1], 0.5 * before[1][0].sign())

# %%
# To keep one optimizer, take one that reads both
# -----------------------------------------------
#
# ``SGD`` and ``Adagrad`` do. A step of ``SGD`` is the learning rate times the
# gradient.

model = nn.Sequential(nn.Embedding(4, 2, sparse=True), nn.Linear(2, 1, bias=False))
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
row = model[0].weight[1].detach().clone()
weight = model[1].weight[0].detach().clone()
model(tokens).sum().backward()
optimizer.step()

torch.testing.assert_close(model[0].weight[1].detach(), row - 0.5 * weight)
torch.testing.assert_close(model[1].weight[0].detach(), weight - 0.5 * row)

# %%
# SparseAdam is not Adam with less memory
# ---------------------------------------
#
# Adam keeps moving a row by its momentum after the row is no longer read.
# ``SparseAdam`` moves only rows in the present gradient. Expect other weights
# when you change from one to the other.

moves = {}
for kind, sparse in ((torch.optim.Adam, False), (torch.optim.SparseAdam, True)):
    embedding = nn.Embedding(4, 2, sparse=sparse)
    optimizer = kind(embedding.parameters(), lr=0.5)
    for token in (1, 2):
        before = embedding.weight.detach().clone()
        optimizer.zero_grad()
        embedding(torch.tensor([token])).sum().backward()
        optimizer.step()
    moves[kind.__name__] = not torch.equal(before[1], embedding.weight[1])

# whether row 1 moved in the step that read row 2
print(moves)
assert moves == {"Adam": True, "SparseAdam": False}

# %%
# See also
# --------
#
# * `optimizer-groups`
# * `leaf-inplace`: changing an embedding by hand
