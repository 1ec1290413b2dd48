# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "inventory/bool-ambiguous-hook",
#     "inventory/hook-signature-wrong",
#     "inventory/hook-returns-wrong-type",
#     "inventory/hook-changes-size",
#     "inventory/hook-changes-dtype",
#     "inventory/hook-no-requires-grad",
#     "inventory/hook-post-acc-no-requires-grad",
#     "inventory/hook-post-acc-non-leaf",
#     "inventory/hook-post-acc-returns-value",
#     "inventory/hook-not-serialized",
#     "inventory/hook-delete-backward-hooks",
#     "inventory/hook-delete-post-acc-hooks",
# ]
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "Boolean value of Tensor with more than one value is ambiguous"
# source = "aten/src/ATen/native/TensorProperties.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "TypeError"
# message = "<function>() takes 0 positional arguments but 1 was given"
# source = "torch/csrc/autograd/python_hook.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "TypeError"
# message = "expected Variable, but hook returned '<type>'"
# source = "torch/csrc/autograd/python_hook.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "hook '<function>' has changed the size of value"
# source = "torch/csrc/autograd/custom_function.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "hook '<function>' has changed the type of value (was <tensor_type> got <new_type>)"
# source = "torch/csrc/autograd/custom_function.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "cannot register a hook on a tensor that doesn't require gradient"
# source = "torch/_tensor.py"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "post accumulate grad hooks cannot be registered on non-leaf tensors"
# source = "torch/_tensor.py"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "Tensor post accumulate grad hooks should return None."
# source = "torch/csrc/autograd/python_hook.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "UserWarning"
# message = "backward hook <function> on tensor will not be serialized.  If this is expected, you can decorate the function with @torch.utils.hooks.unserializable_hook to suppress this warning"
# source = "torch/utils/hooks.py"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "Deletion of _backwards_hooks not allowed!"
# source = "torch/csrc/autograd/python_variable.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "Deletion of _post_accumulate_grad_hooks not allowed!"
# source = "torch/csrc/autograd/python_variable.cpp"
# ///
"""
A tensor hook that breaks the backward pass
===========================================

Your `hook` was called with a gradient and did something with it that a hook may
not do. It takes one gradient and returns ``None``, or a gradient of the same
shape and type that replaces it.
"""

import io
import traceback

import torch

# %%
# The error
# ---------
#
# A hook is to pass on gradients that are not zero. ``if`` asks for one truth
# value, and the gradient of two weights has two.

weight = torch.ones(2, requires_grad=True)
weight.register_hook(lambda grad: grad if grad else None)
try:
    weight.sum().backward()
except RuntimeError:
    traceback.print_exc()

# %%
# The other things a hook may not do: take no argument, return a number, change the
# shape, change the type. The traceback ends in ``backward``, and names the hook by
# its function.

for hook in (
    lambda: None,
    lambda grad: 3.0,
    lambda grad: grad.sum().expand(3),
    lambda grad: grad.double(),
):
    weight = torch.ones(2, requires_grad=True)
    weight.register_hook(hook)
    try:
        weight.sum().backward()
    except (TypeError, RuntimeError):
        traceback.print_exc()

# %%
# Say which truth you mean
# ------------------------
#
# ``any``, ``all`` or ``norm`` make one number of the gradient. Here a gradient that
# is entirely zero is left alone and every other one is doubled.

weight = torch.tensor([1.0, 2.0], requires_grad=True)
weight.register_hook(lambda grad: 2 * grad if grad.any() else None)
(weight * weight).sum().backward()

print(weight.grad)
torch.testing.assert_close(weight.grad, 2 * (2 * weight.detach()))

# %%
# Return a gradient like the one that came
# ----------------------------------------
#
# Operations on ``grad`` keep shape and type. Clamping is the usual case.

weight = torch.tensor([1.0, 2.0], requires_grad=True)
weight.register_hook(lambda grad: grad.clamp(max=3.0))
(weight * weight).sum().backward()

print(weight.grad)
torch.testing.assert_close(weight.grad, torch.tensor([2.0, 3.0]))

# %%
# Register on a tensor that has a gradient
# ----------------------------------------
#
# A tensor that does not require grad has none. A hook that runs after a gradient was
# accumulated belongs to a `leaf tensor`, and returns nothing.

frozen = torch.ones(2)
hidden = torch.ones(2, requires_grad=True) * 2.0
for register in (
    lambda: frozen.register_hook(print),
    lambda: frozen.register_post_accumulate_grad_hook(print),
    lambda: hidden.register_post_accumulate_grad_hook(print),
):
    try:
        register()
    except RuntimeError:
        traceback.print_exc()

weight = torch.ones(2, requires_grad=True)
handle = weight.register_post_accumulate_grad_hook(lambda parameter: parameter.grad)
try:
    weight.sum().backward()
except RuntimeError:
    traceback.print_exc()
handle.remove()

# %%
# The repaired form steps as soon as the gradient is there, and drops it:


def step(parameter):
    with torch.no_grad():
        parameter -= 0.5 * parameter.grad
    parameter.grad = None


weight = torch.ones(2, requires_grad=True)
weight.register_post_accumulate_grad_hook(step)
(3.0 * weight).sum().backward()

print(weight)
torch.testing.assert_close(weight.detach(), torch.ones(2) - 0.5 * 3.0)

# %%
# What only hides the error
# -------------------------
#
# Writing into the gradient in place needs no return value, so nothing complains. The
# gradient is shared with the rest of the `backward pass`: here the addition hands the
# same tensor to both inputs, and the other one is halved as well.

first = torch.ones(2, requires_grad=True)
second = torch.ones(2, requires_grad=True)
total = first + second
total.register_hook(lambda grad: grad.clone())
first.register_hook(lambda grad: grad.mul_(0.5))
# draw: total
total.sum().backward()

print(first.grad, second.grad)
assert second.grad[0] != 1.0

# %%
# Rarer messages
# --------------
#
# Hooks are not saved with a tensor, and the dictionaries that hold them cannot be
# deleted.

weight = torch.ones(2, requires_grad=True)
weight.register_hook(lambda grad: grad)
torch.save(weight, io.BytesIO())
for name in ("_backward_hooks", "_post_accumulate_grad_hooks"):
    try:
        delattr(weight, name)
    except RuntimeError:
        traceback.print_exc()

# %%
# Keep the handle, and remove the hook before you save:

weight = torch.ones(2, requires_grad=True)
handle = weight.register_hook(lambda grad: 0.0 * grad)
handle.remove()
torch.save(weight, io.BytesIO())
weight.sum().backward()

print(weight.grad)
torch.testing.assert_close(weight.grad, torch.ones(2))

# %%
# If a library raised it
# ----------------------
#
# The frames between ``backward`` and the message belong to the hook. Look there for a
# function that returns its own result, such as a ratio or a list, instead of a gradient,
# or that forgets ``return``. To do without it, call ``remove`` on the handle that the
# registration returned.

# %%
# Am I right now?
# ---------------
#
# A hook that only looks must leave the gradient as `finite differences` have it.

norms = []


def loss_of(weight):
    hidden = weight * 3.0
    if hidden.requires_grad:
        hidden.register_hook(lambda grad: norms.append(grad.norm()))
    return hidden.square().sum()


weight = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
loss_of(weight).backward()
step = torch.tensor([1e-6, 0.0], dtype=torch.float64)
with torch.no_grad():
    slope = (loss_of(weight + step) - loss_of(weight - step)) / 2e-6

print(slope, weight.grad[0], len(norms))
torch.testing.assert_close(slope, weight.grad[0])
