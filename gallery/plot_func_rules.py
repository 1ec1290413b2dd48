# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "inventory/functorch-vmap-in-dims-range",
#     "inventory/functorch-vmap-no-inputs",
#     "inventory/functorch-vmap-no-tensor",
#     "inventory/functorch-vmap-non-tensor-input",
#     "inventory/functorch-vmap-returns-non-tensor",
#     "inventory/functorch-vmap-size-mismatch",
#     "inventory/functorch-escaped-tensor",
#     "inventory/functorch-functional-call-tied",
# ]
#
# [[tool.autograd-errors.error]]
# raises = "ValueError"
# message = "vmap(<function>, in_dims=<in_dims>, ...)(<inputs>): Got in_dim=<dimension> for some input, but that input is a Tensor of dimensionality <dimensions> so expected in_dim to satisfy <least> <= in_dim < <limit>."
# source = "torch/_functorch/vmap.py"
#
# [[tool.autograd-errors.error]]
# raises = "ValueError"
# message = "vmap(<function>)(<inputs>): got no inputs. Maybe you forgot to add inputs, or you are trying to vmap over a function with no inputs. The latter is unsupported."
# source = "torch/_functorch/vmap.py"
#
# [[tool.autograd-errors.error]]
# raises = "ValueError"
# message = "vmap: Expected at least one Tensor to vmap over"
# source = "torch/_functorch/vmap.py"
#
# [[tool.autograd-errors.error]]
# raises = "ValueError"
# message = "vmap(<function>, in_dims=<in_dims>, ...)(<inputs>): Got in_dim=<dimension> for an input but the input is of type <type>. We cannot vmap over non-Tensor arguments, please use None as the respective in_dim"
# source = "torch/_functorch/vmap.py"
#
# [[tool.autograd-errors.error]]
# raises = "ValueError"
# message = "vmap(<function>, ...): `<name>` must only return Tensors, got type <type>. Did you mean to set out_dims= to None for output?"
# source = "torch/_functorch/vmap.py"
#
# [[tool.autograd-errors.error]]
# raises = "ValueError"
# message = "vmap: Expected all tensors to have the same size in the mapped dimension, got sizes [<sizes>] for the mapped dimension"
# source = "torch/_functorch/vmap.py"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "Either your tensor may have escaped from inside a function being vmapped and this is a user error (see https://pytorch.org/functorch/stable/ux_limitations.html), or there is an internal functorch error in `<place>` Please file an issue if it looks like the latter"
# source = "aten/src/ATen/functorch"
#
# [[tool.autograd-errors.error]]
# raises = "ValueError"
# message = "functional_call got multiple values for keys [<names>], which are tied. Consider using tie_weights=False"
# source = "torch/nn/utils/stateless.py"
#
# [[tool.autograd-errors.error]]
# raises = "ValueError"
# message = "vmap(<function>, in_dims=<in_dims>, ...)(<inputs>): in_dims is not compatible with the structure of `inputs`. in_dims has structure <structure> but inputs has structure <inputs_structure>."
# source = "torch/_functorch/vmap.py"
#
# [[tool.autograd-errors.error]]
# raises = "ValueError"
# message = "vmap(<function>, ...): `<name>` can not return a BatchedTensor when out_dim is None"
# source = "torch/_functorch/vmap.py"
# ///
"""
The inputs and outputs that vmap accepts
========================================

`vmap` could not find one batch dimension in what you gave it, or your function
returned something that is no tensor.
"""

import traceback

import torch

batch = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])

# %%
# The errors
# ----------
#
# Inputs of different length, a number among the inputs, a single value, no inputs,
# nothing to map over, a dimension for one input of two, and a result that depends on
# the row but is said not to:


def total():
    return torch.ones(1)


for call in (
    lambda: torch.vmap(torch.add)(batch, batch[:2]),
    lambda: torch.vmap(torch.add)(batch, 3.0),
    lambda: torch.vmap(torch.sin)(torch.tensor(1.0)),
    lambda: torch.vmap(total)(),
    lambda: torch.vmap(torch.add, in_dims=(None, None))(batch, batch),
    lambda: torch.vmap(lambda x: "text")(batch),
    lambda: torch.vmap(torch.add, in_dims=(0,))(batch, batch),
    lambda: torch.vmap(torch.sin, out_dims=None)(batch),
):
    try:
        call()
    except ValueError:
        traceback.print_exc()

# %%
# A tensor that was kept in a list belongs to the mapping and is no use after it:

kept = []
torch.vmap(lambda x: kept.append(x) or x * 2)(batch)
try:
    kept[0] + 1
except RuntimeError:
    traceback.print_exc()

# %%
# A model with tied weights gets two values for one parameter:

net = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 2))
net[1].weight = net[0].weight
weights = {"0.weight": torch.eye(2), "1.weight": torch.zeros(2, 2)}
try:
    torch.func.functional_call(net, weights, batch)
except ValueError:
    traceback.print_exc()

# %%
# Say which input is mapped, and where
# ------------------------------------
#
# ``None`` in ``in_dims`` stands for an input that all rows share.

result = torch.vmap(torch.add, in_dims=(0, None))(batch, 3.0)
print(result)
torch.testing.assert_close(result, batch + 3.0)

result = torch.vmap(torch.dot, in_dims=(1, 1))(batch, batch)
print(result)
torch.testing.assert_close(result, (batch * batch).sum(0))

# %%
# Return what you want to keep
# ----------------------------

doubled, kept = torch.vmap(lambda x: (x * 2, x + 1))(batch)
print(kept)
torch.testing.assert_close(kept, batch + 1)

# %%
# Give tied weights once
# ----------------------

net = torch.nn.Sequential(torch.nn.Linear(2, 2, bias=False), torch.nn.Linear(2, 2, bias=False))
net[1].weight = net[0].weight
result = torch.func.functional_call(net, {"0.weight": 2 * torch.eye(2)}, batch)
print(result)
torch.testing.assert_close(result, 4 * batch)

# %%
# See also
# --------
#
# * `func-data-dependent`
