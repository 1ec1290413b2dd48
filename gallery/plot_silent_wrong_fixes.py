# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "silent/silent-loss-requires-grad-fix",
#     "silent/silent-detach-fix-cuts-chain",
#     "silent/silent-retain-graph-fix-full-bptt",
#     "silent/silent-allow-unused-fix",
# ]
# symptom = "The error is gone but the model does not learn."
# symptom-zh = "错误消失了，但模型不学习"
# ///
"""
Fixes that silence the error and train nothing
==============================================

You met an error, applied the answer that is found everywhere, and the message is gone.
So is the gradient, or it is another one.
"""

import torch

# %%
# The mistake
# -----------
#
# "Element 0 of tensors does not require grad", answered with ``requires_grad_()`` on the
# loss: `backward-no-grad-fn` has the real causes.

net = torch.nn.Linear(2, 1)
prediction = torch.tensor(net(torch.ones(4, 2)).tolist())
loss = prediction.pow(2).mean().requires_grad_()
loss.backward()
print(net.weight.grad)
assert net.weight.grad is None

# %%
# A write into a `leaf tensor`, or a NumPy call, answered with ``detach()`` in the middle of
# the model:

x = torch.ones(1, requires_grad=True)
hidden = (x * 2.0).detach().requires_grad_()
(hidden * 3.0).sum().backward()
print(x.grad)
assert x.grad is None

# %%
# "Not used in the graph", answered with ``allow_unused=True``: `grad-unused-input`. The loss
# does depend on the values; the copy was made for nothing.

x = torch.tensor([2.0], requires_grad=True)
copied = x.clone()
loss = (x * 3.0).sum()
(gradient,) = torch.autograd.grad(loss, copied, allow_unused=True)
print(gradient)
assert gradient is None

# %%
# "Backward through the graph a second time", answered with ``retain_graph=True`` in a loop
# with a hidden state: `backward-twice`. Every step walks through all earlier ones again.


def truncated(detach):
    weight, hidden = torch.tensor(0.5, requires_grad=True), torch.tensor(1.0)
    for _ in range(3):
        hidden = (hidden.detach() if detach else hidden) * weight
        hidden.backward(retain_graph=True)
    return weight.grad


print(truncated(detach=False))
assert truncated(detach=False) != truncated(detach=True)

# %%
# Keep the chain of tensors
# -------------------------
#
# The loss of the first example, without the detour through a list.

torch.manual_seed(0)
net = torch.nn.Linear(2, 1)
batch = torch.ones(4, 2)
net(batch).pow(2).mean().backward()

output = net(batch).detach()
print(net.weight.grad)
torch.testing.assert_close(net.weight.grad, (2 * output * batch).mean(0, keepdim=True))

# %%
# Ask for the gradient of what was used
# -------------------------------------

x = torch.tensor([2.0], requires_grad=True)
copied = x.clone()
(gradient,) = torch.autograd.grad((copied * 3.0).sum(), copied)
torch.testing.assert_close(gradient, torch.tensor([3.0]))

# %%
# Detach the state at the boundary
# --------------------------------
#
# Each step's gradient is then the state before it: one, a half, a quarter.

print(truncated(detach=True))
torch.testing.assert_close(truncated(detach=True), torch.tensor(1.0 + 0.5 + 0.25))

# %%
# What does not help
# ------------------
#
# Looking at the loss. It is the right number in all of these; only the gradient is wrong.
# Compare the gradient with `finite differences` once, on a small input:


def check(loss_of, parameter, eps=1e-4):
    (analytic,) = torch.autograd.grad(loss_of(), parameter)
    index = (0,) * parameter.dim()
    with torch.no_grad():
        parameter[index] += eps
        up = loss_of()
        parameter[index] -= 2 * eps
        down = loss_of()
        parameter[index] += eps
    return analytic[index].item(), ((up - down) / (2 * eps)).item()


net = torch.nn.Linear(2, 1).double()
batch = torch.ones(4, 2, dtype=torch.float64)
analytic, numeric = check(lambda: net(batch).pow(2).mean(), net.weight)
assert abs(analytic - numeric) < 1e-6

# %%
# See also
# --------
#
# * `silent-loss-requires-grad`: the flag on the loss, in a training loop
# * `silent-detach`: a cut in the middle of the model, and where it is right
# * `silent-retain-graph`: the growing loop, and when its gradient is the one you want
# * `guide-popular-answers`: all of them in one table
