# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "silent/silent-max-ties",
# ]
# symptom = "Two equal inputs get different gradients from max."
# symptom-zh = "max 有并列最大值时梯度只给其中一个"
# ///
"""
Which of several equal maxima gets the gradient
===============================================

Your tensor has its maximum at several places. One form of ``max`` gives the whole
gradient to one of them, the other shares it.
"""

import torch

# %%
# The mistake
# -----------
#
# Max pooling over two equal scores trains one of them.

x = torch.tensor([1.0, 1.0], requires_grad=True)
x.max(dim=0).values.backward()

print(x.grad)
assert x.grad[0] != x.grad[1]

# %%
# With ``dim`` there is an index, and the gradient goes to that element alone.
#
# To treat equal elements alike, use amax
# ---------------------------------------

x = torch.tensor([1.0, 1.0], requires_grad=True)
x.amax().backward()

print(x.grad)
torch.testing.assert_close(x.grad, torch.full((2,), 0.5))

# %%
# To have a derivative everywhere, use a soft maximum
# ---------------------------------------------------
#
# ``logsumexp`` is smooth, and its gradient is the softmax.

x = torch.tensor([1.0, 1.0, 0.0], dtype=torch.float64, requires_grad=True)
torch.logsumexp(x, 0).backward()

print(x.grad)
torch.testing.assert_close(x.grad, torch.softmax(x.detach(), 0))
assert torch.autograd.gradcheck(lambda x: torch.logsumexp(x, 0), (x,))

# %%
# What does not help
# ------------------
#
# `finite differences` cannot decide here: at a tie the function has a kink, and its
# one-sided slopes differ.

x = torch.tensor([1.0, 1.0], dtype=torch.float64, requires_grad=True)
print(torch.autograd.gradcheck(lambda x: x.amax(), (x,), raise_exception=False))
step = torch.tensor([1e-6, 0.0], dtype=torch.float64)
up = ((x + step).amax() - x.amax()) / 1e-6
down = (x.amax() - (x - step).amax()) / 1e-6
print(up.round().item(), down.round().item())
assert up.round() != down.round()
