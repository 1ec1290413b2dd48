# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = ["inventory/backward-create-graph-cycle"]
#
# [[tool.autograd-errors.error]]
# raises = "UserWarning"
# message = "Using backward() with create_graph=True will create a reference cycle between the parameter and its gradient which can cause a memory leak. We recommend using autograd.grad when creating the graph to avoid this. If you have to use this function, make sure to reset the .grad fields of your parameters to None after use to break the cycle and avoid the leak."
# source = "torch/csrc/autograd/engine.cpp"
# ///
"""
Backward with create_graph keeps memory alive
=============================================

``backward(create_graph=True)`` stores in each parameter a gradient that has a
graph, and that graph holds the parameter. The two keep each other alive, and
every step may leave its graph in memory.
"""

import gc
import weakref

import torch

# %%
# The warning
# -----------
#
# A second-order method (a Hessian-vector product, meta-learning, a sharpness
# penalty) differentiates the gradient.


def memory_after(step):
    """Return whether the weight is gone once its last name is."""
    weight = torch.tensor([1.0, 2.0], requires_grad=True)
    step(weight)
    watcher = weakref.ref(weight)
    del weight
    return watcher() is None


def leaking_step(weight):
    (weight**3).sum().backward(create_graph=True)


gc.disable()
print("freed:", memory_after(leaking_step))
gc.enable()

# %%
# The cycle is visible. From the weight to its gradient, and from there through
# the graph to the node that accumulates into the weight:

weight = torch.tensor([1.0, 2.0], requires_grad=True)
(weight**3).sum().backward(create_graph=True)

found, waiting = [], [weight.grad.grad_fn]
while waiting:
    node = waiting.pop()
    if node is not None and node not in found:
        found.append(node)
        waiting += [before for before, _ in node.next_functions]
holds_weight = any(getattr(node, "variable", None) is weight for node in found)
print("the gradient's graph holds the weight:", holds_weight)
assert holds_weight

# %%
# Use autograd.grad
# -----------------
#
# It returns the gradient instead of storing it, so there is no cycle. The second
# derivative of ``w**3`` is ``6 w``.


def clean_step(weight):
    (gradient,) = torch.autograd.grad((weight**3).sum(), weight, create_graph=True)
    return torch.autograd.grad(gradient.sum(), weight)[0]


second = clean_step(torch.tensor([1.0, 2.0], requires_grad=True))
print(second)
torch.testing.assert_close(second, 6 * torch.tensor([1.0, 2.0]))

gc.disable()
freed = memory_after(clean_step)
gc.enable()
print("freed:", freed)
assert freed

# %%
# If you have to call backward, drop the gradient afterwards
# ----------------------------------------------------------
#
# ``zero_grad()`` sets it to ``None``, which cuts the cycle. Do it when the second
# derivative is done, before the next step.


def reset_step(weight):
    (weight**3).sum().backward(create_graph=True)
    weight.grad = None


gc.disable()
freed = memory_after(reset_step)
gc.enable()
print("freed:", freed)
assert freed

# %%
# The second backward adds to the first
# -------------------------------------
#
# There is one more trap in ``backward`` here. The second derivative is *added* to
# the first, which is still in ``.grad``; code that reads it there gets the sum.

weight = torch.tensor([1.0, 2.0], requires_grad=True)
(weight**3).sum().backward(create_graph=True)
weight.grad.sum().backward()

w = weight.detach()
print(weight.grad.detach(), "holds the sum of", 3 * w**2, "and", 6 * w)
torch.testing.assert_close(weight.grad.detach(), 3 * w**2 + 6 * w)
assert not torch.allclose(weight.grad.detach(), 6 * w)

# %%
# See also
# --------
#
# * `double-create-graph`: ``create_graph`` is missing
# * `silent-gradients-add-up`
