# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "inventory/cudagraphs-output-overwritten",
# ]
# needs = "cuda"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "Error: accessing tensor output of CUDAGraphs that has been overwritten by a subsequent run. Stack trace: <stack>. To prevent overwriting, clone the tensor outside of torch.compile() or call torch.compiler.cudagraph_mark_step_begin() before each model invocation."
# source = "torch/_inductor/cudagraph_trees.py"
# ///
"""
An output of a CUDA graph was overwritten
=========================================

``torch.compile(mode="reduce-overhead")`` replays one recorded CUDA graph, and each
replay writes its outputs into the same memory. An output of an earlier call is gone
when the next call runs.
"""

import traceback

import torch

x = torch.tensor([1.0, 2.0], device="cuda")

# %%
# The error
# ---------
#
# Two outputs of one compiled model are added. The second call runs before the first
# output is read.


@torch.compile(mode="reduce-overhead")
def model(x):
    return x * 3.0


try:
    first = model(x)
    second = model(x + 1.0)
    first + second
except RuntimeError:
    traceback.print_exc()

# %%
# Clone what you keep
# -------------------
#
# The copy is outside the graph's memory. Three times one and two, and three times two
# and three, added:

first = model(x).clone()
second = model(x + 1.0)
total = first + second

print(total.cpu())
torch.testing.assert_close(total.cpu(), torch.tensor([9.0, 15.0], device="cpu"))

# %%
# Read it before the next call
# ----------------------------
#
# ``torch.compiler.cudagraph_mark_step_begin()`` tells where an iteration begins. In a
# training loop each iteration reads its loss before the next one starts, and the
# gradient of ``3 * weight * x`` is ``3 * x``.

weight = torch.ones(2, device="cuda", requires_grad=True)


@torch.compile(mode="reduce-overhead")
def loss_of(weight, x):
    return (3.0 * weight * x).sum()


logged = []
for _ in range(3):
    torch.compiler.cudagraph_mark_step_begin()
    weight.grad = None
    loss = loss_of(weight, x)
    loss.backward()
    logged.append(loss.item())

print(logged, weight.grad.cpu())
torch.testing.assert_close(weight.grad, 3.0 * x)

# %%
# What only hides the error
# -------------------------
#
# ``detach`` is not ``clone``: the memory is still that of the graph.

try:
    first = model(x).detach()
    second = model(x + 1.0)
    first + second
except RuntimeError:
    print("the same error")
else:
    raise AssertionError("expected the same error")

# %%
# See also
# --------
#
# * `compile-in-place`: what ``torch.compile`` refuses
