# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = ["inventory/dataparallel-gather-scalars"]
# needs = "cuda"
#
# [[tool.autograd-errors.error]]
# raises = "UserWarning"
# message = "Was asked to gather along dimension 0, but all input tensors were scalars; will instead unsqueeze and return a vector."
# source = "torch/nn/parallel/_functions.py"
# ///
"""
DataParallel gathers a loss from each GPU
=========================================

Your module returns its loss, a single number. ``DataParallel`` runs a copy of the
module on each GPU, and gathers their numbers into a vector. ``backward`` on a vector
then asks for a gradient.
"""

import torch
from torch.nn.parallel import gather

weight = torch.tensor(2.0, device="cuda", requires_grad=True)

# %%
# The warning
# -----------
#
# ``gather`` is what ``DataParallel`` ends with. Two copies saw different parts of the
# batch.

losses = [(weight * 3.0) ** 2, (weight * 5.0) ** 2]
gathered = gather(losses, 0)

print(gathered.shape)

# %%
# Reduce the vector
# -----------------
#
# The mean over the GPUs is what one GPU would have computed, if the parts are equally
# large. Its gradient is ``weight * (9 + 25)``.

gathered.mean().backward()

print(weight.grad.item())
torch.testing.assert_close(weight.grad.cpu(), torch.tensor(2.0 * (9 + 25), device="cpu"))

# %%
# Or return the output, and compute the loss outside
# --------------------------------------------------
#
# Then there is one loss, and nothing to gather but rows.

weight.grad = None
outputs = gather([(weight * 3.0).reshape(1), (weight * 5.0).reshape(1)], 0)
outputs.square().mean().backward()

print(weight.grad.item())
torch.testing.assert_close(weight.grad.cpu(), torch.tensor(2.0 * (9 + 25), device="cpu"))

# %%
# What only hides the error
# -------------------------
#
# Taking the first element runs, and trains on the first GPU's part of the batch alone.

weight.grad = None
gathered = gather([(weight * 3.0) ** 2, (weight * 5.0) ** 2], 0)
gathered[0].backward()

print(weight.grad.item(), "instead of", 2.0 * (9 + 25))
assert weight.grad.item() == 2 * 2.0 * 9

# %%
# See also
# --------
#
# * `backward-gathered-loss`: the error that follows
# * `ddp-unused-parameters`: what ``DistributedDataParallel`` asks of a model
