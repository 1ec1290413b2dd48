# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "inventory/swap-tensors-poisoned-accgrad",
#     "inventory/module-swap-couldnt-swap",
#     "inventory/swap-tensors-use-count",
#     "inventory/swap-tensors-weakref",
# ]
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "Trying to execute AccumulateGrad node that was poisoned by swap_tensors this can happen when you try to run backward on a tensor that was swapped. For a module m with `torch.__future__.set_swap_module_params_on_conversion(True)` you should not change the device or dtype of the module (e.g. `m.cpu()` or `m.half()`) between running forward and backward. To resolve this, please only change the device/dtype before running forward (or after both forward and backward)."
# source = "torch/utils/__init__.py"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "_apply(): Couldn't swap <name>"
# source = "torch/nn/modules/module.py"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "Expected use_count of <name> to be 1 or 2 with an AccumulateGrad node but got <count> make sure you are not holding references to the tensor in other places."
# source = "torch/utils/__init__.py"
# reworded = true
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "Cannot swap <name> because it has weakref associated with it"
# source = "torch/utils/__init__.py"
# ///
"""
Parameters swapped while a graph still needs them
=================================================

A conversion exchanged the contents of a `parameter` while a graph or another
object still referred to it. Swapping keeps the Python object and replaces
everything inside, so whoever remembers the old inside would see the new one.
"""

import traceback
import weakref

import torch
from torch import nn

# %%
# The errors
# ----------
#
# A program switches on swapping, for example to convert parameters that are
# tensor subclasses, and moves the model to another `dtype` between forward and
# backward. The `AccumulateGrad` node of the old parameter refuses to run.

torch.__future__.set_swap_module_params_on_conversion(True)

net = nn.Linear(2, 1)
loss = net(torch.ones(1, 2)).sum()
net.to(torch.float64)

try:
    loss.backward()
except RuntimeError:
    traceback.print_exc()

# %%
# If the input needs a gradient, the graph saves the weight as well, and the
# conversion itself fails. The first exception names the reason, the second the
# module.

net = nn.Linear(2, 1)
loss = net(torch.ones(1, 2, requires_grad=True)).sum()

try:
    net.to(torch.float64)
except RuntimeError:
    traceback.print_exc()

# %%
# A weak reference, which caches and observers keep, is a reference too.

old, new = torch.zeros(2), torch.ones(2)
observer = weakref.ref(old)

try:
    torch.utils.swap_tensors(old, new)
except RuntimeError:
    traceback.print_exc()

# %%
# Convert before forward
# ----------------------
#
# No graph exists yet, so nobody remembers the old contents. The gradient of
# ``sum(weight * x)`` is ``x``.

net = nn.Linear(2, 1)
net.to(torch.float64)
x = torch.tensor([[3.0, 5.0]], dtype=torch.float64)
net(x).sum().backward()

print(net.weight.grad)
torch.testing.assert_close(net.weight.grad, x)

# %%
# Or convert after backward
# -------------------------
#
# Backward frees what the graph saved. Dropping the loss frees the rest of the
# graph, and the gradient is converted along with its parameter.

net = nn.Linear(2, 1)
x = torch.tensor([[3.0, 5.0]], requires_grad=True)
loss = net(x).sum()
loss.backward()
del loss
net.to(torch.float64)

print(net.weight.grad)
torch.testing.assert_close(net.weight.grad, torch.tensor([[3.0, 5.0]], dtype=torch.float64))

# %%
# If you did not ask for swapping, leave it off
# ---------------------------------------------
#
# Without it the parameter gets a new content by assignment, and a graph made
# before keeps the old one.

torch.__future__.set_swap_module_params_on_conversion(False)

net = nn.Linear(2, 1)
x = torch.tensor([[3.0, 5.0]], requires_grad=True)
expected = net.weight.detach().clone()
loss = net(x).sum()
net.to(torch.float64)
loss.backward()

print(x.grad.dtype, net.weight.dtype)
torch.testing.assert_close(x.grad, expected)

# %%
# See also
# --------
#
# * `version-modified`: a saved tensor changed in another way
# * `silent-data-edit`
