# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = ["silent/stale-gradients-of-other-network"]
# symptom = "My GAN only makes noise: the discriminator's step uses gradients the generator left behind."
# symptom-zh = "GAN 训练不收敛，只生成噪声：判别器的梯度里混入了生成器的梯度"
# ///
"""
Gradients that another network's loss left behind
=================================================

Two networks are trained in turns, and the loss of one flows through the other. Its
``backward`` fills the ``.grad`` of both, and the second step starts on top of that.
"""

import torch

# %%
# The mistake
# -----------
#
# A generator is scored by a discriminator, both a single weight. Each optimizer clears its
# own gradients, after its own step.

noise, real = torch.tensor(2.0), torch.tensor(5.0)


def networks():
    generator = torch.nn.Parameter(torch.tensor(3.0))
    critic = torch.nn.Parameter(torch.tensor(0.5))
    return (
        generator,
        critic,
        torch.optim.SGD([generator], lr=0.0),
        torch.optim.SGD([critic], lr=0.0),
    )


def generator_loss(generator, critic):
    return -critic * (generator * noise)


def critic_loss(generator, critic):
    return critic * (generator * noise).detach() - critic * real


generator, critic, generator_optimizer, critic_optimizer = networks()

generator_loss(generator, critic).backward()
generator_optimizer.step()
generator_optimizer.zero_grad()
print("left in the critic:", critic.grad)

critic_loss(generator, critic).backward()
critic_optimizer.step()
critic_optimizer.zero_grad(set_to_none=False)

# %%
# The critic's loss has the slope ``fake - real``. What its step used is another number:

generator, critic, *_ = networks()
fake = (generator * noise).detach()
generator_loss(generator, critic).backward()
critic_loss(generator, critic).backward()

print("used", critic.grad, "instead of", fake - real)
torch.testing.assert_close(critic.grad, -fake + (fake - real))
assert critic.grad != fake - real

# %%
# Even the sign is turned round: the critic is moved the way that the generator wants.
#
# Clear right before the backward that counts
# -------------------------------------------
#
# Whatever was left there does not matter then.

generator, critic, generator_optimizer, critic_optimizer = networks()

generator_optimizer.zero_grad()
generator_loss(generator, critic).backward()
generator_optimizer.step()

critic_optimizer.zero_grad()
critic_loss(generator, critic).backward()
critic_optimizer.step()

print(critic.grad)
torch.testing.assert_close(critic.grad, fake - real)

# %%
# Or say for whom backward is
# ---------------------------
#
# ``inputs`` limits which leaves are filled, and the other network stays untouched. The
# generator's slope is ``-critic * noise``.

generator, critic, *_ = networks()
generator_loss(generator, critic).backward(inputs=[generator])

print(generator.grad, critic.grad)
torch.testing.assert_close(generator.grad, -critic.detach() * noise)
assert critic.grad is None

# %%
# Or freeze the judge while the other learns
# ------------------------------------------
#
# Frameworks call it toggling. It also saves the work of the gradients nobody wants.

generator, critic, *_ = networks()
critic.requires_grad_(False)
generator_loss(generator, critic).backward()
critic.requires_grad_(True)

torch.testing.assert_close(generator.grad, -critic.detach() * noise)
assert critic.grad is None

# %%
# What does not help
# ------------------
#
# Detaching the fake in the generator's loss as well. The generator then gets nothing, and the
# critic is filled all the same. Detach in the *critic's* loss only.

generator, critic, *_ = networks()
(-critic * (generator * noise).detach()).backward()

print(generator.grad, critic.grad)
assert generator.grad is None
assert critic.grad is not None

# %%
# See also
# --------
#
# * `silent-gradients-add-up`: one network and no reset
# * `version-optimizer-step`: the step between forward and backward
# * `backward-twice-two-losses`
