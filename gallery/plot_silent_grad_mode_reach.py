# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "silent/silent-no-grad-call-without-with",
#     "silent/silent-grad-mode-not-inherited-by-threads",
#     "silent/silent-fwad-unpack-outside-level",
# ]
# symptom = "I called torch.no_grad() and results still require grad."
# symptom-zh = "调用了 torch.no_grad()，结果仍然 requires_grad=True"
# ///
"""
A grad mode that does not reach
===============================

You switched recording off, and it was on where it mattered. A `grad mode` belongs to a
``with`` block and to one thread.
"""

import threading

import torch
import torch.autograd.forward_ad as forward_ad

# %%
# The mistake
# -----------
#
# A call without ``with`` makes an object and throws it away:

x = torch.tensor([3.0], requires_grad=True)
torch.no_grad()
print((x * 2.0).requires_grad)
assert (x * 2.0).requires_grad

# %%
# Another thread begins with recording on, whatever the mode of the one that started it. A
# pool that evaluates a model keeps every graph:

seen = []


def evaluate():
    seen.append(x * 2.0)


with torch.no_grad():
    thread = threading.Thread(target=evaluate)
    thread.start()
    thread.join()

print(seen[0].requires_grad)
assert seen[0].requires_grad

# %%
# Enter the block, in each thread
# -------------------------------
#
# Written as a decorator it travels with the function into any thread. The value is that
# of the multiplication by hand.

seen.clear()
thread = threading.Thread(target=torch.no_grad()(evaluate))
thread.start()
thread.join()

print(seen[0].requires_grad)
assert not seen[0].requires_grad
torch.testing.assert_close(seen[0], torch.tensor([6.0]))

# %%
# To change the mode for the rest of a thread, set it
# ---------------------------------------------------
#
# ``set_grad_enabled`` acts when it is called, with or without ``with``. Turn it back on.

torch.set_grad_enabled(False)
recorded = (x * 2.0).requires_grad
torch.set_grad_enabled(True)

(x * 2.0).sum().backward()
print(recorded, x.grad)
assert not recorded
torch.testing.assert_close(x.grad, torch.tensor([2.0]))

# %%
# Read a direction inside its level
# ---------------------------------
#
# Directions of `forward-mode AD` have the same habit: outside the level they are gone, and the answer is
# ``None`` instead of an error. Inside, the derivative of the square is twice the value.

with forward_ad.dual_level():
    square = forward_ad.make_dual(torch.tensor([3.0]), torch.ones(1)) ** 2
    inside = forward_ad.unpack_dual(square).tangent
outside = forward_ad.unpack_dual(square).tangent

print(inside, outside)
torch.testing.assert_close(inside, torch.tensor([2 * 3.0]))
assert outside is None

# %%
# What does not help
# ------------------
#
# ``eval()`` is often taken for the switch. It changes dropout and batch norm; recording
# stays on (`silent-eval-mode`).

print(torch.nn.Linear(1, 1).eval()(torch.ones(1)).requires_grad)
assert torch.nn.Linear(1, 1).eval()(torch.ones(1)).requires_grad

# %%
# See also
# --------
#
# * `silent-no-grad-backbone`: a block that reaches too far
# * `leaf-other-thread`: a thread that writes into a leaf
