# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "version-counter/explained-with-wrong-example",
#     "version-counter/explained-wrongly",
#     "version-counter/unknown-activation",
#     "inventory/version-modified-inplace-output",
#     "inventory/version-modified-inplace-anomaly-hint",
#     "inventory/version-modified-detach-inplace",
# ]
# shows = ["anomaly-mode"]
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "one of the variables needed for gradient computation has been modified by an inplace operation: [<tensor_type> <shape>], which is output <index> of <node>, is at version <version>; expected version <expected> instead. Hint: enable anomaly detection to find the operation that failed to compute its gradient, with torch.autograd.set_detect_anomaly(True, check_nan=False)."
# source = "torch/csrc/autograd/saved_variable.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "one of the variables needed for gradient computation has been modified by an inplace operation: [<tensor_type> <shape>] is at version <version>; expected version <expected> instead. Hint: enable anomaly detection to find the operation that failed to compute its gradient, with torch.autograd.set_detect_anomaly(True, check_nan=False)."
# source = "torch/csrc/autograd/saved_variable.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "one of the variables needed for gradient computation has been modified by an inplace operation: [<tensor_type> <shape>], which is output <index> of <node>, is at version <version>; expected version <expected> instead. Hint: the backtrace further above shows the operation that failed to compute its gradient. The variable in question was changed in there or anywhere later. Good luck!"
# source = "torch/csrc/autograd/saved_variable.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "one of the variables needed for gradient computation has been modified by an inplace operation: [<tensor_type> <shape>] is at version <version>; expected version <expected> instead. Hint: the backtrace further above shows the operation that failed to compute its gradient. The variable in question was changed in there or anywhere later. Good luck!"
# source = "torch/csrc/autograd/saved_variable.cpp"
# ///
"""
A saved value was overwritten before backward
=============================================

Forward saved a value for the derivative, and an `in-place operation` changed it
before backward used it. The line that raises is ``backward()``; the line to
repair is the one that wrote, and the message tells which tensor it wrote into.
"""

import traceback

import torch

# %%
# The errors
# ----------
#
# A sigmoid keeps its result as a `saved tensor`: the derivative is
# ``p * (1 - p)``. The next line overwrites it.

logits = torch.tensor([0.0, 1.0, 2.0], requires_grad=True)
probability = logits.sigmoid()
# draw: probability as "Before the write"
probability += 0.1
loss = probability.sum()

try:
    loss.backward()
except RuntimeError:
    traceback.print_exc()

# draw: probability as "After the write"
# timeline: logits, probability

# %%
# Read the message from left to right:
#
# - type and shape: a tensor of this shape was overwritten. Which of yours has it?
# - output ... of: the operation that made the tensor, here the sigmoid. The
#   number counts its results from 0; it says nothing about a value.
# - version: how often the tensor's memory has been written by now, its
#   `version counter`.
# - expected version: how often it had been written when it was saved. The
#   difference is the number of writes to look for.
#
# You can print the same facts about a tensor you suspect. Its `grad_fn` is by
# now the write, which is a first hint:

print(list(probability.shape), probability._version, probability.grad_fn.name())

# %%
# If no operation is named, the tensor has no history: a parameter, a `buffer`, a
# mask, an index, a batch of data.

weight = torch.ones(3, requires_grad=True)
mask = torch.ones(3)
loss = (weight * mask).sum()
mask[0] = 0.0

try:
    loss.backward()
except RuntimeError:
    traceback.print_exc()

# %%
# With anomaly mode
# -----------------
#
# The hint recommends `anomaly mode`. It shows the forward line that *saved* the
# value, and the text ends differently. The write came later than the line shown.

with torch.autograd.set_detect_anomaly(True, check_nan=False):
    probability = logits.sigmoid()
    probability += 0.1
    try:
        probability.sum().backward()
    except RuntimeError:
        traceback.print_exc()

    mask = torch.ones(3)
    loss = (weight * mask).sum()
    mask[0] = 0.0
    try:
        loss.backward()
    except RuntimeError:
        traceback.print_exc()

# %%
# Find the line that wrote
# ------------------------
#
# Now you know the tensor. Print its version between the lines that follow; the
# number rises at the line you look for.

probability = logits.sigmoid()
print(probability._version)
score = probability * 2.0
print(probability._version)
probability += 0.1
print(probability._version)
assert probability._version == 1

# %%
# Which cause it is
# -----------------
#
# The operation named after "output ... of" decides:
#
# - Relu, Sigmoid, Tanh, Exp, Softmax, Sqrt: its result was overwritten,
#   `version-activation-output`; by ``inplace=True``, `version-relu-inplace`; by
#   the ``+=`` of a residual sum, `version-residual-sum`
# - AsStrided or T, with two sizes: the transposed weight of a linear layer. An
#   optimizer stepped, `version-optimizer-step`; a result from before a loop is
#   used in each round, `version-graph-reused`; a recurrent state is carried
#   on, `version-hidden-state`
# - AsStrided, Select, Slice, CopySlices: a part of a tensor that you fill. In
#   a loop, `version-slice-write`; columns, `version-disjoint-columns`
# - Mul, Add or another: `version-saved-input`; a function changed what you gave
#   it, `version-mutated-argument`; your own function saved it,
#   `version-custom-function`
# - none: a weight updated by hand, `version-no-grad-update`, or by an
#   `optimizer` as above; a buffer, `version-buffer`; a queue of features,
#   `version-memory-bank`; an embedding, `version-embedding-max-norm`; an integer
#   tensor, `version-index-tensor`
# - you wrote nothing in place at all: `version-library-bug`
#
# To keep both, write into a new tensor
# -------------------------------------
#
# ``x = x + y`` instead of ``x += y`` leaves the saved value alone. This cures
# most of the list. The derivative is known by hand:

logits = torch.tensor([0.0, 1.0, 2.0], requires_grad=True)
probability = logits.sigmoid()
shifted = probability + 0.1
shifted.sum().backward()

by_hand = torch.exp(-logits.detach()) / (1 + torch.exp(-logits.detach())) ** 2
print(logits.grad)
torch.testing.assert_close(logits.grad, by_hand)

# %%
# If a library raised it
# ----------------------
#
# Look in its ``forward`` for ``+=``, ``*=``, ``x[...] =``, names that end in an
# underscore, ``out=``, and ``inplace=True``. Change ``x += y`` to ``x = x + y``,
# ``x[i] = y`` to `torch.where`, and ``F.relu_`` to ``F.relu``. You need not
# edit the library to switch off the flags of its modules:

net = torch.nn.Sequential(torch.nn.Sigmoid(), torch.nn.ReLU(inplace=True))
try:
    net(logits).sum().backward()
except RuntimeError:
    traceback.print_exc()

for module in net.modules():
    if hasattr(module, "inplace"):
        module.inplace = False

logits.grad = None
net(logits).sum().backward()
torch.testing.assert_close(logits.grad, by_hand)

# %%
# What only hides the error
# -------------------------
#
# To write through `detach` does not help, since it shares memory and version:

probability = logits.sigmoid()
probability.detach().zero_()

try:
    probability.sum().backward()
except RuntimeError:
    traceback.print_exc()

# %%
# `.data` shares the memory only. Backward takes the new value for the old one
# and returns a wrong gradient:

logits.grad = None
probability = logits.sigmoid()
probability.data.zero_()
probability.sum().backward()

print(logits.grad, by_hand)
assert not torch.allclose(logits.grad, by_hand)

# timeline: logits, probability

# %%
# And an example you will meet in explanations of this error does not raise at
# all, because a product with a number saves no value that the sum could change:

logits.grad = None
doubled = logits * 2.0
doubled += 1.0
doubled.sum().backward()
torch.testing.assert_close(logits.grad, torch.full((3,), 2.0))

# %%
# Am I right now?
# ---------------
#
# Let `finite differences` answer. Put your own tensor and loss in these lines:

logits.grad = None
(logits.sigmoid() + 0.1).sum().backward()

with torch.no_grad():
    step, nudge = 1e-3, torch.tensor([1e-3, 0.0, 0.0])
    up = (torch.sigmoid(logits + nudge) + 0.1).sum()
    down = (torch.sigmoid(logits - nudge) + 0.1).sum()
    print((up - down) / (2 * step), logits.grad[0])

torch.testing.assert_close((up - down) / (2 * step), logits.grad[0], atol=1e-3, rtol=0)
