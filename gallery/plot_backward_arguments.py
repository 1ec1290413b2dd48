# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "inventory/grad-gradient-float-arg",
#     "inventory/grad-gradient-wrong-type",
#     "inventory/backward-gradient-requires-scalar-list",
#     "inventory/grad-tensors-gradients-count",
#     "inventory/grad-outputs-wrong-type",
#     "inventory/grad-outputs-wrong-type-with-grad",
#     "inventory/backward-inputs-empty",
#     "inventory/backward-inputs-mapping",
#     "inventory/backward-grad-variables-both",
#     "inventory/backward-grad-variables-deprecated",
# ]
#
# [[tool.autograd-errors.error]]
# raises = "TypeError"
# message = "'float' object is not iterable"
# source = "torch/autograd/__init__.py"
#
# [[tool.autograd-errors.error]]
# raises = "TypeError"
# message = "gradients can be either Tensors or None, but got <type>"
# source = "torch/autograd/__init__.py"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "got <tensors> tensors and <gradients> gradients"
# source = "torch/csrc/autograd/python_engine.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "AssertionError"
# message = "Expected output to be a torch.Tensor"
# source = "torch/autograd/__init__.py"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "`inputs` argument to `backward()` cannot be empty."
# source = "torch/autograd/__init__.py"
#
# [[tool.autograd-errors.error]]
# raises = "TypeError"
# message = "`inputs` argument to `backward()` must be a dict, not <type>. Other Mapping types are not supported."
# source = "torch/autograd/__init__.py"
#
# [[tool.autograd-errors.error]]
# raises = "FutureWarning"
# message = "`grad_variables` is deprecated. Use `grad_tensors` instead."
# source = "torch/autograd/__init__.py"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "`grad_tensors` and `grad_variables` (deprecated) arguments both passed to `backward()`. Please only use `grad_tensors`."
# source = "torch/autograd/__init__.py"
# ///
"""
An argument of backward that does not fit
=========================================

You passed ``backward`` a gradient or a list of inputs of the wrong kind. It takes
tensors only: one gradient, of the output's shape, for each output.
"""

import traceback
from collections import OrderedDict

import torch

# %%
# The errors
# ----------
#
# A loss is scaled by handing the factor to ``backward``.

weight = torch.tensor([1.0, 2.0], requires_grad=True)

try:
    (weight**2).sum().backward(0.5)
except TypeError:
    traceback.print_exc()

# %%
# The argument is the starting gradient, not an option. Multiply the loss, or pass
# a tensor; half of ``2 w`` is ``w``.

weight.grad = None
(0.5 * (weight**2).sum()).backward()
print(weight.grad)
torch.testing.assert_close(weight.grad, weight.detach())

weight.grad = None
(weight**2).sum().backward(torch.tensor(0.5))
torch.testing.assert_close(weight.grad, weight.detach())

# %%
# A list of numbers
# -----------------
#
# Numbers in a list get another message. For an output of two elements, pass a
# tensor of two.

weight = torch.tensor([1.0, 2.0], requires_grad=True)
try:
    (weight**2).backward([1.0, 1.0])
except TypeError:
    traceback.print_exc()

try:
    torch.autograd.backward([(weight**2).sum()], [1.0])
except TypeError:
    traceback.print_exc()

(weight**2).backward(torch.tensor([1.0, 1.0]))
print(weight.grad)
torch.testing.assert_close(weight.grad, 2 * weight.detach())

# %%
# Several losses and one gradient
# -------------------------------
#
# Each output needs its own gradient, or ``None`` for a one. Without the second
# argument all of them start from one, which is the gradient of their sum.

weight = torch.tensor([1.0, 2.0], requires_grad=True)
losses = [(weight**2).sum(), weight.sum()]
try:
    torch.autograd.backward(losses, [torch.tensor(1.0)])
except RuntimeError:
    traceback.print_exc()

torch.autograd.backward(losses)
print(weight.grad)
torch.testing.assert_close(weight.grad, 2 * weight.detach() + 1)

# %%
# A number among the losses
# -------------------------
#
# One entry of the list is not a tensor, with a gradient or without. Leave it out:
# a number has nothing to differentiate.

weight = torch.tensor([1.0, 2.0], requires_grad=True)
losses = [(weight**2).sum(), 3.0]
try:
    torch.autograd.backward(losses)
except AssertionError:
    traceback.print_exc()

try:
    torch.autograd.backward([3.0], [torch.ones(1)])
except AssertionError:
    traceback.print_exc()

torch.autograd.backward([loss for loss in losses if isinstance(loss, torch.Tensor)])
torch.testing.assert_close(weight.grad, 2 * weight.detach())

# %%
# An empty list of inputs
# -----------------------
#
# ``inputs`` limits which leaves get a gradient. An empty list is most often a
# filter that matched nothing. Without the argument every leaf gets one.

weight = torch.tensor([1.0, 2.0], requires_grad=True)
bias = torch.tensor(1.0, requires_grad=True)
named = {"weight": weight, "bias": bias}
try:
    (weight.sum() + bias).backward(inputs=[p for n, p in named.items() if n == "head"])
except RuntimeError:
    traceback.print_exc()

(weight.sum() + bias).backward(inputs=[bias])
print(weight.grad, bias.grad)
assert weight.grad is None
torch.testing.assert_close(bias.grad, torch.tensor(1.0))

# %%
# Inputs in a special mapping
# ---------------------------
#
# A plain ``dict`` is accepted, an ``OrderedDict`` is not, although it is one too.

weight = torch.tensor([1.0, 2.0], requires_grad=True)
inputs = OrderedDict(weight=weight)
try:
    weight.sum().backward(inputs=inputs)
except TypeError:
    traceback.print_exc()

weight.sum().backward(inputs=list(inputs.values()))
torch.testing.assert_close(weight.grad, torch.ones(2))

# %%
# The old name grad_variables
# ---------------------------
#
# Before tensors and variables were one, the gradients were called
# ``grad_variables``. The name still works with a warning, and both names together
# are refused. Use ``grad_tensors``.

weight = torch.tensor([1.0, 2.0], requires_grad=True)
torch.autograd.backward(weight * 3, grad_variables=torch.ones(2))
old = weight.grad

try:
    torch.autograd.backward(weight * 3, torch.ones(2), grad_variables=torch.ones(2))
except RuntimeError:
    traceback.print_exc()

weight.grad = None
torch.autograd.backward(weight * 3, grad_tensors=torch.ones(2))
print(weight.grad)
torch.testing.assert_close(weight.grad, torch.full((2,), 3.0))
torch.testing.assert_close(weight.grad, old)

# %%
# See also
# --------
#
# * `backward-gradient-shape`: a tensor of the wrong shape
# * `backward-non-scalar`: no gradient, and one is needed
# * `grad-arguments`: the same for `torch.autograd.grad`
