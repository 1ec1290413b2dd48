# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# cause-of = "view-custom-function"
# when = { node = "BackwardHookFunction(Backward)?" }
# causes = ["hooks/full-backward-hook-inplace", "inventory/view-full-backward-hook-inplace"]
# ///
"""
A full backward hook before an in-place layer
=============================================

You registered a full backward `hook` on a module, and the next layer works in
place. The hook wraps the module's output in a custom function, whose output
must not be written.
"""

import traceback

import torch

# %%
# The error
# ---------
#
# Class activation maps need the gradient at the last convolution.


def network():
    net = torch.nn.Sequential(
        torch.nn.Conv2d(1, 1, 1, bias=False), torch.nn.ReLU(inplace=True), torch.nn.Flatten(0)
    )
    torch.nn.init.ones_(net[0].weight)
    return net


image = torch.tensor([[[[-1.0, 2.0]]]], requires_grad=True)
net = network()
net[0].register_full_backward_hook(lambda module, grad_input, grad_output: None)
try:
    net(image)
except RuntimeError:
    traceback.print_exc()

# %%
# The output of the hooked layer says who made it:

print(net[0](image).grad_fn)

# %%
# Switch the in-place layers off
# ------------------------------
#
# The result is the same. The gradient of the sum of squares is twice the
# output where it is positive, and the hook sees it after the ReLU's backward.

seen = []
net = network()
for module in net.modules():
    if hasattr(module, "inplace"):
        module.inplace = False
net[0].register_full_backward_hook(lambda module, grad_input, grad_output: seen.extend(grad_output))
(net(image) ** 2).sum().backward()

print(seen[0])
torch.testing.assert_close(seen[0], torch.tensor([[[[0.0, 2 * 2.0]]]]))

# %%
# If the model calls relu with inplace=True itself
# ------------------------------------------------
#
# No flag can be switched then. Put a tensor hook on the output from within a
# forward hook: it wraps nothing, so the output may be written. The gradient it
# sees has passed the backward of the ReLU, as before.

seen = []


def watch(module, args, output):
    output.register_hook(seen.append)


net = network()
net[0].register_forward_hook(watch)
(net(image) ** 2).sum().backward()

print(seen[0])
torch.testing.assert_close(seen[0], torch.tensor([[[[0.0, 2 * 2.0]]]]))

# %%
# Or give the next layer a copy
# -----------------------------
#
# The copy has to be made after the hook has wrapped the output. A pre-hook on
# the next layer is the first place where that is so: what it returns is what
# the layer gets.

seen = []
net = network()
net[0].register_full_backward_hook(lambda module, grad_input, grad_output: seen.extend(grad_output))
net[1].register_forward_pre_hook(lambda module, args: (args[0].clone(),))
(net(image) ** 2).sum().backward()

print(seen[0])
torch.testing.assert_close(seen[0], torch.tensor([[[[0.0, 2 * 2.0]]]]))

# %%
# What only hides the error
# -------------------------
#
# "Change ReLU's default in the installed file" is a popular answer. A layer
# that says ``inplace=True`` itself does not ask for the default:


class PatchedReLU(torch.nn.ReLU):
    def __init__(self, inplace=False):
        super().__init__(inplace)


net = torch.nn.Sequential(torch.nn.Conv2d(1, 1, 1), PatchedReLU(inplace=True))
net[0].register_full_backward_hook(lambda module, grad_input, grad_output: None)
refused = False
try:
    net(image)
except RuntimeError:
    refused = True

print("refused:", refused)
assert refused

# %%
# - `view-custom-function`, all causes of this message
# - `hook-full-backward`, what else such a hook expects
# - `hook-tensor`, hooks on tensors
# - `leaf-relu-on-input`, the same layer as the first of a model
