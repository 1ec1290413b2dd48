# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "compile/donated-buffers",
#     "inventory/compile-backward-twice",
#     "inventory/compile-double-backward",
#     "inventory/compile-compiled-autograd-double-backward",
#     "inventory/compile-saved-modified",
# ]
# shows = ["backward-twice", "version-modified"]
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "torch.compile with aot_autograd does not currently support double backward"
# source = "torch/_functorch/_aot_autograd/runtime_wrappers.py"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "torch.compile does not currently support higher order gradients."
# source = "torch/_dynamo/compiled_autograd.py"
# reworded = true
# ///
"""
Second gradients and second backwards in compiled code
======================================================

You differentiated the gradient of a compiled function, or used its graph twice. The
compiled `backward pass` is one block that cannot be differentiated, and it frees what
it saved like any other.
"""

import traceback

import torch

compiled_sine = torch.compile(lambda x: x.sin().sum(), backend="aot_eager")

# %%
# The errors
# ----------
#
# A gradient penalty on a compiled model:

x = torch.tensor([0.0, 1.0], requires_grad=True)
(slope,) = torch.autograd.grad(compiled_sine(x), x, create_graph=True)
try:
    slope.square().sum().backward()
except RuntimeError:
    traceback.print_exc()

# %%
# With compiled autograd switched on the message has other words:

torch._dynamo.config.compiled_autograd = True


def penalty(x):
    (slope,) = torch.autograd.grad(compiled_sine(x), x, create_graph=True)
    slope.square().sum().backward()


try:
    torch.compile(penalty, backend="aot_eager")(x)
except RuntimeError:
    traceback.print_exc()
torch._dynamo.config.compiled_autograd = False

# %%
# The two best known messages come from compiled code as well, see `backward-twice` and
# `version-modified`. The second has no operation to name, for the compiled block is one.

loss = compiled_sine(x)
loss.backward()
try:
    loss.backward()
except RuntimeError:
    traceback.print_exc()

loss = compiled_sine(x)
with torch.no_grad():
    x.add_(1.0)
try:
    loss.backward()
except RuntimeError:
    traceback.print_exc()

# %%
# Leave the part that is differentiated twice uncompiled
# ------------------------------------------------------
#
# The model stays compiled elsewhere; the penalty calls the plain function. Twice the
# product of the cosine and its derivative is what the square gives.


def sine(x):
    return x.sin().sum()


x = torch.tensor([0.0, 1.0], dtype=torch.float64, requires_grad=True)
(slope,) = torch.autograd.grad(sine(x), x, create_graph=True)
slope.square().sum().backward()

print(x.grad)
torch.testing.assert_close(x.grad, -2 * torch.cos(x.detach()) * torch.sin(x.detach()))
assert torch.autograd.gradgradcheck(sine, (x,))

# %%
# Compile the gradient itself
# ---------------------------
#
# `torch.func.grad` makes the gradient a part of the compiled function, and its one
# derivative is then an ordinary first one.


def penalty_of_slope(x):
    return torch.func.grad(sine)(x).square().sum()


x = torch.tensor([0.0, 1.0], dtype=torch.float64, requires_grad=True)
torch.compile(penalty_of_slope, backend="aot_eager")(x).backward()

print(x.grad)
torch.testing.assert_close(x.grad, -2 * torch.cos(x.detach()) * torch.sin(x.detach()))

# %%
# What only hides the error
# -------------------------
#
# Without ``create_graph`` the slope is a constant. If it is one term of the loss, its
# part of the gradient is missing.

x = torch.tensor([0.0, 1.0], requires_grad=True)
loss = compiled_sine(x)
(slope,) = torch.autograd.grad(loss, x, retain_graph=True)
(loss + slope.square().sum()).backward()

right = torch.cos(x.detach()) - 2 * torch.cos(x.detach()) * torch.sin(x.detach())
print(x.grad, "is not", right)
assert not torch.allclose(x.grad, right)

# %%
# See also
# --------
#
# * `double-backward-missing`
# * `compile-in-place`
