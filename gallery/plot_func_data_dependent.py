# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "inventory/functorch-vmap-control-flow",
#     "inventory/functorch-vmap-item",
#     "inventory/functorch-vmap-dynamic-nonzero",
#     "inventory/functorch-one-hot",
#     "inventory/functorch-vmap-random",
#     "inventory/functorch-vmap-randomness-arg",
#     "inventory/functorch-batchnorm-vmap",
#     "inventory/functorch-data-access-vmap",
# ]
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "vmap: It looks like you're attempting to use a Tensor in some data-dependent control flow. We don't support that yet, please file an issue at https://github.com/pytorch/pytorch/issues ."
# source = "aten/src/ATen/functorch/BatchRulesDynamic.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "vmap: It looks like you're calling .item() on a Tensor. We don't support vmap over calling .item() on a Tensor, please try to rewrite what you're doing with other operations. If error is occurring somewhere inside PyTorch internals, please file a bug report."
# source = "aten/src/ATen/functorch/BatchRulesDynamic.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "vmap: We do not support batching operators that can support dynamic shape. Attempting to batch over indexing with a boolean mask."
# source = "aten/src/ATen/functorch/BatchRulesDynamic.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "When vmap-ing torch.nn.functional.one_hot, please provide an explicit positive num_classes argument."
# source = "aten/src/ATen/functorch/BatchRulesDecompositions"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "vmap: called random operation while in randomness error mode. Please either use the 'same' or 'different' randomness flags on vmap or perform the randomness operation out of vmap"
# source = "aten/src/ATen/functorch/BatchRulesRandomness.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "Only allowed values for randomness are 'error', 'different', or 'same'. Got <value>"
# source = "torch/_functorch/vmap.py"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "Batch norm got a batched tensor as input while the running_mean or running_var, which will be updated in place, were not batched.\nIf you are using a module and do not need eval mode, please set `track_running_stats` to be False.If you are using a prebuilt module and do not need eval mode, please see the functorch website for resources on how to patch your module to work with vmap"
# source = "aten/src/ATen/functorch/BatchRulesNorm.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "accessing `data` under vmap transform is not allowed"
# source = "aten/src/ATen/functorch"
# ///
"""
A mapped function that needs the actual numbers
===============================================

Your function asks for a value while `vmap` runs it for all rows at once: there is no
single value to branch on, to take out, or to shape a result by.
"""

import traceback

import torch

batch = torch.tensor([[1.0, -2.0, 3.0], [-4.0, 5.0, 6.0]])

# %%
# The errors
# ----------
#
# A branch on the data, ``.item()``, a selection whose size depends on the data, one
# category per value, and ``.data``:


def branch(x):
    return x if x.sum() > 0 else x * 0


def write_through_data(x):
    x.data.mul_(2)
    return x.sum()


for function in (
    branch,
    lambda x: x * x.sum().item(),
    lambda x: x[x > 0].sum(),
    lambda x: torch.nn.functional.one_hot(x.long().abs()),
    write_through_data,
):
    try:
        torch.vmap(function)(batch)
    except RuntimeError:
        traceback.print_exc()

# %%
# Random numbers need a decision: the same for all rows, or different ones. Batch
# statistics would be written into a `buffer` that all rows share.

for call in (
    lambda: torch.vmap(lambda x: x + torch.randn(3))(batch),
    lambda: torch.vmap(torch.sin, randomness="yes")(batch),
    lambda: torch.vmap(torch.nn.BatchNorm1d(3))(batch.reshape(2, 1, 3).expand(2, 4, 3)),
):
    try:
        call()
    except RuntimeError:
        traceback.print_exc()

# %%
# Compute both branches and choose with where
# -------------------------------------------


def branch_for_all(x):
    return torch.where(x.sum() > 0, x, x * 0)


result = torch.vmap(branch_for_all)(batch)
print(result)
torch.testing.assert_close(result, torch.stack([branch(row) for row in batch]))

# %%
# Keep numbers as tensors, and weigh instead of selecting
# -------------------------------------------------------


def scale(x):
    return x * x.sum()


def positive_part(x):
    return torch.where(x > 0, x, 0.0).sum()


torch.testing.assert_close(torch.vmap(scale)(batch), batch * batch.sum(1, keepdim=True))
torch.testing.assert_close(
    torch.vmap(positive_part)(batch), torch.stack([row[row > 0].sum() for row in batch])
)

# %%
# State the number of classes, and what random means
# --------------------------------------------------

labels = torch.tensor([0, 2])
hot = torch.vmap(lambda label: torch.nn.functional.one_hot(label, num_classes=3))(labels)
print(hot)
torch.testing.assert_close(hot, torch.eye(3, dtype=torch.long)[labels])

noise = torch.vmap(lambda x: torch.randn(3), randomness="same")(batch)
assert torch.equal(noise[0], noise[1])
noise = torch.vmap(lambda x: torch.randn(3), randomness="different")(batch)
assert not torch.equal(noise[0], noise[1])

# %%
# Give batch norm no running statistics
# -------------------------------------
#
# Or call ``eval()``, if the statistics are to be used and not updated.

norm = torch.nn.BatchNorm1d(3, track_running_stats=False)
groups = torch.arange(24.0).reshape(2, 4, 3)
result = torch.vmap(norm)(groups)
torch.testing.assert_close(result, torch.stack([norm(group) for group in groups]))

# %%
# What only hides the error
# -------------------------
#
# ``randomness="same"`` silences the message about random numbers. In dropout it drops
# the same units for every example, which is not what dropout is for.

torch.manual_seed(0)
dropped = torch.vmap(lambda x: torch.nn.functional.dropout(x, 0.5), randomness="same")(
    torch.ones(2, 20)
)
print(torch.equal(dropped[0], dropped[1]))
assert torch.equal(dropped[0], dropped[1])

# %%
# See also
# --------
#
# * `func-in-place`
