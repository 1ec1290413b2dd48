# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "non-leaf/scaled-after-requires-grad",
#     "non-leaf/moved-after-requires-grad",
#     "non-leaf/replaced-parameter",
#     "non-leaf/meta-parameters",
#     "inventory/optim-non-leaf",
# ]
#
# [[tool.autograd-errors.error]]
# raises = "ValueError"
# message = "can't optimize a non-leaf Tensor"
# source = "torch/optim/optimizer.py"
# ///
"""
An optimizer given a tensor that was computed
=============================================

You gave an `optimizer` a tensor that autograd computed from another one.
Backward stores gradients in a `leaf tensor` only, and a changed result would
no longer fit the operation it came from. Some step between the creation of the
tensor and the optimizer made a new tensor; the page helps you find it.
"""

import traceback

import torch
from torch import nn

# %%
# The error
# ---------
#
# You optimize the pixels of an image that starts almost black.

image = torch.tensor([1.0, 2.0], requires_grad=True) * 0.01

try:
    torch.optim.SGD([image], lr=0.5)
except ValueError:
    traceback.print_exc()

# %%
# Find the operation
# ------------------
#
# The message names neither the tensor nor the step. The `grad_fn` does: it is
# the last operation that made the tensor, ``None`` for a leaf.

candidates = {
    "image": image,
    "moved": torch.zeros(2, requires_grad=True).to(torch.float64),
    "weight": nn.Linear(2, 1).weight,
}

for name, tensor in candidates.items():
    print(name, tensor.is_leaf, tensor.grad_fn)

# draw: image

# %%
# * A scaling, a normalization, a reshape after ``requires_grad=True``: the
#   next section.
# * A conversion, which is also what ``.cuda()`` and ``.to("cuda")`` record:
#   the next section.
# * A `parameter` of a module that is not a leaf: the section after it.
# * Weights that an inner training loop computes: the third section.
#
# If you scaled or moved it, ask for gradients last
# -------------------------------------------------
#
# Bring values, `dtype` and device into their final form, then make the result a
# leaf. For the loss ``sum((image - 1)**2)`` the gradient is ``2 * (image - 1)``.

image = (torch.tensor([1.0, 2.0]) * 0.01).to(torch.float64).requires_grad_()
start = image.detach().clone()
optimizer = torch.optim.SGD([image], lr=0.5)

((image - 1) ** 2).sum().backward()
optimizer.step()

print(image.grad)
torch.testing.assert_close(image.grad, 2 * (start - 1))
torch.testing.assert_close(image.detach(), torch.ones(2, dtype=torch.float64))

# %%
# If a module's parameter was replaced, keep the original
# -------------------------------------------------------
#
# Code that drops out or masks weights likes to put the result where the
# parameter was. Writing into ``_parameters`` passes the check of the module;
# the optimizer finds out.

mask = torch.tensor([[1.0, 0.0]])
net = nn.Linear(2, 1, bias=False)
net._parameters["weight"] = net.weight * mask

try:
    torch.optim.SGD(net.parameters(), lr=0.5)
except ValueError:
    traceback.print_exc()

# %%
# Call the module with the computed weight instead. The parameter stays in its
# place and receives the gradient: ``x`` where the mask is 1, and 0 elsewhere.

net = nn.Linear(2, 1, bias=False)
optimizer = torch.optim.SGD(net.parameters(), lr=0.5)

x = torch.tensor([[3.0, 5.0]])
out = torch.func.functional_call(net, {"weight": net.weight * mask}, (x,))
out.sum().backward()

print(net.weight.grad)
torch.testing.assert_close(net.weight.grad, x * mask)

# %%
# If an inner loop computes the weights, optimize where it starts
# ---------------------------------------------------------------
#
# In meta-learning the fast weight is a result. The optimizer owns the slow one
# and is made once, before the loop. Here the inner step takes ``slow`` half
# of the way to 1, so by hand the gradient of ``(fast - 3)**2`` is ``fast - 3``.

slow = torch.tensor(2.0, requires_grad=True)
optimizer = torch.optim.SGD([slow], lr=0.1)

inner_loss = (slow - 1) ** 2
(inner_gradient,) = torch.autograd.grad(inner_loss, slow, create_graph=True)
fast = slow - 0.25 * inner_gradient
((fast - 3) ** 2).backward()

print(slow.grad, fast.is_leaf)
torch.testing.assert_close(slow.grad, (fast - 3).detach())

# %%
# If a library raised it
# ----------------------
#
# The line that creates the optimizer is only where it is noticed. Before it,
# print the names of the module's parameters that are not leaves:

net = nn.Linear(2, 1, bias=False)
net._parameters["weight"] = net.weight * mask

culprits = [name for name, tensor in net.named_parameters() if not tensor.is_leaf]
print(culprits)
assert culprits == ["weight"]

# %%
# Then look for the line that assigns to that name or to ``_parameters``. For a
# tensor made with ``requires_grad=True`` followed by ``.cuda()``, a frequent
# line in old repositories, move ``requires_grad_()`` behind it.
#
# What only hides the error
# -------------------------
#
# ``image.detach()`` and ``image.data`` are leaves, so the optimizer takes them.
# Backward does not know them: they never get a gradient, and ``step`` skips
# what has none. The image should have moved to 1.

pixels = torch.tensor([1.0, 2.0], requires_grad=True)
image = pixels * 0.01
optimizer = torch.optim.SGD([image.detach(), image.data], lr=0.5)

((image - 1) ** 2).sum().backward()
optimizer.step()

print(image)
torch.testing.assert_close(image.detach(), torch.tensor([0.01, 0.02]))

# %%
# `retain_grad` satisfies the optimizer too, and ``image`` moves. ``pixels``, from
# which the next forward computes it again, does not.

image = pixels * 0.01
image.retain_grad()
optimizer = torch.optim.SGD([image], lr=0.5)

((image - 1) ** 2).sum().backward()
optimizer.step()

print(image, pixels * 0.01, sep="\n")
torch.testing.assert_close(image.detach(), torch.ones(2))
torch.testing.assert_close((pixels * 0.01).detach(), torch.tensor([0.01, 0.02]))

# %%
# Am I right now?
# ---------------
#
# Check two things: every tensor in the optimizer moved, and one entry of its
# gradient agrees with `finite differences`. Put in your own loss.

image = torch.tensor([0.01, 0.02], dtype=torch.float64).requires_grad_()
optimizer = torch.optim.SGD([image], lr=0.5)


def compute_loss(image):
    return ((image - 1) ** 2).sum()


compute_loss(image).backward()
before, step = image.detach().clone(), torch.tensor([1e-6, 0.0])
slope = (compute_loss(before + step) - compute_loss(before - step)) / 2e-6
optimizer.step()

print(slope.item(), image.grad[0].item())
assert abs(slope - image.grad[0]) < 1e-6 and not torch.equal(before, image)
