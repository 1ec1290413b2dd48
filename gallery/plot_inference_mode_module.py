# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = ["inventory/inference-module-trained-outside"]
# cause-of = "inference-mode-tensors"
# ///
"""
A model built or converted in inference mode
============================================

You created a model, or moved it to another `dtype` or device, in
`inference mode`. Its parameters are inference tensors since then. Running it
works; the first layer whose input needs a gradient fails.
"""

import traceback

import torch
from torch import nn

# %%
# The error
# ---------
#
# A function that loads models for a demo is decorated, and someone fine-tunes
# what it returns.


@torch.inference_mode()
def load():
    return nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))


x = torch.tensor([[1.0, 2.0]])
net = load()

try:
    net(x).sum().backward()
except RuntimeError:
    traceback.print_exc()

# %%
# Converting an ordinary model has the same effect, since the conversion gives
# its parameters new contents:

converted = nn.Linear(2, 1)
with torch.inference_mode():
    converted.to(torch.float64)

print([parameter.is_inference() for parameter in net.parameters()])
print(converted.weight.is_inference())
assert converted.weight.is_inference()

# %%
# Build and convert the model outside
# -----------------------------------
#
# Only running it belongs into the mode. ``x`` times the second layer's weight is
# the gradient of the first, by hand.


def build():
    return nn.Sequential(nn.Linear(2, 2, bias=False), nn.Linear(2, 1, bias=False))


net = build()
with torch.inference_mode():
    net(x)
net(x).sum().backward()

torch.testing.assert_close(net[0].weight.grad, net[1].weight.detach().T * x)

# %%
# If you only have the finished model, copy it
# --------------------------------------------
#
# A deep copy made outside the mode has ordinary parameters. So has a new model
# that loads the old one's state.

with torch.inference_mode():
    frozen = build()

net = build()
net.load_state_dict(frozen.state_dict())
net(x).sum().backward()

print([parameter.is_inference() for parameter in net.parameters()])
torch.testing.assert_close(net[0].weight, frozen[0].weight)
torch.testing.assert_close(net[0].weight.grad, net[1].weight.detach().T * x)

# %%
# What only hides the error
# -------------------------
#
# Freezing the weights ends the message when the input needs no gradient, for
# nothing is recorded for them any more. They never change then.

frozen.requires_grad_(False)
scale = torch.ones(1, requires_grad=True)
(frozen(x) + scale).sum().backward()

print(scale.grad, [parameter.grad for parameter in frozen.parameters()])
assert all(parameter.grad is None for parameter in frozen.parameters())

# %%
# See also
# --------
#
# * `inference-mode-tensors`
# * `inference-mode-inplace`: the optimizer's step on such a model
# * `inference-mode-requires-grad`
