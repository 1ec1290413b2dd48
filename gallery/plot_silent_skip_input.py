# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = ["silent/inplace-changes-skip-input"]
# symptom = "With inplace=True the network trains worse, and the skip connection is not what I wrote."
# symptom-zh = "使用 ReLU(inplace=True) 后残差/跳跃连接的值被改变，训练效果变差，没有报错"
# ///
"""
An in-place activation changes the skip connection
==================================================

A block keeps its input for the skip connection, and its first operation overwrites that
input in place. Autograd is not wrong: it differentiates the function that ran, and that
is not the one you wrote.
"""

import torch

# %%
# The mistake
# -----------
#
# A block with the activation first. ``x`` and the skip are one tensor, so the skip carries
# what is left after the activation.

layer = torch.nn.Linear(2, 2, bias=False)
torch.nn.init.eye_(layer.weight)


def block(x, inplace):
    hidden = torch.nn.functional.relu(x, inplace=inplace)
    return layer(hidden) + x


x = torch.tensor([-1.0, 2.0], requires_grad=True)
previous = x * 1.0
output = block(previous, inplace=True)
output.sum().backward()

print(output.detach(), x.grad)

# %%
# On paper the block is ``relu(x) + x``, with a slope of 1 for a negative and 2 for a
# positive input. The values say that it was not computed, and so does the `version counter`
# of the input:

written = torch.relu(x.detach()) + x.detach()
print(written, previous._version)
assert not torch.equal(output, written)
assert not torch.equal(x.grad, torch.tensor([1.0, 2.0]))

# %%
# Activate out of place
# ---------------------
#
# Any tensor that is used twice needs it. Keep ``inplace=True`` for a result that nobody
# else holds.

x = torch.tensor([-1.0, 2.0], requires_grad=True)
output = block(x * 1.0, inplace=False)
output.sum().backward()

print(output.detach(), x.grad)
torch.testing.assert_close(output.detach(), written)
torch.testing.assert_close(x.grad, torch.tensor([1.0, 2.0]))

# %%
# If the model is not yours, switch the flag off
# ----------------------------------------------
#
# Every activation module has the attribute. A test of the whole model is to compare its
# output before and after: it must not change.

model = torch.nn.Sequential(torch.nn.ReLU(inplace=True), layer)


def with_skip(x):
    return model(x) + x


before = with_skip(torch.tensor([-1.0, 2.0]))
for module in model.modules():
    if hasattr(module, "inplace"):
        module.inplace = False
after = with_skip(torch.tensor([-1.0, 2.0]))

print(before.detach(), after.detach())
assert not torch.equal(before, after)
torch.testing.assert_close(after.detach(), written)

# %%
# What does not help
# ------------------
#
# Giving the input a second name before the activation. A name is not a copy.

x = torch.tensor([-1.0, 2.0], requires_grad=True)
previous = x * 1.0
skip = previous
output = layer(torch.relu_(previous)) + skip

print(output.detach(), "instead of", written)
assert not torch.equal(output, written)

# %%
# See also
# --------
#
# * `version-relu-inplace`: the same flag where it is noticed
# * `version-residual-sum`
# * `version-mutated-argument`
