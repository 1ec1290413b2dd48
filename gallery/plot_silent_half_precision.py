# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "silent/silent-fp16-underflow",
# ]
# symptom = "In half precision some weights stop changing; their gradients are exactly zero."
# symptom-zh = "半精度训练时部分梯度恰好为零"
# ///
"""
Gradients too small for half precision
======================================

Your tensors are ``float16``, and a small gradient was rounded to zero on its way back.
Nothing warns: the weight only stops moving.
"""

import torch

# %%
# The mistake
# -----------
#
# Two small factors, as in a deep network or a mean over many elements.

weight = torch.tensor([1.0], dtype=torch.float16, requires_grad=True)
(weight * 1e-4 * 1e-4).sum().backward()

print(weight.grad, "is not", 1e-8)
assert weight.grad == 0.0

# %%
# Keep float32 parameters under autocast, and scale the loss
# ----------------------------------------------------------
#
# `autocast` shortens the operations only, and a scaler lifts small gradients into range.
# `amp-scaler-order` has the whole loop.

weight = torch.nn.Parameter(torch.tensor([1.0]))
scaler = torch.amp.GradScaler("cpu")
optimizer = torch.optim.SGD([weight], lr=1.0)
scaler.scale((weight * 1e-4 * 1e-4).sum()).backward()
scaler.unscale_(optimizer)

print(weight.grad)
torch.testing.assert_close(weight.grad, torch.tensor([1e-8]))

# %%
# Or use bfloat16
# ---------------
#
# It has fewer digits and the range of ``float32``.

weight = torch.tensor([1.0], dtype=torch.bfloat16, requires_grad=True)
(weight * 1e-4 * 1e-4).sum().backward()

print(weight.grad)
torch.testing.assert_close(weight.grad.float(), torch.tensor([1e-8]), rtol=0.02, atol=0.0)

# %%
# What does not help
# ------------------
#
# A larger learning rate multiplies a zero.

weight = torch.tensor([1.0], dtype=torch.float16, requires_grad=True)
optimizer = torch.optim.SGD([weight], lr=1e4)
(weight * 1e-4 * 1e-4).sum().backward()
optimizer.step()
print(weight)
assert weight == 1.0
