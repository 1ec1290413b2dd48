# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = ["inventory/cuda-accumulategrad-stream-mismatch"]
# needs = "cuda"
#
# [[tool.autograd-errors.error]]
# raises = "UserWarning"
# message = "The AccumulateGrad node's stream does not match the stream of the node that produced the incoming gradient. This may incur unnecessary synchronization and break CUDA graph capture if the AccumulateGrad node's stream is the default stream. This mismatch is caused by an AccumulateGrad node created prior to the current iteration being kept alive. This can happen if the autograd graph is still being kept alive by tensors such as the loss, or if you are using DDP, which will stash a reference to the node. To resolve the mismatch, delete all references to the autograd graph or ensure that DDP initialization is performed under the same stream as subsequent forwards. If the mismatch is intentional, you can use torch.autograd.graph.set_warn_on_accumulate_grad_stream_mismatch(False) to suppress this warning."
# source = "torch/csrc/autograd/input_buffer.cpp"
# ///
"""
A gradient arrives on another CUDA stream
=========================================

A parameter's `AccumulateGrad` node was made on one CUDA stream, and the `backward
pass` brings its gradient on another. Something keeps a graph of an earlier iteration,
and with it the node, alive.
"""

import warnings

import torch

weight = torch.ones(2, device="cuda", requires_grad=True)
side = torch.cuda.Stream()

# %%
# The warning
# -----------
#
# The first step runs on the default stream, and its loss is kept for the log. The
# second runs on a stream of its own, as a warm-up for a CUDA graph does.

first_loss = (3.0 * weight).sum()
first_loss.backward()

side.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(side):
    (3.0 * weight).sum().backward()
torch.cuda.current_stream().wait_stream(side)

# %%
# The gradient is right, two times three; what is lost is time, and a capture of a CUDA
# graph would fail.

print(weight.grad.cpu())
torch.testing.assert_close(weight.grad.cpu(), torch.full((2,), 6.0, device="cpu"))

# %%
# Keep the number, not the graph
# ------------------------------
#
# ``item()`` or `detach` lets the graph go, and the node with it. The next step makes a
# new one on its own stream.

first_loss = first_loss.item()
weight.grad = None
side.wait_stream(torch.cuda.current_stream())
with warnings.catch_warnings():
    warnings.simplefilter("error")
    with torch.cuda.stream(side):
        (3.0 * weight).sum().backward()
torch.cuda.current_stream().wait_stream(side)

print(first_loss, weight.grad.cpu())
torch.testing.assert_close(weight.grad.cpu(), torch.full((2,), 3.0, device="cpu"))

# %%
# Under DDP, wrap the model on the stream that trains it
# ------------------------------------------------------
#
# `DDP` keeps the nodes of all parameters from its construction on. Construct it inside
# ``with torch.cuda.stream(side):``. What counts is the stream on which the node is
# made:

with torch.cuda.stream(side):
    bias = torch.zeros(2, device="cuda", requires_grad=True)
    node = bias.view_as(bias).grad_fn.next_functions[0][0]
with warnings.catch_warnings():
    warnings.simplefilter("error")
    with torch.cuda.stream(side):
        (3.0 * bias).sum().backward()
torch.cuda.current_stream().wait_stream(side)

print(node.name(), bias.grad.cpu())
torch.testing.assert_close(bias.grad.cpu(), torch.full((2,), 3.0, device="cpu"))

# %%
# See also
# --------
#
# * `silent-retain-graph`: what else a kept graph costs
