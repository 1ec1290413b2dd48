# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# cause-of = "leaf-inplace"
# when = { frame = "mask|prune" }
# causes = [
#     "leaf-inplace/masked-assignment",
#     "leaf-moved-interior/mask-leaf-edited",
#     "inventory/leaf-inplace-masked-assign",
# ]
# ///
"""
Weights zeroed with a mask
==========================

You assigned to the elements of a weight that a mask selects. That writes into
the weight itself, which is a `leaf tensor`. Decide whether the zeros are a new
value of the weight or a part of the model.
"""

import traceback

import torch

# %%
# The error
# ---------
#
# A pruned layer sets its small weights to zero.

weight = torch.nn.Parameter(torch.tensor([0.1, 2.0, -0.2]))
small = weight.abs() < 1.0
try:
    weight[small] = 0.0
except RuntimeError:
    traceback.print_exc()

# %%
# To prune once, write under no_grad
# ----------------------------------
#
# The weights start again from zero and learn on. For ``(weight - 1)**2`` the
# gradient at zero is minus two: the pruned weights come back.

weight = torch.nn.Parameter(torch.tensor([0.1, 2.0, -0.2]))
with torch.no_grad():
    weight[weight.abs() < 1.0] = 0.0
((weight - 1.0) ** 2).sum().backward()

print(weight.detach(), weight.grad)
torch.testing.assert_close(weight.grad, 2 * (torch.tensor([0.0, 2.0, 0.0]) - 1.0))

# %%
# To keep them out, mask in forward
# ---------------------------------
#
# The mask is then a part of the computation, and the masked weights get no
# gradient.

weight = torch.nn.Parameter(torch.tensor([0.1, 2.0, -0.2]))
keep = weight.detach().abs() >= 1.0
masked = torch.where(keep, weight, 0.0)
((masked - 1.0) ** 2).sum().backward()

print(masked.detach(), weight.grad)
torch.testing.assert_close(weight.grad, torch.tensor([0.0, 2 * (2.0 - 1.0), 0.0]))

# %%
# If the mask itself is learned, edit a copy
# ------------------------------------------
#
# A learnable gate has some entries fixed to one. The copy keeps the way back
# for all others. The output is linear in the gate, so its gradient is the
# input, except where the gate was fixed.

gate = torch.nn.Parameter(torch.tensor([0.5, 0.5, 0.5]))
fixed = torch.tensor([False, False, True])
image = torch.tensor([2.0, 3.0, 4.0])

opened = gate.clone()
opened[fixed] = 1.0
# draw: opened
(opened * image).sum().backward()

print(gate.grad)
torch.testing.assert_close(gate.grad, torch.tensor([2.0, 3.0, 0.0]))

# %%
# What only hides the error
# -------------------------
#
# "Detach the gate before editing it" also runs. The gate gets no gradient at
# all, and it was changed as well, because `detach` shares its memory:

gate = torch.nn.Parameter(torch.tensor([0.5, 0.5, 0.5]))
opened = gate.detach()
opened[fixed] = 1.0
loss = (opened * image).sum()

print(loss.requires_grad, gate.grad, gate.detach())
assert not loss.requires_grad
assert gate[2] == 1.0

# %%
# - `leaf-inplace`, all causes of this message
# - `view-of-leaf`, when you assign to a slice instead of a mask
# - `nan-where`, when a mask is to keep nan out of the gradient
