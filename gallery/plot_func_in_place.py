# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "functorch/inplace-on-unbatched",
#     "functorch/mutates-captured-tensor",
#     "inventory/functorch-vmap-setitem-unbatched",
#     "inventory/functorch-vmap-inplace-incompatible",
#     "inventory/functorch-vmap-masked-fill",
#     "inventory/functorch-vmap-index-put-unbatched",
#     "inventory/functorch-inplace-on-captured",
# ]
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "vmap: <operation>(self, *extra_args) is not possible because there exists a Tensor `other` in extra_args that has more elements than `self`. This happened due to `other` being vmapped over but `self` not being vmapped over in a vmap. Please try to use out-of-place operators instead of <same_operation>. If said operator is being called inside the PyTorch framework, please file a bug report instead."
# source = "aten/src/ATen/functorch/BatchRulesHelper.h"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "During a grad (vjp, jvp, grad, etc) transform, the function provided attempted to call in-place operation (<operation>) that would mutate a captured Tensor. This is not supported; please rewrite the function being transformed to explicitly accept the mutated Tensor(s) as inputs."
# source = "aten/src/ATen/functorch/ADInterpreters.cpp"
# ///
"""
Writing into a plain tensor under vmap or func.grad
===================================================

You wrote a value that is being mapped or differentiated into a tensor that is
not. `vmap` would have to make the tensor larger in the middle of your function, and
a gradient would have to leave it through a side door.
"""

import traceback

import torch

# %%
# The errors
# ----------
#
# A function fills a buffer it made itself. Under `torch.vmap` the values have a
# hidden batch dimension, and the buffer has none.


def fill(x):
    buffer = torch.zeros(3)
    buffer[0] = x.sum()
    return buffer


batch = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
try:
    torch.vmap(fill)(batch)
except RuntimeError:
    traceback.print_exc()

# %%
# Assigning to several places is another operation with its own name in the message:


def fill_two(x):
    buffer = torch.zeros(3)
    buffer[torch.tensor([0, 1])] = x[:2]
    return buffer


try:
    torch.vmap(fill_two)(batch)
except RuntimeError:
    traceback.print_exc()

# %%
# Under `torch.func.grad` the tensor is a variable of the surrounding code.

total = torch.zeros(3)


def accumulate(x):
    total.add_(x)
    return (total * x).sum()


try:
    torch.func.grad(accumulate)(torch.ones(3))
except RuntimeError:
    traceback.print_exc()

# %%
# Build the result instead of filling it
# --------------------------------------
#
# `torch.stack`, `torch.cat` and `torch.where` need no buffer.


def build(x):
    return torch.stack([x.sum(), torch.zeros(()), torch.zeros(())])


result = torch.vmap(build)(batch)
print(result)
torch.testing.assert_close(result, torch.stack([build(row) for row in batch]))

# %%
# If you need the buffer, make it from the input
# ----------------------------------------------
#
# ``new_zeros`` gives a tensor with the input's hidden dimension.


def fill_like_input(x):
    buffer = x.new_zeros(3)
    buffer[0] = x.sum()
    return buffer


result = torch.vmap(fill_like_input)(batch)
print(result)
torch.testing.assert_close(result, torch.stack([fill(row) for row in batch]))

# %%
# Take captured state as an argument, and return it
# -------------------------------------------------


def accumulate_purely(x, total):
    total = total + x
    return (total * x).sum(), total


gradient, total = torch.func.grad(accumulate_purely, has_aux=True)(torch.ones(3), torch.zeros(3))
print(gradient, total)
torch.testing.assert_close(gradient, torch.full((3,), 2.0))

# %%
# What only hides the error
# -------------------------
#
# Detaching the value before the write still fails under `vmap`, and under
# `torch.func.grad` it runs. The state's share of the gradient is then gone: half of
# it is missing here.

total = torch.zeros(3)


def accumulate_detached(x):
    state = total + x.detach()
    return (state * x).sum()


gradient = torch.func.grad(accumulate_detached)(torch.ones(3))
print(gradient, "is not", torch.full((3,), 2.0))
assert gradient[0] != 2.0

# %%
# See also
# --------
#
# * `func-data-dependent`
# * `func-rules`
