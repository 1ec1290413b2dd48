# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = ["guide/find-the-line"]
# symptom = "The traceback ends in loss.backward() or inside a library, and you do not know which line of your code is wrong."
# symptom-zh = "报错停在 loss.backward() 或库的内部，不知道到底是自己的哪一行出了问题，如何定位"
# shows = ["view-of-leaf", "version-modified"]
# ///
"""
How to find the guilty line
===========================

The line that raises is often not the line that is wrong. Five questions to a
tensor lead from one to the other: which tensor is it, is it a leaf, is it a
view, who wrote into it, and who needed the old value? Each is one line of code,
asked here of a real module tree.
"""

import traceback
import warnings

import torch
from torch import nn

# %%
# The question
# ------------
#
# A detector has a backbone and a head. One method sets the starting bias of the
# head, another computes the output, and both overwrite something. Each section
# asks one question; the last two are about the harder case, in which the
# traceback does not show the guilty line.


class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.scores = nn.Linear(4, 6)

    def start_bias(self):
        per_anchor = self.scores.bias.view(3, 2)
        per_anchor[:, 1] += 2.0

    def forward(self, features):
        probability = torch.sigmoid(self.scores(features))
        probability *= 0.5
        return probability


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(nn.Linear(3, 4), nn.ReLU())
        self.head = Head()

    def forward(self, image):
        return self.head(self.backbone(image))


detector = Detector()

# %%
# 1. Which line raised, and which tensor does it write?
# -----------------------------------------------------
#
# Read the traceback from the bottom and stop at the first frame that is not
# PyTorch's. The tensor left of the ``+=``, ``=`` or ``.add_`` is the one to ask.

try:
    detector.head.start_bias()
except RuntimeError:
    traceback.print_exc()

# %%
# Here it is ``per_anchor``. Make the same one by hand.

per_anchor = detector.head.scores.bias.view(3, 2)

# %%
# 2. Is it a leaf?
# ----------------
#
# A `leaf tensor` that requires grad may not be overwritten while autograd
# records. The `grad_fn` tells the last operation that made a tensor.

print(per_anchor.is_leaf, per_anchor.requires_grad, per_anchor.grad_fn)

# %%
# 3. Is it a view, and of what?
# -----------------------------
#
# It is not a leaf, but it is a `view`: writing into it writes into its `base`.
# If the base is a parameter, its place in the module tree tells you which.


def name_of(tensor, module):
    """Return the name of the parameter or buffer that *tensor* is or shows."""
    base = tensor if tensor._base is None else tensor._base
    for name, known in [*module.named_parameters(), *module.named_buffers()]:
        if known is base:
            return name
    return None


print(per_anchor._base is not None, per_anchor._base.is_leaf, name_of(per_anchor, detector))
assert name_of(per_anchor, detector) == "head.scores.bias"

# %%
# 4. Who writes in place?
# -----------------------
#
# The `version counter` goes up with each write into the memory. Print it between
# two lines and you know which of them wrote. To find all writes of a module at
# once, compare the versions of its parameters around each call. A method that
# sets starting values under `torch.no_grad` is legal, and it counts:

with torch.no_grad():
    before = {name: p._version for name, p in detector.named_parameters()}
    detector.head.start_bias()

written = [name for name, p in detector.named_parameters() if p._version != before[name]]
print(written)
assert written == ["head.scores.bias"]

# %%
# 5. Who needed the old value?
# ----------------------------
#
# With the bias set, training starts, and backward raises. No frame of the
# traceback is in ``Head`` or ``Detector``: the mistake was made in forward.

image = torch.ones(1, 3)
loss = detector(image).sum()

try:
    loss.backward()
except RuntimeError:
    traceback.print_exc()

# %%
# `Anomaly mode` keeps, for every node, the traceback of the forward line that
# made it. Run the step again, and a warning shows that traceback above the error.
# Its last line is the one to read:

with torch.autograd.set_detect_anomaly(True), warnings.catch_warnings(record=True) as caught:
    loss = detector(image).sum()
    try:
        loss.backward()
    except RuntimeError:
        pass

told = str(caught[-1].message)
*_, points_at = (line.strip() for line in told.splitlines() if line.startswith("    "))
print(points_at)
assert "torch.sigmoid" in points_at

# %%
# It points at the line that *saved* the value. The line that overwrote it comes
# after, and never before. Follow the saved tensor from there: the node keeps its
# own copy of the reference, and you can ask who else has that memory.

features = detector.backbone(image)
probability = torch.sigmoid(detector.head.scores(features))
saved = probability.grad_fn._saved_result
print(probability.grad_fn, saved.data_ptr() == probability.data_ptr(), probability._version)

# %%
# ``sigmoid`` saved its output, so whoever writes into ``probability`` is the
# one: the ``*=`` in the next line of ``Head.forward``.
#
# Repair both lines, then check
# -----------------------------
#
# The starting value is set without recording, the output is written into a new
# tensor. The gradient agrees with `finite differences`, so there is no third
# mistake.


class RepairedHead(Head):
    @torch.no_grad()
    def start_bias(self):
        self.scores.bias.view(3, 2)[:, 1] += 2.0

    def forward(self, features):
        probability = torch.sigmoid(self.scores(features))
        return 0.5 * probability


detector = Detector().double()
detector.head = RepairedHead().double()
detector.head.start_bias()

image = torch.ones(1, 3, dtype=torch.float64, requires_grad=True)
print(torch.autograd.gradcheck(detector, (image,)))
assert torch.autograd.gradcheck(detector, (image,))

# %%
# What does not help
# ------------------
#
# To clone what the traceback shows. It shows ``loss`` and ``backward``, and a
# copy of the loss shares the same graph, with the same overwritten value.

detector = Detector()
loss = detector(torch.ones(1, 3)).sum()

try:
    loss.clone().backward()
except RuntimeError as error:
    print(type(error).__name__)
    assert "modified by an inplace operation" in str(error)

# %%
# The checklist
# -------------
#
# * the first frame that is not PyTorch's, and the tensor on the left there
# * ``t.is_leaf``, ``t.requires_grad``: `leaf-inplace`
# * ``t._base``, ``t._base.is_leaf``: `view-of-leaf`
# * ``t._version`` before and after a line: `version-modified`
# * ``torch.autograd.set_detect_anomaly(True)`` for one step: `anomaly-mode`
