# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = ["unused/hidden-by-no-grad", "silent/silent-no-grad-around-backbone"]
# symptom = "The head trains and the backbone never changes."
# symptom-zh = "主干网络参数不更新，只有头部在训练"
# ///
"""
A backbone that ran under no_grad
=================================

You computed features inside `no_grad`, so the graph begins behind them. The loss falls,
since the head learns; the layers before it get no gradient, and nothing says so.
"""

import torch

# %%
# The mistake
# -----------
#
# The features were computed under ``no_grad`` while the backbone was frozen. Later it was
# to be trained too, and the block stayed.

batch = torch.tensor([[2.0]])
backbone, head = torch.nn.Linear(1, 1), torch.nn.Linear(1, 1)
with torch.no_grad():
    features = backbone(batch)
head(features).sum().backward()

print(head.weight.grad is not None, backbone.weight.grad, features.grad_fn)
assert backbone.weight.grad is None

# %%
# An optimizer skips a parameter without a gradient. Ask it which ones it would skip:

model = torch.nn.Sequential(backbone, head)
print([name for name, parameter in model.named_parameters() if parameter.grad is None])

# %%
# To train the backbone, take it out of the block
# -----------------------------------------------
#
# By hand: the gradient of the weight is the head's weight times the input.

backbone, head = torch.nn.Linear(1, 1), torch.nn.Linear(1, 1)
head(backbone(batch)).sum().backward()

print(backbone.weight.grad is not None)
torch.testing.assert_close(backbone.weight.grad, head.weight.detach() * batch)

# %%
# To freeze it, say so on the parameters
# --------------------------------------
#
# Then nothing is recorded for it either, everyone sees that it is frozen, and one line
# thaws it. The head gets the gradient it would get anyway: its input.

backbone.requires_grad_(False)
head.zero_grad()
features = backbone(batch)
head(features).sum().backward()

print(features.requires_grad)
assert not features.requires_grad
torch.testing.assert_close(head.weight.grad, backbone.weight * batch + backbone.bias)

# %%
# What does not help
# ------------------
#
# ``requires_grad_()`` on the features makes the loss differentiable up to there. The
# backbone is on the other side of the cut.

backbone, head = torch.nn.Linear(1, 1), torch.nn.Linear(1, 1)
with torch.no_grad():
    features = backbone(batch)
head(features.requires_grad_()).sum().backward()

print(backbone.weight.grad)
assert backbone.weight.grad is None

# %%
# Neither does ``requires_grad_(True)`` on the parameters: they require grad already, and
# the block overrules it.

backbone.requires_grad_(True)
with torch.no_grad():
    assert not backbone(batch).requires_grad

# %%
# See also
# --------
#
# * `silent-grad-mode-reach`: a mode that did not reach where you meant it to
# * `silent-eval-mode`: what an evaluation without `no_grad` keeps in memory
# * `backward-under-no-grad`: the error, when nothing else has a graph
