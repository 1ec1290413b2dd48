# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "non-scalar/grad-output-shape",
#     "inventory/grad-shape-mismatch",
#     "inventory/grad-batched-shape-mismatch",
# ]
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "Mismatch in shape: grad_output[<grad_index>] has a shape of <grad_shape> and output[<output_index>] has a shape of <output_shape>."
# source = "torch/autograd/__init__.py"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "If `is_grads_batched=True`, we interpret the first dimension of each grad_output as the batch dimension. The sizes of the remaining dimensions are expected to match the shape of corresponding output, but a mismatch was detected: grad_output[<grad_index>] has a shape of <grad_shape> and output[<output_index>] has a shape of <output_shape>. If you only want some tensors in `grad_output` to be considered batched, consider using vmap."
# source = "torch/autograd/__init__.py"
# ///
"""
The starting gradient has the wrong shape
=========================================

You passed a gradient to ``backward`` or ``grad`` whose shape is not that of the
output. It holds one weight for each element of the output, so it must fit it
exactly; nothing is broadcast.
"""

import traceback

import torch

# %%
# The error
# ---------
#
# A gradient from another program arrives for an image batch, without the channel
# dimension. The two shapes in the message are the one passed and the one needed.

weight = torch.tensor([1.0, 2.0], requires_grad=True)
images = torch.ones(3, 1) * weight
incoming = torch.tensor([1.0, 0.5])

try:
    images.backward(incoming)
except RuntimeError:
    traceback.print_exc()

# %%
# Also one number for a vector is refused, and ``[1]`` for a loss without
# dimensions:

loss = images.sum()
try:
    loss.backward(torch.ones(1))
except RuntimeError:
    traceback.print_exc()

print(images.shape, loss.shape)

# %%
# Make it the shape of the output
# -------------------------------
#
# Say how the gradient spreads. ``expand_as`` gives every row the same. The result
# is the `vector-Jacobian product`: three rows of ``incoming``, added up.

weight = torch.tensor([1.0, 2.0], requires_grad=True)
images = torch.ones(3, 1) * weight
images.backward(incoming.expand_as(images))

print(weight.grad)
torch.testing.assert_close(weight.grad, 3 * incoming)

# %%
# If you want a loss of it, multiply and sum
# ------------------------------------------
#
# ``(output * gradient).sum().backward()`` is the same product, and here
# broadcasting works as you expect.

weight = torch.tensor([1.0, 2.0], requires_grad=True)
((torch.ones(3, 1) * weight) * incoming).sum().backward()

torch.testing.assert_close(weight.grad, 3 * incoming)

# %%
# If you pass many gradients at once, put the batch first
# -------------------------------------------------------
#
# With ``is_grads_batched=True`` the first dimension counts the gradients, and the
# rest must fit the output. The shape that the message prints for the gradient is
# not the one you passed: compare the two yourself.

weight = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
squares = weight**2
try:
    torch.autograd.grad(squares, weight, torch.ones(4, 2), is_grads_batched=True)
except RuntimeError:
    traceback.print_exc()

(rows,) = torch.autograd.grad(squares, weight, torch.eye(3), is_grads_batched=True)
print(rows)
torch.testing.assert_close(rows, torch.diag(2 * weight.detach()))

# %%
# What only hides the error
# -------------------------
#
# Reshaping until it runs is a guess. Here the gradient of one output fits another
# after ``reshape``, and the numbers go to the wrong places.

weight = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], requires_grad=True)
gradient = torch.tensor([[1.0, 0.0], [2.0, 0.0], [3.0, 0.0]])
(weight * 1.0).backward(gradient.reshape(2, 3))

print(weight.grad, "instead of", gradient.T)
assert not torch.equal(weight.grad, gradient.T)

# %%
# See also
# --------
#
# * `backward-non-scalar`: no gradient was passed, and one is needed
# * `function-gradient-shape`: a `custom function` returned the wrong shape
# * `backward-arguments`: it is not a tensor at all
