# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# cause-of = "leaf-inplace"
# when = { frame = "attack|clamp_|penalty|perturb" }
# causes = [
#     "leaf-inplace/clamped-input",
#     "leaf-moved-interior/gradient-penalty-interpolate",
#     "inventory/leaf-inplace-clamp",
# ]
# ///
"""
An optimized image clamped in place
===================================

You optimize an input and clamp it back into its range with ``clamp_``. The
input is a `leaf tensor` that requires grad, and the clamp writes into it.
"""

import traceback

import torch

# %%
# The error
# ---------
#
# An attack moves the image up its gradient and has to stay between 0 and 1.

image = torch.tensor([0.4, 0.9], requires_grad=True)
(image**2).sum().backward()
try:
    image.clamp_(0.0, 1.0)
except RuntimeError:
    traceback.print_exc()

# %%
# Project back under no_grad
# --------------------------
#
# Step and projection are both updates, so both stand in one `no_grad`. The
# gradient of the square is twice the image, so a step of a quarter of it makes
# the image one half larger. The second pixel hits the wall.

image = torch.tensor([0.4, 0.9], requires_grad=True)
for _ in range(2):
    image.grad = None
    (image**2).sum().backward()
    with torch.no_grad():
        image += 0.25 * image.grad
        image.clamp_(0.0, 1.0)

print(image)
torch.testing.assert_close(image.detach(), torch.tensor([0.4 * 1.5 * 1.5, 1.0]))

# %%
# If the clamp is part of the model, use clamp
# --------------------------------------------
#
# Then the gradient is zero where the clamp is active.

image = torch.tensor([0.5, 1.9], requires_grad=True)
(image.clamp(0.0, 1.0) ** 2).sum().backward()

print(image.grad)
torch.testing.assert_close(image.grad, torch.tensor([2 * 0.5, 0.0]))

# %%
# If you build the image from others, ask for the gradient last
# -------------------------------------------------------------
#
# A gradient penalty mixes real and made images. Finish all in-place writing
# before ``requires_grad_()`` makes the mixture a leaf to differentiate at.
# The score is the sum of squares, whose gradient is twice the mixture.

real, made = torch.tensor([1.0, 0.0]), torch.tensor([0.0, 1.0])
mixed = real.clone()
mixed *= 0.25
mixed += 0.75 * made
mixed.requires_grad_()
(gradient,) = torch.autograd.grad((mixed**2).sum(), mixed)

print(gradient)
torch.testing.assert_close(gradient, 2 * torch.tensor([0.25, 0.75]))

# %%
# - `leaf-inplace`, all causes of this message
# - `leaf-sgd-step`, the same loop for weights
# - `requires-grad-set`, where the flag may be set
