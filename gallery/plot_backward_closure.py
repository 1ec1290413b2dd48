# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = ["no-grad-fn/closure-under-optimizer-no-grad"]
# cause-of = "backward-no-grad-fn"
# when = { frame = "closure" }
# ///
"""
An optimizer runs your closure without recording
================================================

You handed the optimizer a closure that computes the loss, and its ``step`` calls
the closure inside its own ``no_grad``. Every `optimizer` of PyTorch switches
recording on again around that call; this one does not.
"""

import traceback

import torch

# %%
# The error
# ---------
#
# An optimizer from a package, as its author wrote it. Training frameworks pass a
# closure even if you never wrote one.


class Descent(torch.optim.SGD):
    @torch.no_grad()
    def step(self, closure=None):
        loss = closure() if closure is not None else None
        super().step()
        return loss


weight = torch.nn.Parameter(torch.tensor([1.0, 2.0]))
optimizer = Descent([weight], lr=0.1)


def closure():
    optimizer.zero_grad()
    loss = (weight**2).sum()
    loss.backward()
    return loss


try:
    optimizer.step(closure)
except RuntimeError:
    traceback.print_exc()

# %%
# Outside, the same closure works. Only the mode differs.

closure()
print(weight.grad)
torch.testing.assert_close(weight.grad, 2 * weight.detach())

# %%
# If the optimizer is yours, record while the closure runs
# --------------------------------------------------------
#
# ``step`` needs `no_grad` for the update alone. One step on ``w**2`` with rate
# 0.1 takes 0.2 of ``w`` away.


class RecordingDescent(torch.optim.SGD):
    @torch.no_grad()
    def step(self, closure=None):
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        super().step()
        return loss


weight = torch.nn.Parameter(torch.tensor([1.0, 2.0]))
optimizer = RecordingDescent([weight], lr=0.1)
optimizer.step(closure)

print(weight)
torch.testing.assert_close(weight.detach(), torch.tensor([0.8, 1.6]))

# %%
# If it is not yours, record inside the closure
# ---------------------------------------------
#
# In a framework, the closure is made from the training step, and there the same
# line goes at its start.

weight = torch.nn.Parameter(torch.tensor([1.0, 2.0]))
optimizer = Descent([weight], lr=0.1)


@torch.enable_grad()
def closure():
    optimizer.zero_grad()
    loss = (weight**2).sum()
    loss.backward()
    return loss


optimizer.step(closure)

print(weight)
torch.testing.assert_close(weight.detach(), torch.tensor([0.8, 1.6]))

# %%
# What only hides the error
# -------------------------
#
# Making the loss require grad silences it, and the step then finds no gradient.

weight = torch.nn.Parameter(torch.tensor([1.0, 2.0]))
optimizer = Descent([weight], lr=0.1)


def closure():
    optimizer.zero_grad()
    loss = (weight**2).sum().requires_grad_()
    loss.backward()
    return loss


optimizer.step(closure)

print(weight, weight.grad)
assert weight.grad is None
torch.testing.assert_close(weight.detach(), torch.tensor([1.0, 2.0]))

# %%
# See also
# --------
#
# * `backward-no-grad-fn`: the other causes of the message
# * `backward-under-no-grad`
