# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = ["inventory/module-to-int-dtype"]
#
# [[tool.autograd-errors.error]]
# raises = "TypeError"
# message = "nn.Module.to only accepts floating point or complex dtypes, but got desired dtype=<dtype>"
# source = "torch/nn/modules/module.py"
# ///
"""
A module moved to an integer dtype
==================================

You asked a module for integer parameters. A `parameter` is learned by small
steps along its gradient, and integers have neither small steps nor gradients,
so ``.to`` accepts only a `dtype` with a fraction.
"""

import traceback

import torch
from torch import nn

# %%
# The error
# ---------
#
# You want the model to need a quarter of its memory.

net = nn.Linear(2, 1, bias=False)

try:
    net.to(torch.int8)
except TypeError:
    traceback.print_exc()

# %%
# To need less memory and still train, use a short float
# ------------------------------------------------------
#
# ``bfloat16`` takes half of the memory of ``float32`` and has gradients. The
# input must have the same dtype. For ``sum(weight * x)`` the gradient is ``x``.

net = nn.Linear(2, 1, bias=False).to(torch.bfloat16)
x = torch.tensor([[1.0, 2.0]], dtype=torch.bfloat16)
net(x).sum().backward()

print(net.weight.grad)
torch.testing.assert_close(net.weight.grad, x)

# %%
# To keep integer weights, freeze them in a buffer
# ------------------------------------------------
#
# A quantized weight is not learned, so it is a `buffer`. ``forward`` turns it
# back into floats. Gradients pass through to the input and to a learned scale.


class QuantizedLinear(nn.Module):
    def __init__(self, weight, scale):
        super().__init__()
        self.register_buffer("weight", torch.round(weight / scale).to(torch.int8))
        self.scale = nn.Parameter(torch.tensor(scale))

    def forward(self, x):
        return x @ (self.weight * self.scale).T


net = QuantizedLinear(torch.tensor([[0.5, -1.0]]), scale=0.25)
x = torch.tensor([[1.0, 2.0]], requires_grad=True)
net(x).sum().backward()

print(net.weight, x.grad, net.scale.grad)
torch.testing.assert_close(x.grad, torch.tensor([[0.5, -1.0]]))
torch.testing.assert_close(net.scale.grad, torch.tensor(2.0 * 1.0 - 4.0 * 2.0))

# %%
# If you meant the data, convert the data
# ---------------------------------------
#
# Class numbers and token ids are integers; the module that reads them stays in
# floats. Row 2 of the embedding is used twice, the others never.

embedding = nn.Embedding(3, 2)
tokens = torch.tensor([2.0, 2.0]).to(torch.int64)
embedding(tokens).sum().backward()

print(embedding.weight.grad)
torch.testing.assert_close(
    embedding.weight.grad, torch.tensor([[0.0, 0.0], [0.0, 0.0], [2.0, 2.0]])
)

# %%
# See also
# --------
#
# * `requires-grad-set`: the same rule for a single tensor
# * `data-set`: the same rule for an assignment to ``.data``
