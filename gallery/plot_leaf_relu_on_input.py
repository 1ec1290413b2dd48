# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# cause-of = "leaf-inplace"
# when = { frame = "activation.py|relu_|in relu" }
# causes = ["leaf-inplace/relu-on-input", "inventory/leaf-inplace-relu-on-input"]
# ///
"""
An in-place ReLU on the input
=============================

You asked for the gradient of an input, and the first module that sees it is
``ReLU(inplace=True)``. It writes into your input, a `leaf tensor` that
requires grad.
"""

import traceback

import torch

# %%
# The error
# ---------
#
# A saliency map needs the gradient of the score with respect to the image.

net = torch.nn.Sequential(torch.nn.ReLU(inplace=True), torch.nn.Flatten(0))
image = torch.tensor([[-1.0, 2.0]], requires_grad=True)
try:
    net(image)
except RuntimeError:
    traceback.print_exc()

# %%
# If you own the model, switch inplace off
# ----------------------------------------
#
# The flag saves one tensor of memory and changes no result. The gradient of
# the sum of squares is twice the input where it is positive.

for module in net.modules():
    if isinstance(module, torch.nn.ReLU):
        module.inplace = False

image = torch.tensor([[-1.0, 2.0]], requires_grad=True)
(net(image) ** 2).sum().backward()

print(image.grad)
torch.testing.assert_close(image.grad, torch.tensor([[0.0, 2 * 2.0]]))

# %%
# If you do not, hand it a copy
# -----------------------------
#
# `clone` takes the write and passes the gradient on.

net[0].inplace = True
image = torch.tensor([[-1.0, 2.0]], requires_grad=True)
(net(image.clone()) ** 2).sum().backward()

print(image.grad)
torch.testing.assert_close(image.grad, torch.tensor([[0.0, 2 * 2.0]]))

# %%
# What only hides the error
# -------------------------
#
# Without ``requires_grad`` on the image the model runs, and there is no
# gradient to show. The image is changed as well: the next method that reads it
# sees no negative value any more.

image = torch.tensor([[-1.0, 2.0]])
net(image)

print(image, image.grad)
assert image.grad is None
assert image.min() == 0.0

# %%
# - `leaf-inplace`, all causes of this message
# - `view-backward-hook`, the same module after a layer with a hook
# - `version-activation-output`, when a result is overwritten later
