# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = ["version-counter/graph-reused-across-steps"]
# cause-of = "version-modified"
# when = { node = "^(AsStrided|T)(Backward\\d*)?$", shape = "^\\[?(?!1,)\\d+, ?\\d+\\]?$" }
# ///
"""
A result from before the loop is used in every step
===================================================

You computed something once, before the training loop, and run backward through
it in every step. After the first step its weights have other values than the
ones that made it.
"""

import copy
import traceback

import torch
from torch import nn

# %%
# The error
# ---------
#
# The fake image is made once, and the generator is trained on it three times.
# ``retain_graph=True`` is there because the second round asked for it.

torch.manual_seed(0)
start = nn.Sequential(nn.Linear(2, 3, bias=False), nn.Tanh(), nn.Linear(3, 2, bias=False)).double()
noise = torch.ones(1, 2, dtype=torch.float64)

generator = copy.deepcopy(start)
optimizer = torch.optim.SGD(generator.parameters(), lr=0.1)
fake = generator(noise)

try:
    for _ in range(3):
        optimizer.zero_grad()
        loss = (fake**2).sum()
        loss.backward(retain_graph=True)
        optimizer.step()
except RuntimeError:
    traceback.print_exc()

# draw: fake

# %%
# The first round is right. The second one needs the weights from before the
# first ``step()``, and the `version counter` says that they are gone.
#
# Compute it again in each step
# -----------------------------
#
# The line moves into the loop, and ``retain_graph`` goes. `finite differences`
# confirm each step's gradient.


def by_differences(network, change=1e-6):
    """Return the derivative of the loss by the first weight of *network*."""
    losses = []
    with torch.no_grad():
        for sign in (1.0, -1.0):
            moved = copy.deepcopy(network)
            moved[0].weight[0, 0] += sign * change
            losses.append((moved(noise) ** 2).sum())
    return (losses[0] - losses[1]) / (2 * change)


generator = copy.deepcopy(start)
optimizer = torch.optim.SGD(generator.parameters(), lr=0.1)

for _ in range(3):
    optimizer.zero_grad()
    fake = generator(noise)
    (fake**2).sum().backward()
    print(generator[0].weight.grad[0, 0])
    torch.testing.assert_close(generator[0].weight.grad[0, 0], by_differences(generator))
    optimizer.step()

# %%
# If the result must stay fixed, detach it
# ----------------------------------------
#
# A target or a cached feature that is not trained needs no graph. It is a number
# like the data, and only the part after it learns.

encoder = copy.deepcopy(start)
with torch.no_grad():
    features = encoder(noise)

head = nn.Parameter(torch.ones(2, dtype=torch.float64))
optimizer = torch.optim.SGD([head], lr=0.5)
for _ in range(3):
    optimizer.zero_grad()
    ((features @ head) ** 2).sum().backward()
    by_hand = 2 * (features @ head).detach() * features[0]
    torch.testing.assert_close(head.grad, by_hand)
    optimizer.step()
print(head.grad)

# %%
# What only hides the error
# -------------------------
#
# Stepping through `.data`, as optimizers of old releases did, keeps the check
# from noticing. The gradient then mixes the old activations with the new upper
# weights, and belongs to no network at all:

generator = copy.deepcopy(start)
fake = generator(noise)
for _ in range(2):
    generator.zero_grad()
    (fake**2).sum().backward(retain_graph=True)
    stale = generator[0].weight.grad[0, 0]
    right = by_differences(generator)
    for weight in generator.parameters():
        weight.data -= 0.1 * weight.grad

print(stale, right)
assert not torch.allclose(stale, right, rtol=1e-2)

# %%
# See also
# --------
#
# * `version-optimizer-step`: two losses, one step between them
# * `a public report <https://github.com/tamarott/SinGAN/issues/148>`__
