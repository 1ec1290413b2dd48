# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "silent/silent-custom-function-returns-list",
#     "silent/silent-custom-function-tensors-in-list",
# ]
# symptom = "The output of my custom function has requires_grad=False although its inputs require grad."
# symptom-zh = "自定义 Function 的输出 requires_grad=False，参数没有梯度"
# ///
"""
Tensors in a list around a custom function
==========================================

You passed tensors to ``apply`` inside a list, or returned them in one, and
autograd only looks at tensors that are arguments or elements of a tuple.
"""

import torch

# %%
# The mistake
# -----------
#
# A function adds any number of tensors, given as a list.


class Sum(torch.autograd.Function):
    @staticmethod
    def forward(ctx, tensors):
        return sum(tensors)

    @staticmethod
    def backward(ctx, grad):
        return grad


x = torch.ones(2, requires_grad=True)
y = Sum.apply([x, x])

print(y.requires_grad)
assert not y.requires_grad

# draw: y, x

# %%
# The same happens on the way out, with a list instead of a tuple:


class Halves(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return [x[:1] * 2, x[1:] * 2]

    @staticmethod
    def backward(ctx, *grads):
        return 2 * torch.cat(grads)


print([half.requires_grad for half in Halves.apply(x)])
assert not any(half.requires_grad for half in Halves.apply(x))

# %%
# Pass the tensors one by one
# ---------------------------
#
# ``forward`` takes ``*tensors``, and ``backward`` returns a gradient for each.


class SumRight(torch.autograd.Function):
    @staticmethod
    def forward(ctx, *tensors):
        ctx.count = len(tensors)
        return sum(tensors)

    @staticmethod
    def backward(ctx, grad):
        return (grad,) * ctx.count


x = torch.ones(2, dtype=torch.float64, requires_grad=True)
SumRight.apply(*[x, x]).sum().backward()

print(x.grad)
torch.testing.assert_close(x.grad, torch.full_like(x, 2.0))
assert torch.autograd.gradcheck(SumRight.apply, (x, x.detach().clone().requires_grad_()))

# %%
# Return a tuple
# --------------


class HalvesRight(Halves):
    @staticmethod
    def forward(ctx, x):
        return x[:1] * 2, x[1:] * 2


first, second = HalvesRight.apply(x)
print(first.requires_grad, second.requires_grad)
assert torch.autograd.gradcheck(HalvesRight.apply, (x,))

# %%
# What does not help
# ------------------
#
# Setting `requires_grad` on the output makes it a `leaf tensor` of its own. The
# `backward pass` runs and ends there.

x = torch.ones(2, requires_grad=True)
y = Sum.apply([x, x]).requires_grad_()
y.sum().backward()

print(x.grad, y.grad)
assert x.grad is None

# draw: y, x
