# /// script
# requires-python = ">=3.10"
# dependencies = ["numpy", "torch"]
#
# [tool.autograd-errors]
# causes = [
#     "silent/silent-item-cuts-graph",
#     "silent/silent-numpy-roundtrip",
#     "silent/silent-save-load-drops-graph",
# ]
# symptom = "The loss changes but the gradient misses a part, since I use .item() or numpy inside the model."
# symptom-zh = "前向中使用 .item() 或 numpy 后部分梯度丢失"
# ///
"""
Leaving the graph through a number or an array
==============================================

You took a value out of the graph, as a Python number, a NumPy array or a file, and put
it back. The value came back, its history did not.
"""

import io

import torch

# %%
# The mistake
# -----------
#
# The input is scaled by a quantity that depends on it. With ``.item()`` that quantity is
# a constant to the gradient: half of the derivative of three times the square is missing.

x = torch.tensor([2.0], requires_grad=True)
scale = (3.0 * x).sum().item()
(x * scale).sum().backward()

print(x.grad, "is not", 2 * 3 * 2.0)
assert x.grad != 2 * 3 * 2.0

# %%
# NumPy and a file cut it entirely:

x = torch.ones(2, requires_grad=True)
hidden = x * 2.0
array = torch.from_numpy(hidden.detach().numpy())
file = io.BytesIO()
torch.save(hidden, file)
file.seek(0)

print(array.requires_grad, torch.load(file).grad_fn)
assert not array.requires_grad

# %%
# Keep the value a tensor
# -----------------------

x = torch.tensor([2.0], requires_grad=True)
(x * (3.0 * x).sum()).sum().backward()

print(x.grad)
torch.testing.assert_close(x.grad, torch.tensor([2 * 3 * 2.0]))

# %%
# Write the NumPy part in torch, or give it a derivative
# ------------------------------------------------------
#
# If the array function cannot be rewritten, a `custom function` can carry its derivative.


class NumpySine(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        import numpy as np

        ctx.save_for_backward(x)
        return torch.from_numpy(np.sin(x.detach().numpy()))

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * torch.cos(x)


x = torch.tensor([0.5, 1.0], dtype=torch.float64, requires_grad=True)
assert torch.autograd.gradcheck(NumpySine.apply, (x,))

# %%
# What does not help
# ------------------
#
# Setting `requires_grad` on what came back makes it a `leaf tensor` of its own. The
# `backward pass` ends there.

x = torch.ones(2, requires_grad=True)
back = torch.from_numpy((x * 2.0).detach().numpy()).requires_grad_()
back.sum().backward()

print(x.grad, back.grad)
assert x.grad is None

# %%
# See also
# --------
#
# * `silent-torch-tensor`: the same with ``torch.tensor(...)``
# * `numpy-requires-grad`
