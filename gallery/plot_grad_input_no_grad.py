# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = ["inventory/grad-input-not-requires-grad", "inventory/gradient-edge-no-grad"]
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "One of the differentiated Tensors does not require grad"
# source = "torch/csrc/autograd/python_engine.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "It is not possible to get the gradient edge for a Tensor that does not require gradients"
# source = "torch/autograd/graph.py"
# ///
"""
A gradient was asked for a tensor that requires none
====================================================

You asked `torch.autograd.grad` for the gradient of a tensor whose
`requires_grad` was off during forward. Autograd records the way from a tensor
only if you asked for it before.
"""

import traceback

import torch

# %%
# The error
# ---------
#
# A saliency map wants the gradient of a score in the pixels. The image is data.

weight = torch.tensor([1.0, -2.0], requires_grad=True)
image = torch.tensor([3.0, 4.0])

score = (weight * image).sum()
try:
    torch.autograd.grad(score, image)
except RuntimeError:
    traceback.print_exc()

# %%
# The score has a graph, from the weight. The image is not in it.

print(score.requires_grad, image.requires_grad)
assert score.requires_grad and not image.requires_grad

# %%
# Ask before the forward pass
# ---------------------------
#
# A detached copy keeps the data loader's tensor as it was. The derivative of
# ``w x`` in ``x`` is ``w``.

image = torch.tensor([3.0, 4.0])
pixels = image.clone().requires_grad_()
(saliency,) = torch.autograd.grad((weight * pixels).sum(), pixels)

print(saliency)
torch.testing.assert_close(saliency, weight.detach())

# %%
# If one tensor of a list is frozen, leave it out
# -----------------------------------------------
#
# The message does not say which one. List them:

layer = torch.nn.Linear(2, 1)
layer.bias.requires_grad_(False)
print([name for name, p in layer.named_parameters() if not p.requires_grad])

trainable = [p for p in layer.parameters() if p.requires_grad]
(gradient,) = torch.autograd.grad(layer(image).sum(), trainable)
torch.testing.assert_close(gradient, image.expand(1, 2))

# %%
# The same for an edge of the graph
# ---------------------------------
#
# `torch.autograd.graph.get_gradient_edge` stands for a place in the graph, and a
# tensor without a graph has none.

try:
    torch.autograd.graph.get_gradient_edge(image)
except RuntimeError:
    traceback.print_exc()

edge = torch.autograd.graph.get_gradient_edge(pixels)
(saliency,) = torch.autograd.grad((weight * pixels).sum(), edge)
torch.testing.assert_close(saliency, weight.detach())

# %%
# What only hides the error
# -------------------------
#
# Setting the flag after forward changes the message and not the fact: the tensor
# is then "not used in the graph", and with ``allow_unused=True`` it gets ``None``.

image = torch.tensor([3.0, 4.0])
score = (weight * image).sum()
image.requires_grad_()
(gradient,) = torch.autograd.grad(score, image, allow_unused=True)

print(gradient)
assert gradient is None

# %%
# See also
# --------
#
# * `grad-unused-input`: the tensor requires grad and was not used
# * `backward-no-grad-fn`: the loss itself has no graph
