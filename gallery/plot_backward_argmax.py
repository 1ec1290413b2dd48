# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "no-grad-fn/argmax-in-loss",
#     "inventory/grad-no-grad-fn-argmax-loss",
#     "grad-none/non-differentiable-op",
# ]
# cause-of = "backward-no-grad-fn"
# ///
"""
The loss is computed from argmax
================================

You turned scores into class numbers with ``argmax`` before computing the loss.
A class number is an integer that jumps, it has no slope, so autograd ends the
graph there.
"""

import traceback

import torch

# %%
# The error
# ---------
#
# The loss compares predicted classes with the right ones.

scores = torch.tensor([[2.0, 1.0, 0.0], [0.0, 1.0, 3.0]], requires_grad=True)
target = torch.tensor([0, 1])
predicted = scores.argmax(dim=1)
loss = (predicted.float() - target).pow(2).mean()

try:
    loss.backward()
except RuntimeError:
    traceback.print_exc()

# %%
# The graph ends at the integers. Turning them into floats does not bring it
# back.

print(scores.requires_grad, predicted.dtype, predicted.requires_grad)
assert not predicted.float().requires_grad

# draw: loss, scores

# %%
# For training, use a loss that reads the scores
# ----------------------------------------------
#
# Cross entropy takes the scores and the class numbers. Its gradient is the
# probability of each class, less one for the right class, over the batch.

scores = torch.tensor([[2.0, 1.0, 0.0], [0.0, 1.0, 3.0]], requires_grad=True)
torch.nn.functional.cross_entropy(scores, target).backward()

right = torch.tensor([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
print(scores.grad)
torch.testing.assert_close(scores.grad, (scores.detach().softmax(dim=1) - right) / 2)

# %%
# If you need the position itself, take its expected value
# --------------------------------------------------------
#
# A keypoint or a disparity is a position. Weight the positions with the
# probabilities: this *soft argmax* is smooth, and goes to the argmax as the
# scores are scaled up.

scores = torch.tensor([[2.0, 1.0, 0.0]], dtype=torch.float64, requires_grad=True)
positions = torch.arange(3, dtype=torch.float64)


def soft_argmax(scores):
    return (scores.softmax(dim=1) * positions).sum(dim=1)


soft_argmax(scores).sum().backward()

probability = scores.detach().softmax(dim=1)
centered = positions - (probability * positions).sum()
print(scores.grad)
torch.testing.assert_close(scores.grad, probability * centered)
assert torch.autograd.gradcheck(soft_argmax, (scores,))

# %%
# If forward must be hard, let the gradient pass straight through
# ---------------------------------------------------------------
#
# The value is the hard choice, the gradient that of the softmax. This is not
# the derivative of what forward computes; it is a choice that often trains.

scores = torch.tensor([[2.0, 1.0, 0.0]], requires_grad=True)
soft = scores.softmax(dim=1)
hard = torch.nn.functional.one_hot(scores.argmax(dim=1), 3).float()
choice = hard + soft - soft.detach()
value = torch.tensor([1.0, 2.0, 4.0])
(choice * value).sum().backward()

print(choice.detach(), scores.grad)
torch.testing.assert_close(choice.detach(), hard)
chance = soft.detach()
torch.testing.assert_close(scores.grad, chance * (value - (chance * value).sum()))

# %%
# What only hides the error
# -------------------------
#
# ``requires_grad_`` on the class numbers gives them a gradient. It ends there,
# and the scores get nothing.

scores = torch.tensor([[2.0, 1.0, 0.0], [0.0, 1.0, 3.0]], requires_grad=True)
predicted = scores.argmax(dim=1).float().requires_grad_()
(predicted - target).pow(2).mean().backward()

print(predicted.grad, scores.grad)
assert scores.grad is None

# %%
# See also
# --------
#
# * `backward-no-grad-fn`: the other causes of the message
# * `silent-step-functions`: the same mistake without a message
