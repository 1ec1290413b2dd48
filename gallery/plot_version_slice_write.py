# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "version-counter/slice-write-in-loop",
#     "inventory/version-modified-slice-assign-in-loop",
# ]
# cause-of = "version-modified"
# when = { node = "^(AsStrided|Select|Slice|(torch::autograd::)?CopySlices)(Backward\\d*)?$", tensor_type = "(?:Float|Double|Half|BFloat16)Tensor" }
# ///
"""
Filling a tensor slice by slice in a loop
=========================================

You read one slice of a tensor, compute the next from it, and write that into
the same tensor. Every write counts for the whole tensor, so each slice that
was read before is out of date.
"""

import traceback

import torch

# %%
# The error
# ---------
#
# A recurrence over time steps. The buffer looks like the obvious place for the
# states.

weight = torch.tensor([[0.5, -0.2], [0.1, 0.8]], dtype=torch.float64, requires_grad=True)
start = torch.tensor([[1.0, 2.0]], dtype=torch.float64)

states = torch.zeros(4, 1, 2, dtype=torch.float64)
states[0] = start
for step in range(1, 4):
    states[step] = torch.tanh(states[step - 1] @ weight)

try:
    states.sum().backward()
except RuntimeError:
    traceback.print_exc()

# %%
# ``states[step - 1]`` is a `view`. The product saves it, and it shares one
# `version counter` with the whole buffer:

print(states[0]._version, states[3]._version, states._version)

# %%
# Collect the slices in a list
# ----------------------------
#
# A Python list holds separate tensors, and `torch.stack` joins them at the end.
# `gradcheck` compares with finite differences.


def recurrence(weight):
    states = [start]
    for _ in range(3):
        states.append(torch.tanh(states[-1] @ weight))
    return torch.stack(states)


recurrence(weight).sum().backward()
print(weight.grad)
assert torch.autograd.gradcheck(recurrence, (weight,))

# %%
# If the buffer must stay, read a copy
# ------------------------------------
#
# ``clone`` on the slice that is read gives the product a tensor of its own to
# save. The writes are recorded and differentiated; see `CopySlices`.


def with_buffer(weight):
    states = torch.zeros(4, 1, 2, dtype=torch.float64)
    states[0] = start
    for step in range(1, 4):
        states[step] = torch.tanh(states[step - 1].clone() @ weight)
    return states


torch.testing.assert_close(with_buffer(weight), recurrence(weight))
assert torch.autograd.gradcheck(with_buffer, (weight,))

# %%
# If rows of a feature map pass messages, split and join
# ------------------------------------------------------
#
# The same with an in-place sum on the rows of a ReLU's output. ``split`` once
# before the loop, replace rows in the list, and join.

features = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], dtype=torch.float64)
features.requires_grad_()

rows = torch.relu(features * 1.0)
for row in range(1, 3):
    rows[row : row + 1].add_(torch.relu(rows[row - 1 : row] @ weight))
try:
    rows.sum().backward()
except RuntimeError:
    traceback.print_exc()


def pass_down(features, weight):
    rows = list(torch.relu(features).split(1))
    for row in range(1, 3):
        rows[row] = rows[row] + torch.relu(rows[row - 1] @ weight)
    return torch.cat(rows)


weight.grad = None
pass_down(features, weight).sum().backward()
print(weight.grad)
assert torch.autograd.gradcheck(pass_down, (features, weight))

# %%
# What only hides the error
# -------------------------
#
# A popular answer deletes the underscore in ``add_`` and nothing else. The
# result of ``add`` is then thrown away: no message is passed, and the weight
# gets no gradient.

right = weight.grad
weight.grad = None
rows = torch.relu(features * 1.0)
for row in range(1, 3):
    rows[row : row + 1].add(torch.relu(rows[row - 1 : row] @ weight))
rows.sum().backward()

print(weight.grad)
assert weight.grad is None and right.abs().sum() > 0

# %%
# See also
# --------
#
# * `version-disjoint-columns`: two parts that do not even overlap
# * `a public report <https://github.com/voldemortX/pytorch-auto-drive/issues/121>`__
