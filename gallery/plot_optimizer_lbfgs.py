# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "inventory/optim-lbfgs-no-closure",
#     "inventory/optim-lbfgs-closure-returns-none",
#     "inventory/optim-lbfgs-param-groups",
# ]
#
# [[tool.autograd-errors.error]]
# raises = "TypeError"
# message = "LBFGS.step() missing 1 required positional argument: 'closure'"
# source = "torch/optim/lbfgs.py"
#
# [[tool.autograd-errors.error]]
# raises = "TypeError"
# message = "float() argument must be a string or a real number, not 'NoneType'"
# source = "torch/optim/lbfgs.py"
#
# [[tool.autograd-errors.error]]
# raises = "ValueError"
# message = "LBFGS doesn't support per-parameter options (parameter groups)"
# source = "torch/optim/lbfgs.py"
# ///
"""
LBFGS called like another optimizer
===================================

``LBFGS`` tries several points within one step, so it must be able to compute
the loss again by itself. It wants a closure that does that and returns the
loss, and it treats all parameters as one vector.
"""

import traceback

import torch

# %%
# The errors
# ----------
#
# You replaced Adam by ``LBFGS`` in a training loop.

weight = torch.zeros(2, requires_grad=True)
target = torch.tensor([3.0, -1.0])
optimizer = torch.optim.LBFGS([weight])

((weight - target) ** 2).sum().backward()
try:
    optimizer.step()
except TypeError:
    traceback.print_exc()

# %%
# A closure that computes the loss but does not return it fails with a message
# that speaks of ``float``, since ``LBFGS`` reads the loss as a number.


def forgetful():
    optimizer.zero_grad()
    ((weight - target) ** 2).sum().backward()


try:
    optimizer.step(forgetful)
except TypeError:
    traceback.print_exc()

# %%
# Two groups with options of their own are not possible.

bias = torch.zeros(1, requires_grad=True)

try:
    torch.optim.LBFGS([{"params": [weight]}, {"params": [bias], "lr": 0.1}])
except ValueError:
    traceback.print_exc()

# %%
# Write a closure that clears, computes, and returns
# --------------------------------------------------
#
# Clear the gradients inside, since the closure runs more than once in a step.
# The minimum of ``sum((weight - target)**2)`` is ``target``, and there the
# gradient is 0.

weight = torch.zeros(2, requires_grad=True)
optimizer = torch.optim.LBFGS([weight])
calls = 0


def closure():
    global calls
    calls += 1
    optimizer.zero_grad()
    loss = ((weight - target) ** 2).sum()
    loss.backward()
    return loss


first_loss = optimizer.step(closure)

print(weight, weight.grad, calls)
torch.testing.assert_close(weight.detach(), target)
torch.testing.assert_close(first_loss.detach(), (target**2).sum())
assert calls > 1

# %%
# Put all parameters into one list
# --------------------------------
#
# For options that differ, use one ``LBFGS`` for each group, each with a closure,
# or another `optimizer`. Here both parameters share the options, and their sum
# becomes the target.

weight = torch.zeros(2, requires_grad=True)
bias = torch.zeros(1, requires_grad=True)
optimizer = torch.optim.LBFGS([weight, bias])


def joint_closure():
    optimizer.zero_grad()
    loss = ((weight + bias - target) ** 2).sum()
    loss.backward()
    return loss


optimizer.step(joint_closure)

print((weight + bias).detach())
torch.testing.assert_close((weight + bias).detach(), target)

# %%
# What only hides the error
# -------------------------
#
# A closure that returns a loss computed outside satisfies both checks. It
# computes nothing, so all points of the search look the same, and the gradient
# is the one of the starting point. The result should be ``target``.

weight = torch.zeros(2, requires_grad=True)
optimizer = torch.optim.LBFGS([weight])
loss = ((weight - target) ** 2).sum()
loss.backward()
optimizer.step(lambda: loss)

print(weight)
assert not torch.allclose(weight.detach(), target)

# %%
# See also
# --------
#
# * `backward-no-grad-fn`: a closure that runs without recording
# * `backward-twice`: a closure that reuses an old forward
