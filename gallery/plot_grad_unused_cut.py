# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = ["unused/hidden-by-no-grad", "unused/perturbation-not-connected"]
# cause-of = "grad-unused-input"
# symptom = "Guidance or an attack has no effect, the gradient of the latent is None or zero."
# symptom-zh = "引导或对抗扰动没有效果，对输入 latent 的梯度是 None"
# ///
"""
The tensor was used where nothing was recorded
==============================================

You differentiate the loss by an input, and the way from the input to the loss
was cut: a part ran under ``no_grad``, or stored its result detached, or the
input was never put in.
"""

import traceback

import torch

# %%
# The error
# ---------
#
# A diffusion model is guided by its attention map. A hook keeps the map for
# later, and keeps it without history. The loss still has a graph from another
# term, so only the latent is missed.

latent = torch.tensor([1.0, 2.0], requires_grad=True)
scale = torch.tensor(1.0, requires_grad=True)
stored = []


def attend(latent, *, keep_history):
    attention = (latent * 2).softmax(dim=0)
    stored[:] = [attention if keep_history else attention.detach()]
    return attention


attend(latent, keep_history=False)
loss = scale * (1 - stored[0].max())
try:
    torch.autograd.grad(loss, latent)
except RuntimeError:
    traceback.print_exc()

# %%
# Look at what was stored. It has no `grad_fn`:

print(stored[0].grad_fn)
assert not stored[0].requires_grad

# %%
# Store the recorded tensor
# -------------------------
#
# Leave out the ``detach``, and compute the part under `torch.enable_grad` if the
# sampler runs under `no_grad`. With ``p`` the larger probability, the derivative of
# ``1 - p`` is ``-2 p (1 - p)`` in its own latent, and the opposite in the other.

with torch.no_grad():  # the sampler
    with torch.enable_grad():
        attend(latent, keep_history=True)
        loss = scale * (1 - stored[0].max())
    (gradient,) = torch.autograd.grad(loss, latent)

p = (latent.detach() * 2).softmax(dim=0).max()
print(gradient)
torch.testing.assert_close(gradient, 2 * p * (1 - p) * torch.tensor([1.0, -1.0]))

# %%
# If you optimize a perturbation, compute with it
# -----------------------------------------------
#
# An attack asks for the gradient of ``delta``, and the model got the clean image, or
# an image to which ``delta`` was added under `no_grad`. Add it where it is
# recorded, and start at the sum.

image = torch.tensor([1.0, 3.0])
delta = torch.zeros(2, requires_grad=True)
with torch.no_grad():
    attacked = image + delta
try:
    torch.autograd.grad((scale * attacked**2).sum(), delta)
except RuntimeError:
    traceback.print_exc()

(gradient,) = torch.autograd.grad((scale * (image + delta) ** 2).sum(), delta)

print(gradient)
torch.testing.assert_close(gradient, 2 * image)

# %%
# What only hides the error
# -------------------------
#
# ``allow_unused=True`` moves the failure to the next line, where ``None`` is
# multiplied. Skipping the ``None`` silences that too: sampling runs without any
# guidance.

attend(latent, keep_history=False)
loss = scale * (1 - stored[0].max())
(gradient,) = torch.autograd.grad(loss, latent, allow_unused=True)
guided = latent if gradient is None else latent - 0.1 * gradient

print(gradient, guided is latent)
assert guided is latent

# %%
# See also
# --------
#
# * `grad-unused-input`: the other causes of the message
# * `backward-under-no-grad`: nothing at all was recorded
# * `silent-no-grad-backbone`
