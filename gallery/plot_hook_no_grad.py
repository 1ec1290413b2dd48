# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = ["hooks/hook-under-no-grad"]
# cause-of = "hook-tensor"
# ///
"""
A gradient hook registered while nothing is recorded
====================================================

A forward hook registers a `hook` on the activation, and the model is run under
`torch.no_grad`, for validation or for a prediction. The activation then has no
gradient to wait for, and the registration fails. Training goes well until the
first evaluation.
"""

import traceback

import torch
from torch import nn

# %%
# The error
# ---------
#
# A heat map needs the gradient of the loss by the features of a layer.

net = nn.Sequential(nn.Linear(2, 2, bias=False), nn.ReLU(), nn.Linear(2, 1, bias=False))
with torch.no_grad():
    net[0].weight.copy_(torch.eye(2))
    net[2].weight.copy_(torch.tensor([[3.0, 5.0]]))
x = torch.tensor([[1.0, 2.0]])
seen = {}


def watch(module, arguments, output):
    output.register_hook(lambda grad: seen.update(grad=grad))


handle = net[0].register_forward_hook(watch)

try:
    with torch.no_grad():
        net(x)
except RuntimeError:
    traceback.print_exc()

# %%
# A frozen layer whose input needs no gradient has the same effect, with recording
# on:

handle.remove()
with torch.no_grad():
    print("under no_grad:", net[0](x).requires_grad)
print("frozen:", nn.Linear(2, 2).requires_grad_(False)(x).requires_grad)

# %%
# To evaluate without a map, skip the hook
# ----------------------------------------
#
# Ask whether there will be a gradient. The features are positive here, so the
# gradient by them is the weight of the last layer.


def watch_if_recorded(module, arguments, output):
    if output.requires_grad:
        output.register_hook(lambda grad: seen.update(grad=grad))


handle = net[0].register_forward_hook(watch_if_recorded)
with torch.no_grad():
    net(x)
assert not seen

net(x).sum().backward()
handle.remove()

print(seen["grad"])
torch.testing.assert_close(seen["grad"], net[2].weight.detach())

# %%
# To get the map, record this forward
# -----------------------------------
#
# `torch.enable_grad` switches recording on inside ``no_grad``. If the layers are
# frozen, let the input require a gradient.

seen.clear()
net.requires_grad_(False)
handle = net[0].register_forward_hook(watch)

with torch.no_grad():
    # evaluation code of a library
    with torch.enable_grad():
        net(x.clone().requires_grad_()).sum().backward()
handle.remove()

print(seen["grad"])
torch.testing.assert_close(seen["grad"], net[2].weight)

# %%
# Without hooks, ask for the gradient by the features
# ---------------------------------------------------
#
# Run the model in two halves and differentiate by what lies between.

features = net[0](x).detach().requires_grad_()
(grad,) = torch.autograd.grad(net[1:](features).sum(), features)

print(grad)
torch.testing.assert_close(grad, net[2].weight)

# %%
# What only hides the error
# -------------------------
#
# Making the activation require a gradient in the hook lets the registration
# pass. Under ``no_grad`` the rest of the forward is still not recorded, and the
# hook is never called:

seen.clear()


def force(module, arguments, output):
    output.requires_grad_().register_hook(lambda grad: seen.update(grad=grad))


handle = net[0].register_forward_hook(force)
with torch.no_grad():
    result = net(x)
handle.remove()

print(result.requires_grad, seen)
assert not result.requires_grad and not seen

# %%
# See also
# --------
#
# * `hook-tensor`
# * `hook-full-backward`
# * `inference-mode-loss`: why ``enable_grad`` may not be enough
