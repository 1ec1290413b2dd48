# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "inventory/node-hook-none-replaced",
#     "inventory/node-hook-not-tuple",
#     "inventory/node-hook-wrong-count",
#     "inventory/multi-grad-hook-mode",
# ]
#
# [[tool.autograd-errors.error]]
# raises = "TypeError"
# message = "expected tuple, but hook returned '<type>'"
# source = "torch/csrc/autograd/python_hook.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "hook '<function>' has returned an incorrect number of values (got <count>, but expected <expected>)"
# source = "torch/csrc/autograd/python_hook.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "can't replace a None gradient with a non-None value"
# source = "torch/csrc/autograd/python_hook.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "ValueError"
# message = "Expects mode to be one of ('all', 'any') but got <mode>"
# source = "torch/autograd/graph.py"
# ///
"""
A hook on a graph node that returns the wrong thing
===================================================

You put a `hook` on a node of the `computational graph`, a tensor's `grad_fn`,
and it returned something other than one gradient for each of the node's inputs.
"""

import traceback

import torch

# %%
# The errors
# ----------
#
# The hook gets two tuples: the gradients of the node's inputs and of its outputs. It
# returns ``None`` or a tuple like the first. A product of two tensors has two inputs;
# a product with a number has a second input that has no gradient.

x = torch.tensor([1.0, 2.0], requires_grad=True)
y = torch.tensor([3.0, 4.0], requires_grad=True)

for build, hook in (
    (lambda: x * y, lambda inputs, outputs: inputs[0]),
    (lambda: x * y, lambda inputs, outputs: (inputs[0],)),
    (lambda: x * 2.0, lambda inputs, outputs: (inputs[0], torch.ones(2))),
):
    product = build()
    product.grad_fn.register_hook(hook)
    try:
        product.sum().backward()
    except (TypeError, RuntimeError):
        traceback.print_exc()

# %%
# A hook for several tensors knows two modes:

try:
    torch.autograd.graph.register_multi_grad_hook([x], print, mode="some")
except ValueError:
    traceback.print_exc()

# %%
# Return one gradient for each input
# ----------------------------------
#
# Here the first factor's gradient is halved and the second one's is left alone.

x = torch.tensor([1.0, 2.0], requires_grad=True)
y = torch.tensor([3.0, 4.0], requires_grad=True)
product = x * y
product.grad_fn.register_hook(lambda inputs, outputs: (0.5 * inputs[0], inputs[1]))
# draw: product
product.sum().backward()

print(x.grad, y.grad)
torch.testing.assert_close(x.grad, 0.5 * y.detach())
torch.testing.assert_close(y.grad, x.detach())

# %%
# To change one tensor's gradient, hook the tensor
# ------------------------------------------------
#
# That hook takes one gradient and cannot be confused about the order of inputs.

x = torch.tensor([1.0, 2.0], requires_grad=True)
x.register_hook(lambda grad: 0.5 * grad)
(x * y.detach()).sum().backward()

print(x.grad)
torch.testing.assert_close(x.grad, 0.5 * y.detach())

# %%
# See also
# --------
#
# * `hook-tensor`
