# /// script
# requires-python = ">=3.10"
# dependencies = ["torch", "numpy"]
#
# [tool.autograd-errors]
# causes = ["no-grad-fn/detached-tensor"]
# cause-of = "backward-no-grad-fn"
# ///
"""
The tensor was detached on the way to the loss
==============================================

You called ``detach`` (or used ``.data``, or went through numpy) on a tensor
and then computed the loss from the result. To `detach` means to end the graph.
"""

import traceback

import torch

# %%
# The error
# ---------
#
# A prediction is clipped in numpy, because there was a function for it.

weight = torch.tensor([1.0, -2.0], requires_grad=True)
prediction = weight * 3.0
clipped = torch.from_numpy(prediction.detach().numpy().clip(0.0))
loss = clipped.sum()

try:
    loss.backward()
except RuntimeError:
    traceback.print_exc()

# %%
# The call that is right for plotting is wrong on the way to the loss:

print(prediction.requires_grad, prediction.detach().requires_grad)
assert not prediction.detach().requires_grad

# draw: loss, prediction

# %%
# Use the torch function
# ----------------------
#
# Nearly all of numpy exists in torch and is recorded there. The slope is 3
# where the prediction is positive and 0 where it was clipped.

weight = torch.tensor([1.0, -2.0], requires_grad=True)
(weight * 3.0).clamp(min=0.0).sum().backward()

print(weight.grad)
torch.testing.assert_close(weight.grad, torch.tensor([3.0, 0.0]))

# %%
# If numpy only looks, keep the tensor for the loss
# -------------------------------------------------
#
# Give numpy its own detached copy, and go on with the recorded tensor.

weight = torch.tensor([1.0, -2.0], requires_grad=True)
prediction = weight * 3.0
shown = prediction.detach().numpy().copy()
prediction.sum().backward()

print(shown, weight.grad)
torch.testing.assert_close(weight.grad, torch.full((2,), 3.0))

# %%
# If there is no torch function, write its derivative
# ---------------------------------------------------
#
# A `custom function` may use anything in forward, as long as backward says what
# the slope is.


class Clip(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.from_numpy(x.detach().numpy().clip(0.0))

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * (x > 0)


weight = torch.tensor([1.0, -2.0], dtype=torch.float64, requires_grad=True)
Clip.apply(weight * 3.0).sum().backward()

print(weight.grad)
torch.testing.assert_close(weight.grad, torch.tensor([3.0, 0.0], dtype=torch.float64))
assert torch.autograd.gradcheck(Clip.apply, (weight,))

# %%
# What only hides the error
# -------------------------
#
# "Restore the graph" with ``requires_grad_(True)`` after numpy is published as
# a recipe. It restores nothing: the result is a new `leaf tensor`, and the weight
# gets no gradient.

weight = torch.tensor([1.0, -2.0], requires_grad=True)
clipped = torch.from_numpy((weight * 3.0).detach().numpy().clip(0.0)).requires_grad_(True)
clipped.sum().backward()

print(clipped.grad, weight.grad)
assert clipped.is_leaf and weight.grad is None

# %%
# See also
# --------
#
# * `backward-no-grad-fn`: the other causes of the message
# * `numpy-requires-grad`: the message that makes people detach
# * `silent-detach` and `silent-item`: the same cut without a message
