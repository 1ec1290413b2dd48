# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = ["no-grad-fn/frozen-or-cut-graph", "inventory/grad-no-grad-fn-frozen"]
# cause-of = "backward-no-grad-fn"
# ///
"""
Every parameter of the model is frozen
======================================

You froze more of the model than you meant, and no `parameter` on the way to
the loss requires a gradient. The loss then has no graph to go back through.
"""

import traceback

import torch

# %%
# The error
# ---------
#
# A pretrained network gets a new head. The freezing loop runs after the head
# was put in, and freezes it too.

torch.manual_seed(0)


def pretrained():
    return torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.ReLU(), torch.nn.Linear(2, 5))


images = torch.tensor([[1.0, 2.0, 3.0]])
model = pretrained()
model[2] = torch.nn.Linear(2, 1)
for parameter in model.parameters():
    parameter.requires_grad = False

try:
    model(images).sum().backward()
except RuntimeError:
    traceback.print_exc()

# %%
# List what is trainable. This is the line to run before every fine-tuning:

print([name for name, parameter in model.named_parameters() if parameter.requires_grad])
assert not any(parameter.requires_grad for parameter in model.parameters())

# %%
# Freeze first, then replace
# --------------------------
#
# A new layer requires grad from the start. The gradient of its weight is the
# input of the head, since the loss is the head's output.

model = pretrained().requires_grad_(False)
model[2] = torch.nn.Linear(2, 1)
model(images).sum().backward()

print([name for name, parameter in model.named_parameters() if parameter.requires_grad])
print(model[0].weight.grad, model[2].weight.grad)
torch.testing.assert_close(model[2].weight.grad, model[:2](images))
assert model[0].weight.grad is None

# %%
# If names choose what to train, check that they matched
# ------------------------------------------------------
#
# Fine-tuning scripts unfreeze by name. A name that fits nothing (a prefix that
# ``torch.compile`` or a wrapper added, a layer that was renamed) leaves
# everything frozen and says nothing. Make it say something.


def train_only(model, prefix):
    chosen = [name for name, _ in model.named_parameters() if name.startswith(prefix)]
    assert chosen, f"no parameter starts with {prefix!r}"
    for name, parameter in model.named_parameters():
        parameter.requires_grad_(name in chosen)
    return chosen


model = pretrained()
print(train_only(model, "2."))
model(images).sum().backward()
torch.testing.assert_close(model[2].weight.grad, model[:2](images).expand(5, 2))

# %%
# What only hides the error
# -------------------------
#
# Making the loss require grad starts a graph at the loss. Backward runs, the
# `optimizer` steps, and the weights stay the same, bit by bit.

model = pretrained().requires_grad_(False)
before = model[2].weight.clone()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(20):
    loss = model(images).sum()
    loss.requires_grad = True
    loss.backward()
    optimizer.step()

print(model[2].weight.grad, torch.equal(model[2].weight, before))
assert torch.equal(model[2].weight, before)

# %%
# See also
# --------
#
# * `backward-no-grad-fn`: the other causes of the message
# * `checkpoint-inputs-without-grad`: frozen embeddings and checkpointing
# * `requires-grad-set`: why a flag cannot be changed on a result
