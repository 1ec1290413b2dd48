# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = ["guide/assignment"]
# symptom = "You wonder what y = y + 1, y += 1, y[0] = x or a view do to the graph and to backward."
# symptom-zh = "想弄清 y = y + 1、y += 1、y[0] = x 和视图赋值对计算图与反向传播有什么影响，CopySlices 是什么"
# ///
"""
How autograd sees an assignment
===============================

An assignment to a name makes autograd do nothing, and an assignment into a
tensor rewrites the graph. Ten pictures lead from a leaf to ``CopySlices``; each
is drawn from the objects that the code above it made.
"""

import torch

# %%
# The question
# ------------
#
# ``y = y + 1``, ``y += 1`` and ``y[0] = 1`` look alike. What does each of them
# do to the `computational graph`? Start with the smallest one: a `leaf tensor`
# that requires grad. No operation made it, so there is no node behind it.

x = torch.tensor([0.0, 1.0], requires_grad=True)

# draw: x as "1. A leaf"

# %%
# An operation makes a tensor and a node
# --------------------------------------
#
# The `grad_fn` of the result is that node. It leads to `AccumulateGrad`, the
# node that will add into ``x.grad``. To multiply by a number, backward needs the
# number; the picture calls it ``other``. Nothing of ``x`` or ``y`` is kept:

y = x * 2

# draw: y as "2. A result"

# %%
# ``exp`` is its own derivative, so its node keeps the result itself as a
# `saved tensor`, and notes at which version it was:

y = x.exp()

# draw: y as "3. A saved result"

# %%
# An assignment to a name changes no tensor
# -----------------------------------------
#
# ``y + 1`` is a new tensor. The name ``y`` moves to it; the old one loses its
# name, but the node still holds it, unharmed. Backward has all it needs.

y = x.exp()
y = y + 1

# draw: y as "4. A new tensor"

(gradient,) = torch.autograd.grad(y.sum(), x)
torch.testing.assert_close(gradient, x.detach().exp())

# %%
# An in-place operation changes the tensor
# ----------------------------------------
#
# ``y += 1`` writes into the memory of ``y``. The name stays on the same tensor,
# its ``grad_fn`` becomes the node of the addition, and the `version counter`
# goes up. What ``exp`` saved is that very memory: the two versions differ, and
# backward will refuse. `version-modified` is about that refusal.

y = x.exp()
before = y
# draw: y as "5. Before the write"
y += 1

# draw: y as "5. After the write"
# timeline: y

print(y is before)
assert y is before and y._version == 1

# %%
# The same write is harmless where nobody saved the tensor, as in the product
# with a number:

y = x * 2
y += 1

# draw: y as "6. A harmless write"

(gradient,) = torch.autograd.grad(y.sum(), x)
torch.testing.assert_close(gradient, torch.full((2,), 2.0))

# %%
# A view is a second name for the same memory
# -------------------------------------------
#
# ``table[0]`` copies nothing. The result is a `view` with ``table`` as its
# `base`: both have the same memory, which the picture marks with one letter, and
# count their versions together. Neither requires grad yet.

table = torch.zeros(2, 2)
row = table[0]

# draw: row as "7. A view"

# %%
# An assignment into a part is recorded on the whole
# --------------------------------------------------
#
# The write reaches ``table`` through the view, so the history of ``table``
# changes: its ``grad_fn`` is now `CopySlices`. That node gives the gradient of
# the written part to the function it wraps, here that of a copy, which passes it
# on to the value. The gradient of the rest goes to what ``table`` was before.
# That was a constant, so there is no second arrow.

table = torch.zeros(2, 2)
table[0] = x

# draw: table as "8. CopySlices"

print(table.is_leaf, table.grad_fn)

# %%
# A second write puts a second ``CopySlices`` on top. It has two ways on: the
# base as it was, and the value.

table[1] = x.exp()

# draw: table as "9. Two writes"

(gradient,) = torch.autograd.grad(table.sum(), x)
torch.testing.assert_close(gradient, 1 + x.detach().exp())

# %%
# A view made earlier follows its base
# ------------------------------------
#
# ``row`` existed before the write. Asked for its ``grad_fn``, it answers with a
# node that reads its part out of the new history of ``table``. This write filled
# the whole table, so an ordinary addition is that history. The gradient arrives
# at ``x``, although ``row`` was made before ``x`` came in.

table = torch.zeros(2, 2)
row = table[0]
table += x

# draw: row as "10. A view made before the write"

(gradient,) = torch.autograd.grad(row.sum(), x)
torch.testing.assert_close(gradient, torch.ones(2))

# %%
# The rule
# --------
#
# Ask what is on the left of the sign. A name alone: nothing happens to any
# tensor. Anything else, ``y[0]``, ``y.data`` or ``+=``: memory is overwritten,
# and backward asks who needed what was there.
#
# Related: `view-of-leaf`, `leaf-moved-interior`, `version-modified`,
# `guide-find-the-line`.
