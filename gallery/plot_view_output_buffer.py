# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# cause-of = "view-of-leaf"
# causes = [
#     "leaf-moved-interior/buffer-declared-requires-grad",
#     "inventory/leaf-fill-with-graph-values",
# ]
# ///
"""
Results collected in a tensor that requires grad
================================================

You made an empty tensor with ``requires_grad=True`` and filled it with results
of your model. The flag makes it a `leaf tensor`, a place where gradients end,
and your results want theirs to pass through.
"""

import traceback

import torch

# %%
# The error
# ---------
#
# An encoder runs step by step, and each state gets a row of the output.

weight = torch.tensor([1.0, 2.0], requires_grad=True)
states = torch.zeros(3, 2, requires_grad=True)
try:
    states[0] = weight * 1.0
except RuntimeError:
    traceback.print_exc()

# %%
# Collect in a list, and stack
# ----------------------------
#
# No buffer, no writes, and the gradient of the sum is the sum of the factors.

weight = torch.tensor([1.0, 2.0], requires_grad=True)
states = torch.stack([weight * step for step in (1.0, 2.0, 3.0)])
# draw: states
states.sum().backward()

print(weight.grad)
torch.testing.assert_close(weight.grad, torch.full((2,), 1.0 + 2.0 + 3.0))

# %%
# Or leave the flag out
# ---------------------
#
# A buffer without the flag joins the graph with its first write: its `grad_fn`
# is then `CopySlices`, and gradients pass through it to your results.

weight = torch.tensor([1.0, 2.0], requires_grad=True)
states = torch.zeros(3, 2)
for row, step in enumerate((1.0, 2.0, 3.0)):
    states[row] = weight * step
# draw: states
states.sum().backward()

print(states.requires_grad, states.is_leaf, states.grad_fn)
print(weight.grad)
torch.testing.assert_close(weight.grad, torch.full((2,), 1.0 + 2.0 + 3.0))

# %%
# If the starting values are learned, write into a copy
# -----------------------------------------------------
#
# Here the first state is a parameter and the others overwrite their rows. The
# gradient of the overwritten rows is zero.

start = torch.ones(3, 2, requires_grad=True)
weight = torch.tensor([1.0, 2.0], requires_grad=True)
states = start.clone()
for row in (1, 2):
    states[row] = weight * row
states.sum().backward()

print(start.grad, weight.grad, sep="\n")
torch.testing.assert_close(start.grad, torch.tensor([[1.0, 1.0], [0.0, 0.0], [0.0, 0.0]]))
torch.testing.assert_close(weight.grad, torch.full((2,), 1.0 + 2.0))

# %%
# What only hides the error
# -------------------------
#
# A write under `no_grad` copies the numbers and nothing else. The buffer is
# still a leaf, so backward ends in it and the model learns nothing:

weight = torch.tensor([1.0, 2.0], requires_grad=True)
states = torch.zeros(3, 2, requires_grad=True)
with torch.no_grad():
    for row, step in enumerate((1.0, 2.0, 3.0)):
        states[row] = weight * step
states.sum().backward()

print(states.grad, weight.grad, sep="\n")
assert weight.grad is None

# %%
# - `view-of-leaf`, all causes of this message
# - `leaf-moved-interior`, what older releases said at backward
# - `view-iterating-buffer`, when a loop fills the rows through loop variables
