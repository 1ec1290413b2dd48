# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = ["silent/silent-function-direct-forward-call"]
# symptom = "My custom backward is never called: the gradient is that of the plain operations."
# symptom-zh = "自定义 backward 没有被调用，梯度不是我写的那个"
# ///
"""
Calling forward of a custom function directly
=============================================

You called ``forward`` of a `custom function` yourself, so autograd recorded
the operations inside it and never learned of your ``backward``.
"""

import torch

# %%
# The mistake
# -----------
#
# A straight-through clip passes the gradient on where ``clamp`` would stop it.
# Called by its ``forward``, it is an ordinary ``clamp``.


class StraightThroughClip(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clamp(0.0, 1.0)

    @staticmethod
    def backward(ctx, grad):
        return grad


x = torch.tensor([0.5, 2.0], requires_grad=True)
y = StraightThroughClip.forward(None, x)
# draw: y as "Called by its forward"
y.sum().backward()

print(x.grad, y.grad_fn)
assert x.grad[1] == 0.0

# %%
# The `grad_fn` names the operation that autograd saw: not your class.
#
# Call it through apply
# ---------------------

x = torch.tensor([0.5, 2.0], requires_grad=True)
y = StraightThroughClip.apply(x)
# draw: y as "Called through apply"
y.sum().backward()

print(x.grad, y.grad_fn)
torch.testing.assert_close(x.grad, torch.ones(2))

# %%
# Test for it
# -----------
#
# One line in a unit test keeps the mistake away: the node carries the name of
# your class.

assert type(StraightThroughClip.apply(x).grad_fn).__name__ == "StraightThroughClipBackward"

# %%
# See also
# --------
#
# * `function-signature`
