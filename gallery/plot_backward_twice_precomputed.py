# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = ["second-backward/precomputed-subexpression"]
# cause-of = "backward-twice"
# ///
"""
A result computed above the loop is used inside it
==================================================

You moved a computation with parameters out of the training loop because it is
the same every time. It is one piece of graph for all iterations, and the first
backward frees it.
"""

import traceback

import torch

# %%
# The error
# ---------
#
# A smoothing kernel is built from a learnable width, once.

width = torch.tensor([1.0, 2.0], requires_grad=True)
kernel = width.square()
signals = [torch.tensor([1.0, 1.0]), torch.tensor([2.0, 0.0])]

try:
    for signal in signals:
        (kernel * signal).sum().backward()
except RuntimeError:
    traceback.print_exc()

# %%
# ``kernel`` has a graph, so it is not a constant:

print(kernel.grad_fn is not None, kernel.is_leaf)
assert not kernel.is_leaf

# draw: kernel

# %%
# Compute it inside the loop
# --------------------------
#
# It is not the same every time: after an `optimizer` step the width is another.
# The gradient of ``width**2 * s`` is ``2 width s``.

width = torch.tensor([1.0, 2.0], requires_grad=True)
optimizer = torch.optim.SGD([width], lr=0.1)
for signal in signals:
    before = width.detach().clone()
    optimizer.zero_grad()
    (width.square() * signal).sum().backward()
    print(width.grad)
    torch.testing.assert_close(width.grad, 2 * before * signal)
    optimizer.step()

# %%
# If it is a constant, compute it without recording
# -------------------------------------------------
#
# A table that is not trained belongs above the loop, under `no_grad`.

with torch.no_grad():
    table = torch.tensor([1.0, 2.0], requires_grad=True).square()

scale = torch.tensor(1.0, requires_grad=True)
for signal in signals:
    scale.grad = None
    (scale * table * signal).sum().backward()
    torch.testing.assert_close(scale.grad, (table * signal).sum())

# %%
# If one step needs it many times, sum before backward
# ----------------------------------------------------
#
# Within one step, sharing is a saving. Use the kernel for every signal, add the
# losses, and go backward once.

width = torch.tensor([1.0, 2.0], requires_grad=True)
kernel = width.square()
sum((kernel * signal).sum() for signal in signals).backward()

print(width.grad)
torch.testing.assert_close(width.grad, 2 * width.detach() * (signals[0] + signals[1]))

# %%
# What only hides the error
# -------------------------
#
# With ``retain_graph=True`` the loop goes on with the kernel of the *old* width.
# Where a check sees the step, it raises the next message; ``.data`` hides it.

width = torch.tensor([1.0, 2.0], requires_grad=True)
kernel = width.square()
for signal in signals:
    width.grad = None
    (kernel * signal).sum().backward(retain_graph=True)
    used = kernel.detach().clone()
    width.data = width.data - 0.1 * width.grad

print("kernel in use:", used, "but the width was:", before)
assert not torch.allclose(used, before.square())

# %%
# See also
# --------
#
# * `backward-twice`: the other causes of the message
# * `backward-twice-cached`: the same in a module's ``__init__``
