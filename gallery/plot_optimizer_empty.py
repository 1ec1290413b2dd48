# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = ["inventory/optim-empty-params", "inventory/optim-exhausted-generator"]
#
# [[tool.autograd-errors.error]]
# raises = "ValueError"
# message = "optimizer got an empty parameter list"
# source = "torch/optim/optimizer.py"
# ///
"""
An optimizer given no parameters
================================

The list you gave to the `optimizer` had nothing in it. Either the module does
not know its layers, or the parameters were already used up by a loop, or a
filter has removed all of them.
"""

import traceback

import torch
from torch import nn

# %%
# The error
# ---------
#
# A network keeps its layers in a list.


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = [nn.Linear(2, 2, bias=False), nn.Linear(2, 1, bias=False)]

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x.sum()


net = Net()

try:
    torch.optim.SGD(net.parameters(), lr=0.5)
except ValueError:
    traceback.print_exc()

# %%
# Ask the module what it knows:

print([name for name, _ in net.named_parameters()])

# %%
# * Nothing is printed between the brackets: the next section.
# * The names are there: the parameters were used up, or filtered out; see the
#   two sections after it.
#
# If the module knows nothing, register its layers
# ------------------------------------------------
#
# A module registers what is assigned to an attribute: a layer, a `parameter`,
# but not the contents of a list or a dictionary. ``nn.ModuleList`` and
# ``nn.ModuleDict`` (for parameters ``nn.ParameterList``) are lists that it
# knows.


class RightNet(Net):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(self.layers)


net = RightNet()
optimizer = torch.optim.SGD(net.parameters(), lr=0.5)
before = [parameter.detach().clone() for parameter in net.parameters()]
x = torch.tensor([3.0, 5.0])
net(x).backward()
optimizer.step()

# The gradient of the last weight is its input, by hand.
print(net.layers[1].weight.grad.shape)
torch.testing.assert_close(net.layers[1].weight.grad[0], before[0] @ x)
assert not any(map(torch.equal, before, net.parameters()))

# %%
# If a loop used them up, make a list
# -----------------------------------
#
# ``parameters()`` returns a generator. Counting it reads it to the end.

net = nn.Linear(2, 1, bias=False)
parameters = net.parameters()
print(sum(parameter.numel() for parameter in parameters))

try:
    torch.optim.SGD(parameters, lr=0.5)
except ValueError:
    traceback.print_exc()

parameters = list(net.parameters())
print(sum(parameter.numel() for parameter in parameters))
optimizer = torch.optim.SGD(parameters, lr=0.5)

assert optimizer.param_groups[0]["params"][0] is net.weight

# %%
# If a filter removed them, build the optimizer after unfreezing
# --------------------------------------------------------------
#
# Everything is frozen at the moment when the filter runs.

backbone = nn.Linear(2, 2).requires_grad_(False)

try:
    torch.optim.SGD((p for p in backbone.parameters() if p.requires_grad), lr=0.5)
except ValueError:
    traceback.print_exc()

model = nn.Sequential(backbone, nn.Linear(2, 1, bias=False))
learned = [parameter for parameter in model.parameters() if parameter.requires_grad]
optimizer = torch.optim.SGD(learned, lr=0.5)
features = backbone(x)
model(x).backward()

torch.testing.assert_close(model[1].weight.grad[0], features)
assert all(parameter.grad is None for parameter in backbone.parameters())

# %%
# If a library raised it
# ----------------------
#
# A trainer builds the optimizer from the model that you pass in, usually with a
# filter on ``requires_grad``. Just before, count what it will find. If the model
# has parameters and none of them learns, look for the call that froze it: an
# adapter whose layer names match nothing leaves the whole model frozen.

names = [name for name, _ in backbone.named_parameters()]
learning = [name for name, parameter in backbone.named_parameters() if parameter.requires_grad]

print(names, learning)
assert names and not learning

# %%
# What only hides the error
# -------------------------
#
# A parameter that nobody uses fills the list. The optimizer is content and the
# layers stay as they are.


class DummyNet(Net):
    def __init__(self):
        super().__init__()
        self.dummy = nn.Parameter(torch.empty(0))


net = DummyNet()
optimizer = torch.optim.SGD(net.parameters(), lr=0.5)
before = net.layers[1].weight.detach().clone()
net(x).backward()
optimizer.step()

print(torch.equal(before, net.layers[1].weight))
torch.testing.assert_close(net.layers[1].weight.detach(), before)

# %%
# Am I right now?
# ---------------
#
# Count what the optimizer holds, take one step, and count what moved.

net = RightNet()
optimizer = torch.optim.SGD(net.parameters(), lr=0.5)
held = [tensor for group in optimizer.param_groups for tensor in group["params"]]
before = [tensor.detach().clone() for tensor in held]
net(x).backward()
optimizer.step()

print(len(held), sum(not torch.equal(a, b) for a, b in zip(before, held, strict=True)))
assert len(held) == 2 and not any(map(torch.equal, before, held))
