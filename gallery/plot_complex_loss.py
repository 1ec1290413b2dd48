# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "complex/non-real-loss",
#     "inventory/grad-complex-scalar-implicit",
#     "inventory/grad-complex-dtype-mismatch",
# ]
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "grad can be implicitly created only for real scalar outputs but got <dtype>"
# source = "torch/autograd/__init__.py"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "For complex Tensors, both grad_output and output are required to have the same dtype. Mismatch in dtype: grad_output[<index>] has a dtype of <grad_dtype> and output[<output_index>] has a dtype of <dtype>."
# source = "torch/autograd/__init__.py"
# ///
"""
Calling backward on a complex loss
==================================

Your loss is a complex number, and "smaller" has no meaning for those. A loss
must be real before ``backward`` can supply the starting gradient of one.
"""

import traceback

import torch

# %%
# The error
# ---------
#
# A filter is fitted to a signal in the frequency domain, and the mean of the
# squared difference is still complex.

weight = torch.tensor([1.0 + 1.0j, 2.0 + 0.0j], requires_grad=True)
target = torch.tensor([0.0 + 1.0j, 2.0 + 2.0j])

loss = ((weight - target) ** 2).sum()
print(loss)

try:
    loss.backward()
except RuntimeError:
    traceback.print_exc()

# %%
# A starting gradient of your own must be complex as well:

try:
    loss.backward(torch.tensor(1.0))
except RuntimeError:
    traceback.print_exc()

# %%
# Measure the distance with the absolute value
# --------------------------------------------
#
# The squared absolute value is real. PyTorch's gradient points where the loss
# grows fastest, so a step against it lowers the loss: for this loss it is twice
# the difference.

loss = (weight - target).abs().square().sum()
loss.backward()

print(loss, weight.grad)
torch.testing.assert_close(weight.grad, 2 * (weight - target).detach())

# %%
# The same from real and imaginary parts, each an ordinary real number:

real = torch.tensor([1.0, 2.0], requires_grad=True)
imaginary = torch.tensor([1.0, 0.0], requires_grad=True)
((real - target.real) ** 2 + (imaginary - target.imag) ** 2).sum().backward()
torch.testing.assert_close(weight.grad, torch.complex(real.grad, imaginary.grad))

# %%
# What only hides the error
# -------------------------
#
# Taking the real part of the square silences the message and minimizes another
# thing: the imaginary difference is now rewarded, so a step of descent makes
# the distance larger.

weight = torch.tensor([1.0 + 1.0j, 2.0 + 0.0j], requires_grad=True)
((weight - target) ** 2).sum().real.backward()
after = weight.detach() - 0.1 * weight.grad

print((weight.detach() - target).abs(), "->", (after - target).abs())
assert (after - target).abs()[1] > (weight.detach() - target).abs()[1]

# %%
# See also
# --------
#
# * `complex-limits`
# * `backward-non-scalar`
