# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "requires-grad-flag/attribute-vs-method", "requires-grad-flag/non-leaf-parameter",
#     "inventory/requires-grad-change-non-leaf", "inventory/requires-grad-change-non-leaf-method",
#     "inventory/requires-grad-int-setter", "inventory/requires-grad-int-method",
#     "inventory/requires-grad-int-constructor", "inventory/requires-grad-int-arange-factory",
#     "inventory/requires-grad-int-parameter", "inventory/requires-grad-not-bool",
# ]
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "you can only change requires_grad flags of leaf variables. If you want to use a computed variable in a subgraph that doesn't require differentiation use var_no_grad = var.detach()."
# source = "torch/csrc/autograd/variable.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "you can only change requires_grad flags of leaf variables."
# source = "torch/csrc/autograd/variable.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "Only Tensors of floating point and complex dtype can require gradients"
# source = "torch/csrc/autograd/variable.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "only Tensors of floating point and complex dtype can require gradients"
# source = "torch/csrc/autograd/python_variable.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "only Tensors of floating point dtype can require gradients"
# source = "torch/csrc/autograd/generated/python_variable_methods.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "requires_grad must be a bool"
# source = "torch/csrc/autograd/python_variable.cpp"
# ///
"""
Setting requires_grad where it cannot be set
============================================

You set the flag of a tensor that cannot have it the way you want. `requires_grad`
is yours to choose on a `leaf tensor` of real or complex numbers, and nowhere
else: a computed tensor has it from its inputs, an integer never.
"""

import traceback

import torch
from torch import nn

# %%
# The errors
# ----------
#
# The first layer of a network should be frozen, so you turn off gradients for
# its output.

layer = nn.Linear(2, 2, bias=False)
hidden = layer(torch.ones(1, 2))

try:
    hidden.requires_grad_(False)
except RuntimeError:
    traceback.print_exc()

# %%
# Turning them on raises the first half of that text, even where they are on.

try:
    hidden.requires_grad = True
except RuntimeError:
    traceback.print_exc()

# %%
# The reason is the same: the flag of a result is not a choice, it follows from
# the inputs. Autograd has recorded how ``hidden`` came about.

print(hidden.is_leaf, hidden.requires_grad, hidden.grad_fn)

# %%
# To freeze a layer, set the flag on its parameters
# -------------------------------------------------
#
# The parameters are the leaves. The module's own ``requires_grad_`` reaches all
# of them. What comes after the layer still learns: the gradient of its weight
# is its input. The frozen weights are all one half, so that is a row of ones.

frozen, head = nn.Linear(2, 2, bias=False), nn.Linear(2, 1, bias=False)
nn.init.constant_(frozen.weight, 0.5)
frozen.requires_grad_(False)
x = torch.ones(1, 2)
head(frozen(x)).sum().backward()

print(frozen.weight.grad, head.weight.grad)
assert frozen.weight.grad is None
torch.testing.assert_close(head.weight.grad, torch.ones(1, 2))

# %%
# To stop the gradient at this place only, detach
# -----------------------------------------------
#
# ``detach`` gives the same value without history. Other uses of ``hidden`` keep
# theirs. With ``weight**2 * constant`` and the constant equal to ``weight**2``,
# the gradient is ``2 * weight**3``; without `detach` it would be
# ``4 * weight**3``.

weight = torch.tensor(3.0, requires_grad=True)
hidden = weight**2
(hidden * hidden.detach()).backward()

print(weight.grad)
torch.testing.assert_close(weight.grad, 2 * weight.detach() ** 3)

# %%
# If you meant the whole module, call the method
# ----------------------------------------------
#
# ``module.requires_grad = False`` raises nothing and freezes nothing. It hangs
# an attribute on the module that nobody reads; ``requires_grad_``, with the
# underscore, is the method.

layer = nn.Linear(2, 2)
layer.requires_grad = False
print([p.requires_grad for p in layer.parameters()])
assert all(p.requires_grad for p in layer.parameters())

layer.requires_grad_(False)
print([p.requires_grad for p in layer.parameters()])
assert not any(p.requires_grad for p in layer.parameters())

# %%
# Integers: three spellings of one rule
# -------------------------------------
#
# A gradient tells how the loss changes with a small step, and an integer has no
# small step. ``torch.tensor([1, 2])`` makes integers because it was given
# integers. Which text you see depends on where you asked: at the creation,
# which includes ``nn.Parameter``,

try:
    torch.tensor([1, 2], requires_grad=True)
except RuntimeError:
    traceback.print_exc()

# %%
# at the attribute,

counts = torch.arange(3)
try:
    counts.requires_grad = True
except RuntimeError:
    traceback.print_exc()

# %%
# or at the method, which forgets to mention complex numbers. They are accepted.

try:
    counts.requires_grad_()
except RuntimeError:
    traceback.print_exc()

assert torch.zeros(2, dtype=torch.complex64).requires_grad_().requires_grad

# %%
# If the values are quantities, make them floats
# ----------------------------------------------
#
# A decimal point is enough, and so is a `dtype`. Convert before you set the
# flag, so that the converted tensor is the leaf: the reverse order is
# `grad-of-nonleaf`.

x = torch.tensor([1.0, 2.0], requires_grad=True)
(x**3).sum().backward()
torch.testing.assert_close(x.grad, 3 * x.detach() ** 2)

x = torch.arange(3).to(torch.float32).requires_grad_()
(x**3).sum().backward()
print(x.is_leaf, x.grad)
torch.testing.assert_close(x.grad, torch.tensor([0.0, 3.0, 12.0]))

# %%
# If the values are indices, leave them integers
# ----------------------------------------------
#
# Tokens and class numbers select; they are not learned. What they select from
# is. The first row of this table is used twice, the last never.

table = torch.zeros(3, 2, requires_grad=True)
tokens = torch.tensor([0, 0, 1])
table[tokens].sum().backward()

print(table.grad)
torch.testing.assert_close(table.grad[:, 0], torch.bincount(tokens, minlength=3).float())

# %%
# If the flag comes from elsewhere, make it a bool
# ------------------------------------------------
#
# A flag from a configuration file or from NumPy may be ``0``, ``1`` or a string.

x = torch.ones(2)
try:
    x.requires_grad = 1
except RuntimeError:
    traceback.print_exc()

x.requires_grad = bool(1)
(3 * x).sum().backward()
torch.testing.assert_close(x.grad, torch.full((2,), 3.0))

# %%
# What only hides the error
# -------------------------
#
# ``hidden.requires_grad_(True)`` raises nothing on a tensor that requires grad
# already, and changes nothing. ``hidden.data.requires_grad_(True)`` raises
# nothing either. It is a new leaf with the old value; the gradient arrives there
# and the layer in front of it no longer learns.

weight = torch.tensor([1.0, 2.0], requires_grad=True)
hidden = (3 * weight).data.requires_grad_(True)
(hidden**2).sum().backward()

print(hidden.grad, weight.grad)
assert weight.grad is None

# %%
# For integers, ``.float().requires_grad_()`` on indices only moves the trouble:
# floats cannot select anything, and rounding them back has no gradient.

position = torch.tensor([0, 0, 1]).float().requires_grad_()
print(position.round().long().requires_grad)
assert not position.round().long().requires_grad

# %%
# If a library raised it
# ----------------------
#
# * It loads a checkpoint with integer weights: `requires-grad-quantized`.
# * It freezes a model that is already wrapped or sharded: `requires-grad-sharded`.
# * You want the gradient of an activation: `requires-grad-intermediate`.
#
# Otherwise look for the last line of the traceback that is not PyTorch's. The
# tensor left of ``requires_grad`` is the one to ask for ``is_leaf`` and
# ``dtype``.
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
