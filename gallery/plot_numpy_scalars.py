# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = ["inventory/item-non-scalar", "inventory/float-non-scalar"]
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "a Tensor with <count> elements cannot be converted to Scalar"
# source = "aten/src/ATen/native/Scalar.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "ValueError"
# message = "only one element tensors can be converted to Python scalars"
# source = "torch/csrc/autograd/generated/python_variable_methods.cpp"
# ///
"""
A tensor with many values turned into one number
================================================

You asked for one Python number, with ``item``, ``float`` or a function of
``math``, and the tensor has several elements, or none. Usually a loss that was
not reduced is behind it.
"""

import math
import traceback

import torch

# %%
# The errors
# ----------
#
# You log the loss of each batch, and the criterion returns a value for every
# sample.

criterion = torch.nn.MSELoss(reduction="none")
prediction = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
target = torch.tensor([1.0, 0.0, 0.0])
loss = criterion(prediction, target)

try:
    print(loss.item())
except RuntimeError:
    traceback.print_exc()

# %%
# ``float``, ``int`` and everything in ``math`` say it in other words.

for convert in (float, math.sqrt):
    try:
        convert(loss.detach())
    except ValueError:
        traceback.print_exc()

# %%
# The shape tells how many there are:

print(loss.shape)

# %%
# To get one loss, reduce it
# --------------------------
#
# Choose the mean or the sum; it also decides how large the gradient is. The mean
# of three squares has the gradient ``2 * (prediction - target) / 3``.

loss = criterion(prediction, target).mean()
loss.backward()

print(loss.item(), prediction.grad)
assert math.isclose(loss.item(), (0 + 4 + 9) / 3, rel_tol=1e-6)
torch.testing.assert_close(prediction.grad, 2 * (prediction - target).detach() / 3)

# %%
# To log every value, make a list
# -------------------------------
#
# ``tolist`` returns Python numbers without history.

values = criterion(prediction, target).tolist()

print(values)
assert values == [0.0, 4.0, 9.0]

# %%
# Inside a computation, use the function of PyTorch
# -------------------------------------------------
#
# ``math.sqrt`` wants a number and would end the graph. `torch.sqrt` takes every
# element and has a gradient: ``1 / (2 * sqrt(x))``.

x = torch.tensor([1.0, 4.0], requires_grad=True)
torch.sqrt(x).sum().backward()

print(x.grad)
torch.testing.assert_close(x.grad, torch.tensor([1 / 2, 1 / 4]))

# %%
# If the tensor is empty, decide what an empty batch means
# --------------------------------------------------------
#
# A mask that selects nothing leaves no element. The mean of nothing is undefined;
# the sum is 0, and its gradient too.

prediction = torch.tensor([1.0, 2.0], requires_grad=True)
selected = prediction[prediction > 5]

try:
    selected.item()
except RuntimeError:
    traceback.print_exc()

selected.sum().backward()

print(selected.mean(), prediction.grad)
torch.testing.assert_close(prediction.grad, torch.zeros(2))

# %%
# What only hides the error
# -------------------------
#
# Taking the first element silences both messages. It also throws the other
# samples away: their gradients, by hand ``2 * (prediction - target)``, are 0.

prediction = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
criterion(prediction, target)[0].backward()

print(prediction.grad)
assert torch.equal(prediction.grad, torch.zeros(3))
assert (2 * (prediction - target))[1:].ne(0).all()

# %%
# See also
# --------
#
# * `backward-non-scalar`: the same loss, given to ``backward``
# * `numpy-requires-grad`
