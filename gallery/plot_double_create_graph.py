# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "double-backward/create-graph-missing",
#     "inventory/double-backward-without-create-graph",
# ]
# cause-of = "backward-no-grad-fn"
# when = { frame = "autograd\\.grad\\(|penalty|\\.norm\\(" }
# ///
"""
Taking a gradient of a gradient without its graph
=================================================

You computed a gradient with `torch.autograd.grad` or ``backward`` and put it into a
loss, but the gradient came without a graph of its own: that needs
``create_graph=True``.
"""

import traceback

import torch

# %%
# The error
# ---------
#
# A physics-informed model is trained on the derivative of its output.


def model(x, weight):
    return weight * x**3


x = torch.tensor([1.0, 2.0], requires_grad=True)
weight = torch.tensor(2.0, requires_grad=True)

(slope,) = torch.autograd.grad(model(x, weight).sum(), x)
print(slope.requires_grad)

try:
    (slope - 1.0).square().sum().backward()
except RuntimeError:
    traceback.print_exc()

# draw: slope as "Without create_graph"

# %%
# Keep the graph of the inner gradient
# ------------------------------------
#
# With ``create_graph=True`` the `backward pass` is recorded like a forward one, and the
# slope gets a `grad_fn`. Every later `double backward` goes through it.

(slope,) = torch.autograd.grad(model(x, weight).sum(), x, create_graph=True)
# draw: slope as "With create_graph"
(slope - 1.0).square().sum().backward()

# The slope is 3 w x^2, so the derivative of the loss in w is 2 (3 w x^2 - 1) 3 x^2.
cube = 3 * x.detach() ** 2
print(weight.grad)
torch.testing.assert_close(weight.grad, (2 * (2.0 * cube - 1.0) * cube).sum())

# %%
# If the model is a plain function, nest torch.func.grad
# ------------------------------------------------------
#
# `torch.func.grad` makes the gradient a function, which you can differentiate again.

slope_of = torch.func.grad(lambda x, weight: model(x, weight).sum())


def loss(weight):
    return (slope_of(x.detach(), weight) - 1.0).square().sum()


gradient = torch.func.grad(loss)(weight.detach())
print(gradient)
torch.testing.assert_close(gradient, weight.grad)

# %%
# What only hides the error
# -------------------------
#
# The message disappears as soon as the loss has another term, since that one has a
# graph. The penalty then adds to the loss and nothing to the gradient.

weight = torch.tensor(2.0, requires_grad=True)
output = model(x, weight).sum()
(slope,) = torch.autograd.grad(output, x, retain_graph=True)
(output + (slope - 1.0).square().sum()).backward()

right = (x.detach() ** 3).sum() + (2 * (2.0 * cube - 1.0) * cube).sum()
print(weight.grad, "is not", right)
assert not torch.allclose(weight.grad, right)

# %%
# Making the slope require grad does not bring the graph back either. It is a new
# `leaf tensor`, and the weight gets nothing.

weight = torch.tensor(2.0, requires_grad=True)
(slope,) = torch.autograd.grad(model(x, weight).sum(), x)
(slope.requires_grad_() - 1.0).square().sum().backward()
print(weight.grad)
assert weight.grad is None

# %%
# See also
# --------
#
# * `backward-no-grad-fn`: the other causes of the message
# * `double-backward-missing`: an operation without a second derivative
