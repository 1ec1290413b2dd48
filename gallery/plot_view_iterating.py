# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# cause-of = "view-multi-output"
# when = { node = "Unbind(Backward0?)?" }
# causes = ["multi-view/iterating-a-tensor", "inventory/view-inplace-multi-output-unbind"]
# ///
"""
A loop variable written in place
================================

You looped over a tensor and changed the loop variable in place. The loop calls
``unbind``, which makes all rows at once, and none of them may be written while
gradients are recorded.
"""

import traceback

import torch

# %%
# The error
# ---------
#
# The kernels of a convolution are clamped, to show them as pictures.

conv = torch.nn.Conv2d(1, 2, 2, bias=False)
try:
    for kernel in conv.weight:
        kernel.clamp_(0.0, 1.0)
except RuntimeError:
    traceback.print_exc()

# %%
# The same loop over an activation scales the rows:

weight = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
hidden = weight * 1.0
try:
    for row in hidden:
        row *= 5.0
except RuntimeError:
    traceback.print_exc()

# %%
# To look at the values, loop over a detached copy
# ------------------------------------------------
#
# A picture needs no gradient and must not change the model. `detach` alone
# would do the first and not the second, since it shares memory.

with torch.no_grad():
    conv.weight.fill_(-1.0)
pictures = [kernel.clamp_(0.0, 1.0) for kernel in conv.weight.detach().clone()]
conv(torch.ones(1, 1, 2, 2)).sum().backward()

print(pictures[0].flatten(), conv.weight[0].flatten())
assert (conv.weight == -1.0).all()
torch.testing.assert_close(conv.weight.grad, torch.ones(2, 1, 2, 2))

# %%
# To change the parameter itself, loop under no_grad
# --------------------------------------------------
#
# A `leaf tensor` may be updated there, row by row.

with torch.no_grad():
    for kernel in conv.weight:
        kernel.clamp_(0.0, 1.0)

print(conv.weight.flatten())
assert (conv.weight == 0.0).all()

# %%
# To compute with the rows, build new ones
# ----------------------------------------

weight = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
rows = [row * 5.0 for row in weight * 1.0]
torch.stack(rows).pow(2).sum().backward()

print(weight.grad)
torch.testing.assert_close(weight.grad, 2 * 25 * weight.detach())

# %%
# To write into the tensor, use an index
# --------------------------------------
#
# ``hidden[row]`` makes a single `view`, which autograd can follow.

weight = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
hidden = weight * 1.0
for row in range(len(hidden)):
    hidden[row] *= 5.0
hidden.pow(2).sum().backward()

print(weight.grad)
torch.testing.assert_close(weight.grad, 2 * 25 * weight.detach())

# %%
# What only hides the error
# -------------------------
#
# ``row = row * 5`` inside the loop raises nothing and, without a list, does
# nothing. The rows of the tensor stay as they were:

hidden = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True) * 1.0
for row in hidden:
    row = row * 5.0

print(hidden.detach())
assert hidden[0, 0] == 1.0

# %%
# - `view-multi-output`, all causes of this message
# - `view-iterating-buffer`, when the tensor itself needs no gradient
# - `silent-no-grad-intermediate`, what `no_grad` does to an activation
# - `the report on loops that began to raise <https://github.com/pytorch/pytorch/issues/47899>`__
