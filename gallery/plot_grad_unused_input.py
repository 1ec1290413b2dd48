# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "unused/submodule-not-called",
#     "inventory/grad-unused-input",
# ]
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "The differentiated Tensor at index <index> appears to not have been used in the graph. Set allow_unused=True if this is the desired behavior."
# source = "torch/csrc/autograd/python_engine.cpp"
# ///
"""
A gradient was asked for a tensor the loss never used
=====================================================

You asked `torch.autograd.grad` for the gradient of a tensor that is not on the
way to the loss. It may be a layer that forward never calls, or another tensor
than the one that was used.
"""

import traceback

import torch

# %%
# The error
# ---------
#
# A meta-learning step takes the gradient of all parameters. The model has a
# pooling layer that this task does not call.


class Encoder(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body = torch.nn.Linear(2, 2, bias=False)
        self.pooler = torch.nn.Linear(2, 2, bias=False)

    def forward(self, data):
        return self.body(data)


model = Encoder()
data = torch.tensor([[1.0, 2.0]])
loss = model(data).sum()

try:
    torch.autograd.grad(loss, list(model.parameters()))
except RuntimeError:
    traceback.print_exc()

# %%
# How to read the message
# -----------------------
#
# "index" counts the tensors that you passed. With names beside them, it has a
# name. Only the first unused tensor is reported; this lists all of them:

names = [name for name, _ in model.named_parameters()]
gradients = torch.autograd.grad(model(data).sum(), list(model.parameters()), allow_unused=True)
unused = [name for name, gradient in zip(names, gradients, strict=True) if gradient is None]

print(unused)
assert unused == ["pooler.weight"]

# %%
# Which page is yours
# -------------------
#
# - A layer of the list is not called in this forward, and should not be: read on.
# - The tensor is a clone, a reshape, a slice or a moved copy of what the model
#   got: `grad-unused-view`.
# - The tensor was used, but its path to the loss was cut by ``no_grad`` or
#   ``detach``, or it was never put in: `grad-unused-cut`.
# - The message says that a tensor does not require grad: `grad-input-no-grad`.

# %%
# Differentiate what takes part
# -----------------------------
#
# Choose the parameters by name. The gradient of the sum in the weight is the
# input, in every row.

used = {name: p for name, p in model.named_parameters() if not name.startswith("pooler.")}
gradients = torch.autograd.grad(model(data).sum(), list(used.values()))

print(dict(zip(used, gradients, strict=True)))
torch.testing.assert_close(gradients[0], data.expand(2, 2))

# %%
# If unused means a gradient of zero, say so
# ------------------------------------------
#
# A loss does not change with a tensor it never saw, so its derivative is zero.
# ``materialize_grads=True`` returns that zero as a tensor, and an update such as
# ``p - rate * gradient`` goes on working.

gradients = torch.autograd.grad(model(data).sum(), list(model.parameters()), materialize_grads=True)

print(gradients[1])
torch.testing.assert_close(gradients[0], data.expand(2, 2))
torch.testing.assert_close(gradients[1], torch.zeros(2, 2))

# %%
# What only hides the error
# -------------------------
#
# ``allow_unused=True``, which the message proposes, is right as a question and
# wrong as an answer. If the tensor was *meant* to be used, the gradient is
# ``None``, and code that skips ``None`` trains nothing.

inputs = torch.tensor([1.0, 2.0], requires_grad=True)
asked = inputs.clone()
loss = (inputs**2).sum()
(gradient,) = torch.autograd.grad(loss, asked, allow_unused=True, retain_graph=True)
(right,) = torch.autograd.grad(loss, inputs)

print(gradient, "instead of", right)
assert gradient is None
torch.testing.assert_close(right, 2 * inputs.detach())

# %%
# If a library raised it
# ----------------------
#
# A wrapper that differentiates ``model.parameters()`` cannot know which layers
# your task leaves out.
#
# - Give it only what is used, or remove the layer: ``model.pooler = None``, or an
#   option such as ``add_pooling_layer=False``.
# - If it has an ``allow_unused`` option, print the names as above once, and set
#   it only when each of them is one that you expect.

model = Encoder()
model.pooler = None
(gradient,) = torch.autograd.grad(model(data).sum(), list(model.parameters()))
torch.testing.assert_close(gradient, data.expand(2, 2))

# %%
# Am I right now?
# ---------------
#
# Move one element of the tensor a little both ways. If the loss does not move,
# the message was right; if it does, the graph is cut somewhere.


def loss_of(inputs):
    return (inputs**2).sum()


inputs = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
(gradient,) = torch.autograd.grad(loss_of(inputs), inputs)
step = torch.tensor([1e-6, 0.0], dtype=torch.float64)
with torch.no_grad():
    slope = (loss_of(inputs + step) - loss_of(inputs - step)) / 2e-6

print(slope, gradient[0])
torch.testing.assert_close(slope, gradient[0])
