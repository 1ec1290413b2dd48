# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = ["leaf-moved-interior/explained-wrongly"]
# symptom = "What is a leaf tensor, and why is is_leaf True or False after an operation or an assignment?"
# symptom-zh = "什么是叶子张量（leaf tensor）？为什么 is_leaf 是 True 或 False，谁有 grad_fn，谁的 .grad 会被填充"
# shows = ["view-of-leaf", "grad-of-nonleaf"]
# ///
"""
What makes a tensor a leaf
==========================

A tensor is a leaf if no recorded operation made it. Everything else follows
from that: who has a `grad_fn`, whose ``.grad`` backward fills, and which tensor
you may not overwrite. A much copied forum thread asks about all of it; here
each question and each answer is run.
"""

import traceback

import torch

# %%
# The question
# ------------
#
# The thread fills a tensor with two results and wants the gradient of the
# second one. Is ``filled`` a `leaf tensor`, before and after? The answer says
# yes, then no, because `CopySlices` takes the place of the missing ``grad_fn``.


def two_results():
    x = torch.ones(3, 5, requires_grad=True)
    z = 3 * (x + 2) ** 2
    return x, z.mean(), 2 * z.mean()


x, first, second = two_results()
filled = torch.empty(2, requires_grad=True)
print(filled.is_leaf, filled.grad_fn, filled.requires_grad)

try:
    filled[0] = first
except RuntimeError:
    traceback.print_exc()

# %%
# The first half is right, the second is out of date: PyTorch refuses the
# assignment itself, so the tensor is still what it was.

print(filled.is_leaf, filled.grad_fn, filled.requires_grad)
assert filled.is_leaf

# %%
# "It works if the tensor does not require grad": right
# -----------------------------------------------------
#
# Such a tensor is a leaf too, but not one that waits for a gradient. It may
# become the result of an operation, and then it is no leaf any more. By hand,
# the gradient of ``2 * mean(3 * (x + 2)**2)`` is ``12 * (x + 2) / 15``.

x, first, second = two_results()
filled = torch.empty(2)
print(filled.is_leaf, filled.grad_fn, filled.requires_grad)

filled[0] = first
filled[1] = second
print(filled.is_leaf, filled.grad_fn, filled.requires_grad)

# draw: filled
filled.backward(torch.tensor([0.0, 1.0]))
torch.testing.assert_close(x.grad, 12 * (x.detach() + 2) / 15)

# %%
# "After that, filled.grad is None, with a warning": right
# --------------------------------------------------------
#
# `requires_grad` came in through the assignment; a place for the gradient did
# not. See `grad-of-nonleaf` for what to do about it.

gradient = filled.grad
print(filled.requires_grad, gradient)
assert gradient is None

# %%
# "What does not require grad is a leaf": right
# ---------------------------------------------
#
# Autograd records no operation whose inputs all do not require grad, so its
# result counts as made by you. That includes what ``detach`` and
# `torch.no_grad` give back.

weight = torch.ones(2, requires_grad=True)
data = torch.ones(2)
doubled = data * 2
detached = (weight * 2).detach()
with torch.no_grad():
    unrecorded = weight * 2

# facts: data, doubled, detached, unrecorded

print(doubled.is_leaf, detached.is_leaf, unrecorded.is_leaf)
assert doubled.is_leaf and detached.is_leaf and unrecorded.is_leaf

# %%
# "A computed tensor can become a leaf that requires grad": right
# ---------------------------------------------------------------
#
# "Created by the user" in the documentation means no more than "without
# ``grad_fn``". You may set the flag on any tensor that has none.

doubled = data * 2
doubled.requires_grad = True
(doubled**3).sum().backward()

print(doubled.is_leaf, doubled.grad_fn, doubled.grad)
assert doubled.is_leaf
torch.testing.assert_close(doubled.grad, 3 * torch.full((2,), 2.0) ** 2)

# %%
# "Whatever is not on the graph is a leaf": right
# -----------------------------------------------
#
# The converse is wrong. A leaf is on the graph as soon as a recorded operation
# uses it, and it sits at the end: its `AccumulateGrad` node leads nowhere.

hidden = weight * 2
node, _ = hidden.grad_fn.next_functions[0]
print(node, node.variable is weight, node.next_functions)
assert node.variable is weight and node.next_functions == ()

# draw: hidden as "A leaf and a result"

# %%
# "Each non-leaf on the graph has a grad_fn": right
# -------------------------------------------------
#
# It is the definition, read backwards.

for tensor in (weight, data, doubled, detached, hidden, hidden.view(1, 2)):
    assert tensor.is_leaf == (tensor.grad_fn is None)

# %%
# "Each leaf on the graph gets a gradient": half right
# ----------------------------------------------------
#
# Only a leaf that requires grad does. ``data`` takes part in the product, its
# value is even kept for backward, and it gets nothing.

weight = torch.ones(2, requires_grad=True)
data = torch.tensor([3.0, 4.0])
(weight * data).sum().backward()

print(weight.grad, data.is_leaf, data.grad)
torch.testing.assert_close(weight.grad, data)
assert data.grad is None

# %%
# "A non-leaf has no gradient by definition": half right
# ------------------------------------------------------
#
# It has none unless you ask for it with `retain_grad`, once the tensor requires
# grad and before backward. Here the starting gradient arrives unchanged.

x, first, second = two_results()
filled = torch.empty(2)
filled[0] = first
filled[1] = second
filled.retain_grad()
filled.backward(torch.tensor([0.0, 1.0]))

print(filled.is_leaf, filled.grad)
torch.testing.assert_close(filled.grad, torch.tensor([0.0, 1.0]))

# %%
# What the thread does not say: no tensor to fill is needed
# ---------------------------------------------------------
#
# ``stack`` makes the two results into one tensor, and the question does not
# come up.

x, first, second = two_results()
torch.stack([first, second]).backward(torch.tensor([0.0, 1.0]))

torch.testing.assert_close(x.grad, 12 * (x.detach() + 2) / 15)

# %%
# What does not help
# ------------------
#
# The thread concludes that a leaf cannot be overwritten because its ``.grad``
# was promised to you. The promise can be kept: under `torch.no_grad` the write
# is accepted, the leaf stays a leaf and gets its gradient. But the values then
# come in without their history, and ``x`` gets nothing.

x, first, second = two_results()
filled = torch.empty(2, requires_grad=True)
with torch.no_grad():
    filled[0] = first
    filled[1] = second
filled.backward(torch.tensor([0.0, 1.0]))

print(filled.is_leaf, filled.grad, x.grad)
assert x.grad is None

# %%
# Read on: `leaf-inplace`, `view-of-leaf`, `leaf-moved-interior`,
# `guide-find-the-line`.
