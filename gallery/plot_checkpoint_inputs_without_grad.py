# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "silent/checkpoint-inputs-without-grad",
#     "no-grad-fn/checkpoint-inputs-without-grad",
#     "inventory/checkpoint-reentrant-no-input-grad",
#     "inventory/checkpoint-reentrant-no-input-grad-backward",
# ]
# cause-of = "backward-no-grad-fn"
# when = { frame = "checkpoint" }
# symptom = "With gradient checkpointing the loss stays flat, and part of the model never changes."
# symptom-zh = "开启梯度检查点后 loss 不下降，部分参数不更新"
#
# [[tool.autograd-errors.error]]
# raises = "UserWarning"
# message = "None of the inputs have requires_grad=True. Gradients will be None"
# source = "torch/utils/checkpoint.py"
# ///
"""
Checkpointing a block whose inputs need no gradient
===================================================

Reentrant `checkpointing` looks at the inputs of a block to decide whether the
block needs gradients, and yours are data or come from a frozen layer. The
parameters inside the block then get nothing.
"""

import traceback

import torch
from torch.utils.checkpoint import checkpoint

# %%
# The error
# ---------
#
# The first block of a network is checkpointed. Its input is a batch of data.

torch.manual_seed(0)
block = torch.nn.Linear(2, 2)
batch = torch.ones(1, 2)

output = checkpoint(block, batch, use_reentrant=True)
try:
    output.sum().backward()
except RuntimeError:
    traceback.print_exc()

# %%
# Without a head the loss has no graph at all. With one, nothing raises: the head
# learns, the block never does, and the warning is the only sign.

head = torch.nn.Linear(2, 1)
head(checkpoint(block, batch, use_reentrant=True)).sum().backward()

print(head.weight.grad is None, block.weight.grad)
assert block.weight.grad is None

# %%
# Use the variant that is not reentrant
# -------------------------------------
#
# It records the graph as usual and only drops the values, so inputs do not
# matter. The gradients equal those without checkpointing.

head(block(batch)).sum().backward()
expected = block.weight.grad.clone()
block.zero_grad()

head(checkpoint(block, batch, use_reentrant=False)).sum().backward()

print(block.weight.grad)
torch.testing.assert_close(block.weight.grad, expected)

# %%
# If the library fixes use_reentrant=True, make the input require grad
# --------------------------------------------------------------------
#
# Fine-tuning libraries offer this as ``enable_input_require_grads``: the output
# of the frozen embedding gets a hook that calls ``requires_grad_``.

block.zero_grad()
embedded = batch.clone().requires_grad_()
head(checkpoint(block, embedded, use_reentrant=True)).sum().backward()

print(block.weight.grad)
torch.testing.assert_close(block.weight.grad, expected)

# %%
# What only hides the error
# -------------------------
#
# Ignoring the warning, or making the loss require grad, lets the training run.
# The block keeps its initial weights.

block.zero_grad()
optimizer = torch.optim.SGD(block.parameters(), lr=1.0)
before = block.weight.detach().clone()
loss = checkpoint(block, batch, use_reentrant=True).sum().requires_grad_()
loss.backward()
optimizer.step()

print(block.weight.grad, torch.equal(block.weight, before))
assert torch.equal(block.weight, before)

# %%
# See also
# --------
#
# * `checkpoint-use-reentrant`: the two variants, and their limits
# * `backward-no-grad-fn`: the other causes of the message
