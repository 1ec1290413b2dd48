# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = ["inventory/scaler-unscale-fp16"]
#
# [[tool.autograd-errors.error]]
# raises = "ValueError"
# message = "Attempting to unscale FP16 gradients."
# source = "torch/amp/grad_scaler.py"
# ///
"""
Scaling the gradients of a half-precision model
===============================================

Your parameters are ``float16`` themselves, and ``GradScaler`` works on
gradients in full precision. Mixed precision keeps the parameters in
``float32`` and lets `autocast` choose ``float16`` operation by operation.
"""

import traceback

import torch

# %%
# The error
# ---------
#
# A model was loaded or converted in half precision, and trained with a scaler.

model = torch.nn.Linear(2, 1).half()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cpu")

scaler.scale(model(torch.ones(1, 2).half()).sum()).backward()
try:
    scaler.step(optimizer)
except ValueError:
    traceback.print_exc()

print(model.weight.dtype, model.weight.grad.dtype)

# %%
# Keep the parameters in float32
# ------------------------------
#
# Convert the trainable parameters back, and let `torch.autocast` do the rest.

model = model.float()
model.zero_grad()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

with torch.autocast("cpu", dtype=torch.bfloat16):
    loss = model(torch.ones(1, 2)).sum()
scaler.scale(loss).backward()
scaler.step(optimizer)
scaler.update()

print(model.weight.grad)
torch.testing.assert_close(model.weight.grad, torch.ones(1, 2))

# %%
# If the model must stay small, train it in bfloat16
# --------------------------------------------------
#
# ``bfloat16`` has the range of ``float32``, so gradients do not vanish and no
# scaler is needed.

model = torch.nn.Linear(2, 1).bfloat16()
model(torch.ones(1, 2).bfloat16()).sum().backward()

print(model.weight.grad)
torch.testing.assert_close(model.weight.grad.float(), torch.ones(1, 2))

# %%
# If most of it is frozen, convert what you train
# -----------------------------------------------
#
# Adapters on a frozen half-precision model are the usual case: only parameters
# that require grad have gradients to unscale.

frozen = torch.nn.Linear(2, 2).half().requires_grad_(False)
adapter = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(adapter.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cpu")

hidden = frozen(torch.ones(1, 2).half()).float()
scaler.scale(adapter(hidden).sum()).backward()
scaler.step(optimizer)
scaler.update()

torch.testing.assert_close(adapter.weight.grad, hidden)

# %%
# What only hides the error
# -------------------------
#
# Without the scaler a half-precision model trains on, until a gradient is
# smaller than half precision can hold. Then it is zero.

weight = torch.ones(1, dtype=torch.float16, requires_grad=True)
loss = (weight * 1e-4) * 1e-5
loss.backward()

print(weight.grad, "is not", 1e-4 * 1e-5)
assert weight.grad == 0.0

# %%
# See also
# --------
#
# * `amp-scaler-order`
