# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# cause-of = "view-of-leaf"
# when = { frame = "initialize_biases|yolo" }
# causes = ["view-of-leaf/param-init-through-view", "inventory/yolov5-initialize-biases"]
# ///
"""
The biases of a YOLOv5 detection head
=====================================

A detection model sets the starting biases of its head through ``view`` and
``+=``, and the biases are parameters. Many repositories carry this method; the
line to change is the one with ``b[:, 4]``.
"""

import math
import traceback

import torch

# %%
# The error
# ---------
#
# The head has one convolution for each scale. Each anchor has four numbers for
# a box, one for "there is an object", and one for every class.


class Detect(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.na, self.nc = 3, 2
        self.stride = [8.0, 16.0]
        self.m = torch.nn.ModuleList(torch.nn.Conv2d(4, self.na * (5 + self.nc), 1) for _ in "ab")
        for convolution in self.m:
            torch.nn.init.zeros_(convolution.bias)


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.model = torch.nn.ModuleList([Detect()])

    def _initialize_biases(self):
        m = self.model[-1]
        for mi, s in zip(m.m, m.stride):
            b = mi.bias.view(m.na, -1)
            b[:, 4] += math.log(8 / (640 / s) ** 2)  # 8 objects in an image of 640
            mi.bias = torch.nn.Parameter(b.view(-1), requires_grad=True)


try:
    Model()._initialize_biases()
except RuntimeError:
    traceback.print_exc()

# %%
# ``b`` is a `view` whose `base` is the parameter:

detect = Model().model[-1]
b = detect.m[0].bias.view(detect.na, -1)
print(b._base is detect.m[0].bias, detect.m[0].bias.is_leaf)

# %%
# Write into the parameter under no_grad, and keep it
# ---------------------------------------------------
#
# The write goes through the view into the parameter's memory. There is nothing
# left to assign, so the last line of the method goes away.


class Repaired(Model):
    @torch.no_grad()
    def _initialize_biases(self):
        m = self.model[-1]
        for mi, s in zip(m.m, m.stride):
            b = mi.bias.view(m.na, -1)
            b[:, 4] += math.log(8 / (640 / s) ** 2)


model = Repaired()
bias = model.model[-1].m[0].bias
optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
model._initialize_biases()

expected = torch.zeros(3, 7)
expected[:, 4] = math.log(8) - 2 * math.log(640 / 8)
print(bias is model.model[-1].m[0].bias, bias.view(3, -1)[0])
torch.testing.assert_close(bias.detach().view(3, -1), expected)

# %%
# The `optimizer` that was built before moves it. For a sum over two pixels each
# bias has the gradient two.

model.model[-1].m[0](torch.ones(1, 4, 1, 2)).sum().backward()
optimizer.step()

print(bias.view(3, -1)[0])
torch.testing.assert_close(bias.grad, torch.full((21,), 2.0))
torch.testing.assert_close(bias.detach().view(3, -1), expected - 2.0)

# %%
# If you cannot edit the method, compute the values and copy them
# ---------------------------------------------------------------
#
# A `clone` of the detached bias may be written anywhere, and ``copy_`` brings
# the values back.

model = Model()
m = model.model[-1]
for mi, s in zip(m.m, m.stride):
    b = mi.bias.detach().clone().view(m.na, -1)
    b[:, 4] += math.log(8 / (640 / s) ** 2)
    with torch.no_grad():
        mi.bias.copy_(b.view(-1))

torch.testing.assert_close(m.m[0].bias.detach().view(3, -1), expected)

# %%
# What only hides the error
# -------------------------
#
# The repair that is passed around keeps the last line of the method and puts
# everything under `no_grad`. The values are right, and the parameter is a new
# object on the same memory:


class PassedAround(Model):
    def _initialize_biases(self):
        m = self.model[-1]
        for mi, s in zip(m.m, m.stride):
            with torch.no_grad():
                b = mi.bias.view(m.na, -1)
                b[:, 4] += math.log(8 / (640 / s) ** 2)
                mi.bias = torch.nn.Parameter(b.view(-1), requires_grad=True)


model = PassedAround()
before = model.model[-1].m[0].bias
optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
model._initialize_biases()
after = model.model[-1].m[0].bias
held = [parameter for group in optimizer.param_groups for parameter in group["params"]]

print(after.is_leaf, after.requires_grad, after is before)
print("memory shared:", after.data_ptr() == before.data_ptr())
print("optimizer holds it:", any(parameter is after for parameter in held))

# %%
# That does no harm while the optimizer is built afterwards. Built before, it
# waits for a gradient of the old object, and the bias is never trained:

model.model[-1].m[0](torch.ones(1, 4, 1, 2)).sum().backward()
optimizer.step()

print(before.grad is None, after.grad[0])
torch.testing.assert_close(after.detach().view(3, -1), expected)
assert before.grad is None

# %%
# Many forks write ``b.data[:, 4] += ...``. In an initialization that gives the
# right values; the trap of ``.data`` is shown in `silent-data-edit`.

bias = Model().model[-1].m[0].bias
counted = bias._version
b = bias.view(3, -1)
b.data[:, 4] += math.log(8 / (640 / 8.0) ** 2)

print("writes counted:", bias._version - counted)
torch.testing.assert_close(bias.detach().view(3, -1), expected)
assert bias._version == counted

# %%
# - `view-of-leaf`, all causes of this message
# - `leaf-initial-values`, when the whole parameter is written
# - `guide-initialize-parameters`, the ways to initialize, compared
# - A report with this cause:
#   `ultralytics/yolov5 2408 <https://github.com/ultralytics/yolov5/issues/2408>`__
