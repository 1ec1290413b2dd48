# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = ["second-backward/shared-subgraph", "inventory/backward-twice-two-losses"]
# cause-of = "backward-twice"
# when = { frame = "(?:loss|err)_?(?:[a-dgABDG]|[1-9])\\b|[a-z]+_loss\\.backward" }
# ///
"""
Two losses share one forward pass
=================================

Two losses are computed from the same features, and each gets its own
``backward``. The first one frees the shared part that the second needs.
"""

import traceback

import torch

# %%
# The error
# ---------
#
# A trunk feeds two tasks.

weight = torch.tensor([2.0], requires_grad=True)
features = weight**2
loss_a = (features - 1).square().sum()
loss_b = features.exp().sum()

loss_a.backward()
try:
    loss_b.backward()
except RuntimeError:
    traceback.print_exc()

# draw: loss_a, loss_b

# %%
# To train on both, add them up
# -----------------------------
#
# A gradient of a sum is the sum of the gradients. One backward walks the trunk
# once, which is also faster. By hand, with ``f = w**2``, it is
# ``(2 (f - 1) + exp(f)) 2 w``.

weight = torch.tensor([2.0], requires_grad=True)
features = weight**2
loss = (features - 1).square().sum() + features.exp().sum()
loss.backward()

w = weight.detach()
expected = (2 * (w**2 - 1) + (w**2).exp()) * 2 * w
print(weight.grad)
torch.testing.assert_close(weight.grad, expected)

# %%
# If both gradients are needed apart, retain once
# -----------------------------------------------
#
# Balancing tasks needs each gradient. Both come from one forward pass and
# unchanged weights, so ``retain_graph=True`` on the *first* is right. The last
# call must not have it, or the graph stays in memory.

weight = torch.tensor([2.0], requires_grad=True)
features = weight**2
loss_a, loss_b = (features - 1).square().sum(), features.exp().sum()
(grad_a,) = torch.autograd.grad(loss_a, weight, retain_graph=True)
(grad_b,) = torch.autograd.grad(loss_b, weight)

print(grad_a, grad_b)
torch.testing.assert_close(grad_a + grad_b, expected)

# %%
# If one loss must not reach the trunk, detach it there
# -----------------------------------------------------
#
# A discriminator learns from pictures, not from the generator that drew them. Its
# own input is `detached`, and the two backward passes share nothing.

generator = torch.tensor([2.0], requires_grad=True)
critic = torch.tensor([3.0], requires_grad=True)
fake = generator**2

(critic * fake.detach()).sum().backward()
print(critic.grad, generator.grad)
torch.testing.assert_close(critic.grad, fake.detach())
assert generator.grad is None

(-critic.detach() * fake).sum().backward()
print(generator.grad)
torch.testing.assert_close(generator.grad, -3.0 * 2 * generator.detach())

# %%
# What only hides the error
# -------------------------
#
# ``retain_graph=True`` on both is the popular answer. With two networks the
# losses flow into each other: here the critic's loss, which is to teach the
# critic only, leaves its gradient in the generator.

generator = torch.tensor([2.0], requires_grad=True)
critic = torch.tensor([3.0], requires_grad=True)
fake = generator**2
(critic * fake).sum().backward(retain_graph=True)
(-critic * fake).sum().backward(retain_graph=True)

right = -3.0 * 2 * generator.detach()
print("got", generator.grad, critic.grad, "instead of", right)
assert not torch.allclose(generator.grad, right)

# %%
# See also
# --------
#
# * `backward-twice`: the other causes of the message
# * `version-optimizer-step`: what comes next if a step stands between the two
# * `silent-other-network`: gradients left behind by the other loss
