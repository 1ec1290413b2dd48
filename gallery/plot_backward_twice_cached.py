# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = ["second-backward/graph-node-cached-in-init"]
# cause-of = "backward-twice"
# ///
"""
A module keeps a computed tensor from its constructor
=====================================================

A constructor calls a layer and keeps the result for ``forward``. The result is a
node of one graph, so the second training step walks into what the first freed.
"""

import traceback

import torch

# %%
# The error
# ---------
#
# A masked language model looks up the embedding of its mask token once.

torch.manual_seed(0)
words = torch.tensor([0, 1])


class Masked(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = torch.nn.Embedding(3, 2)
        self.mask = self.embedding(torch.tensor(2))

    def forward(self, words):
        return (self.embedding(words) * self.mask).sum()


model = Masked()
model(words).backward()
try:
    model(words).backward()
except RuntimeError:
    traceback.print_exc()

# %%
# Search a model for tensors with a history among its attributes:

print([name for name, value in vars(model).items() if isinstance(value, torch.Tensor)])
assert model.mask.grad_fn is not None

# %%
# Compute it in forward
# ---------------------
#
# A lookup costs nothing, and it follows the weight. The mask's row gets the sum
# of the words' rows as its gradient, each word's row gets the mask's.


class MaskedInForward(Masked):
    def forward(self, words):
        return (self.embedding(words) * self.embedding(torch.tensor(2))).sum()


model = MaskedInForward()
for _ in range(2):
    model.zero_grad()
    model(words).backward()

rows = model.embedding.weight.detach()
expected = torch.stack([rows[2], rows[2], rows[0] + rows[1]])
print(torch.allclose(model.embedding.weight.grad, expected))
torch.testing.assert_close(model.embedding.weight.grad, expected)

# %%
# If it is a constant, register a buffer
# --------------------------------------
#
# A table that is not learned is a `buffer`: it moves with the model and is saved
# with it. ``detach`` and ``clone`` make it independent of the weight.


class Fixed(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = torch.nn.Embedding(3, 2)
        self.register_buffer("scale", torch.tensor([1.0, 0.5]))

    def forward(self, words):
        return (self.embedding(words) * self.scale).sum()


model = Fixed()
for _ in range(2):
    model.zero_grad()
    model(words).backward()
torch.testing.assert_close(model.embedding.weight.grad[0], model.scale)

# %%
# What only hides the error
# -------------------------
#
# The accepted answer in a public thread adds ``.detach()`` to the cached vector.
# The message is gone, and the mask's row is never trained.


class MaskedDetached(Masked):
    def __init__(self):
        super().__init__()
        self.mask = self.embedding(torch.tensor(2)).detach()


model = MaskedDetached()
model(words).backward()
print("gradient of the mask's row:", model.embedding.weight.grad[2])
assert (model.embedding.weight.grad[2] == 0).all()

# %%
# And what was cached does not follow when the weight changes:

torch.optim.SGD(model.parameters(), lr=1.0).step()
with torch.no_grad():
    model.embedding.weight[2] += 1.0
print(torch.equal(model.mask, model.embedding.weight[2]))
assert not torch.equal(model.mask, model.embedding.weight[2])

# %%
# An older PyTorch, the other answer there, trains with the gradient of the first
# step's graph as well. It checks less.
#
# See also
# --------
#
# * `backward-twice`: the other causes of the message
# * `backward-twice-precomputed`: the same above a loop
# * `copy-deepcopy`: a cached result that cannot be copied
