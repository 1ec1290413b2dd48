# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "inventory/fwad-no-level",
#     "inventory/fwad-nested-level",
#     "inventory/fwad-tangent-size",
#     "inventory/fwad-primal-int",
#     "inventory/fwad-tangent-int",
#     "inventory/fwad-already-dual",
#     "inventory/fwad-tangent-is-dual",
#     "inventory/fwad-exit-not-last",
#     "inventory/fwad-level-negative",
#     "inventory/fwad-resize",
# ]
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "Trying to create a dual Tensor for forward AD but no level exists, make sure to enter_dual_level() first."
# source = "torch/autograd/forward_ad.py"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "Nested forward mode AD is not supported at the moment"
# source = "torch/csrc/autograd/forward_grad.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "Trying to set a forward gradient that has a different size than that of the original Tensor, this is not supported. Tensor is of size [<shape>] while the given forward gradient is of size [<tangent_shape>]."
# source = "torch/csrc/autograd/autograd_meta.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "ValueError"
# message = "Expected primal to be floating point or complex, but got: <dtype>"
# source = "torch/autograd/forward_ad.py"
#
# [[tool.autograd-errors.error]]
# raises = "ValueError"
# message = "Expected tangent to be floating point or complex, but got: <dtype>"
# source = "torch/autograd/forward_ad.py"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "Making a dual Tensor based on a Tensor that already has a forward gradient at the same level <level> is not supported."
# source = "torch/csrc/autograd/VariableTypeManual.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "Setting a forward grad that itself has a forward gradient at the same level<level> is not supported."
# source = "torch/csrc/autograd/autograd_meta.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "Trying to exit a forward AD level that was not the last one that was created. This is not supported."
# source = "torch/autograd/forward_ad.py"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "Invalid level given to _make_dual"
# source = "torch/csrc/autograd/python_variable.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "cannot resize variables that has a forward grad"
# source = "torch/csrc/autograd/VariableTypeManual.cpp"
# ///
"""
Making a dual number outside its level
======================================

You made a dual tensor, a value with a direction attached, where `forward-mode AD` had
no level for it, or with a direction that does not fit the value.
"""

import traceback

import torch
import torch.autograd.forward_ad as forward_ad

x = torch.tensor([1.0, 2.0])
direction = torch.tensor([1.0, 0.0])

# %%
# The errors
# ----------
#
# Outside ``dual_level`` there is nothing to hold the direction, and levels do not nest.

try:
    forward_ad.make_dual(x, direction)
except RuntimeError:
    traceback.print_exc()
try:
    with forward_ad.dual_level(), forward_ad.dual_level():
        pass
except RuntimeError:
    traceback.print_exc()

# %%
# Value and direction have the same size, and neither holds integers:

with forward_ad.dual_level():
    for primal, tangent in (
        (x, torch.ones(3)),
        (x.long(), direction),
        (x, direction.long()),
    ):
        try:
            forward_ad.make_dual(primal, tangent)
        except (RuntimeError, ValueError):
            traceback.print_exc()

# %%
# A dual tensor is neither value nor direction of another one, and cannot be resized:

with forward_ad.dual_level():
    dual = forward_ad.make_dual(x, direction)
    for call in (
        lambda: forward_ad.make_dual(dual, direction),
        lambda: forward_ad.make_dual(x, dual),
        lambda: dual.resize_(1),
    ):
        try:
            call()
        except RuntimeError:
            traceback.print_exc()

# %%
# Levels are left in order, and there is one, number zero:

level = forward_ad.enter_dual_level()
try:
    forward_ad.exit_dual_level(level=level + 3)
except RuntimeError:
    traceback.print_exc()
forward_ad.exit_dual_level()
try:
    torch._VF._make_dual(x, direction, level=1)
except RuntimeError:
    traceback.print_exc()

# %%
# Stay inside one level
# ---------------------
#
# Make, compute and unpack within the ``with`` block. The derivative of the sine in
# direction of the first element is its cosine there.

with forward_ad.dual_level():
    dual = forward_ad.make_dual(x, direction)
    value, tangent = forward_ad.unpack_dual(torch.sin(dual))

print(tangent)
torch.testing.assert_close(tangent, torch.cos(x) * direction)

# %%
# For a second derivative, use transforms
# ---------------------------------------
#
# `torch.func.jvp` keeps its own levels, and those nest.


def slope(x):
    return torch.func.jvp(torch.sin, (x,), (direction,))[1]


_, second = torch.func.jvp(slope, (x,), (direction,))
print(second)
torch.testing.assert_close(second, -torch.sin(x) * direction)

# %%
# See also
# --------
#
# * `forward-not-implemented`
