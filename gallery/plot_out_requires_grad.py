# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "out-argument/requires-grad",
#     "inventory/out-requires-grad",
#     "inventory/out-matmul-requires-grad",
#     "inventory/out-buffer-requires-grad",
# ]
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "<operation>(): functions with out=... arguments don't support automatic differentiation, but one of the arguments requires grad."
# source = "torch/csrc/autograd/VariableTypeUtils.h"
# ///
"""
A result written with out= while gradients are recorded
=======================================================

You asked a function to write its result into a tensor of yours, with ``out=``,
and one of the tensors involved requires a gradient. A call with ``out=`` is
never recorded, so PyTorch refuses it where a gradient would get lost.
"""

import traceback

import torch

# %%
# The error
# ---------
#
# You reuse one buffer for the layers of a model to save memory.

x = torch.tensor([1.0, 2.0], requires_grad=True)
buffer = torch.empty(2)

try:
    torch.add(x, 1, out=buffer)
except RuntimeError:
    traceback.print_exc()

# %%
# The name in front of the message is the function. A matrix product says the
# same:

weight = torch.eye(2, requires_grad=True)

try:
    torch.matmul(weight, weight, out=torch.empty(2, 2))
except RuntimeError:
    traceback.print_exc()

# %%
# It is enough that the buffer itself requires a gradient:

learned = torch.empty(2, requires_grad=True)

try:
    torch.mul(torch.ones(2), 2, out=learned)
except RuntimeError:
    traceback.print_exc()

# %%
# To learn through the result, let the function make it
# -----------------------------------------------------
#
# PyTorch keeps freed memory and hands it out again, so little is gained by
# ``out=``. The gradient of ``sum((x + 1)**2)`` is ``2 * (x + 1)``.

result = torch.add(x, 1)
(result**2).sum().backward()

print(x.grad)
torch.testing.assert_close(x.grad, torch.tensor([4.0, 6.0]))

# %%
# If it must be this buffer, copy into it
# ---------------------------------------
#
# ``copy_`` is recorded, unlike ``out=``. The buffer must be a plain tensor, or
# the write meets a `leaf tensor`.

x.grad = None
buffer = torch.empty(2)
buffer.copy_(torch.add(x, 1))
(buffer**2).sum().backward()

print(x.grad)
torch.testing.assert_close(x.grad, torch.tensor([4.0, 6.0]))

# %%
# If no gradient is wanted, say so
# --------------------------------
#
# Under `torch.no_grad` the call is allowed, for a moving average or an update by
# hand, and into a parameter too.

with torch.no_grad():
    torch.mul(torch.ones(2), 2, out=learned)

(learned**2).sum().backward()

print(learned, learned.grad)
torch.testing.assert_close(learned.grad, 2 * torch.full((2,), 2.0))

# %%
# What only hides the error
# -------------------------
#
# Detaching the input, or ``no_grad`` around the call in the model, lets the
# result through without its history. The gradient of ``x`` should be 4 and 6,
# plus 1 for the direct way:

x.grad = None
buffer = torch.empty(2)
torch.add(x.detach(), 1, out=buffer)
((buffer**2) + x).sum().backward()

print(x.grad)
assert torch.equal(x.grad, torch.ones(2))

# %%
# If you never wrote ``out=``, a library or a backend did, below the line that
# fails. Its fix is the same: an update of that library, or the call without the
# buffer.
#
# See also
# --------
#
# * `out-resized`
# * `leaf-inplace`
# * `silent-data-edit`
