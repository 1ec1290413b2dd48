# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "unused/hidden-by-no-grad",
#     "silent/silent-no-grad-around-backbone",
#     "silent/silent-no-grad-call-without-with",
#     "silent/silent-eval-mode-keeps-grad",
#     "silent/silent-grad-mode-not-inherited-by-threads",
#     "silent/silent-fwad-unpack-outside-level",
# ]
# symptom = "The backbone never changes while the head trains; or evaluation runs out of memory."
# symptom-zh = "主干网络参数不更新，只有头部在训练；或验证时显存不断增加"
# ///
"""
A grad mode that is not where you think it is
=============================================

A part of your model ran under `no_grad`, or did not although you meant it to. The mode
belongs to a ``with`` block and to one thread; ``eval()`` has nothing to do with it.
"""

import threading

import torch
import torch.autograd.forward_ad as forward_ad

# %%
# The mistake
# -----------
#
# Features are computed under ``no_grad`` to save memory, and the backbone is supposed to
# be trained.

backbone, head = torch.nn.Linear(1, 1), torch.nn.Linear(1, 1)
with torch.no_grad():
    features = backbone(torch.ones(1, 1))
head(features).sum().backward()

print(head.weight.grad is not None, backbone.weight.grad)
assert backbone.weight.grad is None

# %%
# The other way round: gradients are recorded where they should not be, and cost memory. A
# call without ``with`` does nothing, ``eval()`` changes dropout and batch norm only, and
# another thread has its own mode.

x = torch.ones(1, requires_grad=True)
torch.no_grad()
print((x * 2).requires_grad)

print(torch.nn.Linear(1, 1).eval()(torch.ones(1)).requires_grad)

seen = []
with torch.no_grad():
    thread = threading.Thread(target=lambda: seen.append((x * 2).requires_grad))
    thread.start()
    thread.join()
print(seen)
assert seen == [True]

# %%
# Directions of `forward-mode AD` have the same habit: outside their level they are gone.

with forward_ad.dual_level():
    y = forward_ad.make_dual(torch.tensor([3.0]), torch.ones(1)) ** 2
    inside = forward_ad.unpack_dual(y).tangent
print(inside, forward_ad.unpack_dual(y).tangent)
assert forward_ad.unpack_dual(y).tangent is None

# %%
# To train the backbone, take it out of the block
# -----------------------------------------------

backbone, head = torch.nn.Linear(1, 1), torch.nn.Linear(1, 1)
head(backbone(torch.ones(1, 1))).sum().backward()

print(backbone.weight.grad is not None)
torch.testing.assert_close(backbone.weight.grad, head.weight.detach())

# %%
# To freeze it, say so on the parameters
# --------------------------------------
#
# Then it costs no graph, and the head's input still can.

backbone.requires_grad_(False)
features = backbone(torch.ones(1, 1))
print(features.requires_grad)
assert not features.requires_grad

# %%
# To evaluate, use both
# ---------------------

with torch.no_grad():
    output = head.eval()(torch.ones(1, 1))
assert not output.requires_grad
torch.testing.assert_close(output, head.weight.detach() + head.bias.detach())

# %%
# In a thread, enter the mode inside
# ----------------------------------


def work():
    with torch.no_grad():
        seen.append((x * 2).requires_grad)


seen.clear()
thread = threading.Thread(target=work)
thread.start()
thread.join()
assert seen == [False]

# %%
# What does not help
# ------------------
#
# ``requires_grad_()`` on the features makes the loss differentiable up to there. The
# backbone is on the other side of the cut.

backbone, head = torch.nn.Linear(1, 1), torch.nn.Linear(1, 1)
with torch.no_grad():
    features = backbone(torch.ones(1, 1))
head(features.requires_grad_()).sum().backward()

print(backbone.weight.grad)
assert backbone.weight.grad is None

# %%
# See also
# --------
#
# * `silent-eval-mode`: what an evaluation without `no_grad` keeps in memory
# * `backward-under-no-grad`: the error, when nothing else has a graph
# * `leaf-other-thread`: a thread that writes into a leaf
