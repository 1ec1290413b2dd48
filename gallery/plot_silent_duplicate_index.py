# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "silent/silent-duplicate-index-inplace-add",
# ]
# symptom = "Summing into a tensor by index loses some of the values and their gradients."
# symptom-zh = "用索引累加时部分值丢失，梯度也丢失"
# ///
"""
Adding at the same index twice
==============================

You wrote ``h[index] += value`` with an index that names an element twice, and it was
added once. Reading, adding and writing back happens once per element.
"""

import torch

# %%
# The mistake
# -----------
#
# Two messages arrive at node zero of a graph.

index = torch.tensor([0, 0, 1])
messages = torch.tensor([1.0, 2.0, 4.0], requires_grad=True)

nodes = torch.zeros(2)
nodes[index] += messages
# draw: nodes
nodes.sum().backward()

print(nodes, messages.grad)
assert nodes[0] != 3.0
assert messages.grad[:2].sum() == 2.0

# %%
# One message is lost in the value. The gradient counts both all the same, so it belongs
# to neither the sum you wanted nor the value you got.
#
# Add with index_add
# ------------------

messages = torch.tensor([1.0, 2.0, 4.0], requires_grad=True)
nodes = torch.zeros(2).index_add(0, index, messages)
nodes.sum().backward()

print(nodes, messages.grad)
torch.testing.assert_close(nodes.detach(), torch.tensor([3.0, 4.0]))
torch.testing.assert_close(messages.grad, torch.ones(3))

# %%
# For a mean or a maximum, use scatter_reduce
# -------------------------------------------

messages = torch.tensor([1.0, 2.0, 4.0], dtype=torch.float64, requires_grad=True)


def mean(messages):
    start = torch.zeros(2, dtype=torch.float64)
    return start.scatter_reduce(0, index, messages, "mean", include_self=False)


print(mean(messages))
torch.testing.assert_close(mean(messages).detach(), torch.tensor([1.5, 4.0], dtype=torch.float64))
assert torch.autograd.gradcheck(mean, (messages,))

# %%
# What does not help
# ------------------
#
# The out-of-place spelling of the same assignment loses the message too.

messages = torch.tensor([1.0, 2.0, 4.0])
nodes = torch.zeros(2).index_put((index,), torch.zeros(2)[index] + messages)
print(nodes)
assert nodes[0] != 3.0
