# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = ["inventory/cuda-device-side-assert"]
# symptom = "On the GPU backward() fails with an assert of the device, and nothing in backward is wrong."
# symptom-zh = "在 GPU 上 backward() 处报设备断言，但反向传播本身没有问题"
# needs = "cuda"
# ///
"""
An assert of the GPU that is reported at backward
=================================================

A kernel of your forward pass failed. The GPU works behind your back, so Python
hears of it at some later line, often ``loss.backward()``. The line in the traceback
is innocent.
"""

import os
import subprocess
import sys

import torch


def run(code, **environment):
    """Run *code* in a new interpreter, for CUDA is of no use after an assert."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=120,
    )
    kept = ("File", "loss", "forward", "torch.", "Runtime", "IndexError")
    lines = (done.stdout + done.stderr).splitlines()
    return "\n".join(line for line in lines if line.strip().startswith(kept))


# %%
# The mistake
# -----------
#
# There are three classes, and one label is a 3, so `torch.nn.functional.cross_entropy`
# reads beyond the end.

FORWARD = """
import torch
device = "{device}"
logits = torch.zeros(2, 3, device=device, requires_grad=True)
labels = torch.tensor([0, 3], device=device)
loss = torch.nn.functional.cross_entropy(logits, labels)
print("forward is done")
"""
BACKWARD = """
loss.backward()
torch.cuda.synchronize()
"""
on_gpu = FORWARD.format(device="cuda") + BACKWARD
late = run(on_gpu)
print(late)
assert "forward is done" in late and "device-side assert" in late

# %%
# Ask the GPU to report at once
# -----------------------------
#
# ``CUDA_LAUNCH_BLOCKING=1`` makes Python wait for each kernel. The traceback then ends
# at the line that failed, before forward is done.

at_once = run(on_gpu, CUDA_LAUNCH_BLOCKING="1")
print(at_once)
assert "forward is done" not in at_once and "device-side assert" in at_once

# %%
# Or run one batch on the CPU
# ---------------------------
#
# The CPU checks the index and says which one it is.

on_cpu = run(FORWARD.format(device="cpu") + BACKWARD)
print(on_cpu)
assert "out of bounds" in on_cpu

# %%
# Then repair the label
# ---------------------
#
# Labels count from zero, so three classes are 0, 1 and 2; a label to be skipped is
# ``ignore_index``. With all logits zero each class has probability one third, and the
# gradient is the probability minus one at the label, over the number of rows.

logits = torch.zeros(2, 3, device="cuda", requires_grad=True)
labels = torch.tensor([0, 2], device="cuda")
assert int(labels.max()) < logits.shape[1]
torch.nn.functional.cross_entropy(logits, labels).backward()

by_hand = torch.tensor([[-2.0, 1.0, 1.0], [1.0, 1.0, -2.0]], device="cuda") / 3 / 2
print(logits.grad.cpu())
torch.testing.assert_close(logits.grad, by_hand)

# %%
# What does not help
# ------------------
#
# Catching the exception and going on with the next batch: the process cannot use the
# GPU any more, not even for a sum.

CATCH = """
try:
    loss.backward()
    torch.cuda.synchronize()
except RuntimeError:
    print("loss of one batch")
torch.ones(2, device="cuda").sum().item()
print("loss is back")
"""
still = run(FORWARD.format(device="cuda") + CATCH)
print(still)
assert "loss of one batch" in still and "loss is back" not in still

# %%
# See also
# --------
#
# * `guide-find-the-line`: how to find the line that an error of autograd is about
