# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "version-counter/optimizer-step-between",
#     "inventory/optimizer-step-inside-graph-version",
#     "inventory/version-modified-inplace-leaf-optimizer-step",
# ]
# cause-of = "version-modified"
# when = { node = "^((AsStrided|T)(Backward\\d*)?)?$", shape = "^\\[?(?!1,)\\d+(, ?\\d+)*\\]?$", tensor_type = "(?:Float|Double|Half|BFloat16)Tensor" }
# ///
"""
An optimizer stepped between forward and backward
=================================================

You called ``step()`` after one loss and then ran backward through another loss
that was computed before it. The step changed the weights in place, and the
second backward needs the weights that its forward used.
"""

import copy
import traceback

import torch
from torch import nn

# %%
# The error
# ---------
#
# A GAN computes both losses first, then updates the discriminator, then the
# generator. Actor and critic, or two losses of one network, fail the same way.

torch.manual_seed(0)
first_generator = nn.Linear(2, 3, bias=False)
first_discriminator = nn.Sequential(
    nn.Linear(3, 4, bias=False), nn.Tanh(), nn.Linear(4, 1, bias=False)
)
noise, real = torch.ones(2, 2), torch.zeros(2, 3)


def new_networks():
    """Return equal networks and optimizers for each section."""
    generator, discriminator = copy.deepcopy((first_generator, first_discriminator))
    return (
        generator,
        discriminator,
        torch.optim.SGD(generator.parameters(), lr=0.5),
        torch.optim.SGD(discriminator.parameters(), lr=0.5),
    )


generator, discriminator, g_optimizer, d_optimizer = new_networks()
fake = generator(noise)
d_loss = discriminator(fake.detach()).mean() - discriminator(real).mean()
g_loss = -discriminator(fake).mean()

d_loss.backward()
d_optimizer.step()
try:
    g_loss.backward()
except RuntimeError:
    traceback.print_exc()

# %%
# The shape in the message is the last layer's weight, transposed as a linear
# layer uses it. ``step()`` raised its `version counter`:

print(list(discriminator[2].weight.shape), discriminator[2].weight._version)

# draw: g_loss

# %%
# If the generator meets the updated discriminator, compute its loss after the step
# ---------------------------------------------------------------------------------
#
# This is the usual order. The generator's gradient is checked by moving one
# weight a little, with `finite differences`.

generator, discriminator, g_optimizer, d_optimizer = new_networks()
fake = generator(noise)
d_loss = discriminator(fake.detach()).mean() - discriminator(real).mean()
d_optimizer.zero_grad()
d_loss.backward()
d_optimizer.step()

g_loss = -discriminator(fake).mean()
g_optimizer.zero_grad()
g_loss.backward()


def slope_of_g_loss():
    """Return the derivative of the generator's loss by its first weight, by differences."""
    losses = []
    with torch.no_grad():
        for change in (0.01, -0.01):
            moved = copy.deepcopy(generator)
            moved.weight[0, 0] += change
            losses.append(-discriminator(moved(noise)).mean())
    return (losses[0] - losses[1]) / 0.02


print(generator.weight.grad[0, 0], slope_of_g_loss())
torch.testing.assert_close(generator.weight.grad[0, 0], slope_of_g_loss(), rtol=1e-3, atol=1e-4)
g_optimizer.step()

# %%
# If both use the old weights, ask for each network's own gradient
# ----------------------------------------------------------------
#
# Give each backward the parameters it is for, and step when both are done.
# Without ``inputs`` the generator's loss would add its gradient to the
# discriminator's.

generator, discriminator, g_optimizer, d_optimizer = new_networks()
fake = generator(noise)
d_loss = discriminator(fake.detach()).mean() - discriminator(real).mean()
g_loss = -discriminator(fake).mean()

d_loss.backward(inputs=list(discriminator.parameters()))
g_loss.backward(inputs=list(generator.parameters()))

alone = copy.deepcopy(discriminator)
(right,) = torch.autograd.grad(alone(fake.detach()).mean() - alone(real).mean(), alone[0].weight)
torch.testing.assert_close(discriminator[0].weight.grad, right)
torch.testing.assert_close(generator.weight.grad[0, 0], slope_of_g_loss(), rtol=1e-3, atol=1e-4)
d_optimizer.step()
g_optimizer.step()

# %%
# If both losses train the same network, add them
# -----------------------------------------------
#
# One backward over the sum and one step. The gradients add up anyway.

weight = nn.Parameter(torch.tensor([1.0, 2.0]))
optimizer = torch.optim.SGD([weight], lr=0.1)
policy_loss, value_loss = (weight**2).sum(), (weight**3).sum()

try:
    policy_loss.backward(retain_graph=True)
    optimizer.step()
    value_loss.backward()
except RuntimeError:
    traceback.print_exc()

weight = nn.Parameter(torch.tensor([1.0, 2.0]))
optimizer = torch.optim.SGD([weight], lr=0.1)
((weight**2).sum() + (weight**3).sum()).backward()

print(weight.grad)
torch.testing.assert_close(weight.grad, 2 * weight.detach() + 3 * weight.detach() ** 2)
optimizer.step()

# %%
# What only hides the error
# -------------------------
#
# The most popular answer moves both steps to the end and nothing else. It runs,
# and the discriminator is trained with the generator's loss as well. Here the
# two losses cancel, and it learns nothing from the fakes:

generator, discriminator, g_optimizer, d_optimizer = new_networks()
fake = generator(noise)
(discriminator(fake.detach()).mean() - discriminator(real).mean()).backward()
(-discriminator(fake).mean()).backward()

wrong = discriminator[0].weight.grad
print(wrong[0], right[0])
assert not torch.allclose(wrong, right, atol=1e-3)

# %%
# ``retain_graph=True`` keeps the graph, not the old weights. A fused optimizer
# writes without raising the version, so backward mixes new weights with old
# activations; `silent-fused-optimizer` has more on it. So did every optimizer
# in old releases, which is why "it worked before" is no proof:

generator, discriminator, g_optimizer, _ = new_networks()
d_optimizer = torch.optim.SGD(discriminator.parameters(), lr=0.5, fused=True)
fake = generator(noise)
before = torch.autograd.grad(-discriminator(fake).mean(), generator.weight, retain_graph=True)[0]
g_loss = -discriminator(fake).mean()
(discriminator(fake.detach()).mean() - discriminator(real).mean()).backward(retain_graph=True)
d_optimizer.step()
g_loss.backward()
after = torch.autograd.grad(-discriminator(generator(noise)).mean(), generator.weight)[0]

print(generator.weight.grad[0, 0], before[0, 0], after[0, 0])
assert not torch.allclose(generator.weight.grad, before, atol=1e-3)
assert not torch.allclose(generator.weight.grad, after, atol=1e-3)

# %%
# Spelling a line differently does not help either: ``torch.mean(net(x))`` is
# the same operation as ``net(x).mean()``. What helped was that the edited line
# ran the network again, after the step.
#
# See also
# --------
#
# * `version-graph-reused`: the graph was made before a training loop
# * `version-hidden-state`: a recurrent state connects the steps
# * `a public report about GANs <https://github.com/pytorch/pytorch/issues/39141>`__
