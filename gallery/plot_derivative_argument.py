# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "inventory/not-differentiable-argument",
#     "inventory/not-differentiable-bn-running-stats",
# ]
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "The function '<operation>' is not differentiable with respect to argument '<argument>'. This input cannot have requires_grad True."
# source = "torch/csrc/autograd/VariableTypeUtils.h"
# reworded = true
# ///
"""
An argument that cannot have a gradient
=======================================

You passed a tensor that requires grad for an argument that the operation
treats as a constant, such as the class weights of a loss.
"""

import traceback

import torch

# %%
# The error
# ---------
#
# Someone wants the weights of the classes to be learned.

logits = torch.zeros(2, 3)
labels = torch.tensor([0, 1])
class_weight = torch.ones(3, requires_grad=True)

try:
    torch.nn.functional.cross_entropy(logits, labels, weight=class_weight)
except RuntimeError:
    traceback.print_exc()

# %%
# It raises in the `forward pass`, so the line in the traceback is the guilty
# one. Running statistics of a batch norm say the same:

try:
    torch.nn.functional.batch_norm(
        torch.ones(4, 2), torch.zeros(2, requires_grad=True), torch.ones(2)
    )
except RuntimeError:
    traceback.print_exc()

# %%
# If the weights are constants, detach them
# -----------------------------------------
#
# Class weights counted from data need no gradient. A `buffer` is the place for
# them in a module.

logits = torch.zeros(2, 3, requires_grad=True)
loss = torch.nn.functional.cross_entropy(logits, labels, weight=class_weight.detach())
loss.backward()

print(logits.grad)
uniform = torch.full((2, 3), 1.0 / 3)
torch.testing.assert_close(logits.grad, (uniform - torch.eye(3)[labels]) / 2)

# %%
# To learn them, write the loss out
# ---------------------------------
#
# The weighted mean of the unweighted losses is the same number, and every
# factor in it has a derivative.


def weighted_cross_entropy(logits, labels, weight):
    losses = torch.nn.functional.cross_entropy(logits, labels, reduction="none")
    return (losses * weight[labels]).sum() / weight[labels].sum()


logits = torch.tensor([[0.0, 1.0, 2.0], [1.0, 0.0, 1.0]], dtype=torch.float64, requires_grad=True)
class_weight = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64, requires_grad=True)
loss = weighted_cross_entropy(logits, labels, class_weight)
loss.backward()

print(class_weight.grad)
torch.testing.assert_close(
    loss, torch.nn.functional.cross_entropy(logits, labels, weight=class_weight.detach())
)
assert torch.autograd.gradcheck(
    lambda logits, weight: weighted_cross_entropy(logits, labels, weight), (logits, class_weight)
)

# %%
# What only hides the error
# -------------------------
#
# ``weight=class_weight.data`` inside the training step runs as well, and the
# optimizer steps on. The weights stay what they were, for they never get a
# gradient.

class_weight = torch.nn.Parameter(torch.ones(3))
optimizer = torch.optim.SGD([class_weight], lr=1.0)
logits = torch.zeros(2, 3, requires_grad=True)
torch.nn.functional.cross_entropy(logits, labels, weight=class_weight.data).backward()
optimizer.step()

print(class_weight.grad, class_weight)
assert class_weight.grad is None
