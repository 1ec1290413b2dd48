# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = ["no-grad-fn/constant-branch"]
# cause-of = "backward-no-grad-fn"
# ///
"""
A loss that is a constant for some batches
==========================================

Your loss starts from ``torch.tensor(0.0)`` or returns a constant in one branch,
and this batch added nothing to it. The constant has no graph, so training stops
at the first batch without objects.
"""

import traceback

import torch

# %%
# The error
# ---------
#
# A detection loss sums over the objects of an image. The second image has none.

weight = torch.tensor([1.0, 2.0], requires_grad=True)


def detection_loss(boxes):
    loss = torch.tensor(0.0)
    for box in boxes:
        loss = loss + (weight - box).square().sum()
    return loss


detection_loss([torch.tensor([3.0, 3.0])]).backward()
try:
    detection_loss([]).backward()
except RuntimeError:
    traceback.print_exc()

# %%
# The first batch went through because one term was enough to record the sum.

print(detection_loss([torch.ones(2)]).requires_grad, detection_loss([]).requires_grad)

# %%
# If the batch has nothing to teach, skip it
# ------------------------------------------
#
# This is what you mean when the whole loss is empty. The `optimizer` step is
# left out as well, since momentum and weight decay would move the weights.

weight.grad = None
for boxes in ([torch.tensor([3.0, 3.0])], []):
    loss = detection_loss(boxes)
    if loss.requires_grad:
        loss.backward()

print(weight.grad)
torch.testing.assert_close(weight.grad, 2 * (torch.tensor([1.0, 2.0]) - 3.0))

# %%
# If every batch must run backward, make the zero out of the weights
# ------------------------------------------------------------------
#
# With `DDP` every process must take part in backward, or the others wait
# forever. An empty sum over predictions is zero, and it has a graph: the
# gradient is a zero tensor, not ``None``.


def detection_loss(boxes):
    predicted = weight.expand(len(boxes), 2)
    wanted = torch.stack(boxes) if boxes else torch.empty(0, 2)
    return (predicted - wanted).square().sum()


weight = torch.tensor([1.0, 2.0], requires_grad=True)
detection_loss([]).backward()
print(weight.grad)
torch.testing.assert_close(weight.grad, torch.zeros(2))

weight.grad = None
detection_loss([torch.tensor([3.0, 3.0])]).backward()
torch.testing.assert_close(weight.grad, 2 * (torch.tensor([1.0, 2.0]) - 3.0))

# %%
# What only hides the error
# -------------------------
#
# ``torch.tensor(0.0, requires_grad=True)`` as the start of the sum silences the
# message. The empty batch then runs backward into that constant, and the
# parameters keep ``None``. `DDP` still waits for them.

weight = torch.tensor([1.0, 2.0], requires_grad=True)
loss = torch.tensor(0.0, requires_grad=True)
loss.backward()

print(loss.grad, weight.grad)
assert weight.grad is None

# %%
# See also
# --------
#
# * `backward-no-grad-fn`: the other causes of the message
# * `backward-tuple-or-float`: the constant is a Python number
# * `ddp-unused-parameters`
