# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = ["inventory/deepcopy-tensor-subclass", "inventory/parameter-subclass-detach"]
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "The default implementation of __deepcopy__() for non-wrapper subclasses only works for subclass types that implement new_empty() and for which that function returns another instance of the same subclass. You should either properly implement new_empty() for your subclass or override __deepcopy__() if it is intended behavior for new_empty() to return an instance of a different type."
# source = "torch/_tensor.py"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "Creating a Parameter from an instance of type <type> requires that detach() returns an instance of the same type, but return type <other_type> was found instead. To use the type as a Parameter, please correct the detach() semantics defined by its __torch_dispatch__() implementation."
# source = "torch/nn/parameter.py"
# ///
"""
A tensor subclass whose methods return another type
===================================================

You copied a tensor subclass, or made a `parameter` of it, and a method that
should return the same class returned a plain tensor. A deep copy goes through
``new_empty``, a parameter through ``detach``; both must keep the class.
"""

import copy
import traceback

import torch
from torch import nn

# %%
# The errors
# ----------
#
# A subclass marks tensors that carry a unit. It adds nothing yet, and still a
# deep copy fails, because ``new_empty`` inherits from the plain tensor there.


class Meters(torch.Tensor):
    pass


length = torch.ones(2).as_subclass(Meters)

try:
    copy.deepcopy(length)
except RuntimeError:
    traceback.print_exc()

# %%
# Another one takes its own ``detach`` back to a plain tensor.


class Seconds(torch.Tensor):
    def detach(self):
        return super().detach().as_subclass(torch.Tensor)


try:
    nn.Parameter(torch.ones(2).as_subclass(Seconds))
except RuntimeError:
    traceback.print_exc()

# %%
# To allow deep copies, return your class from new_empty
# ------------------------------------------------------
#
# The copy is an independent `leaf tensor` of the class. The gradient of
# ``sum(length**2)`` is ``2 * length``, for the copy alone.


class RightMeters(torch.Tensor):
    def new_empty(self, *size, **options):
        return super().new_empty(*size, **options).as_subclass(RightMeters)


length = torch.ones(2).as_subclass(RightMeters).requires_grad_()
twin = copy.deepcopy(length)
(twin**2).sum().backward()

print(type(twin).__name__, twin.is_leaf, twin.grad, length.grad)
assert isinstance(twin, RightMeters)
torch.testing.assert_close(twin.grad, torch.full((2,), 2.0))

# %%
# To make a parameter, keep the class in detach
# ---------------------------------------------
#
# The inherited ``detach`` already does; if you need your own, convert its
# result. A parameter of a subclass is an instance of both.


class RightSeconds(torch.Tensor):
    def detach(self):
        return super().detach().as_subclass(RightSeconds)


duration = nn.Parameter(torch.full((2,), 3.0).as_subclass(RightSeconds))
(duration**2).sum().backward()

print(isinstance(duration, RightSeconds), isinstance(duration, nn.Parameter))
torch.testing.assert_close(duration.grad, torch.full((2,), 6.0))

# %%
# See also
# --------
#
# * `copy-deepcopy`: a copy that fails because of the graph, not of the class
# * `parameter-assign-tensor`
