# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "silent/module-not-registered",
#     "silent/silent-plain-list-of-modules",
# ]
# symptom = "Some layers never train and are missing from the checkpoint."
# symptom-zh = "部分网络层不训练，也不在 state_dict 里"
# ///
"""
Layers in a plain Python list
=============================

You keep layers in a list or a dictionary of Python's own. The module does not see them:
they are in no ``parameters()``, no checkpoint and on no device.
"""

import torch

# %%
# The mistake
# -----------
#
# The number of layers is a setting, so they are made in a loop and kept in a list.


class Net(torch.nn.Module):
    def __init__(self, container):
        super().__init__()
        self.head = torch.nn.Linear(2, 2)
        self.layers = container([torch.nn.Linear(2, 2)])

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return self.head(x)


net = Net(list)
before = net.layers[0].weight.detach().clone()
optimizer = torch.optim.SGD(net.parameters(), lr=1.0)
net(torch.ones(1, 2)).sum().backward()
optimizer.step()

print([name for name, _ in net.named_parameters()])
assert torch.equal(net.layers[0].weight, before)

# %%
# The layer takes part in the forward pass, and even gets a gradient. No `optimizer` knows
# it.
#
# Use the containers of torch.nn
# ------------------------------
#
# ``ModuleList``, ``ModuleDict``, ``ParameterList`` and ``ParameterDict`` register what
# they hold.

net = Net(torch.nn.ModuleList)
before = net.layers[0].weight.detach().clone()
optimizer = torch.optim.SGD(net.parameters(), lr=1.0)
net(torch.ones(1, 2)).sum().backward()
gradient = net.layers[0].weight.grad.clone()
optimizer.step()

print([name for name, _ in net.named_parameters()])
torch.testing.assert_close(net.layers[0].weight.detach(), before - gradient)

# %%
# Test for it
# -----------
#
# Every tensor that got a gradient should be in ``parameters()``: walk the graph's ends
# and compare.


def leaves(node, seen):
    if node is not None and node not in seen:
        seen.add(node)
        for following, _ in node.next_functions:
            leaves(following, seen)
    return {n.variable for n in seen if hasattr(n, "variable")}


def unregistered(net, loss):
    known = set(net.parameters())
    return [tuple(leaf.shape) for leaf in leaves(loss.grad_fn, set()) if leaf not in known]


print(sorted(unregistered(Net(list), Net(list)(torch.ones(1, 2)).sum())) != [])
net = Net(list)
assert sorted(unregistered(net, net(torch.ones(1, 2)).sum())) == [(2,), (2, 2)]
net = Net(torch.nn.ModuleList)
assert unregistered(net, net(torch.ones(1, 2)).sum()) == []

# %%
# What does not help
# ------------------
#
# Handing the list's parameters to the optimizer trains them on this machine. They are
# still missing from the checkpoint.

net = Net(list)
optimizer = torch.optim.SGD([*net.parameters(), *net.layers[0].parameters()], lr=1.0)
print(list(net.state_dict()))
assert not any("layers" in name for name in net.state_dict())
