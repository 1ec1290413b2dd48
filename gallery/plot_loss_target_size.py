# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = ["inventory/loss-broadcast-target-size"]
# symptom = "The loss falls to a plateau, and the model predicts the same value for every input."
# symptom-zh = "loss 降到一个平台后不再下降，模型对所有输入都预测同一个值（平均值）"
#
# [[tool.autograd-errors.error]]
# raises = "UserWarning"
# message = "Using a target size (<target_size>) that is different to the input size (<input_size>). This will likely lead to incorrect results due to broadcasting. Please ensure they have the same size."
# source = "torch/nn/functional.py"
# ///
"""
Prediction and target have different shapes
===========================================

The prediction is a column and the target is a flat vector, or the other way
round. `broadcasting` then compares every prediction with every target, and the
loss pulls all predictions to the mean.
"""

import torch

# %%
# The warning
# -----------
#
# A regression model has one output, so its result is ``[4, 1]``. The labels come
# as ``[4]``.

prediction = torch.zeros(4, 1, requires_grad=True)
target = torch.tensor([1.0, 2.0, 3.0, 6.0])

loss = torch.nn.functional.mse_loss(prediction, target)
loss.backward()

print((prediction - target).shape, prediction.grad.flatten())

# %%
# Each prediction was compared with four labels. The best answer to four labels
# is their mean, so all four get the same gradient, ``2 (0 - mean) / 4``:

torch.testing.assert_close(prediction.grad.flatten(), (-2 * target.mean() / 4).expand(4))

# %%
# Training under this loss ends with the mean for every input:

fitted = torch.tensor([[0.0], [1.0], [2.0], [3.0]], requires_grad=True)
for _ in range(60):
    (gradient,) = torch.autograd.grad(((fitted - target) ** 2).mean(), fitted)
    fitted = (fitted - gradient).detach().requires_grad_()

print(fitted.detach().flatten(), target.mean())
torch.testing.assert_close(fitted.detach(), target.mean().expand(4, 1))

# %%
# Drop the extra dimension by its number
# --------------------------------------
#
# ``squeeze(1)`` removes the one that the last layer added. Say which: plain
# ``squeeze()`` also removes the batch dimension of a batch of one. The right
# gradient is ``2 (prediction - target) / 4``.

prediction = torch.zeros(4, 1, requires_grad=True)
torch.nn.functional.mse_loss(prediction.squeeze(1), target).backward()

print(prediction.grad.flatten())
torch.testing.assert_close(prediction.grad.flatten(), -2 * target / 4)

# %%
# Or give the target the shape of the prediction
# ----------------------------------------------
#
# ``view_as`` fits, or fails with an error if the numbers of elements differ.

prediction = torch.zeros(4, 1, requires_grad=True)
torch.nn.functional.mse_loss(prediction, target.view_as(prediction)).backward()

torch.testing.assert_close(prediction.grad.flatten(), -2 * target / 4)

# %%
# A loss you write yourself warns of nothing
# ------------------------------------------
#
# ``((prediction - target) ** 2).mean()`` broadcasts without a word. One line
# guards it.


def squared_error(prediction, target):
    assert prediction.shape == target.shape, (prediction.shape, target.shape)
    return ((prediction - target) ** 2).mean()


prediction = torch.zeros(4, 1, requires_grad=True)
squared_error(prediction.squeeze(1), target).backward()
torch.testing.assert_close(prediction.grad.flatten(), -2 * target / 4)

# %%
# What only hides the error
# -------------------------
#
# Broadcasting the tensors yourself makes the sizes equal and the warning go away.
# It is the same wrong loss.

prediction = torch.zeros(4, 1, requires_grad=True)
wide, tall = torch.broadcast_tensors(prediction, target)
torch.nn.functional.mse_loss(wide, tall).backward()

print(prediction.grad.flatten(), "instead of", -2 * target / 4)
assert not torch.allclose(prediction.grad.flatten(), -2 * target / 4)

# %%
# See also
# --------
#
# * `backward-non-scalar`: the loss still has elements
# * `backward-gradient-shape`
