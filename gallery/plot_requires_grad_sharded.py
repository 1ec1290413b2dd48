# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "requires-grad-flag/sharded-view-parameter",
#     "inventory/requires-grad-change-non-leaf-method",
# ]
# cause-of = "requires-grad-set"
# when = { frame = "(?i)fsdp|fairscale|flatten|deepspeed|shard" }
# ///
"""
Freezing a model after its parameters were flattened
====================================================

You froze a layer after a wrapper had packed all parameters into one long one.
What the layer now calls its weight is a `view` of that flat parameter, and the
flag of a view is not yours to set.
"""

import traceback

import torch
from torch import nn

# %%
# The error
# ---------
#
# Sharding libraries keep one flat parameter and give each layer its slice.
# This wrapper does the same in a few lines, without any processes.


def flatten(layers):
    flat = nn.Parameter(torch.cat([layer.weight.detach().flatten() for layer in layers]))
    start = 0
    for layer in layers:
        shape = layer.weight.shape
        del layer._parameters["weight"]
        layer.weight = flat[start : start + shape.numel()].view(shape)
        start += shape.numel()
    return flat


def two_layers():
    layers = [nn.Linear(2, 2, bias=False), nn.Linear(2, 1, bias=False)]
    for layer in layers:
        nn.init.constant_(layer.weight, 0.5)
    return layers


layers = two_layers()
flat = flatten(layers)

try:
    layers[0].weight.requires_grad_(False)
except RuntimeError:
    traceback.print_exc()

# %%
# The weight is computed; the flat parameter is the `leaf tensor`.

print(layers[0].weight.is_leaf, layers[0].weight._base is flat, flat.is_leaf)

# %%
# To freeze a layer, freeze it before you wrap
# --------------------------------------------
#
# The real libraries put frozen and trained parameters into different flat
# ones, or accept both in one if you tell them; here the frozen layer is left
# out. With all weights one half and inputs of one, the first layer puts out ones,
# which are the gradient of the second.

layers = two_layers()
layers[0].requires_grad_(False)
flat = flatten([layer for layer in layers if layer.weight.requires_grad])
layers[1](layers[0](torch.ones(1, 2))).sum().backward()

print(layers[0].weight.grad, flat.grad)
assert layers[0].weight.grad is None
torch.testing.assert_close(flat.grad, torch.ones(2))

# %%
# If it is wrapped already, drop its part of the gradient
# -------------------------------------------------------
#
# A `hook` on the flat parameter can zero the slice of the frozen layer. An
# `optimizer` with weight decay would still shrink the values, so freezing first
# is better.

layers = two_layers()
flat = flatten(layers)
trained = torch.tensor([0.0, 0.0, 0.0, 0.0, 1.0, 1.0])
flat.register_hook(lambda gradient: gradient * trained)
layers[1](layers[0](torch.ones(1, 2))).sum().backward()

print(flat.grad)
torch.testing.assert_close(flat.grad, trained)

# %%
# What only hides the error
# -------------------------
#
# ``layer.weight = layer.weight.detach()`` also stops the gradient. But the
# module holds a tensor now that the wrapper does not know: the next time it
# fills its views, or gathers the shards, the old one is used again.

layers = two_layers()
flat = flatten(layers)
layers[0].weight = layers[0].weight.detach()
layers[1](layers[0](torch.ones(1, 2))).sum().backward()
print(flat.grad)

layers[0].weight = flat[:4].view(2, 2)  # what the wrapper does before each forward
flat.grad = None
layers[1](layers[0](torch.ones(1, 2))).sum().backward()
print(flat.grad)
assert flat.grad[:4].any()

# %%
# If a library raised it
# ----------------------
#
# Find the line that wraps the model, in FSDP, fairscale or your trainer, and
# move the freezing above it. FSDP takes ``use_orig_params=True`` for models that
# mix frozen and trained parameters.
#
# Related: `requires-grad-set`, `leaf-what-is`, `optimizer-non-leaf`.
