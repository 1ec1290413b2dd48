# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# cause-of = "leaf-inplace"
# when = { frame = "sgd|step|update_" }
# causes = [
#     "leaf-inplace/manual-sgd-step",
#     "leaf-moved-interior/manual-sgd-step",
#     "inventory/leaf-inplace-sgd-update",
# ]
# ///
"""
A weight updated by hand in a training loop
===========================================

You wrote the update step yourself, and ``-=`` on a weight is an
`in-place operation` on a `leaf tensor`. The update is not part of the model,
so autograd must not record it.
"""

import traceback

import torch

# %%
# The error
# ---------
#
# One step of gradient descent on a slope, for a line through two points.

x, y = torch.tensor([1.0, 2.0]), torch.tensor([2.0, 4.0])
slope = torch.tensor(0.0, requires_grad=True)

((slope * x - y) ** 2).sum().backward()
try:
    slope -= 0.05 * slope.grad
except RuntimeError:
    traceback.print_exc()

# %%
# Update under no_grad, and clear the gradient
# --------------------------------------------
#
# Each step removes half of the error: the loss is 5 times the squared
# distance to 2, so its derivative is 10 times the distance, and a twentieth of
# that is one half.

slope = torch.tensor(0.0, requires_grad=True)
for _ in range(5):
    ((slope * x - y) ** 2).sum().backward()
    with torch.no_grad():
        slope -= 0.05 * slope.grad
    slope.grad = None

print(slope)
torch.testing.assert_close(slope.detach(), torch.tensor(2.0 - 2.0 * 0.5**5))

# %%
# Or let an optimizer write
# -------------------------
#
# ``torch.optim.SGD`` does the same, for every `parameter` you give it.

slope = torch.tensor(0.0, requires_grad=True)
optimizer = torch.optim.SGD([slope], lr=0.05)
for _ in range(5):
    optimizer.zero_grad()
    ((slope * x - y) ** 2).sum().backward()
    optimizer.step()

print(slope)
torch.testing.assert_close(slope.detach(), torch.tensor(2.0 - 2.0 * 0.5**5))

# %%
# What only hides the error
# -------------------------
#
# "Write it out of place" gives the name ``slope`` to a result. It has a
# history, it is no leaf, and the second step finds no gradient on it.

slope = torch.tensor(0.0, requires_grad=True)
((slope * x - y) ** 2).sum().backward()
slope = slope - 0.05 * slope.grad

print(slope.is_leaf, slope.grad_fn)
assert not slope.is_leaf

# draw: slope

# %%
# "Use ``.data``" works here, and it stops the check that would catch the next
# mistake. Two losses share one forward, and the weight moves between their
# backward passes. The second gradient is computed from a weight that forward
# never saw, in silence:

weight = torch.tensor(3.0, requires_grad=True)
first, second = weight * 1.0, weight**2
first.backward()
weight.data -= 1.0 * weight.grad
weight.grad = None
second.backward()

right = torch.tensor(2 * 3.0)
print("got", weight.grad, "instead of", right)
assert weight.grad != right

# timeline: weight

# %%
# The same lines under `no_grad` are refused, which is what you want to hear:

weight = torch.tensor(3.0, requires_grad=True)
first, second = weight * 1.0, weight**2
first.backward()
with torch.no_grad():
    weight -= 1.0 * weight.grad
weight.grad = None

refused = False
try:
    second.backward()
except RuntimeError:
    refused = True

print("refused:", refused)
assert refused

# %%
# - `leaf-inplace`, all causes of this message
# - `version-optimizer-step`, when the weight moves between two backward passes
# - `case-linear-regression`, the whole loop
# - `optimizer-non-leaf`, what the out-of-place update leads to
