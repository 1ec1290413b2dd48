# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = ["silent/silent-detach-fix-cuts-chain"]
# symptom = "The last layers train, the first ones never change; their .grad is None since I added detach()."
# symptom-zh = "加了 detach() 之后不报错，但前面的层梯度是 None，权重不更新"
# ///
"""
A detach in the middle of the model
===================================

You added ``detach()`` inside the model to get rid of an error, and everything before
that line stopped learning. To `detach` means to treat a value as data.
"""

import torch

# %%
# The mistake
# -----------
#
# A write in place was refused, and the answer was to detach first and to switch the
# gradient on again afterwards.

encoder = torch.nn.Linear(2, 2, bias=False)
head = torch.nn.Linear(2, 1, bias=False)
torch.nn.init.ones_(encoder.weight)
torch.nn.init.ones_(head.weight)
data = torch.tensor([[1.0, 2.0]])

features = encoder(data).detach().requires_grad_()
head(features).sum().backward()

print(head.weight.grad, encoder.weight.grad)
assert encoder.weight.grad is None

# %%
# Nothing raises, because the head has a graph of its own. List the parameters without a
# gradient after the first ``backward``; in a model that is to be trained whole there are
# none.

model = torch.nn.ModuleDict({"encoder": encoder, "head": head})
missing = [name for name, p in model.named_parameters() if p.requires_grad and p.grad is None]
print(missing)
assert missing == ["encoder.weight"]

# %%
# Copy instead of detaching
# -------------------------
#
# ``clone`` gives you memory to write into and keeps the history. The slope of the loss in
# each weight of the encoder is the head's weight times the input; the element that was
# overwritten has none.

encoder.zero_grad()
features = encoder(data).clone()
features[:, 1] = 0.0
head(features).sum().backward()

print(encoder.weight.grad)
torch.testing.assert_close(encoder.weight.grad, torch.tensor([[1.0, 2.0], [0.0, 0.0]]))

# %%
# Or write out of place
# ---------------------
#
# `torch.where` and ``masked_fill`` choose the values without overwriting any.

encoder.zero_grad()
hidden = torch.tensor([False, True])
head(encoder(data).masked_fill(hidden, 0.0)).sum().backward()

torch.testing.assert_close(encoder.weight.grad, torch.tensor([[1.0, 2.0], [0.0, 0.0]]))

# %%
# Where detach is right
# ---------------------
#
# A target that must not move, a number for the log, a state from the last batch. There the
# cut is what you want, and the gradient of the other side is whole.

encoder.zero_grad()
features = encoder(data)
target = features.detach() + 1.0
(features - target).square().sum().backward()

print(encoder.weight.grad)
torch.testing.assert_close(encoder.weight.grad, -2 * data.expand(2, 2))

# %%
# What does not help
# ------------------
#
# A higher learning rate for the first layers, or a longer training: their gradient is not
# small, there is none. The `optimizer` skips them.

encoder.zero_grad()
optimizer = torch.optim.SGD(encoder.parameters(), lr=100.0)
before = encoder.weight.detach().clone()
for _ in range(10):
    head(encoder(data).detach()).sum().backward()
    optimizer.step()

print(torch.equal(encoder.weight, before))
assert torch.equal(encoder.weight, before)

# %%
# See also
# --------
#
# * `backward-detached`: the same cut when nothing else has a graph
# * `numpy-requires-grad`: the message that advises it
# * `silent-wrong-fixes`: other answers that train nothing
