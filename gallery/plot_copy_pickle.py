# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = ["inventory/parametrize-pickle", "inventory/setstate-non-leaf"]
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "Serialization of parametrized modules is only supported through state_dict(). See:\nhttps://pytorch.org/tutorials/beginner/saving_loading_models.html#saving-loading-a-general-checkpoint-for-inference-and-or-resuming-training"
# source = "torch/nn/utils/parametrize.py"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "__setstate__ can be only called on leaf Tensors"
# source = "torch/_tensor.py"
# ///
"""
Saving what cannot be pickled
=============================

You saved a whole parametrized module, or restored a pickled state into a
tensor that has a history. Both would have to write down something that exists
only in this process: a class made on the fly, or a `computational graph`.
"""

import io
import traceback

import torch
from torch import nn
from torch.nn.utils import parametrize

# %%
# The errors
# ----------
#
# You save a model whose weight a parametrization keeps positive.


class Positive(nn.Module):
    def forward(self, weight):
        return weight.exp()


def build():
    net = nn.Linear(2, 1, bias=False)
    return parametrize.register_parametrization(net, "weight", Positive())


net = build()

try:
    torch.save(net, io.BytesIO())
except RuntimeError:
    traceback.print_exc()

# %%
# The parametrization has replaced the class of the module by one that has no
# name anywhere else:

print(type(net).__name__, type(net) is nn.Linear)

# %%
# Restoring a state by hand into a computed tensor fails as well.

hidden = torch.ones(2, requires_grad=True) * 2

try:
    hidden.__setstate__(())
except RuntimeError:
    traceback.print_exc()

# %%
# Save the state, and build the module again
# ------------------------------------------
#
# ``state_dict`` holds the tensors under names. The reader of the file runs the
# same code that built the module and fills it. The weight is ``exp(original)``,
# so the gradient by hand is ``exp(original) * x``.

file = io.BytesIO()
torch.save(net.state_dict(), file)
file.seek(0)
restored = build()
restored.load_state_dict(torch.load(file))

x = torch.tensor([[3.0, 5.0]])
restored(x).sum().backward()
original = restored.parametrizations.weight.original

print(list(restored.state_dict()))
torch.testing.assert_close(restored(x), net(x))
torch.testing.assert_close(original.grad, original.detach().exp() * x)

# %%
# To ship a module without training it, remove the parametrization
# ----------------------------------------------------------------
#
# The present weight becomes an ordinary `parameter`, and the class is
# ``nn.Linear`` again. A whole module in a file runs code when it is read, so
# load only files you trust.

shipped = build()
shipped.load_state_dict(net.state_dict())
parametrize.remove_parametrizations(shipped, "weight")

file = io.BytesIO()
torch.save(shipped, file)
file.seek(0)
loaded = torch.load(file, weights_only=False)

torch.testing.assert_close(loaded(x), net(x))

# %%
# To keep a computed tensor, detach it
# ------------------------------------
#
# A file keeps values, not history. After `detach` that is visible in the code.

file = io.BytesIO()
torch.save(hidden.detach(), file)
file.seek(0)

torch.testing.assert_close(torch.load(file), torch.full((2,), 2.0))

# %%
# What only hides the error
# -------------------------
#
# ``torch.save`` accepts a `non-leaf tensor` without a word. What comes back says
# that it requires a gradient, but it is a new `leaf tensor`: nothing reaches
# the tensor it was computed from, whose gradient should be 2.

x = torch.ones(2, requires_grad=True)
file = io.BytesIO()
torch.save(x * 2, file)
file.seek(0)
loaded = torch.load(file)
loaded.sum().backward()

print(loaded.requires_grad, loaded.is_leaf, x.grad)
assert loaded.requires_grad and x.grad is None

# %%
# See also
# --------
#
# * `copy-deepcopy`
# * `multiprocessing-queue`: sending a tensor to another process
# * `parameter-parametrize`
