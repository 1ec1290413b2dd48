# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "inventory/cuda-reinit-in-fork",
#     "inventory/fork-after-autograd-threads",
# ]
# needs = "cuda"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "Cannot re-initialize CUDA in forked subprocess. To use CUDA with multiprocessing, you must use the 'spawn' start method"
# source = "torch/cuda/__init__.py"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "Unable to handle autograd's threading in combination with fork-based multiprocessing. See https://github.com/pytorch/pytorch/wiki/Autograd-and-Fork"
# source = "torch/csrc/autograd/engine.cpp"
# ///
"""
A forked process uses the GPU, or autograd
==========================================

Your process had used the GPU before it was forked. The child has a copy of its
memory, but neither its connection to the driver nor its threads. A worker of a
``DataLoader`` is such a child.
"""

import subprocess
import sys
import traceback

import torch
from torch import multiprocessing


def child(work, reports):
    try:
        reports.put(work())
    except RuntimeError:
        reports.put(traceback.format_exc())


def in_forked_process(work):
    context = multiprocessing.get_context("fork")
    reports = context.SimpleQueue()
    process = context.Process(target=child, args=(work, reports))
    process.start()
    report = reports.get()
    process.join(60)
    return report


# %%
# The errors
# ----------
#
# The model trains on the GPU. A worker then prepares a tensor there, too:

weight = torch.ones(2, device="cuda", requires_grad=True)
(3.0 * weight).sum().backward()

print(in_forked_process(lambda: torch.zeros(1, device="cuda").item()))

# %%
# A worker that stays on the CPU and runs ``backward`` there needs the threads that
# the first `backward pass` started on a machine with a GPU. They were not copied:


def slope_on_the_cpu():
    x = torch.tensor(3.0, device="cpu", requires_grad=True)
    (x**2).backward()
    return x.grad.item()


print(in_forked_process(slope_on_the_cpu))

# %%
# Let the workers return data, and compute in the parent
# ------------------------------------------------------
#
# What a worker makes on the CPU arrives as data. The parent moves it and trains. The
# gradient of ``sum(weight * x)`` is ``x``.

rows = in_forked_process(lambda: torch.tensor([3.0, 5.0], device="cpu").tolist())
x = torch.tensor(rows, device="cuda")
weight = torch.ones(2, device="cuda", requires_grad=True)
(weight * x).sum().backward()

print(weight.grad.tolist())
torch.testing.assert_close(weight.grad, x)

# %%
# If workers must run backward, fork before the first one
# -------------------------------------------------------
#
# A process that has touched neither the GPU nor autograd has nothing to lose by a
# fork. Make the pool at the top of the program. Here that is a program of its own; the
# slope of the square at three is six.

EARLY = """
import torch
from torch import multiprocessing

def slope(start):
    x = torch.tensor(start, device="cpu", requires_grad=True)
    (x**2).backward()
    return x.grad.item()

with multiprocessing.get_context("fork").Pool(1) as pool:
    weight = torch.ones(2, device="cuda", requires_grad=True)
    weight.sum().backward()
    print(pool.map(slope, [3.0]))
"""
done = subprocess.run([sys.executable, "-c", EARLY], capture_output=True, text=True, timeout=120)
print(done.stdout)
assert done.stdout.split() == ["[6.0]"]

# %%
# If workers must use the GPU, spawn them
# ---------------------------------------
#
# ``spawn`` starts a new interpreter, which imports your file. Guard what runs with
# ``if __name__ == "__main__":``. For a loader it is
# ``DataLoader(..., multiprocessing_context="spawn")``. A spawned process connects to
# the driver by itself:

SPAWN = """
import torch
from torch import multiprocessing

if __name__ == "__main__":
    weight = torch.ones(2, device="cuda", requires_grad=True)
    weight.sum().backward()
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        print(pool.apply(torch.cuda.is_available), pool.apply(torch.cuda.current_device))
"""
done = subprocess.run([sys.executable, "-c", SPAWN], capture_output=True, text=True, timeout=120)
print(done.stdout)
assert done.stdout.split() == ["True", "0"]

# %%
# See also
# --------
#
# * `device-cuda`: the model on the GPU, the batch on the CPU
