# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = ["version-counter/relu-output-modified", "inventory/version-modified-residual-inplace"]
# cause-of = "version-modified"
# when = { node = "^Relu(Backward\\d*)?$", shape = ", ?\\d+" }
# ///
"""
A residual sum with += after a ReLU
===================================

You added the skip connection with ``out += x``, but ``out`` is the result of a
ReLU, and the ReLU needs it for its derivative.
"""

import traceback

import torch
from torch import nn

# %%
# The error
# ---------
#
# In the usual residual block the sum comes first and the ReLU last, and ``+=``
# is harmless. Someone swapped the two lines.

layer = nn.Linear(2, 2, bias=False)
nn.init.eye_(layer.weight)
with torch.no_grad():
    layer.weight[1, 0] = -2.0
x = torch.tensor([[2.0, 1.0]], requires_grad=True)

out = torch.relu(layer(x))
out += x

try:
    out.sum().backward()
except RuntimeError:
    traceback.print_exc()

# draw: out
# timeline: out

# %%
# Write the sum into a new tensor
# -------------------------------
#
# ``out = out + x`` makes one. The slope of the ReLU is 1 or 0, so the gradient
# can be written down.

out = torch.relu(layer(x))
out = out + x
out.sum().backward()

weight = layer.weight.detach()
open_units = (layer(x).detach() > 0).float()
by_hand = open_units @ weight + 1.0
print(x.grad)
torch.testing.assert_close(x.grad, by_hand)

# %%
# If memory is short, sum before the ReLU
# ---------------------------------------
#
# A linear layer, a convolution and a sum do not save their result, so the sum
# may overwrite it, and so may the ReLU behind it. It is another function, though.

x.grad = None
out = layer(x)
out += x
out = torch.relu_(out)
out.sum().backward()

open_units = ((layer(x) + x).detach() > 0).float()
print(x.grad)
torch.testing.assert_close(x.grad, open_units @ weight + open_units)

# %%
# What only hides the error
# -------------------------
#
# Going back to an old release: before ReLU saved its result it saved its input,
# and the same code ran there, with the right gradient. ``out.data += x``
# imitates only the silence: where the sum opens or closes a unit, the
# gradient is wrong.

x = torch.tensor([[1.0, -2.0]], requires_grad=True)
out = torch.relu(x * torch.tensor([[-1.0, 1.0]]))
skip = torch.ones(1, 2)
out.data += skip
out.sum().backward()

print(x.grad)
assert not torch.equal(x.grad, torch.zeros(1, 2)), "both units were closed"

# %%
# See also
# --------
#
# * `version-activation-output`
# * `a public report <https://github.com/pytorch/vision/issues/807>`__ about the order of the two lines
