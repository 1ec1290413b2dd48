# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "inventory/checkpoint-sac-backward-twice",
#     "inventory/checkpoint-sac-mutated",
#     "inventory/checkpoint-sac-op-list-type",
#     "inventory/checkpoint-sac-op-not-found",
#     "inventory/checkpoint-sac-policy-type",
#     "inventory/checkpoint-graph-exec-group-nested",
# ]
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "Trying to backward an extra time. You are only allowed to backward once on any region computed under selective activation checkpoint."
# source = "torch/utils/checkpoint.py"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "Tensor cached during selective activation checkpoint has been mutated"
# source = "torch/utils/checkpoint.py"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "<operation> encountered during backward but not found in storage. This can happen if the operations in the checkpointed region are nondeterministic or depend on global state that changed between forward and backward."
# source = "torch/utils/checkpoint.py"
# reworded = true
#
# [[tool.autograd-errors.error]]
# raises = "ValueError"
# message = "Expected op in `op_list` to be an OpOverload but got: <operation> of type <type>. "
# source = "torch/utils/checkpoint.py"
#
# [[tool.autograd-errors.error]]
# raises = "TypeError"
# message = "policy_fn_or_list must be either a function or a list of ops."
# source = "torch/utils/checkpoint.py"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "GraphExecGroup contexts cannot be nested. Already inside group <group>"
# source = "torch/utils/checkpoint.py"
# ///
"""
The rules of selective checkpointing
====================================

Selective `checkpointing` keeps the results of the operations you list and
recomputes the rest, and your block broke one of its rules.
"""

import functools
import traceback

import torch
from torch.utils.checkpoint import (
    GraphExecGroup,
    checkpoint,
    create_selective_checkpoint_contexts,
)

keep_sine = functools.partial(create_selective_checkpoint_contexts, [torch.ops.aten.sin.default])


def selective(function, x):
    return checkpoint(function, x, use_reentrant=False, context_fn=keep_sine)


# %%
# The errors
# ----------
#
# A kept result is handed out once, so a second `backward pass` finds nothing,
# even with ``retain_graph=True``.

x = torch.tensor([1.0, 2.0], requires_grad=True)
loss = selective(lambda x: x.sin().cos(), x).sum()
loss.backward(retain_graph=True)
try:
    loss.backward()
except RuntimeError:
    traceback.print_exc()

# %%
# A kept result must not be overwritten by an `in-place operation`.

try:
    selective(lambda x: x.sin().mul_(2.0).cos(), x).sum().backward()
except RuntimeError:
    traceback.print_exc()

# %%
# The recomputation must meet the same operations.

runs = []


def changing(x):
    runs.append(1)
    return (x.cos() if len(runs) == 1 else x.sin()).exp()


try:
    selective(changing, x).sum().backward()
except RuntimeError:
    traceback.print_exc()

# %%
# The list holds operations of ``torch.ops``, not Python functions, and is a list
# or a function. Groups of checkpoints do not nest.

for policy in ([torch.nn.functional.relu], 3):
    try:
        create_selective_checkpoint_contexts(policy)
    except (ValueError, TypeError):
        traceback.print_exc()
try:
    with GraphExecGroup(), GraphExecGroup():
        pass
except RuntimeError:
    traceback.print_exc()

# %%
# Write out of place, and run backward once
# -----------------------------------------
#
# The same block with a multiplication that makes a new tensor. Two losses are
# added before the one backward.

x = torch.tensor([1.0, 2.0], requires_grad=True)
hidden = selective(lambda x: (x.sin() * 2.0).cos(), x)
(hidden.sum() + hidden.square().sum()).backward()

inner, outer = 2 * torch.sin(x.detach()), 2 * torch.cos(x.detach())
expected = -torch.sin(inner) * outer * (1 + 2 * torch.cos(inner))
print(x.grad)
torch.testing.assert_close(x.grad, expected)

# %%
# See also
# --------
#
# * `checkpoint-recompute-mismatch`
