# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = ["second-backward/forward-not-rerun", "inventory/backward-twice"]
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "Trying to backward through the graph a second time (or directly access saved tensors after they have already been freed). Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). Specify retain_graph=True if you need to backward through the graph a second time or if you need to access saved tensors after calling backward."
# source = "torch/csrc/autograd/saved_variable.cpp"
# ///
"""
Backward a second time through one graph
========================================

Two backward passes met a part of the graph that was computed only once. The
first `backward pass` frees what forward had saved there, so the second finds
the nodes and not their `saved tensors`.
"""

import traceback

import torch

# %%
# The error
# ---------
#
# In a notebook the loss is computed in one cell, and the cell with ``backward``
# is run again.

weight = torch.tensor([1.0, 2.0], requires_grad=True)
loss = (weight**2).sum()
loss.backward()

try:
    loss.backward()
except RuntimeError:
    traceback.print_exc()

# draw: loss

# %%
# How to read the message
# -----------------------
#
# It names no line of yours. The line with ``backward`` is the second visit; what
# you look for is a tensor that was computed *before the first visit* and is still
# used. It has a `grad_fn`, and the operation behind it has saved something.
#
# Ask the graph which results two losses have in common. Everything they share
# is visited twice:

shared = weight.exp()
loss_a, loss_b = (shared * 2).sum(), (shared**2).sum()


def nodes(tensor):
    found, waiting = set(), [tensor.grad_fn]
    while waiting:
        node = waiting.pop()
        if node is not None and node not in found:
            found.add(node)
            waiting += [before for before, _ in node.next_functions]
    return found


both = nodes(loss_a) & nodes(loss_b)
print(sorted(node.name() for node in both))
assert shared.grad_fn in both

# draw: loss_a, loss_b

# %%
# An addition saves nothing, so a sum may be walked again without a message. Such
# code works by luck until somebody puts a product in.

total = weight.sum()
total.backward()
total.backward()

# %%
# Which page is yours
# -------------------
#
# - The second iteration of a loop fails, and a state is carried over (an RNN, a
#   memory, an average): `backward-twice-rnn`.
# - The first iteration fails, and there are two losses or two networks:
#   `backward-twice-two-losses`.
# - Something is computed above the loop and used in it:
#   `backward-twice-precomputed`.
# - A module keeps a computed tensor as an attribute from ``__init__``:
#   `backward-twice-cached`.
# - A compiled model says it in other words: `compile-backward-again`.
# - You only ran a cell again: read on.

# %%
# Run forward again
# -----------------
#
# A loop needs one forward for each backward. Keep both in one function or one
# cell, and the graph is always new. The derivative of ``w**2`` is ``2 w``.


def train_step():
    weight.grad = None
    loss = (weight**2).sum()
    loss.backward()
    return loss.detach()


weight = torch.tensor([1.0, 2.0], requires_grad=True)
for _ in range(2):
    train_step()

print(weight.grad)
torch.testing.assert_close(weight.grad, 2 * weight.detach())

# %%
# If you want several gradients of one result, keep the graph
# -----------------------------------------------------------
#
# This is what ``retain_graph=True`` is for: the same forward pass, the same
# weights, several questions. Here it gives the rows of a `Jacobian`, and the
# last call lets the graph go.

weight = torch.tensor([1.0, 2.0], requires_grad=True)
outputs = torch.stack([weight.prod(), (weight**2).sum()])
rows = [
    torch.autograd.grad(outputs[0], weight, retain_graph=True)[0],
    torch.autograd.grad(outputs[1], weight)[0],
]

print(torch.stack(rows))
w = weight.detach()
expected = torch.stack([w.flip(0), 2 * w])
torch.testing.assert_close(torch.stack(rows), expected)

# %%
# What only hides the error
# -------------------------
#
# The message itself proposes ``retain_graph=True``. In a training loop it repeats
# the gradient of the *first* forward: the weights move, the graph does not know.
# Written with ``.data`` or a fused `optimizer`, nothing complains.

weight = torch.tensor([1.0], requires_grad=True)
loss = weight.exp().sum()
for _ in range(3):
    weight.grad = None
    loss.backward(retain_graph=True)
    weight.data -= 0.25 * weight.grad
wrong = weight.detach()

right = torch.tensor([1.0])
for _ in range(3):
    right = right - 0.25 * right.exp()

print("descended to", wrong, "instead of", right)
assert not torch.allclose(wrong, right)

# %%
# With an ordinary step, the next message comes instead: the weight was changed
# after forward had saved it. See `version-optimizer-step`.
#
# If a library raised it
# ----------------------
#
# Look at what your code hands to the library at every step and did not compute
# in that step: a hidden state, features from a frozen part, a target made by
# another network.
#
# - If it is data for the library, hand over ``tensor.detach()``.
# - If it must be learned from, compute it inside the step.
# - If the library's own ``__init__`` calls a layer, move that call to
#   ``forward``.
#
# Data have no graph, and a step that gets only data cannot fail this way:

encoder = torch.nn.Linear(2, 2)
features = encoder(torch.ones(1, 2)) ** 2
head = torch.nn.Linear(2, 1)
for _ in range(2):
    head.zero_grad()
    head(features.detach()).sum().backward()

torch.testing.assert_close(head.weight.grad, features.detach())

# %%
# Am I right now?
# ---------------
#
# Compare the gradient with a small move of one element both ways. Put your own
# loss and tensor in their places, and do it in the *second* step of the loop.


def loss_of(weight):
    return (weight**2).sum()


weight = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
loss_of(weight).backward()
step = torch.tensor([1e-6, 0.0], dtype=torch.float64)
with torch.no_grad():
    slope = (loss_of(weight + step) - loss_of(weight - step)) / 2e-6

print(slope, weight.grad[0])
torch.testing.assert_close(slope, weight.grad[0])
