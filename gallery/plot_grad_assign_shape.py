# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = ["grad-assign/wrong-shape", "inventory/grad-assign-wrong-size"]
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "attempting to assign a gradient of size '<gradient_shape>' to a tensor of size '<shape>'. Please ensure that the gradient and the tensor are the same size"
# source = "torch/csrc/autograd/python_variable.cpp"
# reworded = true
# ///
"""
A gradient of another shape assigned to .grad
=============================================

You wrote a gradient into ``.grad`` yourself, and it has not the shape of the
tensor. Each number of a tensor has one number in its gradient, so `broadcasting`
is not an option here.
"""

import traceback

import torch
from torch import nn

# %%
# The error
# ---------
#
# You smooth gradients: a list of traces, one for each parameter, replaces the
# gradients before the step. Somewhere the list got another order.

net = nn.Linear(3, 2)
net(torch.ones(1, 3)).sum().backward()
traces = [torch.zeros_like(p) for p in (net.bias, net.weight)]

try:
    for parameter, trace in zip(net.parameters(), traces):
        parameter.grad = trace
except RuntimeError:
    traceback.print_exc()

# %%
# The shapes in the message tell which tensor met which trace:

print([(name, tuple(p.shape)) for name, p in net.named_parameters()])

# %%
# To match gradients and parameters, use the names
# ------------------------------------------------
#
# A dictionary has no order to get wrong, and it survives a layer that is added
# in the middle. With traces of zero, the smoothed gradient is the plain one: for
# the sum of the outputs, the input in every row.

net = nn.Linear(3, 2)
x = torch.tensor([[1.0, 2.0, 3.0]])
traces = {name: torch.zeros_like(p) for name, p in net.named_parameters()}

net(x).sum().backward()
for name, parameter in net.named_parameters():
    traces[name] = 0.9 * traces[name] + parameter.grad
    parameter.grad = traces[name].clone()

print(net.weight.grad)
torch.testing.assert_close(net.weight.grad, x.expand(2, 3))
torch.testing.assert_close(net.bias.grad, torch.ones(2))

# %%
# If an axis was lost, bring it back
# ----------------------------------
#
# A gradient that was computed by hand often misses an axis of length one, or
# carries the axis of the batch. Sum over the batch; reshape where the numbers
# are right. For ``sum((x @ weight)**2)`` the gradient of one row is
# ``2 * (x @ weight) * x``.

weight = torch.tensor([[1.0], [1.0]], requires_grad=True)
x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
per_row = 2 * (x @ weight.detach()) * x
weight.grad = per_row.sum(0).reshape(weight.shape)
assigned = weight.grad.clone()

weight.grad = None
((x @ weight) ** 2).sum().backward()
print(assigned.T, weight.grad.T)
torch.testing.assert_close(assigned, weight.grad)

# %%
# If the tensor was resized, start without gradient
# -------------------------------------------------
#
# A layer that grows needs a new `parameter`. The old gradient does not fit it;
# leave it ``None`` until the next backward, and tell the `optimizer`.

old = nn.Parameter(torch.ones(2))
(old**2).sum().backward()
grown = nn.Parameter(torch.cat([old.detach(), torch.zeros(1)]))
(grown**2).sum().backward()
torch.testing.assert_close(grown.grad, torch.tensor([2.0, 2.0, 0.0]))

# %%
# What only hides the error
# -------------------------
#
# ``.expand_as(parameter)`` makes any number fit. Every entry then gets the sum
# that was meant for one, and the step is too long in directions that have
# nothing to do with it.

weight = torch.tensor([1.0, 10.0], requires_grad=True)
weight.grad = (2 * weight.detach()).sum().expand_as(weight).clone()
hidden = weight.grad

weight.grad = None
(weight**2).sum().backward()
print(hidden, weight.grad)
assert not torch.equal(hidden, weight.grad)

# %%
# Related: `grad-assign-type`, `grad-is-none`, `optimizer-non-leaf`.
