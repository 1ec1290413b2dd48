# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# cause-of = "leaf-inplace"
# when = { frame = "threading.py|broadcast|all_reduce" }
# causes = ["leaf-inplace/collective-on-parameter", "leaf-inplace/no-grad-in-another-thread"]
# ///
"""
no_grad does not reach another thread
=====================================

You wrote into a parameter in a thread, and `no_grad` was on only in the thread
that started it. Every thread has a `grad mode` of its own, and a new one
records.
"""

import threading
import traceback

import torch

# %%
# The error
# ---------
#
# A loader refreshes weights in the background. `no_grad` surrounds the start of
# the thread.

weight = torch.nn.Parameter(torch.zeros(2))


def refresh():
    print("records here:", torch.is_grad_enabled())
    try:
        weight.copy_(torch.tensor([1.0, 2.0]))
    except RuntimeError:
        traceback.print_exc()


with torch.no_grad():
    print("records there:", torch.is_grad_enabled())
    loader = threading.Thread(target=refresh)
    loader.start()
    loader.join()

# %%
# Turn recording off in the thread that writes
# --------------------------------------------
#
# Used as a decorator, `no_grad` travels with the function.


@torch.no_grad()
def refresh_quietly():
    weight.copy_(torch.tensor([1.0, 2.0]))


loader = threading.Thread(target=refresh_quietly)
loader.start()
loader.join()
(weight**2).sum().backward()

print(weight.detach(), weight.grad)
torch.testing.assert_close(weight.grad, 2 * torch.tensor([1.0, 2.0]))

# %%
# Or hand over a tensor that never requires grad
# ----------------------------------------------
#
# This is the way for a library that starts its own threads, for example one
# that receives weights from other machines. ``weight.detach()`` shares the
# memory of the parameter, has no `requires_grad`, and shares its
# `version counter`, so the write stays visible.

weight = torch.nn.Parameter(torch.zeros(2))
received = weight.detach()
loader = threading.Thread(target=lambda: received.copy_(torch.tensor([1.0, 2.0])))
loader.start()
loader.join()
(weight**2).sum().backward()

print(weight.detach(), weight.grad, weight._version)
torch.testing.assert_close(weight.grad, 2 * torch.tensor([1.0, 2.0]))
assert weight._version == 1

# %%
# - `leaf-inplace`, all causes of this message
# - `leaf-initial-values`, when no thread is involved
