# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "inventory/optim-single-tensor",
#     "inventory/optim-not-tensor",
#     "inventory/optim-params-list-of-generators",
#     "inventory/optim-set-of-params",
# ]
#
# [[tool.autograd-errors.error]]
# raises = "TypeError"
# message = "params argument given to the optimizer should be an iterable of Tensors or dicts, but got <type>"
# source = "torch/optim/optimizer.py"
#
# [[tool.autograd-errors.error]]
# raises = "TypeError"
# message = "optimizer can only optimize Tensors, but one of the params is <type>"
# source = "torch/optim/optimizer.py"
#
# [[tool.autograd-errors.error]]
# raises = "TypeError"
# message = "optimizer parameters need to be organized in ordered collections, but the ordering of tensors in sets will change between runs. Please use a list instead."
# source = "torch/optim/optimizer.py"
# ///
"""
An optimizer given something other than a list of tensors
=========================================================

The `optimizer` wants tensors in a list, or dictionaries of options in a list.
You gave it one tensor, a list of modules, a list of generators or a set.
"""

import itertools
import traceback

import torch
from torch import nn

# %%
# The errors
# ----------
#
# One tensor is not a list of tensors.

offset = torch.zeros(2, requires_grad=True)

try:
    torch.optim.SGD(offset, lr=0.5)
except TypeError:
    traceback.print_exc()

# %%
# For anything else in the list, the end of the message says what it found: a
# module, and for two networks the generators that ``parameters()`` returns.

encoder = nn.Linear(2, 2, bias=False)
decoder = nn.Linear(2, 1, bias=False)

for wrong in ([encoder, decoder], [encoder.parameters(), decoder.parameters()]):
    try:
        torch.optim.SGD(wrong, lr=0.5)
    except TypeError:
        traceback.print_exc()

# %%
# A set in a group has no order, and the saved state of an optimizer depends on
# the order.

try:
    torch.optim.SGD([{"params": set(encoder.parameters())}], lr=0.5)
except TypeError:
    traceback.print_exc()

# %%
# For one tensor, put it into a list
# ----------------------------------
#
# The loss ``sum((offset - 1)**2)`` has the gradient ``-2`` at 0, and half of it
# leads to 1.

offset = torch.zeros(2, requires_grad=True)
optimizer = torch.optim.SGD([offset], lr=0.5)
((offset - 1) ** 2).sum().backward()
optimizer.step()

print(offset)
torch.testing.assert_close(offset.detach(), torch.ones(2))

# %%
# For several networks, chain their parameters
# --------------------------------------------
#
# ``itertools.chain`` makes one sequence out of many. ``list(a) + list(b)`` does
# the same.

optimizer = torch.optim.SGD(itertools.chain(encoder.parameters(), decoder.parameters()), lr=0.5)
held = optimizer.param_groups[0]["params"]
x = torch.tensor([3.0, 5.0])
decoder(encoder(x)).backward()

# By hand, the encoder's gradient is the outer product of the decoder and x.
print(encoder.weight.grad.shape)
torch.testing.assert_close(encoder.weight.grad, decoder.weight.detach().T * x)
assert held[0] is encoder.weight and held[1] is decoder.weight

# %%
# For different learning rates, write groups
# ------------------------------------------
#
# Inside a group, a generator is allowed. Options outside the groups are the
# default.

optimizer = torch.optim.SGD(
    [{"params": encoder.parameters()}, {"params": decoder.parameters(), "lr": 0.1}], lr=0.5
)

print([group["lr"] for group in optimizer.param_groups])
assert [group["params"][0] for group in optimizer.param_groups] == [
    encoder.weight,
    decoder.weight,
]

# %%
# To remove duplicates, use a dictionary instead of a set
# -------------------------------------------------------
#
# ``dict.fromkeys`` keeps the first of each and the order. Here both names mean
# one shared `parameter`.

shared = [encoder.weight, decoder.weight, encoder.weight]
optimizer = torch.optim.SGD(list(dict.fromkeys(shared)), lr=0.5)

assert optimizer.param_groups[0]["params"] == [encoder.weight, decoder.weight]

# %%
# What only hides the error
# -------------------------
#
# Unpacking the tensor into its elements also makes a list, but each element is
# a new tensor that was computed from the old one, which the optimizer refuses.
# Detaching the elements satisfies it, and nothing learns:

offset = torch.zeros(2, requires_grad=True)
optimizer = torch.optim.SGD([element.detach() for element in offset], lr=0.5)
((offset - 1) ** 2).sum().backward()
optimizer.step()

print(offset)
torch.testing.assert_close(offset.detach(), torch.zeros(2))

# %%
# See also
# --------
#
# * `optimizer-non-leaf`
# * `optimizer-empty`
# * `optimizer-groups`
