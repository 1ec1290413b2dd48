# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = ["inventory/module-uninitialized-parameter-used"]
#
# [[tool.autograd-errors.error]]
# raises = "ValueError"
# message = "Attempted to use an uninitialized parameter in <operation>. This error happens when you are using a `LazyModule` or explicitly manipulating `torch.nn.parameter.<parameter_class>` objects. When using LazyModules Call `forward` with a dummy batch to initialize the parameters before calling torch functions"
# source = "torch/nn/parameter.py"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "Can't access the shape of an uninitialized parameter or buffer. This error usually happens in `load_state_dict` when trying to load an uninitialized parameter into an initialized one. Call `forward` to initialize the parameters before accessing their attributes."
# source = "torch/nn/parameter.py"
# ///
"""
A lazy layer used before its first forward
==========================================

You counted, initialized or regularized the parameters of a lazy layer before
it has seen any input. A lazy layer learns its input size from the first batch;
until then its `parameter` has no shape and no memory.
"""

import traceback

import torch
from torch import nn

# %%
# The errors
# ----------
#
# You want to know how large the model is.

net = nn.Sequential(nn.LazyLinear(2), nn.ReLU(), nn.Linear(2, 1))

try:
    print(sum(parameter.numel() for parameter in net.parameters()))
except ValueError:
    traceback.print_exc()

# %%
# Reading the shape fails with another text:

try:
    print([parameter.shape for parameter in net.parameters()])
except RuntimeError:
    traceback.print_exc()

# %%
# The class of the parameter tells which layer is still waiting:

print([type(parameter).__name__ for parameter in net.parameters()])

# %%
# Run one batch through the model first
# -------------------------------------
#
# A batch of the right width is enough; its values do not matter, and
# `torch.no_grad` saves the graph. Parameters keep their identity, so an
# `optimizer` may be built before or after.

net = nn.Sequential(nn.LazyLinear(2), nn.ReLU(), nn.Linear(2, 1))
before = list(net.parameters())
with torch.no_grad():
    net(torch.zeros(1, 3))

print(sum(parameter.numel() for parameter in net.parameters()))
assert sum(parameter.numel() for parameter in net.parameters()) == (3 * 2 + 2) + (2 * 1 + 1)
assert all(old is new for old, new in zip(before, net.parameters(), strict=True))

# %%
# Initialize, and add penalties, after that batch
# -----------------------------------------------
#
# The gradient of ``sum(p**2)`` is ``2 * p``.

nn.init.constant_(net[0].weight, 3.0)
penalty = sum((parameter**2).sum() for parameter in net.parameters())
penalty.backward()

print(net[0].weight.grad)
torch.testing.assert_close(net[0].weight.grad, torch.full((2, 3), 6.0))

# %%
# Or give the input size yourself
# -------------------------------
#
# If you know the width, an ordinary layer has no such moment. The gradient of
# ``sum(weight @ x)`` is ``x`` in every row.

linear = nn.Linear(3, 2, bias=False)
x = torch.tensor([1.0, 2.0, 3.0])
linear(x).sum().backward()

print(linear.weight.grad)
torch.testing.assert_close(linear.weight.grad, x.expand(2, 3))

# %%
# See also
# --------
#
# * `guide-initialize-parameters`
# * `optimizer-empty`
