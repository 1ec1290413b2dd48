# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "inference-mode/enable-grad-does-not-undo",
#     "inference-mode/gradients-in-eval",
#     "inventory/inference-no-grad-fn",
# ]
# cause-of = "backward-no-grad-fn"
# when = { frame = "inference" }
# ///
"""
Gradients wanted inside inference mode
======================================

You called backward on a loss that was computed in `inference mode`. Nothing is
recorded there, and `torch.enable_grad` does not change that: it undoes
`torch.no_grad`, but not this mode.
"""

import traceback

import torch
from torch import nn

# %%
# The error
# ---------
#
# A model predicts an energy, and the force is its negative gradient by the
# position. A trainer runs the validation in inference mode, so the author
# switches recording on again around the force.


def energy(position):
    return (position**3).sum()


with torch.inference_mode(), torch.enable_grad():
    position = torch.tensor([1.0, 2.0], requires_grad=True)
    loss = energy(position)
    print(torch.is_grad_enabled(), torch.is_inference_mode_enabled(), loss.requires_grad)
    try:
        loss.backward()
    except RuntimeError:
        traceback.print_exc()

# %%
# Leave the mode for the part that needs gradients
# ------------------------------------------------
#
# ``inference_mode(False)`` does undo it. Tensors that came from outside this
# block were made in the mode; take a `clone` of them inside. The derivative of
# ``position**3`` is ``3 * position**2``.

with torch.inference_mode():
    given = torch.tensor([1.0, 2.0])  # from the data loader

    with torch.inference_mode(False), torch.enable_grad():
        position = given.clone().requires_grad_()
        (slope,) = torch.autograd.grad(energy(position), position)

print(-slope)
torch.testing.assert_close(slope, 3 * torch.tensor([1.0, 2.0]) ** 2)

# %%
# If the trainer has a switch, use no_grad there
# ----------------------------------------------
#
# Validation under ``no_grad`` costs little more, and ``enable_grad`` works
# inside it. Trainers that use inference mode have an option for that.

with torch.no_grad():
    given = torch.tensor([1.0, 2.0])

    with torch.enable_grad():
        position = given.clone().requires_grad_()
        (slope,) = torch.autograd.grad(energy(position), position)

print(-slope)
torch.testing.assert_close(slope, 3 * torch.tensor([1.0, 2.0]) ** 2)

# %%
# If you did not want the mode, move the forward out of it
# --------------------------------------------------------
#
# A training step under a forgotten ``@torch.inference_mode()`` fails the same
# way. The gradient of the weight is its input.

net = nn.Linear(2, 1)
x = torch.tensor([[1.0, 2.0]])

with torch.inference_mode():
    loss = net(x).sum()
try:
    loss.backward()
except RuntimeError:
    traceback.print_exc()

net(x).sum().backward()

print(net.weight.grad)
torch.testing.assert_close(net.weight.grad, x)

# %%
# What only hides the error
# -------------------------
#
# ``loss.requires_grad_()`` is allowed while the mode is on, and backward then
# runs. It starts and ends at the loss:

with torch.inference_mode():
    position = torch.tensor([1.0, 2.0], requires_grad=True)
    loss = energy(position).requires_grad_()
    loss.backward()

print(loss.grad, position.grad)
assert position.grad is None

# %%
# See also
# --------
#
# * `backward-no-grad-fn`: the other causes of this message
# * `inference-mode-tensors`
