# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# shows = ["view-of-leaf", "grad-of-nonleaf"]
# causes = [
#     "leaf-moved-interior/buffer-declared-requires-grad",
#     "leaf-moved-interior/embedding-max-norm",
#     "leaf-moved-interior/explained-wrongly",
#     "leaf-moved-interior/unknown",
#     "inventory/leaf-moved-into-graph-interior",
# ]
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "leaf variable has been moved into the graph interior"
# source = "torch/csrc/autograd/functions/accumulate_grad.cpp"
# ///
"""
A leaf that became a result before backward
===========================================

Forward used a `leaf tensor`, and before backward an in-place write turned that
same tensor into a result. Backward arrives with a gradient for the leaf and
finds a tensor that no longer is one.
"""

import traceback

import torch

# %%
# The error
# ---------
#
# A tensor is used, frozen, and then scaled by something that requires grad.
# The frozen flag opens the way: the write is checked when it happens, and at
# that moment the tensor requires nothing.

gain = torch.ones(2, requires_grad=True)
signal = torch.ones(2, requires_grad=True)

scaled = signal * 3.0
signal.requires_grad_(False)
signal.mul_(gain)
try:
    scaled.sum().backward()
except RuntimeError:
    traceback.print_exc()

# %%
# ``scaled`` recorded where to deliver the gradient of ``signal``: to the node
# `AccumulateGrad` of a leaf. ``signal`` is a product now:

print(scaled.grad_fn.next_functions[0][0], signal.is_leaf, signal.grad_fn)
assert not signal.is_leaf

# %%
# Write out of place
# ------------------
#
# A new name for the product leaves the leaf what it was.

gain = torch.ones(2, requires_grad=True)
signal = torch.ones(2, requires_grad=True)
scaled = signal * 3.0
product = signal.detach() * gain
scaled.sum().backward()

print(signal.grad)
torch.testing.assert_close(signal.grad, torch.full((2,), 3.0))

# %%
# If you fill a tensor with results
# ---------------------------------
#
# Most people who met this message had written code like the following. Today
# it stops earlier, at the assignment, with a clearer message (`view-of-leaf`).

x = torch.ones(3, 5, requires_grad=True)
y = x + 2
z = y * y * 3
out1 = z.mean()
out2 = 2 * z.mean()
outi = torch.empty(2, requires_grad=True)
try:
    outi[0] = out1
    outi[1] = out2
    outi.backward(torch.tensor([0.0, 1.0]))
except RuntimeError:
    traceback.print_exc()

# %%
# ``outi`` was declared a leaf, a place where gradients end, and then given
# values whose gradients should pass through it. It cannot be both. Refused
# before it was written, it is still the leaf it was:

print(outi.is_leaf, outi.grad_fn, outi.requires_grad)

# %%
# Stack the results: no buffer is needed
# --------------------------------------
#
# The chosen output is twice the mean of ``3 * (x + 2)**2`` over 15 numbers, so
# each ``x`` has the gradient ``2 * 6 * (x + 2) / 15``.

x = torch.ones(3, 5, requires_grad=True)
z = (x + 2) * (x + 2) * 3
torch.stack([z.mean(), 2 * z.mean()]).backward(torch.tensor([0.0, 1.0]))

print(x.grad)
torch.testing.assert_close(x.grad, torch.full((3, 5), 2 * 6 * (1.0 + 2.0) / 15))

# %%
# To keep the buffer, leave the flag out
# --------------------------------------
#
# Without the flag the write is allowed. It makes the buffer a `non-leaf tensor`
# with `CopySlices` as its `grad_fn`.

x = torch.ones(3, 5, requires_grad=True)
z = (x + 2) * (x + 2) * 3
outi = torch.empty(2)
assert outi.is_leaf and not outi.requires_grad
# facts: outi as "Before the writes"

outi[0] = z.mean()
outi[1] = 2 * z.mean()
assert not outi.is_leaf and outi.requires_grad

# facts: outi as "After the writes"
# draw: outi
outi.backward(torch.tensor([0.0, 1.0]))
torch.testing.assert_close(x.grad, torch.full((3, 5), 2 * 6 * (1.0 + 2.0) / 15))

# %%
# It is a result now, so its own ``.grad`` stays empty, and reading it warns
# (`grad-of-nonleaf`):

print(outi.grad)

# %%
# To see the buffer's gradient, retain it once it has a graph
# -----------------------------------------------------------
#
# An empty buffer requires no gradient, so `retain_grad` has to wait for the
# first write; later writes take the request along. The gradient of the buffer is
# what you hand to backward.

x = torch.ones(3, 5, requires_grad=True)
z = (x + 2) * (x + 2) * 3
outi = torch.empty(2)
outi[0] = z.mean()
outi.retain_grad()
outi[1] = 2 * z.mean()
outi.backward(torch.tensor([0.0, 1.0]))

print(outi.grad)
torch.testing.assert_close(outi.grad, torch.tensor([0.0, 1.0]))

# %%
# What only hides the error
# -------------------------
#
# Filling the leaf under `no_grad` runs as well, and ``x`` gets nothing:

x = torch.ones(3, 5, requires_grad=True)
z = (x + 2) * (x + 2) * 3
outi = torch.empty(2, requires_grad=True)
with torch.no_grad():
    outi[0] = z.mean()
    outi[1] = 2 * z.mean()
outi.backward(torch.tensor([0.0, 1.0]))

print(x.grad, outi.grad)
assert x.grad is None

# %%
# "A leaf cannot be used again once it is in a graph" is a wrong explanation.
# Use it as often as you like; the gradients add up:

weight = torch.tensor([1.0, 2.0], requires_grad=True)
(weight * 3.0 + weight**2).sum().backward()

print(weight.grad)
torch.testing.assert_close(weight.grad, 3.0 + 2 * torch.tensor([1.0, 2.0]))

# %%
# "Go back to an older release" was the answer for
# ``Embedding(..., max_norm=...)``, which writes into its weight in forward.
# Nothing has to be moved: the write happens under `no_grad` now, and the weight
# stays a leaf. The gradient is that of the clipped weight.

table = torch.nn.Embedding.from_pretrained(
    torch.tensor([[3.0, 4.0], [0.0, 0.5]]), freeze=False, max_norm=1.0
)
(table(torch.tensor([0])) ** 2).sum().backward()

print(table.weight.is_leaf, table.weight.grad)
clipped = torch.tensor([3.0, 4.0]) / 5.0
torch.testing.assert_close(table.weight.grad, torch.stack([2 * clipped, torch.zeros(2)]))

# %%
# If a library raised it
# ----------------------
#
# Look for a tensor made with ``requires_grad=True`` that is written later:
# ``out[i] = ...``, ``out += ...``, ``mul_``. Take the flag away where the tensor
# only collects results; put ``.clone()`` behind it where its own values are
# learned (`view-output-buffer`).

# %%
# Am I right now?
# ---------------
#
# Move one element a little both ways, and compare the slope with the gradient.


def loss_of(x):
    z = (x + 2) * (x + 2) * 3
    return torch.stack([z.mean(), 2 * z.mean()])[1]


x = torch.ones(3, 5, dtype=torch.float64, requires_grad=True)
loss_of(x).backward()
step = torch.zeros(3, 5, dtype=torch.float64)
step[0, 0] = 1e-6
with torch.no_grad():
    slope = (loss_of(x + step) - loss_of(x - step)) / 2e-6

print(slope, x.grad[0, 0])
torch.testing.assert_close(slope, x.grad[0, 0])
