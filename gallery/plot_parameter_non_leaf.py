# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = ["parameter/non-leaf-in-module", "inventory/module-register-non-leaf-parameter"]
#
# [[tool.autograd-errors.error]]
# raises = "ValueError"
# message = "Cannot assign non-leaf Tensor to parameter '<name>'. Model parameters must be created explicitly. To express '<same_name>' as a function of another Tensor, compute the value in the forward() method."
# source = "torch/nn/modules/module.py"
# ///
"""
A parameter that a computation has changed
==========================================

You registered a `parameter` that autograd has recorded an `in-place operation`
on. It is no longer a `leaf tensor`: its value follows from other tensors, so
the `optimizer` could not update it and its ``.grad`` would stay empty.
"""

import traceback

import torch
from torch import nn

# %%
# The error
# ---------
#
# A student layer starts from the frozen weight of a teacher, scaled by a
# learned factor. The scaling happens once, in place, before the weight goes
# into the module.

factor = nn.Parameter(torch.tensor(2.0))
weight = nn.Parameter(torch.ones(3), requires_grad=False)
weight.mul_(factor)

student = nn.Module()
try:
    student.weight = weight
except ValueError:
    traceback.print_exc()

# %%
# The write tied the weight to ``factor``:

print(type(weight).__name__, weight.is_leaf, weight.grad_fn)

# draw: weight

# %%
# To learn the factor, compute the weight in forward
# --------------------------------------------------
#
# Keep both ingredients in the module and combine them on every call. For the
# loss ``sum(factor * weight * x)`` the gradient of ``factor`` is
# ``sum(weight * x)``.


class Student(nn.Module):
    def __init__(self, teacher_weight):
        super().__init__()
        self.factor = nn.Parameter(torch.tensor(2.0))
        self.register_buffer("teacher_weight", teacher_weight)

    def forward(self, x):
        weight = self.factor * self.teacher_weight
        return (weight * x).sum()


x = torch.tensor([1.0, 2.0, 4.0])
student = Student(torch.ones(3))
student(x).backward()

print(student.factor.grad)
torch.testing.assert_close(student.factor.grad, x.sum())

# %%
# To start from the scaled value, write without recording
# -------------------------------------------------------
#
# If the factor only sets the starting point, no gradient has to flow to it.
# Under `torch.no_grad` the parameter stays a leaf.

weight = nn.Parameter(torch.ones(3))
with torch.no_grad():
    weight.mul_(factor)

student = nn.Module()
student.weight = weight
(student.weight**2).sum().backward()

print(student.weight.is_leaf, student.weight.grad)
torch.testing.assert_close(student.weight.grad, 2 * torch.full((3,), 2.0))

# %%
# What only hides the error
# -------------------------
#
# ``nn.Parameter(weight)`` is accepted, because it makes a new leaf out of the
# value. The factor is then out of the graph and never learns.

factor = nn.Parameter(torch.tensor(2.0))
weight = nn.Parameter(torch.ones(3), requires_grad=False)
weight.mul_(factor)
student = nn.Module()
student.weight = nn.Parameter(weight)
(student.weight * x).sum().backward()

print(factor.grad)
assert factor.grad is None

# %%
# See also
# --------
#
# * `parameter-assign-tensor`: the assigned tensor is not a parameter at all
# * `optimizer-non-leaf`
# * `guide-initialize-parameters`
