# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "deepcopy/activation-stored-on-module",
#     "deepcopy/weight-norm",
#     "inventory/deepcopy-module-caching-activation",
#     "inventory/deepcopy-non-leaf",
#     "inventory/deepcopy-weight-norm",
# ]
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the moment.  If you were attempting to deepcopy a module, this may be because of a torch.nn.utils.weight_norm usage, see https://github.com/pytorch/pytorch/pull/103001"
# source = "torch/_tensor.py"
#
# [[tool.autograd-errors.error]]
# raises = "FutureWarning"
# message = "`torch.nn.utils.weight_norm` is deprecated in favor of `torch.nn.utils.parametrizations.weight_norm`."
# source = "torch/nn/utils/weight_norm.py"
# ///
"""
Deep copy of a tensor that has a history
========================================

You deep-copied a tensor, or a module that holds one, that autograd computed
from other tensors. A deep copy would have to copy the whole graph behind it,
so PyTorch copies only a `leaf tensor`. The message does not say which tensor
it was; the page shows how to find it.
"""

import copy
import traceback

import torch
from torch import nn
from torch.nn.utils import parametrizations

# %%
# The errors
# ----------
#
# You copy a model to keep a moving average of its weights. The model has
# remembered its last features on the way.


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 1, bias=False)

    def forward(self, x):
        self.features = self.layer(x)
        return self.features.sum()


net = Net()
net(torch.ones(1, 2))

try:
    average = copy.deepcopy(net)
except RuntimeError:
    traceback.print_exc()

# %%
# The second cause is the one that the message names: the old ``weight_norm``
# stores the computed weight as an attribute. It warns that it is outdated.

normed = nn.utils.weight_norm(nn.Linear(2, 1))

try:
    copy.deepcopy(normed)
except RuntimeError:
    traceback.print_exc()

# %%
# Find the tensor
# ---------------
#
# Every attribute of a module that is a `non-leaf tensor` can be the one. This
# loop prints their names and the operation that made each.


def tensors_with_history(module):
    for path, part in module.named_modules():
        for name, value in vars(part).items():
            if isinstance(value, torch.Tensor) and not value.is_leaf:
                yield f"{path}.{name}".lstrip("."), value.grad_fn.name()


found = list(tensors_with_history(net)) + list(tensors_with_history(normed))
print(found)
assert [name for name, _ in found] == ["features", "weight"]

# %%
# * A feature, a loss, a mask that your ``forward`` stored: the next section.
# * ``weight`` with ``weight_norm`` or the old ``spectral_norm``: the section
#   after it.
# * A single tensor, not a module: the third section.
# * A list or dictionary of tensors on a module is not searched above; look
#   into it yourself, and store what the first section shows.
#
# If forward stored it, store it detached
# ---------------------------------------
#
# A remembered value is for looking at. `detach` keeps the numbers and drops the
# history, so the copy works and the old graph can be freed.


class LookNet(Net):
    def forward(self, x):
        features = self.layer(x)
        self.features = features.detach()
        return features.sum()


net = LookNet()
net(torch.ones(1, 2))
average = copy.deepcopy(net)

# The copy learns alone: the gradient of sum(weight * x) is x.
average(torch.tensor([[3.0, 5.0]])).backward()

print(average.layer.weight.grad, net.layer.weight.grad)
torch.testing.assert_close(average.layer.weight.grad, torch.tensor([[3.0, 5.0]]))
assert net.layer.weight.grad is None

# %%
# If weight_norm stored it, use the parametrization
# -------------------------------------------------
#
# The newer function computes the weight at each access and stores nothing. The
# weight is ``length * direction / |direction|``, so the gradient of ``length``
# is the unit direction times ``x``.

net = parametrizations.weight_norm(nn.Linear(2, 1, bias=False))
net(torch.ones(1, 2))
twin = copy.deepcopy(net)
length = twin.parametrizations.weight.original0
direction = twin.parametrizations.weight.original1.detach()

x = torch.tensor([[3.0, 5.0]])
twin(x).sum().backward()

by_hand = (direction / direction.norm() * x).sum()
print(length.grad.shape)
torch.testing.assert_close(length.grad.squeeze(), by_hand)

# %%
# If it is one tensor, choose clone or detach
# -------------------------------------------
#
# `clone` copies the numbers and stays in the graph: gradients flow through the
# copy. ``detach().clone()`` copies them and leaves the graph.

weight = torch.tensor([3.0], requires_grad=True)
hidden = weight * 2

try:
    copy.deepcopy(hidden)
except RuntimeError:
    traceback.print_exc()

tracked = hidden.clone()
snapshot = hidden.detach().clone()
# draw: tracked, snapshot
(tracked**2).sum().backward()

# The loss is (2 * weight)**2, its derivative 8 * weight.
print(weight.grad, snapshot.requires_grad)
torch.testing.assert_close(weight.grad, 8 * weight.detach())

# %%
# If a library raised it
# ----------------------
#
# The traceback starts at a ``copy.deepcopy(model)`` in the trainer: an average
# of weights, a checkpoint, a target network. The tensor is on your model. Run
# ``tensors_with_history(model)`` just before that line. If the module that it
# names is not yours either, delete the attribute before the copy; the next
# forward writes it again. Or make the copy before the first forward.

net = Net()
net(torch.ones(1, 2))
del net.features
average = copy.deepcopy(net)

torch.testing.assert_close(average.layer.weight, net.layer.weight)

# %%
# What only hides the error
# -------------------------
#
# Detaching the tensor that the loss uses, in place of the one that is
# remembered, also lets the copy pass. It cuts the layer out of the graph. The
# gradient should be ``x``:


class CutNet(Net):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(1))

    def forward(self, x):
        self.features = self.layer(x).detach()
        return (self.scale * self.features).sum()


net = CutNet()
net(torch.ones(1, 2)).backward()
copy.deepcopy(net)

print(net.layer.weight.grad)
assert net.layer.weight.grad is None

# %%
# Am I right now?
# ---------------
#
# Compare one entry of a gradient of the copy with `finite differences`. Put in
# your own model and input, in ``float64``.

model, x = copy.deepcopy(LookNet().double()), torch.tensor([[3.0, 5.0]], dtype=torch.float64)
model(x).backward()
entry = model.layer.weight.detach()[0, :1]  # shares memory with the parameter

entry += 1e-6
high = model(x).item()
entry -= 2e-6
slope = (high - model(x).item()) / 2e-6

print(round(slope, 6), model.layer.weight.grad[0, 0].item())
assert abs(slope - model.layer.weight.grad[0, 0].item()) < 1e-6
