# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "custom-function/saved-input-modified-later",
#     "inventory/version-custom-function-saved-input",
# ]
# cause-of = "version-modified"
# when = { frame = "(?:saved_tensors|autograd/function\\.py|ctx\\b|in apply)" }
# ///
"""
The saved input of a custom function was overwritten
====================================================

Your `custom function` saved its input with ``ctx.save_for_backward``, and the
caller wrote into that tensor afterwards. The check happens when ``backward``
reads ``ctx.saved_tensors``.
"""

import traceback

import torch

# %%
# The error
# ---------
#
# A squared activation, and a caller that reuses the memory of its input.


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return 2 * x * grad


weight = torch.tensor([3.0, 4.0], dtype=torch.float64, requires_grad=True)
hidden = weight * 1.0
loss = Square.apply(hidden).sum()
hidden.zero_()

try:
    loss.backward()
except RuntimeError:
    traceback.print_exc()

# %%
# The frames of the traceback lead into your ``backward``, which is right. The
# write is in the caller.
#
# Let the caller write elsewhere
# ------------------------------
#
# A new tensor under the same name is enough. `gradcheck` tests the function
# itself.

hidden = weight * 1.0
loss = Square.apply(hidden).sum()
hidden = torch.zeros_like(hidden)
loss.backward()

print(weight.grad)
torch.testing.assert_close(weight.grad, 2 * weight.detach())
assert torch.autograd.gradcheck(Square.apply, (weight,))

# %%
# If callers will reuse the memory, save something of your own
# ------------------------------------------------------------
#
# Save what ``forward`` computed anyway. Here that is the slope: one more tensor,
# which nobody else can reach. It stands in the way of a `double backward`, so
# the function says so.


class SquareOwnMemory(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(2 * x)
        return x * x

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, grad):
        (slope,) = ctx.saved_tensors
        return slope * grad


weight.grad = None
hidden = weight * 1.0
loss = SquareOwnMemory.apply(hidden).sum()
hidden.zero_()
loss.backward()

print(weight.grad)
torch.testing.assert_close(weight.grad, 2 * weight.detach())

# %%
# What only hides the error
# -------------------------
#
# ``ctx.x = x`` stores the tensor past the `version counter`. Backward then
# computes with what the caller wrote:


class SquareUnchecked(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.x = x
        return x * x

    @staticmethod
    def backward(ctx, grad):
        return 2 * ctx.x * grad


weight.grad = None
hidden = weight * 1.0
loss = SquareUnchecked.apply(hidden).sum()
hidden.zero_()
loss.backward()

print(weight.grad)
assert not torch.equal(weight.grad, 2 * weight.detach())

# %%
# See also
# --------
#
# * `silent-function-ctx-attribute`: more about ``ctx.x = x``
# * `function-mark-dirty`: the function itself writes into its input
