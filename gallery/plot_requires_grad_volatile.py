# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "inventory/legacy-variable-volatile", "inventory/volatile-set", "inventory/volatile-read",
#     "inventory/legacy-variable-volatile-and-requires-grad",
# ]
# shows = ["data-set"]
#
# [[tool.autograd-errors.error]]
# raises = "UserWarning"
# message = "volatile was removed and now has no effect. Use `with torch.no_grad():` instead."
# source = "torch/csrc/autograd/python_legacy_variable.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "UserWarning"
# message = "volatile was removed (Variable.volatile is always False)"
# source = "torch/csrc/autograd/python_variable.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "ValueError"
# message = "Variable can't be volatile and require_grad at the same time!"
# source = "torch/csrc/autograd/python_legacy_variable.cpp"
# ///
"""
Old code with Variable and volatile
===================================

You run code from the time when a tensor had to be wrapped in a ``Variable`` to
get a gradient. Every tensor can have one today, and the flag ``volatile`` is gone:
it is accepted and has no effect.
"""

import traceback

import torch
from torch.autograd import Variable

# %%
# The warnings
# ------------
#
# The old script evaluates a model without recording, as one did then.

weight = torch.tensor([1.0, 2.0], requires_grad=True)
image = Variable(torch.ones(2), volatile=True)

# %%
# Setting or reading the attribute warns as well:

image.volatile = True
print(image.volatile)

# %%
# "No effect" is meant literally. A volatile input used to switch off recording
# for everything computed from it, and now the graph grows in memory:

output = (weight * image).sum()
print(output.requires_grad, output.grad_fn)
assert output.requires_grad

# %%
# Instead of volatile, use no_grad
# --------------------------------
#
# `torch.no_grad` switches off recording for a block, whatever the inputs are.
# Outside, the same code learns as before: the gradient is the image.

image = torch.tensor([3.0, 4.0])
with torch.no_grad():
    output = (weight * image).sum()
print(output.requires_grad)
assert not output.requires_grad

(weight * image).sum().backward()
torch.testing.assert_close(weight.grad, image)

# %%
# Instead of Variable, use the tensor
# -----------------------------------
#
# A ``Variable`` of a tensor is that tensor with another flag, sharing its memory.
# ``Variable(x, requires_grad=True)`` is ``x.detach().requires_grad_()``.

image = torch.tensor([3.0, 4.0])
wrapped = Variable(image, requires_grad=True)
(wrapped**2).sum().backward()

print(type(wrapped).__name__, wrapped.data_ptr() == image.data_ptr(), image.requires_grad)
torch.testing.assert_close(wrapped.grad, 2 * image)

modern = image.detach().requires_grad_()
(modern**2).sum().backward()
torch.testing.assert_close(modern.grad, wrapped.grad)

# %%
# Keep one of two contradicting flags
# -----------------------------------
#
# Both flags at once meant nothing even then. Decide whether you want a gradient.

try:
    Variable(torch.ones(2), volatile=True, requires_grad=True)
except ValueError:
    traceback.print_exc()

x = torch.ones(2, requires_grad=True)
(3 * x).sum().backward()
torch.testing.assert_close(x.grad, torch.full((2,), 3.0))

# %%
# Make a list a tensor first
# --------------------------
#
# ``Variable`` never converted anything. ``torch.tensor`` does.

try:
    Variable([1.0, 2.0])
except TypeError:
    traceback.print_exc()

x = torch.tensor([1.0, 2.0], requires_grad=True)
(x**2).sum().backward()
torch.testing.assert_close(x.grad, 2 * x.detach())

# %%
# What only hides the error
# -------------------------
#
# ``Variable(loss, requires_grad=True)`` is still copied into new code, to make
# ``backward`` run where `backward-no-grad-fn` was raised. It makes a new leaf of
# the loss, and nothing behind it learns.

weight = torch.tensor([1.0, 2.0], requires_grad=True)
loss = Variable((weight**2).sum(), requires_grad=True)
loss.backward()

print(loss.grad, weight.grad)
assert weight.grad is None
