# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "inventory/optim-scheduler-before-step",
#     "inventory/lr-scheduler-after-overridden-step",
# ]
#
# [[tool.autograd-errors.error]]
# raises = "UserWarning"
# message = "Detected call of `lr_scheduler.step()` before `optimizer.step()`. In PyTorch 1.1.0 and later, you should call them in the opposite order: `optimizer.step()` before `lr_scheduler.step()`.  Failure to do this will result in PyTorch skipping the first value of the learning rate schedule. See more details at https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate"
# source = "torch/optim/lr_scheduler.py"
#
# [[tool.autograd-errors.error]]
# raises = "UserWarning"
# message = "Seems like `optimizer.step()` has been overridden after learning rate scheduler initialization. Please, make sure to call `optimizer.step()` before `lr_scheduler.step()`. See more details at https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate"
# source = "torch/optim/lr_scheduler.py"
# ///
"""
A scheduler that steps before its optimizer
===========================================

You called ``scheduler.step()`` when the `optimizer` had not made a step since
the scheduler was created. The first learning rate of the schedule is then
never used. A second warning means that the scheduler can no longer tell.
"""

import torch

# %%
# The warnings
# ------------
#
# The two lines at the end of the loop are in the wrong order. The gradient of
# ``weight`` is always 1, so the weight shows which learning rates were used.

weight = torch.zeros(1, requires_grad=True)
optimizer = torch.optim.SGD([weight], lr=1.0)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.1)

for _ in range(2):
    optimizer.zero_grad()
    weight.sum().backward()
    scheduler.step()
    optimizer.step()

# %%
# The steps were 0.1 and 0.01 instead of 1 and 0.1:

print(weight)
torch.testing.assert_close(weight.detach(), torch.tensor([-(0.1 + 0.01)]))

# %%
# The scheduler counts the steps through a wrapper around ``optimizer.step``. Code
# that replaces the method later, to log or to scale, removes the wrapper.

weight = torch.zeros(1, requires_grad=True)
optimizer = torch.optim.SGD([weight], lr=1.0)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.1)

logged = []
original_step = torch.optim.SGD.step


def logging_step():
    logged.append(optimizer.param_groups[0]["lr"])
    original_step(optimizer)


optimizer.step = logging_step
weight.sum().backward()
optimizer.step()
scheduler.step()

# %%
# Step the optimizer, then the scheduler
# --------------------------------------
#
# Once per batch or once per epoch, the order is the same. Now the steps are 1 and
# 0.1.

weight = torch.zeros(1, requires_grad=True)
optimizer = torch.optim.SGD([weight], lr=1.0)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.1)

for _ in range(2):
    optimizer.zero_grad()
    weight.sum().backward()
    optimizer.step()
    scheduler.step()

print(weight)
torch.testing.assert_close(weight.detach(), torch.tensor([-(1.0 + 0.1)]))

# %%
# To watch the steps, register a hook
# -----------------------------------
#
# ``register_step_post_hook`` runs your function after each step and leaves the
# method alone. Replacing ``step`` before the scheduler is created works too.

weight = torch.zeros(1, requires_grad=True)
optimizer = torch.optim.SGD([weight], lr=1.0)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.1)
logged = []
optimizer.register_step_post_hook(
    lambda optimizer, args, kwargs: logged.append(optimizer.param_groups[0]["lr"])
)

for _ in range(2):
    optimizer.zero_grad()
    weight.sum().backward()
    optimizer.step()
    scheduler.step()

print(logged)
torch.testing.assert_close(logged, [1.0, 0.1])

# %%
# If the order is right and it warns anyway
# -----------------------------------------
#
# A step that was skipped does not count: a gradient scaler skips it when it
# finds an infinite gradient, which is usual in the first batches. Then the
# warning does no harm beyond one lost value; `amp-scaler-order` shows how to
# see that a step was skipped. The warning also appears when you create the
# scheduler after the optimizer has started, or step it to reach a saved epoch.
# Load its state instead:

resumed_weight = torch.zeros(1, requires_grad=True)
resumed_optimizer = torch.optim.SGD([resumed_weight], lr=1.0)
resumed = torch.optim.lr_scheduler.StepLR(resumed_optimizer, step_size=1, gamma=0.1)
resumed_optimizer.load_state_dict(optimizer.state_dict())
resumed.load_state_dict(scheduler.state_dict())

print(resumed.get_last_lr())
torch.testing.assert_close(resumed_optimizer.param_groups[0]["lr"], 1.0 * 0.1 * 0.1)

# %%
# What only hides the error
# -------------------------
#
# An empty ``optimizer.step()`` before the loop silences the warning. It updates
# nothing, as no gradient exists yet, and the first learning rate stays unused.

weight = torch.zeros(1, requires_grad=True)
optimizer = torch.optim.SGD([weight], lr=1.0)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.1)
optimizer.step()

for _ in range(2):
    optimizer.zero_grad()
    weight.sum().backward()
    scheduler.step()
    optimizer.step()

print(weight)
torch.testing.assert_close(weight.detach(), torch.tensor([-(0.1 + 0.01)]))
