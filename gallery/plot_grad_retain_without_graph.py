# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "requires-grad-flag/retain-grad-without-graph", "inventory/retain-grad-no-requires-grad",
# ]
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "can't retain_grad on Tensor that has requires_grad=False"
# source = "torch/csrc/autograd/variable.cpp"
# ///
"""
retain_grad on a tensor without a gradient
==========================================

You asked a tensor to keep its gradient, and it will never get one: nothing that
it was computed from requires grad. `retain_grad` keeps what backward brings, it
does not start the recording.
"""

import traceback

import torch

# %%
# The error
# ---------
#
# You want the gradient of an activation for a heat map. The image is data and
# the backbone is frozen.

backbone = torch.nn.Linear(3, 2, bias=False).requires_grad_(False)
image = torch.tensor([[1.0, 2.0, 3.0]])
hidden = backbone(image)

try:
    hidden.retain_grad()
except RuntimeError:
    traceback.print_exc()

# %%
# Ask each tensor on the way. The first that should say ``True`` is the place to
# repair.

print(image.requires_grad, backbone.weight.requires_grad, hidden.requires_grad)

# %%
# To start at the activation, make it the leaf
# --------------------------------------------
#
# Nothing before it can learn, so the graph may as well begin here. A
# `leaf tensor` keeps its gradient without being asked. For ``sum(hidden**2)`` it
# is ``2 * hidden``.

hidden = backbone(image).requires_grad_()
(hidden**2).sum().backward()

torch.testing.assert_close(hidden.grad, 2 * hidden.detach())

# %%
# To start at the input, let the input require grad
# -------------------------------------------------
#
# Then the whole way is recorded, and you get both gradients. The one of the
# image is the other, times the weight.

image = torch.tensor([[1.0, 2.0, 3.0]], requires_grad=True)
hidden = backbone(image)
hidden.retain_grad()
(hidden**2).sum().backward()

torch.testing.assert_close(hidden.grad, 2 * hidden.detach())
torch.testing.assert_close(image.grad, hidden.grad @ backbone.weight)

# %%
# If recording was off, turn it on
# --------------------------------
#
# Inside `torch.no_grad`, where evaluation code likes to run, no result requires
# grad, whatever its inputs are. A heat map needs its forward outside, or under
# `torch.enable_grad`.

weight = torch.tensor([1.0, 2.0], requires_grad=True)
with torch.no_grad():
    print((3 * weight).requires_grad)
    with torch.enable_grad():
        hidden = 3 * weight
        hidden.retain_grad()
        loss = (hidden**2).sum()
loss.backward()

print(hidden.grad)
torch.testing.assert_close(hidden.grad, 2 * 3 * weight.detach())

# %%
# If you fill a buffer, retain after the first write
# --------------------------------------------------
#
# A `buffer` of zeros does not require grad. After a tracked value was written into
# it, it does. By hand: only the second number counts in this loss.

filled = torch.zeros(2)
filled[0] = weight.sum()
filled.retain_grad()
filled[1] = weight.prod()
(5 * filled[1]).backward()

print(filled.grad)
torch.testing.assert_close(filled.grad, torch.tensor([0.0, 5.0]))

# %%
# What only hides the error
# -------------------------
#
# ``if hidden.requires_grad: hidden.retain_grad()`` skips the call, and later
# ``hidden.grad`` is ``None``. Nor does it help to turn the flag on behind the
# activation: what was computed already stays unrecorded.

hidden = backbone(torch.tensor([[1.0, 2.0, 3.0]]))
score = (hidden**2).sum()
score.requires_grad_()
score.backward()

print(hidden.grad)
assert hidden.grad is None

# %%
# Related: `grad-of-nonleaf`, `requires-grad-set`, `backward-no-grad-fn`.
