# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = ["inventory/grad-no-grad-fn-rewrapped"]
# cause-of = "backward-no-grad-fn"
# ///
"""
The loss was made again with torch.tensor
=========================================

You took the number out of a tensor and built a new tensor from it. The number
is right, but a tensor made from a number has no history.
"""

import traceback

import torch

# %%
# The error
# ---------
#
# Two losses are logged as numbers, and the numbers are added up.

model = torch.nn.Linear(2, 1, bias=False)
torch.nn.init.ones_(model.weight)
data = torch.tensor([[1.0, 2.0]])
fit = model(data).sum()
penalty = model.weight.square().sum()

loss = torch.tensor(fit.item() + penalty.item())
try:
    loss.backward()
except RuntimeError:
    traceback.print_exc()

# %%
# ``loss`` has the value of the sum and nothing else of it.

total = fit + penalty
print(loss.grad_fn, total.grad_fn is not None)
torch.testing.assert_close(loss, total.detach())

# draw: loss, total

# %%
# Compute with the tensors, print their numbers
# ---------------------------------------------
#
# ``.item()`` belongs into the log line. The gradient of ``w x + w**2`` is
# ``x + 2 w``.

loss = fit + penalty
log = {"fit": fit.item(), "penalty": penalty.item()}
loss.backward()

print(sorted(log), model.weight.grad)
torch.testing.assert_close(model.weight.grad, data + 2 * model.weight.detach())

# %%
# If you need one tensor from several, stack them
# -----------------------------------------------
#
# ``torch.tensor([a, b])`` copies numbers; `torch.stack` for tensors of one
# shape and `torch.cat` for parts of different length keep the graph.

model.weight.grad = None
losses = torch.stack([model(data).sum(), model.weight.square().sum()])
losses.sum().backward()

torch.testing.assert_close(model.weight.grad, data + 2 * model.weight.detach())

# %%
# If it must be another dtype or device, use to
# ---------------------------------------------
#
# ``to``, ``float`` and ``double`` are recorded like any other operation, so
# nothing has to be built anew.

model.weight.grad = None
model(data).sum().to(torch.float64).backward()

print(model.weight.grad)
torch.testing.assert_close(model.weight.grad, data)

# %%
# What only hides the error
# -------------------------
#
# ``torch.tensor(..., requires_grad=True)`` runs. Its gradient stays in the new
# tensor.

model.weight.grad = None
loss = torch.tensor(model(data).sum().item(), requires_grad=True)
loss.backward()

print(loss.grad, model.weight.grad)
assert model.weight.grad is None

# %%
# See also
# --------
#
# * `backward-no-grad-fn`: the other causes of the message
# * `silent-torch-tensor` and `silent-item`: the same mistake without a message
# * `backward-tuple-or-float`: the loss is still a Python number
