# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "double-backward/sdpa",
#     "double-backward/grid-sample",
#     "inventory/double-backward-cdist",
#     "inventory/double-backward-ctc",
#     "inventory/double-backward-embedding-bag",
#     "inventory/double-backward-hardsigmoid",
#     "inventory/double-backward-multi-margin",
#     "inventory/double-backward-pdist",
#     "inventory/double-backward-sdpa-flash",
# ]
# cause-of = "derivative-not-implemented"
# when = { operation = ".*_backward" }
# ///
"""
A second derivative that does not exist
=======================================

You differentiated a gradient, and one operation of your model has a backward
formula that cannot be differentiated again. Gradient penalties, forces in
molecular models and Hessians need such a `double backward`.
"""

import traceback

import torch

# %%
# The error
# ---------
#
# A model predicts an energy with attention; the loss contains the force, which
# is a gradient of the energy.


def energy(x):
    return torch.nn.functional.scaled_dot_product_attention(x, x, x).sum()


x = torch.linspace(0.0, 1.0, 8).reshape(1, 1, 2, 4).requires_grad_()
(force,) = torch.autograd.grad(energy(x), x, create_graph=True)

try:
    force.square().sum().backward()
except RuntimeError:
    traceback.print_exc()

# %%
# The name ends in ``_backward``: the formula that has no derivative is itself a
# backward formula. The same holds for these:


def log_probabilities(x):
    return x.reshape(4, 1, 2).log_softmax(-1)


for operation in (
    lambda x: torch.nn.functional.hardsigmoid(x).square(),
    lambda x: torch.cdist(x.reshape(2, 4), torch.zeros(2, 4), p=3.0),
    lambda x: torch.nn.functional.pdist(x.reshape(2, 4)),
    lambda x: torch.nn.functional.ctc_loss(
        log_probabilities(x), torch.tensor([[1]]), torch.tensor([4]), torch.tensor([1])
    ),
    lambda x: torch.nn.functional.multi_margin_loss(x.reshape(2, 4), torch.tensor([0, 1])),
    lambda x: torch.nn.functional.embedding_bag(
        torch.tensor([[0, 1]]), x.reshape(2, 4), mode="max"
    ).square(),
):
    (gradient,) = torch.autograd.grad(operation(x).sum(), x, create_graph=True)
    try:
        gradient.sum().backward()
    except (RuntimeError, NotImplementedError):
        traceback.print_exc()

# %%
# Choose another kernel
# ---------------------
#
# `torch.nn.attention.sdpa_kernel` selects the one made of plain operations,
# which can be differentiated any number of times.

from torch.nn.attention import SDPBackend, sdpa_kernel


def energy_math(x):
    with sdpa_kernel(SDPBackend.MATH):
        return energy(x)


x = torch.linspace(0.0, 1.0, 8, dtype=torch.float64).reshape(1, 1, 2, 4).requires_grad_()
(force,) = torch.autograd.grad(energy_math(x), x, create_graph=True)
force.square().sum().backward()

print(x.grad)
assert torch.autograd.gradgradcheck(energy_math, (x,))

# %%
# Write the operation out
# -----------------------
#
# A formula of plain operations has all its derivatives. This is
# ``hardsigmoid``.


def hardsigmoid(x):
    return (x / 6 + 0.5).clamp(0.0, 1.0)


x = torch.tensor([0.5, 1.0], dtype=torch.float64, requires_grad=True)
(gradient,) = torch.autograd.grad(hardsigmoid(x).square().sum(), x, create_graph=True)
gradient.sum().backward()

print(x.grad)
torch.testing.assert_close(x.grad, torch.full_like(x, 2 / 6**2))
assert torch.autograd.gradgradcheck(hardsigmoid, (x,))

# %%
# What only hides the error
# -------------------------
#
# Leaving out ``create_graph`` silences it where the force is one term of the
# loss: the force becomes a constant, and its share of the gradient is missing.


def loss_gradient(create_graph):
    x = torch.tensor(2.0, dtype=torch.float64, requires_grad=True)
    (force,) = torch.autograd.grad(x**3, x, create_graph=create_graph)
    (x + force**2).backward()
    return x.grad


right = torch.tensor(1 + 2 * (3 * 2.0**2) * (6 * 2.0), dtype=torch.float64)
print(loss_gradient(False), "is not", right)
torch.testing.assert_close(loss_gradient(True), right)
assert loss_gradient(False) != right

# %%
# ``grid_sample`` is on many lists of operations without a second derivative.
# On this build it has one:

grid = torch.tensor([[[[0.1, 0.2], [-0.3, 0.4]]]], dtype=torch.float64, requires_grad=True)
picture = torch.arange(16.0, dtype=torch.float64).reshape(1, 1, 4, 4).square().requires_grad_()


def sample(picture, grid):
    return torch.nn.functional.grid_sample(picture, grid, align_corners=False)


assert torch.autograd.gradgradcheck(sample, (picture, grid))

# %%
# See also
# --------
#
# * `double-once-differentiable`: a custom function that forbids it
# * `double-create-graph`: the gradient was taken without a graph
