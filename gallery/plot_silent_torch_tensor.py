# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "silent/loss-rebuilt-with-torch-tensor",
#     "silent/silent-torch-tensor-of-list",
# ]
# symptom = "My loss is flat: I build it with torch.tensor([...]) from other losses."
# symptom-zh = "loss 不下降，我用 torch.tensor 把多个 loss 组合起来"
# shows = ["numpy-scalar-conversion"]
# ///
"""
Rebuilding a tensor with torch.tensor
=====================================

You collected results in a list and made a tensor of them with ``torch.tensor``, which
copies numbers. The new tensor knows nothing of where they came from.
"""

import torch

# %%
# The mistake
# -----------
#
# Losses of several batches are put together. There is a warning about numbers, and a loss
# that does not require grad.

weight = torch.tensor(2.0, requires_grad=True)
losses = [weight * 1.0, weight * 3.0]

total = torch.tensor(losses).sum()
print(total.requires_grad)
assert not total.requires_grad

# %%
# With ``requires_grad=True``, as many answers have it, ``backward`` runs and reaches
# nothing.

total = torch.tensor([loss.item() for loss in losses], requires_grad=True).sum()
total.backward()
print(weight.grad)
assert weight.grad is None

# %%
# Stack the tensors
# -----------------
#
# `torch.stack` makes a new dimension, `torch.cat` joins along one, ``sum`` adds up.

weight = torch.tensor(2.0, requires_grad=True)
losses = [weight * 1.0, weight * 3.0]
torch.stack(losses).sum().backward()

print(weight.grad)
torch.testing.assert_close(weight.grad, torch.tensor(1.0 + 3.0))

# %%
# For a total, add as you go
# --------------------------

weight = torch.tensor(2.0, requires_grad=True)
total = sum(weight * factor for factor in (1.0, 3.0))
total.backward()

print(weight.grad)
torch.testing.assert_close(weight.grad, torch.tensor(1.0 + 3.0))

# %%
# What does not help
# ------------------
#
# Setting `requires_grad` on the rebuilt loss silences `backward-no-grad-fn` and trains
# nothing: after a step of the `optimizer` the weight is what it was.

weight = torch.nn.Parameter(torch.tensor(2.0))
optimizer = torch.optim.SGD([weight], lr=1.0)
loss = torch.tensor((weight * 3.0).item()).requires_grad_()
loss.backward()
optimizer.step()

print(weight)
assert weight == 2.0
