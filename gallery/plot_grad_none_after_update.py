# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = ["grad-none/leaf-reassigned-by-update", "inventory/grad-none-zero"]
# cause-of = "grad-is-none"
# shows = ["grad-of-nonleaf"]
# ///
"""
No gradient after the first update
==================================

You wrote ``weight = weight - rate * weight.grad``, and from the second step on
there is no gradient. The name now belongs to the result of a subtraction; the
leaf that backward fills is the weight of the step before.
"""

import traceback

import torch

# %%
# The error
# ---------
#
# A hand-written loop updates the weight and then clears the gradient for the
# next step. Often this line is itself a repair, of ``weight -= ...``, which
# `leaf-sgd-step` is about.

weight = torch.tensor(5.0, requires_grad=True)

(weight**2).backward()
weight = weight - 0.25 * weight.grad

try:
    weight.grad.zero_()
except AttributeError:
    traceback.print_exc()

# %%
# Two messages, and the warning is the better one. The update was recorded:

print(weight.is_leaf, weight.grad_fn)

# draw: weight

# %%
# To keep the leaf, write into it
# -------------------------------
#
# Under `torch.no_grad` the `in-place operation` is accepted, and the tensor stays
# the same. The gradient of ``weight**2`` is ``2 * weight``, so a rate of a quarter
# halves the weight in every step.

weight = torch.tensor(5.0, requires_grad=True)
for _ in range(3):
    weight.grad = None
    (weight**2).backward()
    with torch.no_grad():
        weight -= 0.25 * weight.grad

print(weight)
torch.testing.assert_close(weight.detach(), torch.tensor(5.0 / 2**3))

# %%
# To keep the line, make the result a new leaf
# --------------------------------------------
#
# ``detach`` forgets the history, and `requires_grad` starts a new one. That is
# fine in a loop of your own; an `optimizer` or a module would still hold the old
# tensor.

weight = torch.tensor(5.0, requires_grad=True)
for _ in range(3):
    (weight**2).backward()
    weight = (weight - 0.25 * weight.grad).detach().requires_grad_()

print(weight.is_leaf, weight)
torch.testing.assert_close(weight.detach(), torch.tensor(5.0 / 2**3))

# %%
# To learn through the update, use torch.autograd.grad
# ----------------------------------------------------
#
# Meta-learning wants the history: the rate itself is learned. Ask for the
# gradient with ``create_graph=True`` and never look at ``.grad``. Two steps give
# ``5 * (1 - 2 * rate)**2``, whose derivative is ``-20 * (1 - 2 * rate)``.

rate = torch.tensor(0.25, requires_grad=True)
weight = torch.tensor(5.0, requires_grad=True)
for _ in range(2):
    (gradient,) = torch.autograd.grad(weight**2, weight, create_graph=True)
    weight = weight - rate * gradient
weight.backward()

print(rate.grad)
torch.testing.assert_close(rate.grad, -20 * (1 - 2 * rate.detach()))

# %%
# What only hides the error
# -------------------------
#
# The warning suggests ``retain_grad``, and with it the loop runs. It is not the
# loop you meant. Every step hangs on the one before: the graph grows, and each
# backward walks all the way back to the first weight. The gradient left there is
# a sum over all steps and belongs to none of them.

start = weight = torch.tensor(5.0, requires_grad=True)
for _ in range(3):
    weight.retain_grad()
    (weight**2).backward()
    weight = weight - 0.25 * weight.grad

print(start.grad)
assert not torch.equal(start.grad, 2 * start.detach())

# %%
# Related: `leaf-sgd-step`, `grad-of-nonleaf`, `case-linear-regression`.
