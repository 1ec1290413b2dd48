# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "silent/silent-parameter-of-computed",
#     "silent/silent-parameterlist-detaches",
#     "silent/silent-param-data-assign-computed",
# ]
# symptom = "My generated weights never train: I wrap them in nn.Parameter."
# symptom-zh = "把计算得到的权重包成 nn.Parameter 后，上游参数没有梯度"
# ///
"""
Wrapping a computed tensor in a Parameter
=========================================

You computed a weight from other tensors and made it an ``nn.Parameter``, to get it into
a module. A parameter is a `leaf tensor`: what computed it is forgotten.
"""

import torch

# %%
# The mistake
# -----------
#
# A hypernetwork produces the weight of a layer. ``nn.Parameter``, ``nn.ParameterList`` and
# an assignment to ``.data`` all forget the producer.


def use_parameter(code):
    return torch.nn.Parameter(code * 3.0).sum()


def use_list(code):
    return torch.nn.ParameterList([code * 3.0])[0].sum()


def use_data(code):
    layer = torch.nn.Linear(1, 1, bias=False)
    layer.weight.data = (code * 3.0).reshape(1, 1)
    return layer(torch.ones(1, 1)).sum()


for use in (use_parameter, use_list, use_data):
    code = torch.tensor([2.0], requires_grad=True)
    use(code).backward()
    print(code.grad)
    assert code.grad is None

# %%
# Call the function with the computed weight
# ------------------------------------------

code = torch.tensor([2.0], requires_grad=True)
torch.nn.functional.linear(torch.ones(1, 1), (code * 3.0).reshape(1, 1)).sum().backward()

print(code.grad)
torch.testing.assert_close(code.grad, torch.tensor([3.0]))

# %%
# For a whole module, use functional_call
# ---------------------------------------
#
# `torch.func.functional_call` runs a module with tensors of yours in place of its
# parameters, and keeps their history.

code = torch.tensor([2.0], requires_grad=True)
layer = torch.nn.Linear(1, 1, bias=False)
weights = {"weight": (code * 3.0).reshape(1, 1)}
torch.func.functional_call(layer, weights, torch.ones(1, 1)).sum().backward()

print(code.grad)
torch.testing.assert_close(code.grad, torch.tensor([3.0]))

# %%
# If the weight is a function of a parameter, parametrize it
# ----------------------------------------------------------


class Tripled(torch.nn.Module):
    def forward(self, weight):
        return weight * 3.0


layer = torch.nn.Linear(1, 1, bias=False)
torch.nn.utils.parametrize.register_parametrization(layer, "weight", Tripled())
layer(torch.ones(1, 1)).sum().backward()

original = layer.parametrizations.weight.original
print(original.grad)
torch.testing.assert_close(original.grad, torch.full((1, 1), 3.0))

# %%
# What does not help
# ------------------
#
# Passing the producer's tensors to the `optimizer` as well does not connect them: their
# gradients stay ``None`` and the optimizer skips them.

code = torch.nn.Parameter(torch.tensor([2.0]))
weight = torch.nn.Parameter(code * 3.0)
optimizer = torch.optim.SGD([code, weight], lr=1.0)
weight.sum().backward()
optimizer.step()

print(code)
assert code == 2.0
