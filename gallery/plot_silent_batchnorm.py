# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "silent/silent-batchnorm-eval-then-train",
# ]
# symptom = "Gradients through a batch norm in eval mode change when I call train() before backward."
# symptom-zh = "eval 与 train 交替后 BatchNorm 的梯度错误"
# shows = ["version-modified"]
# ///
"""
Batch norm updates its statistics before backward
=================================================

You ran a batch norm in training mode while the graph of an earlier evaluation-mode
output was still waiting. Its own update of the running statistics does not raise the
`version counter`.
"""

import traceback

import torch

# %%
# The mistake
# -----------
#
# A feature loss is computed in evaluation mode, then the network is run in training mode,
# and only then comes ``backward``. With fresh statistics the first output is its input, up to
# ``eps``.

norm = torch.nn.BatchNorm1d(1).eval()
x = torch.tensor([[1.0], [2.0]], requires_grad=True)
loss = norm(x).sum()

norm.train()
norm(torch.tensor([[-100.0], [100.0]]))
loss.backward()

print(x.grad, "is not", torch.ones(2, 1))
assert not torch.allclose(x.grad, torch.ones(2, 1), atol=1e-3)

# %%
# Backward divided by the new running standard deviation. This is a gap in PyTorch, not a
# rule: a write of your own into the same `buffer` would be noticed.

norm = torch.nn.BatchNorm1d(1).eval()
x = torch.tensor([[1.0], [2.0]], requires_grad=True)
loss = norm(x).sum()
norm.running_var.mul_(2.0)
try:
    loss.backward()
except RuntimeError:
    traceback.print_exc()

# %%
# Run backward before the next forward
# ------------------------------------

norm = torch.nn.BatchNorm1d(1).eval()
x = torch.tensor([[1.0], [2.0]], requires_grad=True)
norm(x).sum().backward()
norm.train()
norm(torch.tensor([[-100.0], [100.0]]))

print(x.grad)
torch.testing.assert_close(x.grad, torch.full((2, 1), (1.0 + norm.eps) ** -0.5))

# %%
# If both losses are needed together, use a copy for the first
# ------------------------------------------------------------
#
# The frozen copy keeps its statistics.

import copy

norm = torch.nn.BatchNorm1d(1)
frozen = copy.deepcopy(norm).eval()
x = torch.tensor([[1.0], [2.0]], requires_grad=True)
loss = frozen(x).sum()
norm(torch.tensor([[-100.0], [100.0]]))
loss.backward()

print(x.grad)
torch.testing.assert_close(x.grad, torch.full((2, 1), (1.0 + norm.eps) ** -0.5))

# %%
# What does not help
# ------------------
#
# Freezing the affine parameters does not freeze the statistics.

norm = torch.nn.BatchNorm1d(1).eval().requires_grad_(False)
x = torch.tensor([[1.0], [2.0]], requires_grad=True)
loss = norm(x).sum()
norm.train()
norm(torch.tensor([[-100.0], [100.0]]))
loss.backward()
assert not torch.allclose(x.grad, torch.ones(2, 1), atol=1e-3)

# %%
# See also
# --------
#
# * `the report of the missing count <https://github.com/pytorch/pytorch/issues/13402>`__,
#   where copies of the statistics pass ``gradcheck``
# * `version-buffer`: when a buffer's write is noticed
# * `silent-fused-optimizer`: another write that nobody counts
