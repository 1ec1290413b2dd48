# /// script
# requires-python = ">=3.10"
# dependencies = ["torch", "numpy"]
#
# [tool.autograd-errors]
# causes = ["inventory/mp-queue-non-leaf"]
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "Cowardly refusing to serialize non-leaf tensor which requires_grad, since autograd does not support crossing process boundaries.  If you just want to transfer the data, call detach() on the tensor before serializing (e.g., putting it on the queue)."
# source = "torch/multiprocessing/reductions.py"
# ///
"""
A tensor with a history sent to another process
===============================================

You put a tensor that autograd computed on a queue, or returned one from a
worker. The `computational graph` behind it lives in this process and cannot
travel, so PyTorch refuses rather than dropping it without a word.
"""

import traceback

import torch
import torch.multiprocessing as multiprocessing

# %%
# The error
# ---------
#
# An actor computes features and hands them to a learner through a pipe, which
# serializes as a queue and the result of a worker do.

weight = torch.tensor([1.0, 2.0], requires_grad=True)
features = weight * 3
receiver, sender = multiprocessing.Pipe()

try:
    sender.send(features)
except RuntimeError:
    traceback.print_exc()

# %%
# A tensor without history is what travels:

print(features.is_leaf, features.grad_fn, features.detach().is_leaf)

# %%
# To send values, detach them
# ---------------------------
#
# The receiver gets numbers. This is right for rewards, logged losses and
# observations. An array is copied into the pipe; a tensor would travel as shared
# memory.

sender.send(features.detach().numpy())
received = torch.from_numpy(receiver.recv())

print(received)
torch.testing.assert_close(received, torch.tensor([3.0, 6.0]))

# %%
# To train across processes, send the gradient back
# -------------------------------------------------
#
# Cut the chain rule where the processes meet. The receiver makes the values a
# `leaf tensor`, computes its loss, and returns the gradient of the leaf. The
# sender continues from there. The loss ``sum(features**2)`` is
# ``sum(9 * weight**2)``, so the gradient is ``18 * weight``.

sender.send(features.detach().numpy())

# in the receiver
leaf = torch.from_numpy(receiver.recv()).requires_grad_()
(leaf**2).sum().backward()
receiver.send(leaf.grad.numpy())

# back in the sender
features.backward(torch.from_numpy(sender.recv()))

print(weight.grad)
torch.testing.assert_close(weight.grad, 18 * weight.detach())

# %%
# What only hides the error
# -------------------------
#
# Detaching and setting ``requires_grad`` on the other side makes backward run
# there, but the gradient ends at the new leaf. Without the way back ``weight``
# never learns.

weight = torch.tensor([1.0, 2.0], requires_grad=True)
received = (weight * 3).detach().requires_grad_()
(received**2).sum().backward()

print(received.grad, weight.grad)
assert weight.grad is None

# %%
# See also
# --------
#
# * `copy-pickle`
# * `backward-no-grad-fn`: what the receiver sees if nothing requires a gradient
