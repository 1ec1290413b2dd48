# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = ["inventory/optim-differentiable-leaf"]
# cause-of = "leaf-inplace"
# when = { frame = "torch[/\\\\]optim" }
# ///
"""
A differentiable optimizer given leaf parameters
================================================

You created an `optimizer` with ``differentiable=True`` over ordinary
parameters. It then records its own step, and the step writes into each
`parameter`, which is a `leaf tensor` that autograd must not change.
"""

import traceback

import torch

# %%
# The error
# ---------
#
# You want to learn the learning rate, so that the step itself must be part of
# the graph.

weight = torch.tensor([3.0], requires_grad=True)
optimizer = torch.optim.SGD([weight], lr=0.25, differentiable=True)
(weight**2).sum().backward()

try:
    optimizer.step()
except RuntimeError:
    traceback.print_exc()

# %%
# `torch.no_grad`, the usual remedy for this message, changes nothing: the option
# switches recording on again inside the step.

try:
    with torch.no_grad():
        optimizer.step()
except RuntimeError:
    traceback.print_exc()

# %%
# Switch it off for ordinary training
# -----------------------------------
#
# Without the option ``step`` runs unrecorded. One step goes from 3 to
# ``3 - 0.25 * 6``.

weight = torch.tensor([3.0], requires_grad=True)
optimizer = torch.optim.SGD([weight], lr=0.25)
(weight**2).sum().backward()
optimizer.step()

print(weight)
torch.testing.assert_close(weight.detach(), torch.tensor([3.0 - 0.25 * 6.0]))

# %%
# To learn through the step, write the step yourself
# --------------------------------------------------
#
# A step is one line, and out of place it needs no option. The new weight is
# ``weight - rate * 2 * weight``; after it the loss is the square of that. By
# hand, the derivative of this loss by the rate is ``2 * new * (-2 * weight)``.

weight = torch.tensor([3.0], requires_grad=True)
rate = torch.tensor([0.25], requires_grad=True)

(gradient,) = torch.autograd.grad((weight**2).sum(), weight, create_graph=True)
new_weight = weight - rate * gradient
(new_weight**2).sum().backward()

print(new_weight, rate.grad)
torch.testing.assert_close(rate.grad, torch.tensor([2 * 1.5 * (-2 * 3.0)]))

# %%
# To keep the optimizer's formula, let it step on a clone
# -------------------------------------------------------
#
# A `clone` is no leaf, so the write is recorded, and with this option the
# optimizer accepts it. Take the gradient from the tensor that stays unchanged.
# The derivative of the new weight by the old one is ``1 - 2 * 0.25``.

weight = torch.tensor([3.0], requires_grad=True)
fast = weight.clone()
optimizer = torch.optim.SGD([fast], lr=0.25, differentiable=True)

(fast.grad,) = torch.autograd.grad((weight**2).sum(), weight, create_graph=True)
optimizer.step()
(slope,) = torch.autograd.grad(fast.sum(), weight)

print(fast, slope)
torch.testing.assert_close(slope, torch.tensor([1 - 2 * 0.25]))

# %%
# See also
# --------
#
# * `optimizer-options`
# * `optimizer-non-leaf`
# * `leaf-inplace`
