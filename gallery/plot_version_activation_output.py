# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "version-counter/relu-output-modified",
#     "version-counter/sigmoid-output-modified",
#     "version-counter/softmax-output-modified",
#     "inventory/version-modified-tanh-inplace-add",
# ]
# cause-of = "version-modified"
# when = { node = "^(Relu|Sigmoid|Tanh|Exp|Softmax|LogSoftmax|Sqrt|Rsqrt|Reciprocal|Hardtanh)(Backward\\d*)?$" }
# ///
"""
The output of an activation was overwritten
===========================================

You changed the result of a relu, sigmoid, tanh, exp or softmax in place. These
operations save their result, because their derivative is easiest to compute
from it.
"""

import traceback

import torch
from torch.nn import functional as F

# %%
# The error
# ---------
#
# Attention weights, of which the padded positions are set to 0 afterwards.

scores = torch.tensor([[1.0, 2.0, 3.0]], dtype=torch.float64, requires_grad=True)
values = torch.tensor([[1.0], [2.0], [4.0]], dtype=torch.float64)
padded = torch.tensor([[False, False, True]])

attention = scores.softmax(-1)
attention[padded] = 0.0

try:
    (attention @ values).sum().backward()
except RuntimeError:
    traceback.print_exc()

# draw: attention
# timeline: attention

# %%
# Which activations save their result
# -----------------------------------
#
# Each node carries its `saved tensors <saved tensor>` as attributes: ``result``
# is the output, ``self`` the input. That is why the same ``+=`` is an error
# after one activation and none after the next.


def saved_by(function):
    """Return the tensors that the node of *function* saves."""
    node = function(torch.ones(2, requires_grad=True) * 1.0).grad_fn
    names = [name.removeprefix("_saved_") for name in dir(node) if name.startswith("_saved_")]
    return [name for name in names if name in ("result", "self")]


for function in (torch.relu, torch.sigmoid, torch.tanh, torch.exp, torch.sqrt, F.gelu, F.silu):
    print(function.__name__, saved_by(function))
assert saved_by(torch.sigmoid) == ["result"]
assert saved_by(F.gelu) == ["self"]

# %%
# To replace some elements, choose instead of writing
# ---------------------------------------------------
#
# ``masked_fill`` without the underscore returns a new tensor; `torch.where`
# chooses between two. The gradient agrees with `finite differences`.


def attend(scores):
    return (scores.softmax(-1).masked_fill(padded, 0.0) @ values).sum()


attend(scores).backward()
print(scores.grad)
assert torch.autograd.gradcheck(attend, (scores,))

logits = torch.tensor([0.5, -1.0], dtype=torch.float64, requires_grad=True)
target = torch.tensor([True, False])

probability = logits.sigmoid()
chosen = torch.where(target, probability, 1 - probability)
(-chosen.log()).sum().backward()

print(logits.grad)
torch.testing.assert_close(logits.grad, logits.detach().sigmoid() - target.double())

# %%
# If padded positions must not count, mask before the softmax
# -----------------------------------------------------------
#
# A weight that is set to 0 after the softmax has already taken its share from
# the others, and the rest no longer adds up to 1. Minus infinity before the
# softmax does both.

scores = torch.tensor([[1.0, 2.0, 3.0]], dtype=torch.float64, requires_grad=True)
attention = scores.masked_fill(padded, -torch.inf).softmax(-1)
(attention @ values).sum().backward()

print(attention.detach(), scores.grad)
first = (scores[0, 0] - scores[0, 1]).detach().sigmoid()
slope = (values[0] - values[1]) * first * (1 - first)
torch.testing.assert_close(scores.grad[0], torch.cat([slope, -slope, torch.zeros_like(slope)]))

# %%
# To add or scale, leave out the underscore
# -----------------------------------------
#
# ``y = y + 1``, not ``y += 1`` or ``y.add_(1)``.

x = torch.tensor([0.0, 1.0], dtype=torch.float64, requires_grad=True)
y = x.tanh()
y += 1.0
try:
    y.sum().backward()
except RuntimeError:
    traceback.print_exc()

y = x.tanh()
y = y + 1.0
y.sum().backward()

print(x.grad)
torch.testing.assert_close(x.grad, 1 / torch.cosh(x.detach()) ** 2)

# %%
# See also
# --------
#
# * `version-relu-inplace`: the write is a module's ``inplace=True``
# * `version-residual-sum`: ``out += skip`` after a relu
