# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "checkpoint/recompute-mismatch",
#     "inventory/checkpoint-different-count",
#     "inventory/checkpoint-different-metadata",
#     "inventory/checkpoint-more-tensors-in-recompute",
#     "inventory/checkpoint-unpacked-twice",
# ]
#
# [[tool.autograd-errors.error]]
# raises = "CheckpointError"
# message = "torch.utils.checkpoint: Recomputed values for the following tensors have different metadata than during the forward pass.\n<differences>\n.\n\nTip: To see a more detailed error message, either pass `debug=True` to\n`torch.utils.checkpoint.checkpoint(...)` or wrap the code block\nwith `with torch.utils.checkpoint.set_checkpoint_debug_enabled(True):` to\nenable checkpoint‑debug mode globally.\n<hint>"
# source = "torch/utils/checkpoint.py"
#
# [[tool.autograd-errors.error]]
# raises = "CheckpointError"
# message = "torch.utils.checkpoint: A different number of tensors was saved during the original forward and recomputation.\nNumber of tensors saved during forward: <saved>\nNumber of tensors saved during recomputation: <recomputed>.\n\nTip: To see a more detailed error message, either pass `debug=True` to\n`torch.utils.checkpoint.checkpoint(...)` or wrap the code block\nwith `with torch.utils.checkpoint.set_checkpoint_debug_enabled(True):` to\nenable checkpoint‑debug mode globally.\n<hint>"
# source = "torch/utils/checkpoint.py"
#
# [[tool.autograd-errors.error]]
# raises = "CheckpointError"
# message = "torch.utils.checkpoint: trying to save more tensors during recomputation than during the original forward pass.\n\nTip: To see a more detailed error message, either pass `debug=True` to\n`torch.utils.checkpoint.checkpoint(...)` or wrap the code block\nwith `with torch.utils.checkpoint.set_checkpoint_debug_enabled(True):` to\nenable checkpoint‑debug mode globally.\n<hint>"
# source = "torch/utils/checkpoint.py"
#
# [[tool.autograd-errors.error]]
# raises = "CheckpointError"
# message = "torch.utils.checkpoint: Unpack is being triggered for a tensor that was already unpacked once. If you are calling ctx.saved_tensors in backward, make sure to do so only once. Otherwise please open an issue with details on your use case."
# source = "torch/utils/checkpoint.py"
# ///
"""
A checkpointed block that computes something else again
=======================================================

With `checkpointing` your block runs a second time during backward, and this
time it did something else. Its result must depend on its arguments alone.
"""

import traceback

import torch
from torch.utils.checkpoint import CheckpointError, checkpoint, set_checkpoint_early_stop

# %%
# The error
# ---------
#
# A block keeps a cache, as attention layers do. On the second run the cache is
# longer, so the saved tensors have other shapes.

cache = []


def attend(x):
    cache.append(x)
    return torch.cat(cache).sin().sum()


x = torch.tensor([1.0, 2.0], requires_grad=True)
try:
    checkpoint(attend, x, use_reentrant=False).backward()
except CheckpointError:
    traceback.print_exc()

# %%
# A branch that is taken in one run only changes the number of saved tensors.

training = [True]


def block(x):
    return (x.sin().cos() if training[0] else x.sin()).sum()


loss = checkpoint(block, x, use_reentrant=False)
training[0] = False
try:
    loss.backward()
except CheckpointError:
    traceback.print_exc()

# %%
# The other way round there are more of them, which shows only when the
# recomputation runs to its end:

with set_checkpoint_early_stop(False):
    loss = checkpoint(block, x, use_reentrant=False)
    training[0] = True
    try:
        loss.backward()
    except CheckpointError:
        traceback.print_exc()

# %%
# Make the block a function of its arguments
# ------------------------------------------
#
# Everything that may change comes in as an argument, and nothing is changed
# inside. The cache is read, and extended outside.


def attend_to(x, past):
    return torch.cat([*past, x]).sin().sum()


x = torch.tensor([1.0, 2.0], requires_grad=True)
cache = []
loss = checkpoint(attend_to, x, tuple(cache), use_reentrant=False)
cache.append(x.detach())
loss.backward()

print(x.grad)
torch.testing.assert_close(x.grad, torch.cos(x.detach()))

# %%
# Fix the branch before the block
# -------------------------------


def block_for(training):
    return lambda x: (x.sin().cos() if training else x.sin()).sum()


x = torch.tensor([1.0, 2.0], requires_grad=True)
loss = checkpoint(block_for(training[0]), x, use_reentrant=False)
training[0] = False
loss.backward()

print(x.grad)
sine = torch.sin(x.detach())
torch.testing.assert_close(x.grad, -torch.sin(sine) * torch.cos(x.detach()))

# %%
# If a library raised it
# ----------------------
#
# Compare the two lines of metadata that the message gives for one tensor.
#
# - A side that grows from run to run is a cache. Language models keep keys and values:
#   set ``model.config.use_cache = False`` for training.
# - A recomputed shape of ``[0]`` is a parameter that a sharding wrapper took away
#   between the runs, as DeepSpeed's third stage does with frozen ones
#   (`the change <https://github.com/deepspeedai/DeepSpeed/pull/8148>`__). Take the
#   wrapper's own checkpointing.
# - Another number of rows in a few tensors, as in a report about a mixture of experts
#   (`the report <https://github.com/pytorch/torchtitan/issues/1117>`__), asks for a
#   choice that was made again. Like the branch above, it must be made before the block.

# %%
# What only hides the error
# -------------------------
#
# ``use_reentrant=True`` and ``determinism_check="none"`` both skip the
# comparison. The gradient is then the one of the second run.

for options in ({"use_reentrant": True}, {"use_reentrant": False, "determinism_check": "none"}):
    factor = [torch.tensor(1.0)]
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    loss = checkpoint(lambda x: (factor[0] * x.sin()).sum(), x, **options)
    factor[0] = torch.tensor(5.0)
    loss.backward()
    print(x.grad, "is not", torch.cos(x.detach()))
    assert not torch.allclose(x.grad, torch.cos(x.detach()))

# %%
# Nor does the comparison see everything. It looks at shapes, dtypes and devices:
# a changed factor passes in the checked variant too.

factor = [torch.tensor(1.0)]
x = torch.tensor([1.0, 2.0], requires_grad=True)
loss = checkpoint(lambda x: (factor[0] * x.sin()).sum(), x, use_reentrant=False)
factor[0] = torch.tensor(5.0)
loss.backward()
assert not torch.allclose(x.grad, torch.cos(x.detach()))

# %%
# A custom function that reads its saved tensors twice
# ----------------------------------------------------
#
# Inside a checkpoint each `saved tensor` is handed out once. Read them into
# variables.


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, grad):
        return grad * (ctx.saved_tensors[0] + ctx.saved_tensors[0])


class SquareOnce(Square):
    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * (x + x)


x = torch.tensor([1.0, 2.0], requires_grad=True)
try:
    checkpoint(Square.apply, x, use_reentrant=False).sum().backward()
except CheckpointError:
    traceback.print_exc()

x = torch.tensor([1.0, 2.0], requires_grad=True)
checkpoint(SquareOnce.apply, x, use_reentrant=False).sum().backward()
torch.testing.assert_close(x.grad, 2 * x.detach())
