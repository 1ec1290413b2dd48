# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = ["silent/silent-eval-mode-keeps-grad"]
# symptom = "Evaluation runs out of memory although I called model.eval()."
# symptom-zh = "验证/测试时显存不断增加、爆显存，明明已经调用了 model.eval()"
# ///
"""
Evaluating with eval() alone
============================

``model.eval()`` changes what dropout and batch norm compute. It does not switch off
recording, so every result you keep holds its whole graph in memory.
"""

import torch

# %%
# The mistake
# -----------
#
# A validation loop adds the losses up for the log.

model = torch.nn.Sequential(torch.nn.Linear(2, 2, bias=False), torch.nn.Dropout(0.5))
batches = [torch.tensor([[1.0, 0.0]]), torch.tensor([[0.0, 1.0]]), torch.tensor([[2.0, 3.0]])]

model.eval()
total = 0.0
for batch in batches:
    total = total + model(batch).square().mean()

print(model.training, total.requires_grad)


def nodes_behind(tensor):
    found, waiting = set(), [tensor.grad_fn]
    while waiting:
        node = waiting.pop()
        if node is not None and node not in found:
            found.add(node)
            waiting += [before for before, _ in node.next_functions]
    return len(found)


one = nodes_behind(model(batches[0]).square().mean())
print("nodes of one batch:", one, "kept:", nodes_behind(total))
assert nodes_behind(total) > 2 * one

# draw: total

# %%
# Use both: eval for the layers, no_grad for the graph
# ----------------------------------------------------
#
# `no_grad` records nothing, so nothing is kept. The value is the same, and the one that
# the layer's weight gives by hand.

model.eval()
with torch.no_grad():
    measured = sum(model(batch).square().mean() for batch in batches)

weight = model[0].weight.detach()
by_hand = sum((batch @ weight.T).square().mean() for batch in batches)

print(measured.requires_grad)
assert not measured.requires_grad
torch.testing.assert_close(measured, total.detach())
torch.testing.assert_close(measured, by_hand)

# %%
# If the number goes into a log, take it out of the tensor
# --------------------------------------------------------
#
# In training recording must be on, and the sum for the log grows the same way. There
# ``.item()`` is right.

model.train()
logged = 0.0
for batch in batches:
    loss = model(batch).square().mean()
    loss.backward()
    logged += loss.item()

print(type(logged).__name__)
assert isinstance(logged, float)

# %%
# If results are collected, detach them
# -------------------------------------
#
# A list of predictions keeps a graph for each of them. The first two batches pick a column of
# the weight each, the third mixes them.

model.eval()
predictions = [model(batch).detach() for batch in batches]

print(any(prediction.requires_grad for prediction in predictions))
assert not any(prediction.requires_grad for prediction in predictions)
torch.testing.assert_close(predictions[2], 2 * predictions[0] + 3 * predictions[1])
torch.testing.assert_close(predictions[1][0], weight[:, 1])

# %%
# What does not help
# ------------------
#
# ``no_grad`` without ``eval()`` is the opposite mistake: no graph, and dropout still
# drops. Two runs over the same batch differ.

torch.manual_seed(0)
model = torch.nn.Dropout(0.5)
with torch.no_grad():
    first, second = model(torch.ones(20)), model(torch.ones(20))

print(torch.equal(first, second))
assert not torch.equal(first, second)

# %%
# Emptying a cache does not free what a variable still holds; delete the variable, or do not
# keep it.
#
# See also
# --------
#
# * `silent-grad-mode-reach`: where `grad mode` reaches, and where not
# * `silent-batchnorm`: ``eval()`` and ``train()`` around one backward
