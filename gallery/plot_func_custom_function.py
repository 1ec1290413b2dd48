# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "functorch/missing-setup-context",
#     "inventory/function-setup-context-missing-functorch",
#     "inventory/functorch-checkpoint-reentrant",
#     "inventory/function-vmap-not-supported",
#     "inventory/function-vmap-ambiguous",
#     "inventory/function-vmap-bad-out-dims",
#     "inventory/function-vmap-not-tuple",
#     "inventory/function-vmap-wrong-length",
#     "inventory/function-kwonly-tensor-vmap",
#     "inventory/function-ctx-reserved-field",
# ]
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "In order to use an autograd.Function with functorch transforms (vmap, grad, jvp, jacrev, ...), it must override the setup_context staticmethod. For more details, please see https://pytorch.org/docs/main/notes/extending.func.html"
# source = "torch/autograd/function.py"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "You tried to vmap over <function>, but it does not have vmap support. Please override and implement the vmap staticmethod or set generate_vmap_rule=True. For more details, please see https://pytorch.org/docs/main/notes/extending.func.html"
# source = "torch/_functorch/autograd_function.py"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "You tried to vmap over <function>, but it has both generate_vmap_rule=True and an overridden vmap staticmethod. Please set generate_vmap_rule=False or delete the overridden vmap staticmethod to avoid ambiguity. For more details, please see https://pytorch.org/docs/main/notes/extending.func.html"
# source = "torch/_functorch/autograd_function.py"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "The autograd.Function's vmap staticmethod returned an incompatible (output, out_dims) tuple. Expected out_dims=<out_dims> to be compatible with the structure of `output`. out_dims has structure <structure> but output has structure <output_structure>. For more details, please see https://pytorch.org/docs/main/notes/extending.func.html"
# source = "torch/_functorch/autograd_function.py"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "Expected the vmap staticmethod to have two returns, an output and out_dims with pytree structure compatible with the output. Got a <type> instead"
# source = "torch/_functorch/autograd_function.py"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "Expected the vmap staticmethod to have two returns, an output and out_dims with pytree structure compatible with the output. Got <count> returns instead"
# source = "torch/_functorch/autograd_function.py"
#
# [[tool.autograd-errors.error]]
# raises = "NotImplementedError"
# message = "Run vmap on autograd.Function with kwarg-only Tensor args. Please do not pass kwarg-only Tensors to autograd.Function. Got: <arguments>"
# source = "torch/_functorch/autograd_function.py"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "PyTorch reserves the ('_pt_new_saved_tensors', '_pt_reserved_attrs', '_pt_inner_ctx') field on ctx. Please name your fields on ctx something else to avoid name collision."
# source = "torch/_functorch/autograd_function.py"
# ///
"""
A custom function that torch.func cannot transform
==================================================

Your `custom function` has a ``forward`` that takes ``ctx``, or no rule for a batch,
and `torch.func` needs both: a pure ``forward`` with ``setup_context`` beside it, and
for `vmap` a way to run on many inputs at once.
"""

import traceback

import torch
from torch.utils.checkpoint import checkpoint

x = torch.tensor([1.0, 2.0, 3.0])

# %%
# The errors
# ----------
#
# The ordinary form, which works with ``backward``, fails under a transform. So does
# reentrant `checkpointing`, which is such a function inside.


class OldSquare(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return 2 * x * grad


for function in (OldSquare.apply, lambda x: checkpoint(torch.sin, x, use_reentrant=True)):
    try:
        torch.func.grad(lambda x: function(x).sum())(x)
    except RuntimeError:
        traceback.print_exc()

# %%
# With ``setup_context`` it has a gradient, and still no rule for `vmap`.


class Square(torch.autograd.Function):
    @staticmethod
    def forward(x):
        return x * x

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return 2 * x * grad


batch = torch.stack([x, 2 * x])
try:
    torch.vmap(Square.apply)(batch)
except RuntimeError:
    traceback.print_exc()

# %%
# Split forward from setup_context
# --------------------------------

gradient = torch.func.grad(lambda x: Square.apply(x).sum())(x)
print(gradient)
torch.testing.assert_close(gradient, 2 * x)

# %%
# If forward uses torch operations, let PyTorch make the rule
# -----------------------------------------------------------


class SquareForBatches(Square):
    generate_vmap_rule = True


result = torch.vmap(torch.func.grad(lambda x: SquareForBatches.apply(x).sum()))(batch)
print(result)
torch.testing.assert_close(result, 2 * batch)

# %%
# If forward calls a kernel, write the rule
# -----------------------------------------
#
# ``vmap`` gets the batched inputs and where their batch dimension is, and returns the
# output with the place of its own.


class SquareWithRule(Square):
    @staticmethod
    def vmap(info, in_dims, x):
        return SquareWithRule.apply(x), in_dims[0]


result = torch.vmap(SquareWithRule.apply)(batch)
print(result)
torch.testing.assert_close(result, batch**2)

# %%
# What only hides the error
# -------------------------
#
# Calling ``forward`` directly inside the transform silences the message. The transform
# then differentiates what is in it, and a ``backward`` that differs on purpose, such as
# a straight-through one, is lost.


class RoundStraightThrough(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.round()

    @staticmethod
    def backward(ctx, grad):
        return grad


gradient = torch.func.grad(lambda x: RoundStraightThrough.forward(None, x).sum())(x)
print(gradient, "is not", torch.ones(3))
assert gradient[0] != 1.0

# %%
# The rules for a rule
# --------------------
#
# Two rules at once, a rule that returns no pair, three things, or a place for outputs
# that do not exist, tensors given by keyword, and a field on ``ctx`` that is taken:


class TwoRules(SquareWithRule):
    generate_vmap_rule = True


class NoPair(Square):
    @staticmethod
    def vmap(info, in_dims, x):
        return x * 2


class ThreeThings(Square):
    @staticmethod
    def vmap(info, in_dims, x):
        return x * 2, 0, 0


class TwoPlaces(Square):
    @staticmethod
    def vmap(info, in_dims, x):
        return x * 2, (0, 0)


class ByKeyword(SquareForBatches):
    @staticmethod
    def forward(x, *, factor):
        return x * factor


class TakenField(SquareForBatches):
    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx._pt_new_saved_tensors = ()


for call in (
    lambda: torch.vmap(TwoRules.apply)(batch),
    lambda: torch.vmap(NoPair.apply)(batch),
    lambda: torch.vmap(ThreeThings.apply)(batch),
    lambda: torch.vmap(TwoPlaces.apply)(batch),
    lambda: torch.vmap(lambda x: ByKeyword.apply(x, factor=torch.ones(3)))(batch),
    lambda: torch.func.grad(lambda b: torch.vmap(TakenField.apply)(b).sum())(batch),
):
    try:
        call()
    except (RuntimeError, NotImplementedError):
        traceback.print_exc()

# %%
# See also
# --------
#
# * `function-signature`
# * `func-requires-grad`
