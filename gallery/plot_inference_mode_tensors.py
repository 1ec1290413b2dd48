# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "inference-mode/tensor-saved-for-backward",
#     "inventory/inference-saved-for-backward",
# ]
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "Inference tensors cannot be saved for backward. Please do not use Tensors created in inference mode in computation tracked by autograd. To work around this, you can make a clone to get a normal tensor and use it in autograd, or use `torch.no_grad()` instead of `torch.inference_mode()`."
# source = "torch/csrc/autograd/saved_variable.cpp"
# ///
"""
A tensor from inference mode used in training
=============================================

You trained with a tensor that was made in `inference mode`. Such a tensor has
no `version counter`, so autograd cannot tell whether it changes later, and
refuses to keep it for backward. The tensor remembers where it was made for the
rest of its life; leaving the block does not help.
"""

import traceback

import torch
from torch import nn

# %%
# The error
# ---------
#
# A frozen backbone extracts features once, and a head is trained on them.

backbone = nn.Linear(2, 2)
head = nn.Linear(2, 1)
images = torch.tensor([[1.0, 2.0]])

with torch.inference_mode():
    features = backbone(images)

try:
    head(features)
except RuntimeError:
    traceback.print_exc()

# %%
# Find the tensor
# ---------------
#
# The line that fails is the first that must save the tensor: it multiplies, or
# is a layer. An addition saves nothing, so the tensor may have come a long way.
# Ask every input of that line:

suspects = {"features": features, "images": images, "head.weight": head.weight}
print({name: tensor.is_inference() for name, tensor in suspects.items()})

# %%
# * An input that you computed yourself: the next section.
# * A table that a layer filled during validation or generation:
#   `inference-mode-cache`.
# * A weight: the model was made or converted inside the block, see
#   `inference-mode-module`.
# * The failing line itself stands inside the block and there is no such tensor:
#   the loss then has no graph at all, see `inference-mode-loss`.
#
# If you train on the result, use no_grad
# ---------------------------------------
#
# `torch.no_grad` also records nothing, and returns ordinary tensors. The
# gradient of the head's weight is its input.

with torch.no_grad():
    features = backbone(images)

head(features).sum().backward()

print(features.is_inference())
torch.testing.assert_close(head.weight.grad, features)

# %%
# If the block is not yours, clone outside of it
# ----------------------------------------------
#
# A `clone` made outside is an ordinary tensor.

with torch.inference_mode():
    features = backbone(images)

copied = features.clone()
head = nn.Linear(2, 1)
head(copied).sum().backward()

print(copied.is_inference())
torch.testing.assert_close(head.weight.grad, copied)

# %%
# If a library raised it
# ----------------------
#
# Search the library, and your own scripts, for ``inference_mode``: it stands as
# a decorator above ``generate``, ``predict``, ``extract`` or ``evaluate``. Clone
# what such a function returns, or call the undecorated function under
# ``no_grad``. Some trainers run validation in inference mode and have a switch
# to use ``no_grad`` instead. If the tensor is hidden in the library's module,
# the first training step fails after the first evaluation, and not before it;
# that is `inference-mode-cache`.
#
# What only hides the error
# -------------------------
#
# A clone made inside the block is still an inference tensor, and so is a
# detached one, wherever you detach it:

with torch.inference_mode():
    inside = backbone(images).clone()

print(inside.is_inference(), inside.detach().is_inference())

for attempt in (inside, inside.detach()):
    try:
        head(attempt)
    except RuntimeError:
        traceback.print_exc(limit=1)

# %%
# Running the training step in inference mode as well ends the message. Nothing
# is recorded then, and the head never learns:

with torch.inference_mode():
    loss = head(inside).sum()

print(loss.requires_grad, loss.grad_fn)
assert not loss.requires_grad

# %%
# Am I right now?
# ---------------
#
# Compare one entry of a gradient with `finite differences`, in ``float64``. Put
# in your own model and input.

model, x = nn.Linear(2, 1).double(), copied.double()
model(x).sum().backward()
entry = model.weight.detach()[0, :1]  # shares memory with the parameter

entry += 1e-6
high = model(x).sum().item()
entry -= 2e-6
slope = (high - model(x).sum().item()) / 2e-6

assert abs(slope - model.weight.grad[0, 0].item()) < 1e-6
