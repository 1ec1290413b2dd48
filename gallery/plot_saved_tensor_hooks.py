# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "inventory/saved-hooks-pack-inplace",
#     "inventory/saved-hooks-register-after-free",
#     "inventory/saved-hooks-register-on-none",
#     "inventory/saved-hooks-register-twice",
#     "inventory/saved-hooks-unpack-not-tensor",
#     "inventory/saved-tensor-construct",
# ]
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "A saved tensor pack hook is modifying its input in place. Tensors provided as input to pack hook cannot be modified by in-place operations as this can lead to unexpected side-effects. Please open an issue if you need to perform in-place operations on the input to a pack hook."
# source = "torch/csrc/autograd/saved_variable.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "TypeError"
# message = "Output of saved tensor unpack_hook expected to be a Tensor but got result of type <type>"
# source = "torch/csrc/autograd/python_saved_variable_hooks.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "Calling register_hooks on a saved tensor whose hooks have already been set. Hint: only one pair of hooks is allowed at a time."
# source = "torch/csrc/autograd/saved_variable.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "Calling register_hooks on a saved tensor with value None is forbidden"
# source = "torch/csrc/autograd/saved_variable.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "Calling register_hooks on a saved tensor after it has been freed. Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). Specify retain_graph=True if you need to backward through the graph a second time or if you need to access saved variables after calling backward."
# source = "torch/csrc/autograd/saved_variable.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "Trying to create a SavedTensor object from Python is forbidden."
# source = "torch/csrc/autograd/init.cpp"
# ///
"""
Hooks on saved tensors that break a rule
========================================

You packed saved tensors to spend less memory, and a hook changed its input,
returned something else, or was set too late or twice. A pack hook gets each
value that an operation saves; the unpack hook must give the same value back.
"""

import traceback

import torch
from torch.autograd.graph import saved_tensors_hooks

# %%
# The errors
# ----------
#
# A pair of hooks stores each `saved tensor` in half precision. The pack hook
# scales in place, which would change the tensor that your model goes on with.

weight = torch.tensor([1.0, 2.0], requires_grad=True)


def scale_in_place(tensor):
    return tensor.mul_(0.5).half()


def restore(packed):
    return packed.float() * 2.0


hidden = weight * 1.0
try:
    with saved_tensors_hooks(scale_in_place, restore):
        loss = (hidden**2).sum()
except RuntimeError:
    traceback.print_exc()

# %%
# The unpack hook must return a tensor. Here it returns what was packed, a list:

with saved_tensors_hooks(lambda tensor: tensor.tolist(), lambda packed: packed):
    loss = (weight**2).sum()

try:
    loss.backward()
except TypeError:
    traceback.print_exc()

# %%
# To pack, make something new; to unpack, make a tensor
# -----------------------------------------------------
#
# Whatever the pack hook returns, a tensor, a list, a file name, reaches the
# unpack hook. Type, shape and values must come back as they were.


def scale(tensor):
    return (tensor * 0.5).half()


with saved_tensors_hooks(scale, restore):
    loss = (weight**2).sum()
loss.backward()

print(weight.grad)
torch.testing.assert_close(weight.grad, 2 * weight.detach())

weight.grad = None
with saved_tensors_hooks(torch.Tensor.tolist, torch.tensor):
    loss = (weight**2).sum()
loss.backward()
torch.testing.assert_close(weight.grad, 2 * weight.detach())

# %%
# Hooks on a single node
# ----------------------
#
# A node of the graph shows what it saves as ``_raw_saved_...``, and each takes
# one pair of hooks.

square = weight**2
saved = square.grad_fn._raw_saved_self
saved.register_hooks(scale, restore)

try:
    saved.register_hooks(scale, restore)
except RuntimeError:
    traceback.print_exc()

# %%
# A product saves a factor only if the other one needs a gradient. Where nothing
# was saved, there is nothing to pack:

product = weight * torch.tensor([3.0, 4.0])

try:
    product.grad_fn._raw_saved_self.register_hooks(scale, restore)
except RuntimeError:
    traceback.print_exc()

# %%
# Backward frees what it used, and then it is too late:

square.sum().backward()

try:
    saved.register_hooks(scale, restore)
except RuntimeError:
    traceback.print_exc()

# %%
# And such an object comes from the graph only; Python cannot make one:

try:
    torch._C._autograd.SavedTensor()
except RuntimeError:
    traceback.print_exc()

# %%
# To set them right, once, after forward and before backward
# ----------------------------------------------------------
#
# Combine two hooks into one function. Ask whether the node saved anything: its
# ``_saved_...`` attribute is then not ``None``.

weight.grad = None
product = weight * torch.tensor([3.0, 4.0])
node = product.grad_fn
print(node._saved_self, node._saved_other)

if node._saved_other is not None:
    node._raw_saved_other.register_hooks(scale, restore)
product.sum().backward()

print(weight.grad)
torch.testing.assert_close(weight.grad, torch.tensor([3.0, 4.0]))

# %%
# See also
# --------
#
# * `saved-allow-mutation`: let autograd copy what you overwrite
# * `saved-after-free`: a saved value is read after backward
# * `hook-tensor`: hooks on gradients instead
