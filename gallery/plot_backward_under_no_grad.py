# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = ["no-grad-fn/under-no-grad", "inventory/grad-no-grad-fn-under-no-grad"]
# cause-of = "backward-no-grad-fn"
# ///
"""
The forward pass ran under no_grad
==================================

You computed the loss while recording was off, in a ``with torch.no_grad()``
block or a function that is decorated with it. The parameters require grad, and
still nothing was written down.
"""

import traceback

import torch

# %%
# The error
# ---------
#
# One function serves training and evaluation, and its decorator is from the
# evaluation.

model = torch.nn.Linear(2, 1, bias=False)
torch.nn.init.ones_(model.weight)
data = torch.tensor([[1.0, 2.0]])


@torch.no_grad()
def run(model, data):
    return model(data).sum()


loss = run(model, data)
try:
    loss.backward()
except RuntimeError:
    traceback.print_exc()

# %%
# The weight is not to blame, the mode is. A print inside the function shows it:

print(model.weight.requires_grad, torch.is_grad_enabled())


@torch.no_grad()
def run_and_report(model, data):
    print("inside:", torch.is_grad_enabled())
    return model(data).sum()


run_and_report(model, data)
assert model.weight.requires_grad and torch.is_grad_enabled()

# %%
# Put no_grad where nothing is learned
# ------------------------------------
#
# Leave the function neutral, and let the caller say what it is doing. The
# gradient of a sum of ``w x`` in ``w`` is ``x``.


def run(model, data):
    return model(data).sum()


run(model, data).backward()
with torch.no_grad():
    score = run(model, data)

print(model.weight.grad, score.requires_grad)
torch.testing.assert_close(model.weight.grad, data)

# %%
# If one part inside must be recorded, switch recording on again
# --------------------------------------------------------------
#
# An evaluation that needs a gradient (forces, saliency, adversarial examples)
# asks for it with `torch.enable_grad`. Make the input require grad inside.


@torch.no_grad()
def evaluate(model, data):
    with torch.enable_grad():
        data = data.clone().requires_grad_()
        (saliency,) = torch.autograd.grad(model(data).sum(), data)
    return saliency


saliency = evaluate(model, data)
print(saliency)
torch.testing.assert_close(saliency, model.weight.detach())

# %%
# What only hides the error
# -------------------------
#
# ``requires_grad_()`` on the result starts a graph after the computation. The
# model gets nothing.

model.weight.grad = None
with torch.no_grad():
    loss = run(model, data)
loss.requires_grad_().backward()

print(loss.grad, model.weight.grad)
assert model.weight.grad is None

# %%
# See also
# --------
#
# * `backward-no-grad-fn`: the other causes of the message
# * `backward-closure`: an optimizer turned recording off
# * `inference-mode-tensors`: a mode that `torch.enable_grad` does not undo
# * `silent-no-grad-backbone`: half of the model ran under it
