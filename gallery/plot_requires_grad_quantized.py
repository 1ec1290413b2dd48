# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = ["dtype/integer-parameter", "inventory/requires-grad-int-parameter"]
# cause-of = "requires-grad-set"
# when = { frame = "(?i)quant|gptq|awq|bitsandbytes|bnb|qlinear|parameter\\.py" }
# ///
"""
A parameter made of packed integers
===================================

You, or the loader of a quantized checkpoint, wrapped integers in
``nn.Parameter``. A `parameter` requires grad unless told otherwise, and integers
cannot.
"""

import traceback

import torch
from torch import nn

# %%
# The error
# ---------
#
# A quantized checkpoint holds the weight of a layer as small integers and one
# scale per row.

packed = torch.tensor([[2, -4], [1, 3]], dtype=torch.int8)
scale = torch.tensor([[0.5], [0.25]])

try:
    weight = nn.Parameter(packed)
except RuntimeError:
    traceback.print_exc()

# %%
# ``nn.Parameter(data)`` means ``nn.Parameter(data, requires_grad=True)``. The
# default does not look at the `dtype`:

print(packed.dtype, packed.is_floating_point(), packed.is_complex())

# %%
# To run the model, keep the integers in a buffer
# -----------------------------------------------
#
# A `buffer` is saved and moved with the module and is not trained. The layer
# multiplies the scale back in on every call. Gradients reach what comes before
# it: for a sum of the outputs that is the sum of the rows of the weight.


class QuantizedLinear(nn.Module):
    def __init__(self, packed, scale):
        super().__init__()
        self.register_buffer("packed", packed)
        self.register_buffer("scale", scale)

    def forward(self, x):
        return x @ (self.packed * self.scale).T


layer = QuantizedLinear(packed, scale)
x = torch.ones(1, 2, requires_grad=True)
layer(x).sum().backward()

print(list(layer.state_dict()), x.grad)
torch.testing.assert_close(x.grad, torch.tensor([[0.5 * 2 + 0.25 * 1, 0.5 * -4 + 0.25 * 3]]))

# %%
# If the format demands a parameter, say that it is not trained
# -------------------------------------------------------------
#
# Some loaders look for the name among the parameters. An integer parameter is
# legal as long as it does not require grad.

weight = nn.Parameter(packed, requires_grad=False)
x = torch.ones(1, 2, requires_grad=True)
(x @ (weight * scale).T).sum().backward()

print(weight.dtype, weight.requires_grad)
torch.testing.assert_close(x.grad, (weight * scale).sum(0, keepdim=True))

# %%
# To fine-tune, train something beside it
# ---------------------------------------
#
# The integers stay as they are, and a small low-rank correction learns. Its
# second factor starts at zero, so that the model starts where it was. For the
# sum of the outputs, the gradient of that factor is ``down @ x`` in every row.

down = nn.Parameter(torch.tensor([[1.0, 2.0]]))
up = nn.Parameter(torch.zeros(2, 1))
x = torch.tensor([[3.0, 5.0]])
output = layer(x) + x @ down.T @ up.T
output.sum().backward()

print(output, up.grad)
torch.testing.assert_close(up.grad, torch.full((2, 1), 1.0 * 3.0 + 2.0 * 5.0))

# %%
# What only hides the error
# -------------------------
#
# ``nn.Parameter(packed.float())`` requires grad and can be trained. But the
# values are counts, not weights: without the scale the layer computes
# something else, and for checkpoints that put several weights into one integer,
# something without any meaning.

weight = nn.Parameter(packed.float())
x = torch.ones(1, 2)
wrong, right = x @ weight.T, layer(x)

print(wrong, right)
assert not torch.allclose(wrong, right)

# %%
# If a library raised it
# ----------------------
#
# In a library, look for ``nn.Parameter(`` around a ``qweight``, ``packed`` or
# ``codebook`` and add ``requires_grad=False``, or ask the loader to dequantize.
#
# Related: `requires-grad-set`, `parameter-integer-dtype`.
