# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "silent/silent-optimizer-stale-parameter",
#     "silent/silent-deepcopy-parameter-drops-grad-and-hooks",
# ]
# symptom = "All weights stay the same after I replaced a layer or a parameter."
# symptom-zh = "替换网络层或参数之后，优化器不更新新参数"
# ///
"""
The optimizer holds a parameter that you replaced
=================================================

You gave a module a new `parameter` after the `optimizer` was built. The optimizer goes
on with the old one, which nothing uses any more.
"""

import copy

import torch

# %%
# The mistake
# -----------
#
# A head is exchanged for fine-tuning.

net = torch.nn.Linear(1, 1, bias=False)
optimizer = torch.optim.SGD(net.parameters(), lr=1.0)
net.weight = torch.nn.Parameter(torch.ones(1, 1))

net(torch.ones(1, 1)).sum().backward()
optimizer.step()

print(net.weight)
assert net.weight == 1.0

# %%
# A deep copy is such a new parameter as well, and leaves gradients and hooks behind:

parameter = torch.nn.Parameter(torch.ones(1))
parameter.register_hook(lambda grad: grad * 0.0)
parameter.sum().backward()
copied = copy.deepcopy(parameter)

print(parameter.grad, copied.grad, copied._backward_hooks)
assert copied.grad is None

# %%
# Test for it
# -----------
#
# Compare objects, not values: this line belongs after the optimizer is built.

held = {id(p) for group in optimizer.param_groups for p in group["params"]}
print([name for name, p in net.named_parameters() if id(p) not in held])
assert id(net.weight) not in held

# %%
# Build the optimizer last
# ------------------------

net = torch.nn.Linear(1, 1, bias=False)
net.weight = torch.nn.Parameter(torch.ones(1, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=1.0)

net(torch.ones(1, 1)).sum().backward()
optimizer.step()

print(net.weight)
torch.testing.assert_close(net.weight.detach(), torch.zeros(1, 1))

# %%
# Or change the value instead of the object
# -----------------------------------------

net = torch.nn.Linear(1, 1, bias=False)
optimizer = torch.optim.SGD(net.parameters(), lr=1.0)
with torch.no_grad():
    net.weight.copy_(torch.ones(1, 1))

net(torch.ones(1, 1)).sum().backward()
optimizer.step()

print(net.weight)
torch.testing.assert_close(net.weight.detach(), torch.zeros(1, 1))

# %%
# What does not help
# ------------------
#
# ``load_state_dict`` on the optimizer restores its numbers, not its objects.

net = torch.nn.Linear(1, 1, bias=False)
optimizer = torch.optim.SGD(net.parameters(), lr=1.0)
net.weight = torch.nn.Parameter(torch.ones(1, 1))
optimizer.load_state_dict(optimizer.state_dict())
net(torch.ones(1, 1)).sum().backward()
optimizer.step()
print(net.weight)
assert net.weight == 1.0
