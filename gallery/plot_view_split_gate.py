# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# cause-of = "view-multi-output"
# when = { node = "Split(WithSizes)?(Backward0?)?" }
# causes = ["multi-view/split-chunk", "inventory/view-inplace-multi-output-split"]
# ///
"""
A half of a split multiplied in place
=====================================

Your layer splits its output into a value and a gate, and multiplies the value
in place. Both halves are outputs of one ``split``, and none of them may be
written.
"""

import traceback

import torch

# %%
# The error
# ---------
#
# A gated linear unit, without its linear layer.

weight = torch.tensor([0.0, 2.0, 3.0, 4.0], requires_grad=True)
gate, value = (weight * 1.0).split(2)
try:
    value *= torch.sigmoid(gate)
except RuntimeError:
    traceback.print_exc()

# draw: gate, value

# %%
# Multiply out of place
# ---------------------
#
# The derivative by the value is the gate, and the derivative by the gate is the
# value times the derivative of `torch.sigmoid`.

weight = torch.tensor([0.0, 2.0, 3.0, 4.0], requires_grad=True)
gate, value = (weight * 1.0).split(2)
value = value * torch.sigmoid(gate)
value.sum().backward()

opened = 1 / (1 + torch.exp(-torch.tensor([0.0, 2.0])))
expected = torch.cat([torch.tensor([3.0, 4.0]) * opened * (1 - opened), opened])
print(weight.grad)
torch.testing.assert_close(weight.grad, expected)

# %%
# Or take single views
# --------------------
#
# Slices are made one by one, and a write into one is recorded.

weight = torch.tensor([0.0, 2.0, 3.0, 4.0], requires_grad=True)
hidden = weight * 1.0
value = hidden[2:]
value *= torch.sigmoid(hidden[:2])
hidden[2:].sum().backward()

print(weight.grad)
torch.testing.assert_close(weight.grad, expected)

# %%
# If an in-place module follows, copy the half
# --------------------------------------------
#
# ``ReLU(inplace=True)`` after a split raises the same message. A `clone` gives
# it memory of its own.

weight = torch.tensor([-1.0, 2.0, 3.0, 4.0], requires_grad=True)
first, second = (weight * 1.0).split(2)
torch.nn.ReLU(inplace=True)(first.clone()).sum().backward()

print(weight.grad)
torch.testing.assert_close(weight.grad, torch.tensor([0.0, 1.0, 0.0, 0.0]))

# %%
# What only hides the error
# -------------------------
#
# ``value.data *= ...`` changes the numbers and leaves the gate out of the graph:

weight = torch.tensor([0.0, 2.0, 3.0, 4.0], requires_grad=True)
gate, value = (weight * 1.0).split(2)
value.data *= torch.sigmoid(gate)
value.sum().backward()

print("got", weight.grad, "instead of", expected)
assert not torch.allclose(weight.grad, expected)

# %%
# - `view-multi-output`, all causes of this message
# - `version-activation-output`, when a value that backward needs is overwritten
