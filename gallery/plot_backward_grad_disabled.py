# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = ["inventory/grad-no-grad-fn-grad-disabled-globally"]
# cause-of = "backward-no-grad-fn"
# ///
"""
Gradients switched off for the whole program
============================================

Something in the program called ``torch.set_grad_enabled(False)`` as a function,
and nobody turned it on again. From that line on nothing is recorded, in code
that has no ``no_grad`` in it.
"""

import traceback

import torch

# %%
# The error
# ---------
#
# A notebook turns off gradients in its first cell, for a quick look at the
# outputs. Twenty cells later it trains.

torch.set_grad_enabled(False)

weight = torch.tensor([1.0, 2.0], requires_grad=True)
loss = (weight**2).sum()

try:
    loss.backward()
except RuntimeError:
    traceback.print_exc()

# %%
# All flags are right, so look at the `grad mode`. It is a setting of the thread,
# not of a tensor:

print(weight.requires_grad, loss.requires_grad, torch.is_grad_enabled())

# %%
# To turn recording on again, set the mode and redo forward
# ---------------------------------------------------------
#
# The loss that was computed in between stays without history. By hand, the
# gradient of ``sum(weight**2)`` is ``2 * weight``.

torch.set_grad_enabled(True)

loss = (weight**2).sum()
loss.backward()

print(weight.grad)
torch.testing.assert_close(weight.grad, 2 * weight.detach())

# %%
# To switch off for a while, use with
# -----------------------------------
#
# As a context manager the same function restores what was before, even if the
# block raises. It also takes a condition, which `torch.no_grad` does not.

weight = torch.tensor([1.0, 2.0], requires_grad=True)
for training in (False, True):
    with torch.set_grad_enabled(training):
        loss = (weight**2).sum()
    print(training, loss.requires_grad, torch.is_grad_enabled())
    assert torch.is_grad_enabled()

loss.backward()
torch.testing.assert_close(weight.grad, 2 * weight.detach())

# %%
# If a library did it, protect your own forward
# ---------------------------------------------
#
# A call of `torch.enable_grad` around forward works, whatever the mode outside
# is. To find the culprit, print ``torch.is_grad_enabled()`` after each import and
# each call.


def library_call():
    torch.set_grad_enabled(False)


library_call()
with torch.enable_grad():
    weight = torch.tensor([1.0, 2.0], requires_grad=True)
    loss = (weight**2).sum()
loss.backward()
torch.set_grad_enabled(True)

print(weight.grad)
torch.testing.assert_close(weight.grad, 2 * weight.detach())

# %%
# What only hides the error
# -------------------------
#
# ``loss.requires_grad_()`` makes backward run. It ends at the loss, which is a
# leaf, and the weight gets nothing. ``model.train()`` changes dropout and
# batch normalization and not the mode.

torch.set_grad_enabled(False)
model = torch.nn.Linear(2, 1).train()
loss = model(torch.ones(1, 2)).sum().requires_grad_()
loss.backward()
torch.set_grad_enabled(True)

print(loss.grad, model.weight.grad)
assert model.weight.grad is None

# %%
# Related: `backward-no-grad-fn`, `backward-under-no-grad`.
