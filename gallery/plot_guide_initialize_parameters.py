# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = ["guide/initialize-parameters", "zero-init/explained-wrongly"]
# symptom = "How do I set starting values of weights and biases without an error, and without losing their gradients?"
# symptom-zh = "如何正确初始化权重和偏置（自定义初始化、原地赋值），既不报错也不影响梯度和优化器"
# ///
"""
How to set the starting values of parameters
============================================

A starting value is not part of the computation that you differentiate, so write
it where autograd does not record, into the `parameter` that exists already.
Six practices that are often recommended, each run, each with what it really
gives, and a test to copy.
"""

import torch
from torch import nn

# %%
# The question
# ------------
#
# A layer should start with a bias of four for its first class. Which way of
# writing it keeps the parameter a leaf, keeps it the same object, and keeps its
# gradient? This function asks all three, after the write.


def check(layer, before, expected):
    """Compare the bias of *layer* and its gradient with what they should be."""
    bias = layer.bias
    assert bias is before and bias.is_leaf and bias.requires_grad
    torch.testing.assert_close(bias.detach(), expected)
    layer.zero_grad()
    (bias**2).sum().backward()
    torch.testing.assert_close(bias.grad, 2 * expected)
    return bias.grad


expected = torch.tensor([4.0, 0.0])

# %%
# 1. Write under no_grad
# ----------------------
#
# Inside `torch.no_grad` a leaf and its views may be overwritten. Make the view
# inside, too: `view-no-grad` shows what happens otherwise.

layer = nn.Linear(3, 2)
bias = layer.bias
with torch.no_grad():
    bias.zero_()
    bias[0] = 4.0

print(check(layer, bias, expected))

# %%
# 2. Avoid views you do not need: half of the truth
# -------------------------------------------------
#
# The advice is to write into a clone instead of a `view`. A clone has its own
# memory, so the parameter does not change at all; you have to copy the result
# back, and that is a write under ``no_grad`` again. What makes the write legal
# is the mode, not the copy.

layer = nn.Linear(3, 2)
bias = layer.bias
values = bias.detach().clone()
values.zero_()
values[0] = 4.0
assert not torch.equal(bias, values)

with torch.no_grad():
    bias.copy_(values)

print(check(layer, bias, expected))

# %%
# 3. Keep initialization and training apart: right
# ------------------------------------------------
#
# Either decorate the method that initializes, or compute the values from plain
# tensors before the parameter exists.


class Head(nn.Module):
    def __init__(self):
        super().__init__()
        bias = torch.zeros(2)
        bias[0] = 4.0  # a plain tensor: no rule applies yet
        self.bias = nn.Parameter(bias)

    @torch.no_grad()
    def reset_parameters(self):
        self.bias.zero_()
        self.bias[0] = 4.0


head = Head()
bias = head.bias
print(check(head, bias, expected))

head.reset_parameters()
print(check(head, bias, expected))

# %%
# The advice says more: not to set ``requires_grad=True`` while initializing.
# With ``requires_grad_(False)`` around the write it works, if you do not forget
# to turn it on again. ``no_grad`` cannot be forgotten.
#
# 4. Use torch.nn.init: right
# ---------------------------
#
# Its functions write in place, under ``no_grad``, and return the parameter. They
# also take a slice, because they look for views inside the mode.

layer = nn.Linear(3, 2)
bias = layer.bias
nn.init.zeros_(bias)
with torch.no_grad():
    nn.init.constant_(bias[:1], 4.0)

print(check(layer, bias, expected))

# %%
# ``trunc_normal_``, ``kaiming_normal_`` and the others work alike. For a whole
# model, ``apply`` visits each module; do it before you load a checkpoint.


def start(module):
    if isinstance(module, nn.Linear):
        nn.init.kaiming_normal_(module.weight, nonlinearity="relu")
        nn.init.zeros_(module.bias)


model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
before = list(model.parameters())
model.apply(start)

assert all(now is then and now.is_leaf for now, then in zip(model.parameters(), before))
assert not model[0].bias.any() and not model[2].bias.any()

# %%
# 5. Test the initialization
# --------------------------
#
# Copy this test. It fails if a parameter was replaced, so that an `optimizer`
# built earlier would not find it, if one became a non-leaf, and if one no longer
# receives a gradient.


def assert_initialization_is_clean(model, initialize, example):
    """Initialize *model* and check that all its parameters can still be trained."""
    before = dict(model.named_parameters())
    trained = {name for name, p in before.items() if p.requires_grad}
    initialize(model)
    after = dict(model.named_parameters())
    assert after.keys() == before.keys(), after.keys() ^ before.keys()
    for name, parameter in after.items():
        assert parameter is before[name], f"{name} was replaced"
        assert parameter.is_leaf, f"{name} is not a leaf"
        assert parameter.requires_grad == (name in trained), f"{name} was frozen or unfrozen"
        assert torch.isfinite(parameter).all(), f"{name} is not finite"
    model.zero_grad()
    model(example).square().sum().backward()
    for name in trained:
        assert after[name].grad is not None, f"{name} gets no gradient"


assert_initialization_is_clean(model, lambda model: model.apply(start), torch.ones(1, 3))

# %%
# It must fail where it should. Here the method makes a new parameter, as a well
# known detector did; `case-yolov5-biases` tells the story.


def replace_bias(model):
    model[0].bias = nn.Parameter(torch.zeros(4))


try:
    assert_initialization_is_clean(model, replace_bias, torch.ones(1, 3))
except AssertionError as problem:
    print(problem)
else:
    raise SystemExit("the test did not notice")

# %%
# 6. Ask before each write: is it a leaf, does it need a gradient?
# ----------------------------------------------------------------
#
# The questions are right, and `guide-find-the-line` turns them into code. The
# fear behind them goes too far: ``weight.detach().zero_()`` is said to kill the
# gradient of the weight. It shares the memory, so it sets the starting value,
# and the parameter is as trainable as before. The `version counter` sees it.

layer = nn.Linear(3, 2)
bias = layer.bias
bias.detach().zero_()
bias.detach()[0] = 4.0

print(bias._version, check(layer, bias, expected))

# %%
# Nor does a weight of zeros stop learning by itself: the gradient of a single
# linear layer is its input. Only where a second layer of zeros follows does the
# product of the two stay at zero.

single = nn.Linear(3, 1, bias=False)
nn.init.zeros_(single.weight)
x = torch.tensor([[1.0, 2.0, 3.0]])
single(x).sum().backward()
print(single.weight.grad)
torch.testing.assert_close(single.weight.grad, x)

stacked = nn.Sequential(nn.Linear(3, 4, bias=False), nn.Linear(4, 1, bias=False))
stacked.apply(lambda m: nn.init.zeros_(m.weight) if isinstance(m, nn.Linear) else None)
stacked(x).sum().backward()
assert not stacked[0].weight.grad.any() and not stacked[1].weight.grad.any()

# %%
# What does not help
# ------------------
#
# ``.data`` also sets a starting value, and many models do it. It works as long
# as nothing has used the parameter. Called in the middle of a step, for example
# to reset a layer, it changes what backward saved, and nothing notices. By hand,
# the gradient of ``bias**2`` at four is eight; computed is another one.

bias = nn.Parameter(torch.tensor([4.0]))
loss = (bias**2).sum()
bias.data.zero_()
loss.backward()
print(bias.grad, bias._version)
assert not torch.equal(bias.grad, torch.tensor([8.0]))

# %%
# Related: `leaf-inplace`, `view-of-leaf`, `case-yolov5-biases`,
# `silent-data-edit`.
