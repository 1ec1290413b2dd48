# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# cause-of = "leaf-inplace"
# when = { frame = "init_|_init|load_|in apply|reset_param" }
# causes = [
#     "leaf-inplace/parameter-initialization",
#     "inventory/module-apply-inplace-init-without-no-grad",
#     "inventory/leaf-inplace-zero",
#     "inventory/leaf-inplace-copy",
#     "inventory/leaf-inplace-setitem-fullslice",
# ]
# ///
"""
Starting values written into a parameter
========================================

You filled a `parameter` with ``normal_``, ``zero_``, ``copy_`` or ``[:] =``
while autograd was recording. A starting value has no history, so it has to be
written where nothing is recorded.
"""

import traceback

import torch

# %%
# The error
# ---------
#
# A function for ``module.apply`` draws small weights for every linear layer.


def small_weights(module):
    if isinstance(module, torch.nn.Linear):
        module.weight.normal_(0.0, 0.01)


net = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU())
try:
    net.apply(small_weights)
except RuntimeError:
    traceback.print_exc()

# %%
# Clearing a bias, copying pretrained values and assigning to the whole tensor
# are the same mistake:

layer = torch.nn.Linear(2, 2)
try:
    layer.bias.zero_()
except RuntimeError:
    traceback.print_exc()

try:
    layer.weight.copy_(torch.eye(2))
except RuntimeError:
    traceback.print_exc()

try:
    layer.weight[:] = torch.eye(2)
except RuntimeError:
    traceback.print_exc()

# %%
# Put one no_grad around the initialization
# -----------------------------------------
#
# The layer becomes the identity with a bias of zero, so it returns its input,
# and the gradient of the sum is the input once for every output.


@torch.no_grad()
def identity_weights(module):
    if isinstance(module, torch.nn.Linear):
        module.weight.copy_(torch.eye(2))
        module.bias.zero_()


net = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU())
net.apply(identity_weights)
image = torch.tensor([1.0, 2.0])
output = net(image)
output.sum().backward()

print(output, net[0].weight.grad, sep="\n")
torch.testing.assert_close(output, image)
torch.testing.assert_close(net[0].weight.grad, image.repeat(2, 1))

# %%
# Use `torch.nn.init` where a method exists
# -----------------------------------------
#
# Its functions bring their own `no_grad`, and they are counted: a change
# between forward and backward is still noticed.

layer = torch.nn.Linear(2, 2)
torch.nn.init.eye_(layer.weight)
torch.nn.init.zeros_(layer.bias)
output = layer(image)
output.sum().backward()

print(output, layer.weight.is_leaf, layer.weight._version)
torch.testing.assert_close(output, image)
torch.testing.assert_close(layer.weight.grad, image.repeat(2, 1))

# %%
# To load whole weights, use the state
# ------------------------------------
#
# ``load_state_dict`` copies by name and checks shapes. The parameter objects
# stay the same, so an `optimizer` built earlier still holds them.

layer = torch.nn.Linear(2, 2)
optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
layer.load_state_dict({"weight": torch.eye(2), "bias": torch.zeros(2)})
layer(image).sum().backward()
optimizer.step()

print(layer.weight)
torch.testing.assert_close(layer.weight.detach(), torch.eye(2) - 0.1 * image.repeat(2, 1))

# %%
# What only hides the error
# -------------------------
#
# A new ``Parameter`` raises nothing. An `optimizer` that was built before keeps
# the old one, and the layer never learns:

layer = torch.nn.Linear(2, 2)
optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
layer.weight = torch.nn.Parameter(torch.eye(2))
layer(image).sum().backward()
optimizer.step()

print(layer.weight)
assert torch.equal(layer.weight.detach(), torch.eye(2))

# %%
# - `leaf-inplace`, all causes of this message
# - `view-of-leaf`, when you write only a part
# - `guide-initialize-parameters`, the ways to initialize, compared
