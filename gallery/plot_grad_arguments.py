# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "inventory/grad-inputs-empty",
#     "inventory/grad-inputs-mapping",
#     "inventory/grad-inputs-wrong-type",
#     "inventory/grad-materialize-allow-unused-conflict",
#     "inventory/grad-materialize-gradient-edge",
#     "inventory/grad-batched-gradient-edge",
#     "inventory/grad-only-inputs-deprecated",
# ]
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "`inputs` argument to `grad()` cannot be empty."
# source = "torch/autograd/__init__.py"
# reworded = true
#
# [[tool.autograd-errors.error]]
# raises = "TypeError"
# message = "`inputs` argument to `grad()` must be a dict, not <type>. Other Mapping types are not supported."
# source = "torch/autograd/__init__.py"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "all inputs have to be Tensors or GradientEdges, but got <type>"
# source = "torch/csrc/autograd/python_engine.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "ValueError"
# message = "Expected allow_unused to be True or not passed when materialize_grads=True, but got: allow_unused=False."
# source = "torch/autograd/__init__.py"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "materialize_grads cannot be used when the given input is a GradientEdge"
# source = "torch/autograd/__init__.py"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "Batched grads are not supported with GradientEdge"
# source = "torch/autograd/__init__.py"
#
# [[tool.autograd-errors.error]]
# raises = "FutureWarning"
# message = "only_inputs argument is deprecated and is ignored now (defaults to True). To accumulate gradient for other parts of the graph, please use torch.autograd.backward."
# source = "torch/autograd/__init__.py"
# ///
"""
An argument of autograd.grad that does not fit
==============================================

You passed `torch.autograd.grad` inputs or options that it cannot combine. The
inputs are tensors that the output was computed from, and there must be at
least one.
"""

import traceback
from collections import OrderedDict

import torch

# %%
# The errors
# ----------
#
# The parameters are filtered by name, and the filter matches nothing.

layer = torch.nn.Linear(2, 1, bias=False)
data = torch.tensor([[1.0, 2.0]])

try:
    chosen = [p for name, p in layer.named_parameters() if name.startswith("head")]
    torch.autograd.grad(layer(data).sum(), chosen)
except RuntimeError:
    traceback.print_exc()

# %%
# An empty list is an error, not an empty answer. Print the names that exist. The
# gradient of the output in the weight is the data.

print([name for name, _ in layer.named_parameters()])
(gradient,) = torch.autograd.grad(layer(data).sum(), [layer.weight])
torch.testing.assert_close(gradient, data)

# %%
# A mapping that is not a plain dict
# ----------------------------------
#
# A ``dict`` of inputs gives a dict of gradients. An ``OrderedDict`` is refused;
# ``dict(...)`` is enough.

named = OrderedDict(layer.named_parameters())
try:
    torch.autograd.grad(layer(data).sum(), named)
except TypeError:
    traceback.print_exc()

gradients = torch.autograd.grad(layer(data).sum(), dict(named))
print(gradients)
torch.testing.assert_close(gradients["weight"], data)

# %%
# A number or a name among the inputs
# -----------------------------------
#
# Iterating over ``named_parameters()`` gives pairs, over a dict gives names. Pass
# the tensors.

try:
    torch.autograd.grad(layer(data).sum(), [layer.weight, 3])
except RuntimeError:
    traceback.print_exc()

(gradient,) = torch.autograd.grad(layer(data).sum(), [p for _, p in layer.named_parameters()])
torch.testing.assert_close(gradient, data)

# %%
# Options that contradict each other
# ----------------------------------
#
# ``materialize_grads=True`` says that an unused tensor gets zeros,
# ``allow_unused=False`` that it is an error. Pass one of them.

other = torch.tensor([1.0], requires_grad=True)
try:
    torch.autograd.grad(
        layer(data).sum(), [layer.weight, other], allow_unused=False, materialize_grads=True
    )
except ValueError:
    traceback.print_exc()

gradients = torch.autograd.grad(layer(data).sum(), [layer.weight, other], materialize_grads=True)
print(gradients[1])
torch.testing.assert_close(gradients, (data, torch.zeros(1)))

# %%
# Options that an edge of the graph does not support
# --------------------------------------------------
#
# `torch.autograd.graph.get_gradient_edge` gives a place in the graph without
# keeping the tensor. An edge that was not used has no tensor to make zeros of, and
# batched gradients have no shape to be compared with. Pass tensors for those.

scale = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
unused = torch.autograd.graph.get_gradient_edge(other)
try:
    torch.autograd.grad((scale * 2).sum(), [unused], materialize_grads=True)
except RuntimeError:
    traceback.print_exc()

result = torch.autograd.graph.get_gradient_edge(scale * 2)
try:
    torch.autograd.grad(result, scale, torch.ones(4, 2), is_grads_batched=True)
except RuntimeError:
    traceback.print_exc()

edge = torch.autograd.graph.get_gradient_edge(scale)
(gradient,) = torch.autograd.grad((scale * 2).sum(), [edge])
(rows,) = torch.autograd.grad(scale * 2, scale, torch.ones(4, 3), is_grads_batched=True)
print(gradient, rows[0])
torch.testing.assert_close(gradient, torch.full((3,), 2.0))
torch.testing.assert_close(rows, torch.full((4, 3), 2.0))

# %%
# The old option only_inputs
# --------------------------
#
# It once made ``grad`` fill ``.grad`` of the other leaves as well. It is ignored
# now; ``backward`` does that.

weight = torch.tensor([1.0, 2.0], requires_grad=True)
bias = torch.tensor(1.0, requires_grad=True)
torch.autograd.grad(weight.sum() + bias, weight, only_inputs=False)
assert bias.grad is None

(weight.sum() + bias).backward()
print(bias.grad)
torch.testing.assert_close(bias.grad, torch.tensor(1.0))

# %%
# See also
# --------
#
# * `grad-unused-input` and `grad-input-no-grad`: the inputs fit and have no gradient
# * `backward-arguments`
# * `backward-gradient-shape`
