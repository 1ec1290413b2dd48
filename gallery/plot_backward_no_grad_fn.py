# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = ["inventory/grad-no-grad-fn", "inventory/grad-no-grad-fn-second-derivative"]
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "element <index> of tensors does not require grad and does not have a grad_fn"
# source = "torch/csrc/autograd/python_engine.cpp"
# ///
"""
Backward from a loss that has no graph
======================================

You called ``backward`` on a tensor that autograd did not record. Either
nothing in the computation required a gradient, or the `computational graph`
was cut on the way, so there is nothing to walk back through.
"""

import traceback

import torch

# %%
# The error
# ---------
#
# A line is fitted by hand, and the weight is a plain tensor.

weight = torch.tensor([1.0, 2.0])
data = torch.tensor([3.0, 4.0])
loss = ((weight * data) ** 2).sum()

try:
    loss.backward()
except RuntimeError:
    traceback.print_exc()

# %%
# How to read the message
# -----------------------
#
# "element" counts the tensors that backward was started from, and with
# ``loss.backward()`` there is one. The message names the end of the
# computation; the fault is earlier. Here a list of two losses is given, and
# the second has no graph:

weight = torch.tensor([1.0, 2.0], requires_grad=True)
first = (weight * data).sum()
second = (weight.detach() * data).sum()

try:
    torch.autograd.backward([first, second])
except RuntimeError:
    traceback.print_exc()

# %%
# Two attributes say whether a tensor is recorded: a recorded result has a
# `grad_fn` and says that it `requires grad`.

assert first.requires_grad and first.grad_fn is not None
assert not second.requires_grad and second.grad_fn is None

# facts: first, second
# draw: first, second

# %%
# Which page is yours
# -------------------
#
# Print ``tensor.requires_grad`` from the model's output to the loss, line by
# line. The first ``False`` is the place.
#
# - Already the output, and the parameters were frozen: `backward-frozen`.
# - Already the output, and all parameters require grad: recording was off, see
#   `backward-under-no-grad`, `inference-mode-loss`, or, if it is off everywhere,
#   `backward-grad-disabled`.
# - The code runs in a closure that an optimizer calls: `backward-closure`.
# - After ``argmax``, ``round``, a comparison or a sampled index:
#   `backward-argmax`.
# - After ``.item()``, ``torch.tensor(...)``, numpy or a list:
#   `backward-rewrapped`.
# - After ``.detach()`` or ``.data``: `backward-detached`.
# - Only for some batches, or when a loss weight is zero:
#   `backward-constant-branch`.
# - With gradient checkpointing on: `checkpoint-inputs-without-grad`.
# - The loss holds a gradient, as in a gradient penalty: `double-create-graph`.

# %%
# Let the model find the place
# ----------------------------
#
# A forward hook on every module prints the first layer whose output is
# recorded. Here the first layer is frozen, the second is not:

model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Tanh(), torch.nn.Linear(2, 1))
model[0].requires_grad_(False)
recorded = {}
for name, module in model.named_children():
    module.register_forward_hook(
        lambda module, args, output, name=name: recorded.update({name: output.requires_grad})
    )
model(torch.ones(1, 2))

print(recorded)
assert recorded == {"0": False, "1": False, "2": True}

# %%
# If the tensor is yours, ask for its gradient where you make it
# --------------------------------------------------------------
#
# Say it before the computation. A flag that is set later records nothing of
# what has already happened. The derivative of ``(w d)**2`` is ``2 w d**2``.

weight = torch.tensor([1.0, 2.0], requires_grad=True)
((weight * data) ** 2).sum().backward()

print(weight.grad)
torch.testing.assert_close(weight.grad, 2 * weight.detach() * data**2)

# %%
# What only hides the error
# -------------------------
#
# The most popular answer is ``loss.requires_grad_(True)``. It makes the loss a
# new `leaf tensor` that is its own beginning and end: backward runs, and training
# changes nothing.

layer = torch.nn.Linear(2, 1)
before = layer.weight.detach().clone()
optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
for _ in range(20):
    optimizer.zero_grad()
    loss = layer(data).detach().square().sum()
    loss.requires_grad_(True)
    loss.backward()
    optimizer.step()

print(loss.grad, layer.weight.grad, torch.equal(layer.weight, before))
assert layer.weight.grad is None and torch.equal(layer.weight, before)

# %%
# See `silent-loss-requires-grad` for what such a training looks like from
# outside.
#
# If a library raised it
# ----------------------
#
# The line with ``backward`` is right. Before it, in your own script, print what
# trains and whether recording is on. An empty list means that every parameter
# is frozen: look for the option that chooses what to train.

layer = torch.nn.Linear(2, 1).requires_grad_(False)
trained = [name for name, parameter in layer.named_parameters() if parameter.requires_grad]

print(trained, torch.is_grad_enabled(), torch.is_inference_mode_enabled())
assert trained == []

# %%
# - In a loss file, look for ``.item()``, ``.detach()``, ``.data``, ``.numpy()``
#   and ``torch.tensor(``, and use the tensor itself.
# - In a training step, look for a decorator ``@torch.no_grad()`` above it.
# - With adapters on a frozen model and checkpointing, call the library's
#   ``enable_input_require_grads()``, or choose ``use_reentrant=False``.

# %%
# Am I right now?
# ---------------
#
# A gradient that exists can still be of the wrong thing. Move one element a
# little both ways and compare. Put your own loss and tensor in their places.


def loss_of(weight):
    return ((weight * data.double()) ** 2).sum()


weight = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
loss_of(weight).backward()
step = torch.tensor([1e-6, 0.0], dtype=torch.float64)
with torch.no_grad():
    slope = (loss_of(weight + step) - loss_of(weight - step)) / 2e-6

print(slope, weight.grad[0])
torch.testing.assert_close(slope, weight.grad[0])
