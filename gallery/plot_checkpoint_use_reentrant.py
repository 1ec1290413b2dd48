# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "inventory/checkpoint-use-reentrant-missing",
#     "inventory/checkpoint-sequential-use-reentrant-missing",
#     "inventory/checkpoint-reentrant-autograd-grad",
#     "inventory/checkpoint-reentrant-output-no-grad",
#     "inventory/checkpoint-unexpected-kwargs",
#     "inventory/checkpoint-context-fn-reentrant",
#     "inventory/checkpoint-debug-with-context-fn",
#     "inventory/checkpoint-determinism-check-arg",
#     "inventory/checkpoint-non-tuple-detach-variable",
#     "inventory/checkpoint-backward-twice-non-reentrant",
#     "inventory/checkpoint-reentrant-backward-twice",
# ]
# shows = ["backward-twice"]
#
# [[tool.autograd-errors.error]]
# raises = "UserWarning"
# message = "torch.utils.checkpoint: the use_reentrant parameter should be passed explicitly. Starting in PyTorch 2.9, calling checkpoint without use_reentrant will raise an exception. use_reentrant=False is recommended, but if you need to preserve the current default behavior, you can pass use_reentrant=True. Refer to docs for more details on the differences between the two variants."
# source = "torch/utils/checkpoint.py"
#
# [[tool.autograd-errors.error]]
# raises = "UserWarning"
# message = "torch.utils.checkpoint.checkpoint_sequential: the use_reentrant parameter should be passed explicitly. In version 2.9 we will raise an exception if use_reentrant is not passed. use_reentrant=False is recommended, but if you need to preserve the current default behavior, you can pass use_reentrant=True. Refer to docs for more details on the differences between the two variants."
# source = "torch/utils/checkpoint.py"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad() or passing an `inputs` parameter to .backward(). To resolve this error, you can either set use_reentrant=False, or call .backward() without passing the `inputs` argument."
# source = "torch/utils/checkpoint.py"
# reworded = true
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "none of output has requires_grad=True, this checkpoint() is not necessary"
# source = "torch/utils/checkpoint.py"
#
# [[tool.autograd-errors.error]]
# raises = "ValueError"
# message = "Unexpected keyword arguments: <names>"
# source = "torch/utils/checkpoint.py"
#
# [[tool.autograd-errors.error]]
# raises = "ValueError"
# message = "Passing `context_fn` or `debug` is only supported when use_reentrant=False."
# source = "torch/utils/checkpoint.py"
#
# [[tool.autograd-errors.error]]
# raises = "ValueError"
# message = "debug=True is incompatible with non-default context_fn"
# source = "torch/utils/checkpoint.py"
#
# [[tool.autograd-errors.error]]
# raises = "ValueError"
# message = "determinism_check should be one of <allowed>, but got <value>"
# source = "torch/utils/checkpoint.py"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "Only tuple of tensors is supported. Got Unsupported input type: <type>"
# source = "torch/utils/checkpoint.py"
# ///
"""
Choosing between the two variants of checkpoint
===============================================

You called ``checkpoint`` without ``use_reentrant``, or asked the reentrant
variant for something that only the other one can do.
"""

import contextlib
import traceback

import torch
from torch.utils.checkpoint import checkpoint, checkpoint_sequential, detach_variable

x = torch.tensor([0.0, 1.0], requires_grad=True)

# %%
# The warnings
# ------------
#
# Both functions of the module warn. The first text announces an exception, and
# this build still only warns; the variant it falls back to is the reentrant one.

y = checkpoint(torch.sin, x)
print(type(y.grad_fn).__name__)

layers = torch.nn.Sequential(torch.nn.Tanh(), torch.nn.Tanh())
y = checkpoint_sequential(layers, 2, x)

# %%
# Reentrant checkpointing runs a whole ``backward`` of its own inside the
# `backward pass`, so `torch.autograd.grad` cannot be used on it.

y = checkpoint(torch.sin, x, use_reentrant=True)
try:
    torch.autograd.grad(y.sum(), x)
except RuntimeError:
    traceback.print_exc()

# %%
# It also needs an output with a graph, passes on no keyword arguments, and
# knows neither ``debug`` nor ``context_fn``.

for function, options in (
    (lambda x: x.detach() * 2, {}),
    (torch.sin, {"scale": 2.0}),
    (torch.sin, {"debug": True}),
):
    try:
        checkpoint(function, x, use_reentrant=True, **options).sum().backward()
    except (RuntimeError, ValueError):
        traceback.print_exc()

# %%
# Pass use_reentrant=False
# ------------------------
#
# No warning, keyword arguments arrive, and `torch.autograd.grad` works. The
# derivative of the sine is the cosine.

y = checkpoint(lambda x, scale: scale * torch.sin(x), x, scale=2.0, use_reentrant=False)
# draw: y
(gradient,) = torch.autograd.grad(y.sum(), x)

print(gradient)
torch.testing.assert_close(gradient, 2.0 * torch.cos(x.detach()))

# %%
# If you must keep the reentrant variant, call backward
# -----------------------------------------------------

x = torch.tensor([0.0, 1.0], requires_grad=True)
checkpoint(torch.sin, x, use_reentrant=True).sum().backward()

print(x.grad)
torch.testing.assert_close(x.grad, torch.cos(x.detach()))

# %%
# What only hides the error
# -------------------------
#
# ``use_reentrant=True`` is the usual answer to the warning. It silences more
# than that: the variant does not notice when the recomputed values differ, see
# `checkpoint-recompute-mismatch`. Here a factor changes in between, and the
# gradient belongs to another function than the loss.

factor = [1.0]
x = torch.tensor([0.0, 1.0], requires_grad=True)
loss = checkpoint(lambda x: (factor[0] * x).sum(), x, use_reentrant=True)
factor[0] = 5.0
loss.backward()

print(x.grad, "is not", torch.ones(2))
assert not torch.equal(x.grad, torch.ones(2))

# %%
# Rarer messages
# --------------
#
# ``debug`` brings its own ``context_fn``, the determinism check has two values,
# and ``detach_variable``, which old code imports, takes a tuple.


def contexts():
    return contextlib.nullcontext(), contextlib.nullcontext()


for options in ({"debug": True, "context_fn": contexts}, {"determinism_check": "maybe"}):
    try:
        checkpoint(torch.sin, x, use_reentrant=False, **options)
    except ValueError:
        traceback.print_exc()
try:
    detach_variable([x])
except RuntimeError:
    traceback.print_exc()

assert detach_variable((x,))[0].requires_grad

# %%
# Two backward passes through a checkpointed block fail as they do elsewhere;
# `backward-twice` has the fixes.

for reentrant in (True, False):
    y = checkpoint(torch.sin, x, use_reentrant=reentrant).sum()
    y.backward()
    try:
        y.backward()
    except RuntimeError:
        traceback.print_exc()

# %%
# See also
# --------
#
# * `checkpoint-inputs-without-grad`
# * `checkpoint-recompute-mismatch`
