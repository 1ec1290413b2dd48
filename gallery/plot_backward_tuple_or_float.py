# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = ["inventory/backward-tuple-output", "inventory/loss-is-python-float"]
#
# [[tool.autograd-errors.error]]
# raises = "AttributeError"
# message = "'<type>' object has no attribute 'backward'"
# source = "Python"
# ///
"""
The loss is a tuple, a dict or a number
=======================================

You called ``backward`` on something that is not a tensor: the whole output of a
model, or a number that was taken out of a tensor with ``.item()``.
"""

import traceback

import torch

# %%
# The error
# ---------
#
# A training loop adds up the losses of a batch for the log, and then trains on
# the log.

weight = torch.tensor([1.0, 2.0], requires_grad=True)
batch = [torch.tensor([1.0, 0.0]), torch.tensor([0.0, 1.0])]

total = 0.0
for sample in batch:
    total += ((weight - sample) ** 2).sum().item()
try:
    total.backward()
except AttributeError:
    traceback.print_exc()

# %%
# The type in the message says what you have: ``float`` comes from ``.item()``, from
# ``float(...)`` or from a sum that never got a tensor; ``tuple``, ``dict`` or
# ``list`` from a model with several outputs; ``NoneType`` from a function without
# a ``return``.
#
# Keep tensors for the loss and numbers for the log
# -------------------------------------------------
#
# The sum of the tensors has a graph. The gradient is the sum of ``2 (w - s)``.

weight = torch.tensor([1.0, 2.0], requires_grad=True)
total, logged = 0.0, 0.0
for sample in batch:
    loss = ((weight - sample) ** 2).sum()
    total = total + loss
    logged += loss.item()
total.backward()

print(logged, weight.grad)
torch.testing.assert_close(weight.grad, 2 * (2 * weight.detach() - batch[0] - batch[1]))

# %%
# If the type is tuple, take the loss out
# ---------------------------------------
#
# A recurrent layer returns its outputs and its states.

weight = torch.tensor([1.0, 2.0], requires_grad=True)


def model(sample):
    difference = weight - sample
    return (difference**2).sum(), difference


try:
    model(batch[0]).backward()
except AttributeError:
    traceback.print_exc()

loss, difference = model(batch[0])
loss.backward()

print(weight.grad)
torch.testing.assert_close(weight.grad, 2 * difference.detach())

# %%
# If it is a dict of losses, sum its values
# -----------------------------------------
#
# Detection models return one loss for each part in training. They go into one
# backward.

weight = torch.tensor([1.0, 2.0], requires_grad=True)
losses = {"fit": ((weight - batch[0]) ** 2).sum(), "size": weight.sum()}
try:
    losses.backward()
except AttributeError:
    traceback.print_exc()

sum(losses.values()).backward()

print(weight.grad)
torch.testing.assert_close(weight.grad, 2 * (weight.detach() - batch[0]) + 1)

# %%
# What only hides the error
# -------------------------
#
# A number wrapped into ``torch.tensor(..., requires_grad=True)`` has a ``backward``.
# It leads nowhere.

weight = torch.tensor([1.0, 2.0], requires_grad=True)
number = ((weight - batch[0]) ** 2).sum().item()
torch.tensor(number, requires_grad=True).backward()

print(weight.grad)
assert weight.grad is None

# %%
# See also
# --------
#
# * `backward-rewrapped`: what a tensor made from a number answers
# * `backward-constant-branch`: a sum that got no tensor in this batch
# * `silent-item`: the number is only a part of the loss
