# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "inventory/module-hook-full-no-input-grad",
#     "inventory/module-hook-no-input-grad-returns-value",
#     "inventory/module-hook-full-output-type",
#     "inventory/module-hook-wrong-grad-input-count",
#     "inventory/module-hook-wrong-grad-output-count",
#     "inventory/module-hook-forward-pre-return",
#     "inventory/module-hook-dead-module",
# ]
#
# [[tool.autograd-errors.error]]
# raises = "UserWarning"
# message = "Full backward hook is firing when gradients are computed with respect to module outputs since no inputs require gradients. See https://docs.pytorch.org/docs/main/generated/torch.nn.Module.html#torch.nn.Module.register_full_backward_hook for more details."
# source = "torch/utils/hooks.py"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "Backward hook for Modules where no input requires gradient should always return None or None for all gradients."
# source = "torch/utils/hooks.py"
#
# [[tool.autograd-errors.error]]
# raises = "UserWarning"
# message = "For backward hooks to be called, module output should be a Tensor or a tuple of Tensors but received <type>"
# source = "torch/nn/modules/module.py"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "Backward hook returned an invalid number of grad_input, got <count>, but expected <expected>"
# source = "torch/utils/hooks.py"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "Backward pre hook returned an invalid number of grad_output, got <count>, but expected <expected>"
# source = "torch/utils/hooks.py"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "forward pre-hook must return None or a tuple of (new_args, new_kwargs), but got <value>."
# source = "torch/nn/modules/module.py"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "You are trying to call the hook of a dead Module!"
# source = "torch/nn/modules/module.py"
# ///
"""
A full backward hook on a module's first layer
==============================================

You registered a full backward `hook` on a module whose inputs do not require
grad, so there is no input gradient to hand to it. It runs all the same, earlier
than usual and without that gradient.
"""

import traceback

import torch

batch = torch.ones(1, 2)

# %%
# The warning
# -----------
#
# A tool for saliency maps puts a hook on the first layer. Its input is the data.

layer = torch.nn.Linear(2, 2)
seen = []
layer.register_full_backward_hook(lambda module, grad_input, grad_output: seen.append(grad_input))
layer(batch).sum().backward()

print(seen)

# %%
# Returning a value for a gradient that does not exist is an error:

layer = torch.nn.Linear(2, 2)
layer.register_full_backward_hook(lambda module, grad_input, grad_output: (batch,))
try:
    layer(batch).sum().backward()
except RuntimeError:
    traceback.print_exc()

# %%
# If you want the gradient of the data, ask for it
# ------------------------------------------------
#
# Make the input require grad. The hook then gets the product of the output's
# gradient with the weight.

layer = torch.nn.Linear(2, 2)
seen = []
layer.register_full_backward_hook(lambda module, grad_input, grad_output: seen.append(grad_input))
layer(batch.clone().requires_grad_()).sum().backward()

print(seen[0][0].shape)
torch.testing.assert_close(seen[0][0], layer.weight.detach().sum(0, keepdim=True))

# %%
# If you want the output's gradient, hook the output
# --------------------------------------------------
#
# A hook on the output tensor has nothing to do with inputs, and a forward hook puts
# it there.

layer = torch.nn.Linear(2, 2)
seen = []


def watch(module, arguments, output):
    output.register_hook(seen.append)


layer.register_forward_hook(watch)
(3.0 * layer(batch)).sum().backward()

print(seen)
torch.testing.assert_close(seen[0], torch.full((1, 2), 3.0))

# %%
# What only hides the error
# -------------------------
#
# ``None`` instead of a value silences it, and the hook's purpose is gone: a hook
# that should scale the input gradient scales nothing here. The parameters' own
# gradients were never its business.

layer = torch.nn.Linear(2, 2)
layer.register_full_backward_hook(lambda module, grad_input, grad_output: None)
layer(batch.clone().requires_grad_()).sum().backward()

torch.testing.assert_close(layer.weight.grad, torch.ones(2, 2))
print(layer.weight.grad)

# %%
# The other rules for module hooks
# --------------------------------
#
# The output is a tensor or a tuple of tensors; with a dictionary the hook is never
# called. What a hook returns has one element for each input or output. A forward
# pre-hook with keyword arguments returns both. A hook lives as long as its module.


class Dictionary(torch.nn.Module):
    def forward(self, x):
        return {"y": x * 2}


net = Dictionary()
net.register_full_backward_hook(lambda module, grad_input, grad_output: seen.append("called"))
net(torch.ones(2, requires_grad=True))["y"].sum().backward()
assert "called" not in seen

x = torch.ones(1, 2, requires_grad=True)
layer = torch.nn.Linear(2, 2)
layer.register_full_backward_hook(lambda module, grads, outputs: (grads[0], grads[0]))
try:
    layer(x).sum().backward()
except RuntimeError:
    traceback.print_exc()

layer = torch.nn.Linear(2, 2)
layer.register_full_backward_pre_hook(lambda module, outputs: (outputs[0], outputs[0]))
try:
    layer(x).sum().backward()
except RuntimeError:
    traceback.print_exc()

layer = torch.nn.Linear(2, 2)
layer.register_forward_pre_hook(lambda module, args, kwargs: args, with_kwargs=True)
try:
    layer(x)
except RuntimeError:
    traceback.print_exc()

orphan = torch.nn.modules.module._WrappedHook(print, torch.nn.Linear(1, 1))
try:
    orphan()
except RuntimeError:
    traceback.print_exc()

# %%
# The repaired lines: return a tuple of two for the pre-hook, one gradient for one
# input, and a tuple of tensors from the module.

layer = torch.nn.Linear(2, 2)
torch.nn.init.ones_(layer.weight)
layer.register_forward_pre_hook(lambda module, args, kwargs: (args, kwargs), with_kwargs=True)
layer.register_full_backward_hook(lambda module, grads, outputs: (2.0 * grads[0],))
x = torch.ones(1, 2, requires_grad=True)
layer(x).sum().backward()

print(x.grad)
torch.testing.assert_close(x.grad, 2.0 * layer.weight.detach().sum(0, keepdim=True))

# %%
# See also
# --------
#
# * `hook-non-full`: the older kind of module hook
# * `hook-tensor`
