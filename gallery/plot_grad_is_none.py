# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "grad-none/zeroed-before-first-backward", "grad-none/cleared-by-zero-grad",
#     "inventory/grad-none-zero", "inventory/grad-none-arith", "inventory/grad-none-data",
#     "inventory/optim-zero-grad-then-grad-none",
# ]
# symptom = ".grad is None after backward()."
# symptom-zh = "调用 backward() 之后 .grad 是 None，梯度为 None"
#
# [[tool.autograd-errors.error]]
# raises = "AttributeError"
# message = "'NoneType' object has no attribute '<attribute>'"
# source = "Python"
#
# [[tool.autograd-errors.error]]
# raises = "TypeError"
# message = "unsupported operand type(s) for <operation>: '<type>' and 'NoneType'"
# source = "Python"
#
# [[tool.autograd-errors.error]]
# raises = "TypeError"
# message = "unsupported operand type(s) for <operation>: 'NoneType' and '<type>'"
# source = "Python"
# ///
"""
A gradient is used before there is one
======================================

You read ``.grad`` of a tensor and got ``None``, because no backward pass has put
a gradient there. The message is Python's, and it names what you wanted from the
gradient, not the tensor that has none.
"""

import traceback

import torch
from torch import nn

# %%
# The errors
# ----------
#
# A loop clears the gradient of its weight before the first backward:

weight = torch.ones(2, requires_grad=True)

try:
    weight.grad.zero_()
except AttributeError:
    traceback.print_exc()

# %%
# The same ``None`` in an update, in which the operator decides about the text:

try:
    weight.detach().sub_(0.1 * weight.grad)
except TypeError:
    traceback.print_exc()

# %%
# or with the gradient on the left:

try:
    weight.grad / 2
except TypeError:
    traceback.print_exc()

# %%
# How to read it
# --------------
#
# Look at the line it names for the tensor in front of ``.grad``, and ask that
# tensor three things just before the line. Here everything is in order, except
# that backward has not run.

print(weight.requires_grad, weight.is_leaf, weight.grad)

# %%
# * ``requires_grad`` is false: nobody asked for a gradient. Set it before
#   forward: `requires-grad-set`.
# * ``is_leaf`` is false: the gradient went to the `leaf tensor` behind it.
#   ``x.to(...)`` and ``weight = weight - ...`` do that: `grad-of-nonleaf`,
#   `grad-none-after-update`.
# * both true: backward has not run yet, or ``zero_grad`` has run since, or the
#   loss does not depend on the tensor. The sections below tell them apart. If
#   the model does use it, the way is cut in between:
#   `grad-none-not-differentiable`.
#
# If backward has not run yet, set None instead of zero
# -----------------------------------------------------
#
# ``None`` is the empty gradient. Assigning it works before the first backward as
# well as after the tenth. By hand, the gradient of ``sum(weight**2)`` is
# ``2 * weight``.

weight = torch.tensor([1.0, 2.0], requires_grad=True)
for _ in range(3):
    weight.grad = None
    (weight**2).sum().backward()

print(weight.grad)
torch.testing.assert_close(weight.grad, 2 * weight.detach())

# %%
# If you must keep the tensor that holds the gradient, ask first:
# ``if weight.grad is not None: weight.grad.zero_()``. An `optimizer` and a module
# do so in ``zero_grad``.
#
# If zero_grad came too early, read before it
# -------------------------------------------
#
# ``zero_grad`` does not write zeros. It sets ``None``, so a gradient norm logged
# after it has nothing to look at.

weight = nn.Parameter(torch.tensor([3.0, 4.0]))
optimizer = torch.optim.SGD([weight], lr=0.1)
(weight**2).sum().backward()
optimizer.step()
optimizer.zero_grad()

try:
    print(weight.grad.norm())
except AttributeError:
    traceback.print_exc()

# %%
# Log between backward and ``zero_grad``. By hand the gradient is ``(6, 8)``, and
# its norm the root of 36 + 64.

weight = nn.Parameter(torch.tensor([3.0, 4.0]))
optimizer = torch.optim.SGD([weight], lr=0.1)
optimizer.zero_grad()
(weight**2).sum().backward()
norm = weight.grad.norm()
optimizer.step()

print(norm)
torch.testing.assert_close(norm, torch.tensor(36.0 + 64.0).sqrt())

# %%
# ``zero_grad(set_to_none=False)`` brings the zeros back, for code that cannot be
# changed.

optimizer.zero_grad(set_to_none=False)
assert weight.grad is not None and not weight.grad.any()

# %%
# If the loss does not use the tensor, skip it
# --------------------------------------------
#
# One parameter of many takes no part in this loss. In a loop over all of them,
# ``None`` means exactly that, and it differs from zero: an optimizer leaves such
# a parameter alone, without momentum and weight decay.

model = nn.ModuleDict({"used": nn.Linear(2, 1), "spare": nn.Linear(2, 1)})
model["used"](torch.ones(1, 2)).sum().backward()

try:
    print(sum(p.grad.norm() for p in model.parameters()))
except AttributeError:
    traceback.print_exc()

# %%
# The inputs and the factor of the bias are all ones:

print([name for name, p in model.named_parameters() if p.grad is None])
total = sum(p.grad.norm() ** 2 for p in model.parameters() if p.grad is not None)
torch.testing.assert_close(total, torch.tensor(3.0))

# %%
# If it should have been used, ask for its gradient by name: then the answer is
# an error that says so, instead of ``None``. See `grad-unused-input`.
#
# What only hides the error
# -------------------------
#
# A check ``if p.grad is not None`` is right for a parameter that is meant to be
# unused, and wrong as a repair. This update loop runs quietly, and half of the
# model never changes: the ``.data`` in the middle has cut it off.

first, second = nn.Linear(2, 2), nn.Linear(2, 1)
before = first.weight.detach().clone()
second(first(torch.ones(1, 2)).data).sum().backward()
with torch.no_grad():
    for p in [*first.parameters(), *second.parameters()]:
        if p.grad is not None:
            p -= 0.1 * p.grad

print(torch.equal(first.weight, before))
assert torch.equal(first.weight, before)

# %%
# If a library raised it
# ----------------------
#
# ``'NoneType' object has no attribute`` is also what any other missing thing
# raises; it is about a gradient only if the line says ``.grad``. A library that
# reads ``p.grad.data`` of all parameters meets one of yours that is frozen or
# unused. Hand over ``[p for p in model.parameters() if p.requires_grad]``, or run
# a step first and take those that have a gradient.
#
# Am I right now?
# ---------------
#
# Compare one gradient with `finite differences`. Put your loss in place of
# this one, in double precision.


def loss(x):
    return (x**3).sum()


x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
step = torch.tensor([1e-5, 0.0], dtype=torch.float64)
loss(x).backward()
estimate = (loss(x.detach() + step) - loss(x.detach() - step)) / 2e-5
torch.testing.assert_close(x.grad[0], estimate)
