# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = ["non-scalar/dataparallel-gathered-loss"]
# cause-of = "backward-non-scalar"
# when = { frame = "data_parallel|DataParallel" }
# ///
"""
DataParallel returns one loss for each GPU
==========================================

Your model computes the loss in its own forward and runs under ``DataParallel``.
Every GPU returns one number, and they are gathered into a vector.
"""

import traceback

import torch

# %%
# The error
# ---------
#
# On one device nothing is wrong. Here four replicas work on four parts of the
# batch, as ``DataParallel`` runs them, and their losses are gathered.

parts = torch.tensor([[1.0, 2.0], [3.0, 1.0], [0.0, 1.0], [2.0, 2.0]])


def model(weight, part):
    return (part * weight).square().mean()


def gathered(weight):
    return torch.stack([model(weight, part) for part in parts])


weight = torch.tensor([1.0, 2.0], requires_grad=True)
loss = gathered(weight)
print(loss.shape)

try:
    loss.backward()
except RuntimeError:
    traceback.print_exc()

# %%
# Take the mean over the GPUs
# ---------------------------
#
# Each number is the mean over an equal share of the batch, so the mean of them
# is the mean over the batch. The gradient is the one a single device computes.

weight = torch.tensor([1.0, 2.0], requires_grad=True)
gathered(weight).mean().backward()

expected = (2 * parts.square() * weight.detach()).sum(dim=0) / parts.numel()
print(weight.grad)
torch.testing.assert_close(weight.grad, expected)

# %%
# ``mean`` of a scalar is the scalar, so the line may stay when you train on one
# device.
#
# If the shares differ, weight them
# ---------------------------------
#
# The last batch of an epoch seldom divides evenly. Return the sum and the count
# from forward and divide at the end.

shares = [parts[:3], parts[3:]]
weight = torch.tensor([1.0, 2.0], requires_grad=True)
sums = torch.stack([(share * weight).square().sum() for share in shares])
counts = torch.tensor([share.numel() for share in shares])
(sums.sum() / counts.sum()).backward()

print(weight.grad)
torch.testing.assert_close(weight.grad, expected)

# %%
# Or use one process per GPU
# --------------------------
#
# With `DDP` every process has its own scalar loss and averages the gradients
# itself; the vector never comes up. See `ddp-unused-parameters` for what it
# asks for in return.
#
# What only hides the error
# -------------------------
#
# ``loss.backward(torch.ones_like(loss))`` adds the replicas up. The gradient, and
# with it the step, grows with the number of GPUs.

weight = torch.tensor([1.0, 2.0], requires_grad=True)
loss = gathered(weight)
loss.backward(torch.ones_like(loss))

print(weight.grad, "is", weight.grad / expected, "times the right one")
torch.testing.assert_close(weight.grad, len(parts) * expected)
assert not torch.allclose(weight.grad, expected)

# %%
# See also
# --------
#
# * `backward-non-scalar`: the other causes of the message
# * `backward-gradient-shape`
