# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "version-counter/relu-inplace-flag",
#     "inventory/version-modified-relu-inplace-after-sigmoid",
#     "inventory/version-modified-dropout-inplace",
# ]
# cause-of = "version-modified"
# when = { node = "^(Relu|Sigmoid|Tanh|Exp|Softmax|NativeBatchNorm|LeakyRelu|Mul)(Backward\\d*)?$", frame = "(?:inplace|relu_|[Rr]e[Ll][Uu]|dropout)" }
# ///
"""
A layer with inplace=True overwrote what another saved
======================================================

A ReLU or dropout with ``inplace=True`` writes into its input, and that input
was the result another layer had saved for its derivative.
"""

import traceback

import torch
from torch import nn

# %%
# The error
# ---------
#
# After a linear layer or a convolution the flag is harmless: they do not save
# their output. A sigmoid does.

net = nn.Sequential(nn.Linear(2, 2), nn.ReLU(inplace=True))
net(torch.ones(1, 2)).sum().backward()

net = nn.Sequential(nn.Sigmoid(), nn.ReLU(inplace=True))
x = torch.tensor([[-1.0, 2.0]], requires_grad=True)

try:
    net(x).sum().backward()
except RuntimeError:
    traceback.print_exc()

# %%
# Dropout has the same flag, as a module and as a function:

hidden = x.sigmoid()
nn.functional.dropout(hidden, 0.5, inplace=True)

try:
    hidden.sum().backward()
except RuntimeError:
    traceback.print_exc()

# draw: hidden

# %%
# In your own layers, drop the flag
# ---------------------------------

net = nn.Sequential(nn.Sigmoid(), nn.ReLU())
net(x).sum().backward()

by_hand = x.detach().sigmoid() * (1 - x.detach().sigmoid())
print(x.grad)
torch.testing.assert_close(x.grad, by_hand)

# %%
# In a library's model, switch the flags off
# ------------------------------------------
#
# The flag is an attribute and can be changed after the model was built. This
# does not reach calls such as ``F.relu(x, inplace=True)`` or ``x.relu_()``
# inside a ``forward``; change those lines.

x.grad = None
net = nn.Sequential(nn.Sigmoid(), nn.Dropout(0.0, inplace=True), nn.ReLU(inplace=True))
for module in net.modules():
    if getattr(module, "inplace", False):
        module.inplace = False
        print("changed", module)

net(x).sum().backward()
torch.testing.assert_close(x.grad, by_hand)

# %%
# To find the layer, ask the nodes
# --------------------------------
#
# Forward `hooks <hook>` tell which layer received a tensor and left it with a
# higher `version counter`.

net = nn.Sequential(nn.Sigmoid(), nn.ReLU(inplace=True))
received, writers = {}, []


def before(module, inputs):
    received[module] = inputs[0]._version


def after(module, inputs, output):
    if inputs[0]._version != received[module]:
        writers.append(module)


for module in net:
    module.register_forward_pre_hook(before)
    module.register_forward_hook(after)

net(x)
print(writers)
assert writers == [net[1]]

# %%
# See also
# --------
#
# * `version-activation-output`: which operations save their result
# * `silent-skip-input`: the flag changes a skip connection without any error
