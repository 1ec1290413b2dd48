# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "silent/silent-grad-accumulates",
#     "silent/silent-zero-grad-after-backward",
#     "silent/silent-grad-reference-zeroed",
#     "silent/silent-shared-grad-tensor",
# ]
# symptom = "Training diverges or nothing changes: I am not sure where zero_grad belongs."
# symptom-zh = "忘记 zero_grad 或放错位置，训练发散或参数不变"
# ///
"""
Gradients that are not reset, or reset at the wrong time
========================================================

``backward`` adds to ``.grad``, and you did not reset it between steps, or reset it
between ``backward`` and ``step``.
"""

import torch

# %%
# The mistake
# -----------
#
# Two iterations without ``zero_grad``: the second gradient is the sum of both.

weight = torch.tensor([1.0], requires_grad=True)
for _ in range(2):
    (weight * 3.0).sum().backward()

print(weight.grad)
assert weight.grad != 3.0

# %%
# The reset in the wrong line: nothing is ever trained.

weight = torch.tensor([1.0], requires_grad=True)
optimizer = torch.optim.SGD([weight], lr=0.1)
for _ in range(2):
    (weight * 3.0).sum().backward()
    optimizer.zero_grad()
    optimizer.step()

print(weight)
assert weight == 1.0

# %%
# A gradient that was kept for later is the tensor that the reset fills with zeros, and one
# that two parameters share is scaled twice:

weight = torch.tensor([1.0], requires_grad=True)
(weight * 3.0).sum().backward()
kept = weight.grad
torch.optim.SGD([weight], lr=0.1).zero_grad(set_to_none=False)
print(kept)
assert kept == 0.0

first, second = torch.ones(1, requires_grad=True), torch.ones(1, requires_grad=True)
first.grad = second.grad = torch.tensor([2.0])
for parameter in (first, second):
    parameter.grad.mul_(0.5)
print(first.grad)
assert first.grad == 0.5

# %%
# Reset, backward, step
# ---------------------
#
# In this order every iteration starts from nothing.

weight = torch.tensor([1.0], requires_grad=True)
optimizer = torch.optim.SGD([weight], lr=0.1)
for _ in range(2):
    optimizer.zero_grad()
    (weight * 3.0).sum().backward()
    optimizer.step()

print(weight.grad, weight)
torch.testing.assert_close(weight.grad, torch.tensor([3.0]))
torch.testing.assert_close(weight.detach(), torch.tensor([1.0 - 2 * 0.1 * 3.0]))

# %%
# To use a large batch in parts, accumulate on purpose
# ----------------------------------------------------
#
# `gradient accumulation` divides each loss by the number of parts: the result is that of
# the whole batch.

weight = torch.tensor([1.0], requires_grad=True)
batch = torch.tensor([1.0, 2.0, 3.0, 6.0])
for part in batch.split(2):
    ((weight * part).mean() / 2).backward()

print(weight.grad)
torch.testing.assert_close(weight.grad, batch.mean().reshape(1))

# %%
# To keep a gradient, copy it
# ---------------------------

weight = torch.tensor([1.0], requires_grad=True)
(weight * 3.0).sum().backward()
kept = weight.grad.clone()
torch.optim.SGD([weight], lr=0.1).zero_grad(set_to_none=False)

torch.testing.assert_close(kept, torch.tensor([3.0]))

# %%
# What does not help
# ------------------
#
# A smaller learning rate hides the growing gradients for a while. They grow with the
# number of iterations.

weight = torch.tensor([1.0], requires_grad=True)
optimizer = torch.optim.SGD([weight], lr=0.001)
for _ in range(5):
    (weight * 3.0).sum().backward()
    optimizer.step()
print(weight.grad)
assert weight.grad == 5 * 3.0
