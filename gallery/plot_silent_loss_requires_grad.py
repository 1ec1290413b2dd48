# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = ["silent/silent-loss-requires-grad-fix"]
# symptom = "Since I wrote loss.requires_grad = True the error is gone, but the loss is flat and all weights stay the same."
# symptom-zh = "加了 loss.requires_grad = True（requires_grad_(True)）后不报错了，但 loss 不下降，权重不更新，准确率不变"
# ///
"""
The loss was made to require grad
=================================

You set ``requires_grad`` on the loss, because ``backward`` complained that it had
none. The loss became a `leaf tensor`: its gradient ends in itself, and no
weight is ever reached.
"""

import torch

# %%
# The mistake
# -----------
#
# A segmentation model is trained with a loss that thresholds the prediction. The
# error was silenced, and the training loop looks healthy.

torch.manual_seed(0)
data = torch.tensor([[1.0], [2.0], [3.0]])
mask = torch.tensor([[0.0], [1.0], [1.0]])


def train(loss_of, steps=20):
    model = torch.nn.Linear(1, 1)
    before = model.weight.detach().clone()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = loss_of(model(data))
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return model, before, losses


def hard_loss(prediction):
    loss = ((prediction > 0).float() - mask).abs().mean()
    loss.requires_grad = True
    return loss


model, before, losses = train(hard_loss)
print("losses seen:", len(set(losses)), "weight unchanged:", torch.equal(model.weight, before))
print(model.weight.grad)
assert len(set(losses)) == 1
assert torch.equal(model.weight, before)

# %%
# A loss should never be a leaf. This line tells the two apart at once:

loss = hard_loss(model(data))
print(loss.is_leaf, loss.grad_fn)
assert loss.is_leaf

# %%
# Find the operation that ended the graph
# ---------------------------------------
#
# Take the line out again, and print ``requires_grad`` step by step from the
# model to the loss.

prediction = model(data)
steps = {
    "prediction": prediction,
    "compared": prediction > 0,
    "difference": (prediction > 0).float() - mask,
}
print({name: value.requires_grad for name, value in steps.items()})
assert [value.requires_grad for value in steps.values()] == [True, False, False]

# %%
# Replace it by one that has a slope
# ----------------------------------
#
# A comparison is flat. The loss made for it, the binary cross entropy of the score,
# has the derivative ``(sigmoid(score) - mask) / n``.


def smooth_loss(prediction):
    return torch.nn.functional.binary_cross_entropy_with_logits(prediction, mask)


model, before, losses = train(smooth_loss)
print("loss falls:", losses[-1] < losses[0], "weight moves:", not torch.equal(model.weight, before))
assert losses[-1] < losses[0]

prediction = model(data)
(gradient,) = torch.autograd.grad(smooth_loss(prediction), prediction)
torch.testing.assert_close(gradient, (prediction.detach().sigmoid() - mask) / 3)

# %%
# Let the training loop refuse
# ----------------------------
#
# One line before ``backward`` finds every cut graph, also with a flag on the loss.

for loss, whole in ((hard_loss(model(data)), False), (smooth_loss(model(data)), True)):
    print(loss.grad_fn is not None)
    assert (loss.grad_fn is not None) == whole

# %%
# What does not help
# ------------------
#
# ``Variable(loss.data, requires_grad=True)`` is the same answer in an older spelling. It
# even cuts a loss that had a graph.

model = torch.nn.Linear(1, 1)
loss = torch.autograd.Variable(smooth_loss(model(data)).data, requires_grad=True)
loss.backward()

print(loss.grad, model.weight.grad)
assert model.weight.grad is None

# %%
# See also
# --------
#
# * `backward-no-grad-fn`: the message behind it, with its causes
# * `silent-step-functions`: rounding, comparing and counting
