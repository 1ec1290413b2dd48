# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "inventory/compile-leaf-inplace",
#     "inventory/compile-view-of-leaf-inplace",
#     "inventory/compile-requires-grad-inside",
#     "inventory/compile-backward-inside",
#     "inventory/functionalization-as-strided",
#     "inventory/functionalization-internal-overlap",
#     "inventory/region-memory-budget-eager",
#     "inventory/region-memory-budget-type",
# ]
#
# [[tool.autograd-errors.error]]
# raises = "TorchRuntimeError"
# message = "RuntimeError when making fake tensor call\n  Explanation: Dynamo failed to run FX node with fake tensors: <operation>: got RuntimeError('a leaf Variable that requires grad is being used in an in-place operation.')\n  Hint: Your code may result in an error when running in eager. Please double check that your code doesn't contain a similar error when actually running eager/uncompiled. You can do this by removing the `torch.compile` call, or by using `torch.compiler.set_stance(\"force_eager\")`. \n\n  Developer debug context: <context>"
# source = "torch/_dynamo"
#
# [[tool.autograd-errors.error]]
# raises = "TorchRuntimeError"
# message = "RuntimeError when making fake tensor call\n  Explanation: Dynamo failed to run FX node with fake tensors: <operation>: got RuntimeError('a view of a leaf Variable that requires grad is being used in an in-place operation.')\n  Hint: Your code may result in an error when running in eager. Please double check that your code doesn't contain a similar error when actually running eager/uncompiled. You can do this by removing the `torch.compile` call, or by using `torch.compiler.set_stance(\"force_eager\")`. \n\n  Developer debug context: <context>"
# source = "torch/_dynamo"
#
# [[tool.autograd-errors.error]]
# raises = "Unsupported"
# message = "returning intermediate with requires_grad_()\n  Explanation: An intermediate tensor that had requires_grad_() called on it (or a tensor derived from it) is being returned from the compiled region. AOTAutograd's functionalization drops the requires_grad_() effect on graph outputs, producing wrong results. If you only need the tensor values without gradients, call .detach() before returning.\n  Hint: If you only need the tensor values without gradients, call .detach() before returning.\n  Hint: Consume the gradient inside the compiled function (call backward() and use .grad), or move requires_grad_() outside torch.compile.\n\n  Developer debug context: <context>"
# source = "torch/_dynamo/variables/tensor.py"
#
# [[tool.autograd-errors.error]]
# raises = "Unsupported"
# message = "Unsupported Tensor.backward() call\n  Explanation: Dynamo currently does not support tracing `Tensor.backward()` when trace_autograd_ops is off.\n  Hint: Set torch._dynamo.trace_autograd_ops=True\n\n  Developer debug context: <context>"
# source = "torch/_dynamo"
#
# [[tool.autograd-errors.error]]
# raises = "BackendCompilerFailed"
# message = "backend='<backend>' raised:\nRuntimeError: During torch.compile, encountered a mutation on a view chain of length <length>, where view <index> was an as_strided() call. as_strided() is non-compositional, and therefore is not possible to functionalize properly today,so this behavior is banned in compile. As a workaround, you can either remove the mutation from the model code, or you can insert a graph break right before the mutation with torch._dynamo.graph_break(). If you would like this behavior to work properly, please comment on https://github.com/pytorch/pytorch/issues/104505.\n\nWhile executing <node>"
# source = "aten/src/ATen/FunctionalStorageImpl.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "BackendCompilerFailed"
# message = "backend='<backend>' raised:\nRuntimeError: While executing unfold, functionalization encountered a tensor being mutated that has internal overlap. When using torch.compile (or running functionalization directly), this is banned as the behavior is not well defined. Consider cloning the tensor before mutating it, or removing the mutation from your model.\n\nWhile executing <node>"
# source = "aten/src/ATen/FunctionalInverses.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "torch.autograd.graph.region_activation_memory_budget can only be used inside a torch.compile region; it has no effect in eager mode."
# source = "torch/autograd/graph.py"
#
# [[tool.autograd-errors.error]]
# raises = "TypeError"
# message = "torch.autograd.graph.region_activation_memory_budget: expects a float, got <type>"
# source = "torch/autograd/graph.py"
# ///
"""
Writing in place inside torch.compile
=====================================

A function under `torch.compile` writes where autograd, or the compiler's rewriting of
writes, does not allow it. The compiler finds the mistake while it traces, wraps the
message in its own, and names the operation instead of your line.
"""

import traceback

import torch

# %%
# The errors
# ----------
#
# A parameter is changed in the compiled step. Eager PyTorch would give the message of
# `leaf-inplace` or `view-of-leaf`; here it is quoted inside another one.


def add_one(weight):
    weight.add_(1.0)
    return weight


def set_first(weight):
    weight[0] = 1.0
    return weight.sum()


weight = torch.ones(2, requires_grad=True)
for function in (add_one, set_first):
    try:
        torch.compile(function, backend="aot_eager", fullgraph=True)(weight)
    except torch._dynamo.exc.TorchRuntimeError:
        traceback.print_exc()

# %%
# Writes into memory that several elements share, and into a view made by hand with
# strides, are refused by the rewriting:


def write_overlapping(x):
    hidden = x * 1.0
    hidden.unfold(0, 2, 1).mul_(2.0)
    return hidden


def write_strided(x):
    hidden = x * 1.0
    hidden.view(2, 2).as_strided((2,), (1,)).mul_(2.0)
    return hidden


for function in (write_overlapping, write_strided):
    try:
        torch.compile(function, backend="aot_eager")(torch.ones(4, requires_grad=True))
    except torch._dynamo.exc.BackendCompilerFailed:
        traceback.print_exc()

# %%
# ``backward`` and ``requires_grad_`` inside a function that must compile as a whole:


def backward_inside(weight):
    loss = (weight * weight).sum()
    loss.backward()
    return loss


def requires_grad_inside(x):
    hidden = x * 2.0
    hidden.requires_grad_(True)
    return hidden


for function, argument in ((backward_inside, weight), (requires_grad_inside, torch.ones(2))):
    try:
        torch.compile(function, backend="aot_eager", fullgraph=True)(argument)
    except torch._dynamo.exc.Unsupported:
        traceback.print_exc()

# %%
# Run the function without the compiler first
# -------------------------------------------
#
# The eager message is shorter and its traceback ends at your line. A mistake that is
# autograd's stays one; then the fixes of `leaf-inplace` hold. Here an updated copy is
# returned.


def updated(weight):
    return weight + 1.0


weight = torch.ones(2, requires_grad=True)
compiled = torch.compile(updated, backend="aot_eager", fullgraph=True)
compiled(weight).square().sum().backward()

print(weight.grad)
torch.testing.assert_close(weight.grad, 2 * (weight.detach() + 1.0))

# %%
# If only the compiler objects, write into memory of its own
# ----------------------------------------------------------
#
# Add up the windows instead of multiplying in overlapping memory. Each inner element
# lies in two windows of two.


def windows_doubled(x):
    hidden = x * 1.0
    factors = torch.ones_like(hidden).unfold(0, 2, 1).clone() * 2.0
    return (hidden.unfold(0, 2, 1) * factors).sum()


x = torch.ones(4, dtype=torch.float64, requires_grad=True)
torch.compile(windows_doubled, backend="aot_eager")(x).backward()

print(x.grad)
torch.testing.assert_close(x.grad, torch.tensor([2.0, 4.0, 4.0, 2.0], dtype=torch.float64))
assert torch.autograd.gradcheck(windows_doubled, (x,))

# %%
# Call backward outside
# ---------------------

weight = torch.ones(2, requires_grad=True)
torch.compile(lambda w: (w * w).sum(), backend="aot_eager", fullgraph=True)(weight).backward()

print(weight.grad)
torch.testing.assert_close(weight.grad, torch.full((2,), 2.0))

# %%
# What only hides the error
# -------------------------
#
# Leaving ``torch.compile`` out silences the message about overlapping memory. Eager
# PyTorch accepts the write, and its gradient is wrong: see `silent-unfold`.

x = torch.ones(4, requires_grad=True)
write_overlapping(x).sum().backward()

print(x.grad, "is not", torch.tensor([2.0, 4.0, 4.0, 2.0]))
assert x.grad[1] != 4.0

# %%
# A memory budget outside of torch.compile
# ----------------------------------------

for budget in (0.5, "half"):
    try:
        with torch.autograd.graph.region_activation_memory_budget(budget):
            pass
    except (RuntimeError, TypeError):
        traceback.print_exc()
