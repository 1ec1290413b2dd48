# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = ["inference-mode/cache-created-in-validation"]
# cause-of = "inference-mode-tensors"
# ///
"""
A table that a layer cached during validation
=============================================

A layer filled a table on its first call, and the first call was in
`inference mode`. The table stays in the module as an inference tensor, and the
next training step, which needs it for backward, fails. It works until you run
validation or generation first.
"""

import traceback

import torch
from torch import nn

# %%
# The error
# ---------
#
# A position table is computed when the first sequence arrives. A check of the
# validation set runs before training.


class Scale(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(3))
        self.table = None

    def make_table(self, x):
        return torch.arange(1.0, len(x) + 1)

    def forward(self, x):
        if self.table is None:
            self.table = self.make_table(x)
        return (self.weight * x * self.table).sum()


x = torch.ones(3)
layer = Scale()

with torch.inference_mode():
    layer(x)  # validation

try:
    layer(x).backward()
except RuntimeError:
    traceback.print_exc()

# %%
# Look through the attributes of the model for tensors made in that mode:


def inference_tensors(module):
    for path, part in module.named_modules():
        for name, value in vars(part).items():
            if isinstance(value, torch.Tensor) and value.is_inference():
                yield f"{path}.{name}".lstrip(".")


print(list(inference_tensors(layer)))
assert list(inference_tensors(layer)) == ["table"]

# %%
# If the layer is yours, fill the table outside the mode
# ------------------------------------------------------
#
# ``inference_mode(False)`` leaves the mode for one block; `torch.enable_grad`
# does not. For ``sum(weight * x * table)`` the gradient is ``x * table``.


class RightScale(Scale):
    def make_table(self, x):
        with torch.inference_mode(False), torch.no_grad():
            return torch.arange(1.0, len(x) + 1)


layer = RightScale()
with torch.inference_mode():
    layer(x)
layer(x).backward()

print(layer.weight.grad)
torch.testing.assert_close(layer.weight.grad, x * torch.tensor([1.0, 2.0, 3.0]))

# %%
# A `buffer` that ``__init__`` fills is simpler, when the size is known. If the
# table is computed from ``x`` itself and ``x`` was made in the mode, clone ``x``
# inside the inner block first.
#
# If the layer is not yours, validate with no_grad
# ------------------------------------------------
#
# `torch.no_grad` makes ordinary tensors, so whatever a library caches can be
# used later.

layer = Scale()
with torch.no_grad():
    layer(x)
layer(x).backward()

print(layer.weight.grad)
torch.testing.assert_close(layer.weight.grad, x * torch.tensor([1.0, 2.0, 3.0]))

# %%
# To repair a model that already has such a table
# -----------------------------------------------
#
# Replace each by a `clone` made outside the mode, or set it back to ``None``.

layer = Scale()
with torch.inference_mode():
    layer(x)

for name in list(inference_tensors(layer)):
    path, _, attribute = name.rpartition(".")
    part = layer.get_submodule(path)
    setattr(part, attribute, getattr(part, attribute).clone())
layer(x).backward()

torch.testing.assert_close(layer.weight.grad, x * torch.tensor([1.0, 2.0, 3.0]))

# %%
# What only hides the error
# -------------------------
#
# Multiplying under ``no_grad`` keeps autograd from saving the table, and from
# seeing the weight at all. The gradient should be 1, 2 and 3.

layer = Scale()
with torch.inference_mode():
    layer(x)
with torch.no_grad():
    scaled = layer.weight * x * layer.table
loss = (scaled + layer.weight).sum()
loss.backward()

print(layer.weight.grad)
assert torch.equal(layer.weight.grad, torch.ones(3))

# %%
# See also
# --------
#
# * `inference-mode-tensors`
# * `inference-mode-module`
# * `inference-mode-inplace`: a cache that is written instead of read
