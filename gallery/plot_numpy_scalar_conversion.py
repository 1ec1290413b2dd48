# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "inventory/scalar-conversion-float", "inventory/scalar-conversion-list",
#     "inventory/scalar-conversion-math",
# ]
#
# [[tool.autograd-errors.error]]
# raises = "UserWarning"
# message = "Converting a tensor with requires_grad=True to a scalar may lead to unexpected behavior.\nConsider using tensor.detach() first."
# source = "torch/csrc/autograd/generated/python_variable_methods.cpp"
# ///
"""
A Python number made of a tensor that requires grad
===================================================

You turned a tensor into a Python number, with ``float``, through the ``math``
module or inside a list. A number has no history, so whatever you compute from it
gives no gradient to the tensor.
"""

import math

import torch

# %%
# The warning
# -----------
#
# A loss adds the logarithm of a learned scale, and ``math`` was imported anyway.

scale = torch.tensor(2.0, requires_grad=True)
loss = scale**2 - math.log(scale)
loss.backward()

# %%
# The derivative of ``scale**2 - log(scale)`` is ``2 * scale - 1 / scale``. The second
# term is missing, and nothing but the warning says so:

right = 2 * scale.detach() - 1 / scale.detach()
print(scale.grad, right)
torch.testing.assert_close(scale.grad, 2 * scale.detach())

# %%
# PyTorch warns once in a process. Asked to do so each time, it also warns about
# ``float`` and about a list of tensors, but not about ``item`` and ``int``,
# which do the same.

torch.set_warn_always(True)

as_float = float(scale)
in_list = torch.tensor([scale, 2 * scale])
as_item = scale.item()
as_int = int(scale)

torch.set_warn_always(False)
print(type(as_float).__name__, type(as_item).__name__, in_list.requires_grad)
assert not in_list.requires_grad

# %%
# To learn through it, stay with torch
# ------------------------------------
#
# Each function of ``math`` has a namesake that takes and gives tensors. Numbers
# mix with tensors freely, so only what is tracked needs it.

scale = torch.tensor(2.0, requires_grad=True)
loss = scale**2 - torch.log(scale)
loss.backward()

print(scale.grad)
torch.testing.assert_close(scale.grad, 2 * scale.detach() - 1 / scale.detach())

# %%
# To collect tensors, stack them
# ------------------------------
#
# ``torch.tensor`` reads numbers out of a list. `torch.stack` makes one tensor that
# remembers where each part came from.

scale = torch.tensor(2.0, requires_grad=True)
torch.stack([scale, 3 * scale]).sum().backward()

print(scale.grad)
torch.testing.assert_close(scale.grad, torch.tensor(1.0 + 3.0))

# %%
# To log a number, detach it
# --------------------------
#
# A sum of losses for the progress bar needs no history, and must not keep it: a
# running total of tensors holds the graph of every step. Here the conversion is
# what you want, and `detach` says that you know.

total, steps = 0.0, []
for step in (1.0, 2.0):
    scale = torch.tensor(step, requires_grad=True)
    loss = scale**2
    loss.backward()
    total += float(loss.detach())
    steps.append(scale.grad)

print(total)
assert total == 1.0 + 4.0
torch.testing.assert_close(torch.stack(steps), torch.tensor([2.0, 4.0]))

# %%
# What only hides the error
# -------------------------
#
# ``math.log(scale.item())`` and ``math.log(scale.detach())`` do not warn. The
# gradient is as wrong as before.

scale = torch.tensor(2.0, requires_grad=True)
loss = scale**2 - math.log(scale.detach())
loss.backward()

print(scale.grad)
assert scale.grad != 2 * scale.detach() - 1 / scale.detach()

# %%
# Related: `requires-grad-copied`, `numpy-requires-grad`, `backward-no-grad-fn`.
