# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = ["inventory/jit-trace-requires-grad-constant"]
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "Cannot insert a Tensor that requires grad as a constant. Consider making it a parameter or input, or detaching the gradient\nTensor:\n<tensor>"
# source = "torch/csrc/jit/frontend/tracer.cpp"
# ///
"""
A traced function that uses a learned tensor from outside
=========================================================

You traced a function that reads a tensor which it does not get as an argument,
and which requires a gradient. The tracer would have to freeze it into the
traced program as a constant, and a constant cannot learn.
"""

import traceback

import torch
from torch import nn

# %%
# The error
# ---------
#
# The weight is a global variable of the notebook.

weight = torch.tensor([1.0, 2.0], requires_grad=True)
x = torch.tensor([3.0, 5.0])

try:
    torch.jit.trace(lambda x: x * weight, x)
except RuntimeError:
    traceback.print_exc()

# %%
# In a model the same happens with a tensor that the module does not own as a
# `parameter`: one in a list, or one made with ``requires_grad=True``.


class Scale(nn.Module):
    def __init__(self):
        super().__init__()
        self.scales = [torch.tensor([1.0, 2.0], requires_grad=True)]

    def forward(self, x):
        return x * self.scales[0]


try:
    torch.jit.trace(Scale(), x)
except RuntimeError:
    traceback.print_exc()

# %%
# Make it a parameter of the module
# ---------------------------------
#
# The tracer takes parameters along, and the traced module learns. The gradient
# of ``sum(x * scale)`` is ``x``.


class RightScale(nn.Module):
    def __init__(self):
        super().__init__()
        self.scales = nn.ParameterList([torch.tensor([1.0, 2.0])])

    def forward(self, x):
        return x * self.scales[0]


net = RightScale()
traced = torch.jit.trace(net, x)
traced(x).sum().backward()

print(net.scales[0].grad)
torch.testing.assert_close(net.scales[0].grad, x)

# %%
# Or make it an input of the function
# -----------------------------------
#
# Then each call may bring another weight.

traced = torch.jit.trace(lambda x, weight: x * weight, (x, weight))
traced(x, weight).sum().backward()

print(weight.grad)
torch.testing.assert_close(weight.grad, x)

# %%
# To only run it, detach
# ----------------------
#
# For a model that is shipped and not trained, a constant is right. Detach before
# you trace. The input may still have a gradient: here the weight.

constant = weight.detach()
traced = torch.jit.trace(lambda x: x * constant, x)
image = torch.tensor([3.0, 5.0], requires_grad=True)
traced(image).sum().backward()

print(image.grad)
torch.testing.assert_close(image.grad, weight.detach())

# %%
# What only hides the error
# -------------------------
#
# Detaching in a model that you go on training silences the tracer as well. The
# weight, whose gradient should be ``x``, then never gets one:

weight = torch.tensor([1.0, 2.0], requires_grad=True)
bias = torch.zeros(2, requires_grad=True)
constant, other = weight.detach(), bias.detach()
traced = torch.jit.trace(lambda x, bias: x * constant + bias, (x, other))
traced(x, bias).sum().backward()

print(weight.grad, bias.grad)
assert weight.grad is None and bias.grad is not None

# %%
# See also
# --------
#
# * `parameter-assign-tensor`
# * `optimizer-empty`: layers in a plain list
