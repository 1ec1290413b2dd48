# /// script
# requires-python = ">=3.10"
# dependencies = ["matplotlib", "torch"]
#
# [tool.autograd-errors]
# causes = ["case/linear-regression", "leaf-inplace/manual-sgd-step"]
# symptom = "Linear regression trained by hand: the update line raises, or weight.grad is None, or the loss explodes."
# symptom-zh = "手写梯度下降训练线性回归：更新参数的那一行报错、weight.grad 变成 None、或损失越来越大"
# shows = ["leaf-inplace", "grad-of-nonleaf", "grad-is-none"]
# ///
"""
Case: a linear regression trained by hand
=========================================

A first training loop meets three of autograd's rules in three lines: the
update, the reset, and the order of both. From the error to ``torch.optim`` in
four steps, with the loss of each as a curve.
"""

import traceback

import matplotlib.pyplot as plt
import torch
from torch import nn

# %%
# The error
# ---------
#
# Four points lie on the line ``y = 2 * x``. The loop wants to find the two.

x = torch.tensor([1.0, 2.0, 3.0, 4.0])
y = 2 * x
rate = 0.05

weight = torch.tensor(0.0, requires_grad=True)
bias = torch.tensor(0.0, requires_grad=True)

loss = ((weight * x + bias - y) ** 2).mean()
loss.backward()
try:
    weight -= rate * weight.grad
except RuntimeError:
    traceback.print_exc()

# %%
# The gradient was computed, and it is right: the derivative of the mean of
# ``(weight * x + bias - y)**2`` is the mean of ``2 * x * (weight * x + bias - y)``.
# What autograd refuses is to record the update, because ``weight`` is a
# `leaf tensor`: a weight that is a result of the last weight has no end.

print(weight.grad)
torch.testing.assert_close(weight.grad, (2 * x * (0 * x + 0 - y)).mean())

# %%
# To know what a right loop gives, take one without autograd
# ----------------------------------------------------------
#
# With both derivatives written out by hand, plain numbers are enough. Every
# loop below has to find the same losses.


def by_hand(steps):
    weight, bias, losses = 0.0, 0.0, []
    points = list(zip(x.tolist(), y.tolist()))
    for _ in range(steps):
        errors = [weight * a + bias - b for a, b in points]
        losses.append(sum(e * e for e in errors) / len(points))
        weight -= rate * sum(2 * e * a for e, (a, _) in zip(errors, points)) / len(points)
        bias -= rate * sum(2 * e for e in errors) / len(points)
    return losses


expected = by_hand(100)

# %%
# Update under no_grad, and clear the gradients
# ---------------------------------------------
#
# The update is not part of the model. Inside `torch.no_grad` it is not recorded,
# and the weight stays the same leaf. Backward adds to ``.grad``, so each step
# starts with none.

weight = torch.tensor(0.0, requires_grad=True)
bias = torch.tensor(0.0, requires_grad=True)
manual = []
for _ in range(100):
    loss = ((weight * x + bias - y) ** 2).mean()
    loss.backward()
    with torch.no_grad():
        weight -= rate * weight.grad
        bias -= rate * bias.grad
    weight.grad = bias.grad = None
    manual.append(loss.item())

print(weight.is_leaf, f"{manual[0]:.4f} {manual[-1]:.4f}")
torch.testing.assert_close(torch.tensor(manual), torch.tensor(expected))

# %%
# Let an optimizer do it
# ----------------------
#
# `torch.optim.SGD` is these lines, for any number of parameters: ``step`` updates
# under ``no_grad``, ``zero_grad`` clears. The losses are the same.

weight = torch.tensor(0.0, requires_grad=True)
bias = torch.tensor(0.0, requires_grad=True)
optimizer = torch.optim.SGD([weight, bias], lr=rate)
optimized = []
for _ in range(100):
    loss = ((weight * x + bias - y) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    optimized.append(loss.item())

torch.testing.assert_close(torch.tensor(optimized), torch.tensor(expected))

# %%
# Let a module hold the parameters
# --------------------------------
#
# An article about the error above offers the next loop as its solution. It is a
# good loop, but no word of it writes a leaf in place; the ``step`` does. Its input
# has one column, and so must the target: a target without it would be compared
# with every row.

model = nn.Linear(1, 1)
nn.init.zeros_(model.weight)
nn.init.zeros_(model.bias)
optimizer = torch.optim.SGD(model.parameters(), lr=rate)
criterion = nn.MSELoss()
moduled = []
for _ in range(100):
    loss = criterion(model(x[:, None]), y[:, None])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    moduled.append(loss.item())

torch.testing.assert_close(torch.tensor(moduled), torch.tensor(expected))

# %%
# What only hides the error
# -------------------------
#
# ``weight = weight - rate * weight.grad`` raises nothing. The new ``weight`` is a
# `non-leaf tensor`, the result of the old one, so the second step finds no
# gradient in it.

weight = torch.tensor(0.0, requires_grad=True)
bias = torch.tensor(0.0, requires_grad=True)
for _ in range(2):
    loss = ((weight * x + bias - y) ** 2).mean()
    loss.backward()
    gradient = weight.grad
    try:
        weight = weight - rate * gradient
    except TypeError:
        traceback.print_exc()

assert gradient is None

# %%
# Leaving out the reset raises nothing either. Each step walks along the sum of
# all gradients so far, overshoots, and comes back too late.

weight = torch.tensor(0.0, requires_grad=True)
bias = torch.tensor(0.0, requires_grad=True)
never_cleared = []
for _ in range(100):
    loss = ((weight * x + bias - y) ** 2).mean()
    loss.backward()
    with torch.no_grad():
        weight -= rate * weight.grad
        bias -= rate * bias.grad
    never_cleared.append(loss.item())

assert max(never_cleared[50:]) > 100 * max(expected[50:])

# %%
# The losses
# ----------
#
# The three right loops lie on the curve computed without autograd. The one that
# never clears its gradients keeps swinging.

figure, axes = plt.subplots(figsize=(7, 4))
axes.semilogy(never_cleared, color="tab:red", label="gradients never cleared")
axes.semilogy(expected, color="tab:gray", linewidth=6, alpha=0.5, label="without autograd")
axes.semilogy(manual, color="tab:blue", label="no_grad, optimizer, module")
axes.set_xlabel("step")
axes.set_ylabel("mean squared error")
axes.legend(loc="lower left")
figure.tight_layout()

# %%
# Related: `leaf-sgd-step`, `leaf-inplace`, `grad-none-after-update`,
# `version-optimizer-step`.
