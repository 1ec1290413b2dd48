# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "inventory/optim-duplicate-across-groups",
#     "inventory/optim-duplicate-within-group",
#     "inventory/optim-load-state-group-size",
# ]
#
# [[tool.autograd-errors.error]]
# raises = "ValueError"
# message = "some parameters appear in more than one parameter group"
# source = "torch/optim/optimizer.py"
#
# [[tool.autograd-errors.error]]
# raises = "UserWarning"
# message = "optimizer contains a parameter group with duplicate parameters; in future, this will cause an error; see github.com/pytorch/pytorch/issues/40967 for more information"
# source = "torch/optim/optimizer.py"
#
# [[tool.autograd-errors.error]]
# raises = "ValueError"
# message = "loaded state dict contains a parameter group that doesn't match the size of optimizer's group"
# source = "torch/optim/optimizer.py"
#
# [[tool.autograd-errors.error]]
# raises = "ValueError"
# message = "loaded state dict has a different number of parameter groups"
# source = "torch/optim/optimizer.py"
# ///
"""
A parameter that the optimizer lists twice
==========================================

You gave the same `parameter` to the `optimizer` twice, or loaded the state of
an optimizer that listed other parameters. An optimizer knows a parameter by
its place in a group, so each must have one place, and the places must stay.
"""

import traceback

import torch
from torch import nn

# %%
# The errors
# ----------
#
# The bias gets a learning rate of its own, and is also among the parameters of
# the whole layer.

net = nn.Linear(2, 1)

try:
    torch.optim.SGD([{"params": net.parameters()}, {"params": [net.bias], "lr": 0.1}], lr=0.5)
except ValueError:
    traceback.print_exc()

# %%
# Within one group, PyTorch only warns, and every step counts twice. Two layers
# share a weight here, and the model's parts are listed one by one. The gradient
# is 1 and the learning rate 0.5, so the weight should go from 0 to -0.5.

shared = nn.Parameter(torch.zeros(1))
encoder, decoder = nn.ParameterList([shared]), nn.ParameterList([shared])
optimizer = torch.optim.SGD(list(encoder.parameters()) + list(decoder.parameters()), lr=0.5)
shared.sum().backward()
optimizer.step()

print(shared)
torch.testing.assert_close(shared.detach(), torch.tensor([-1.0]))

# %%
# A saved state fits only groups with the same sizes, in the same number.

without_bias = torch.optim.SGD(nn.Linear(2, 1, bias=False).parameters(), lr=0.5)
two_groups = torch.optim.SGD([{"params": [net.weight]}, {"params": [net.bias]}], lr=0.5)

for saved in (without_bias, two_groups):
    try:
        torch.optim.SGD(net.parameters(), lr=0.5).load_state_dict(saved.state_dict())
    except ValueError:
        traceback.print_exc()

# %%
# To treat some parameters apart, sort each into one group
# --------------------------------------------------------
#
# Sort by name, and everything has one place. For ``sum(weight * x + bias)`` the
# gradients are ``x`` and 1.

net = nn.Linear(2, 1)
biases = [p for name, p in net.named_parameters() if name.endswith("bias")]
others = [p for name, p in net.named_parameters() if not name.endswith("bias")]
optimizer = torch.optim.SGD([{"params": others}, {"params": biases, "lr": 0.1}], lr=0.5)

weight, bias = net.weight.detach().clone(), net.bias.detach().clone()
x = torch.tensor([3.0, 4.0])
net(x).sum().backward()
optimizer.step()

print(net.weight - weight, net.bias - bias)
torch.testing.assert_close(net.weight.detach(), weight - 0.5 * x)
torch.testing.assert_close(net.bias.detach(), bias - 0.1)

# %%
# For shared parameters, list the whole model
# -------------------------------------------
#
# ``parameters()`` of the module that contains both parts returns a shared
# parameter once. Without such a module, ``dict.fromkeys`` removes repetitions
# and keeps the order.

shared = nn.Parameter(torch.zeros(1))
model = nn.ModuleList([nn.ParameterList([shared]), nn.ParameterList([shared])])
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
shared.sum().backward()
optimizer.step()

print(shared, len(dict.fromkeys([shared, shared])))
torch.testing.assert_close(shared.detach(), torch.tensor([-0.5]))

# %%
# To load a state, build the same groups first
# --------------------------------------------
#
# Same model, same order, same groups; then the momentum continues. With momentum
# 0.5 and gradient 1, the second step is ``1 + 0.5`` times the learning rate.


def build():
    weight = nn.Parameter(torch.zeros(1))
    return weight, torch.optim.SGD([weight], lr=1.0, momentum=0.5)


weight, optimizer = build()
weight.sum().backward()
optimizer.step()

resumed_weight, resumed_optimizer = build()
resumed_weight.data.copy_(weight.data)  # as load_state_dict of the model does
resumed_optimizer.load_state_dict(optimizer.state_dict())
resumed_weight.sum().backward()
resumed_optimizer.step()

print(resumed_weight)
torch.testing.assert_close(resumed_weight.detach(), torch.tensor([-1.0 - 1.5]))

# %%
# If the model has changed, for example by a new head, start with a new
# optimizer, or load its state before you add the head's parameters with
# ``add_param_group``.
#
# What only hides the error
# -------------------------
#
# Catching the exception and going on with the new optimizer starts without
# momentum. The second step is then as short as a first one.

fresh_weight, fresh_optimizer = build()
fresh_weight.data.copy_(weight.data)
try:
    fresh_optimizer.load_state_dict(two_groups.state_dict())
except ValueError:
    pass
fresh_weight.sum().backward()
fresh_optimizer.step()

print(fresh_weight)
torch.testing.assert_close(fresh_weight.detach(), torch.tensor([-1.0 - 1.0]))

# %%
# See also
# --------
#
# * `optimizer-params-type`
# * `optimizer-empty`
