# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "inventory/functorch-requires-grad-inside",
#     "inventory/functorch-autograd-functional-inside",
#     "inventory/functorch-backward-inside-vmap",
#     "inventory/functorch-retain-grad-inside",
#     "inventory/backward-inside-vmap-or-grad",
#     "inventory/functorch-data-mutation-grad",
#     "inventory/functorch-saved-hooks",
#     "inventory/functorch-autograd-grad-inside-vmap",
#     "inventory/legacy-vmap-backward-inside",
#     "inventory/legacy-vmap-grad-outputs-batched",
# ]
# shows = ["backward-no-grad-fn"]
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "You are attempting to call Tensor.requires_grad_() (or perhaps using torch.autograd.functional.* APIs) inside of a function being transformed by a functorch transform. This is unsupported, please attempt to use the functorch transforms (e.g. grad, vjp, jacrev, jacfwd, hessian) or call requires_grad_() outside of a function being transformed instead."
# source = "aten/src/ATen/functorch/TensorWrapper"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "You are attempting to call Tensor.retain_grad() inside of a function being transformed by a functorch transform. This is unsupported, please attempt to use the functorch transforms (e.g. grad, vjp, jacrev, jacfwd, hessian) or call retain_grad() outside of a function being transformed instead."
# source = "aten/src/ATen/functorch/DynamicLayer"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "backward() called inside a functorch transform. This is not supported, please use functorch.grad or functorch.vjp instead or call backward() outside of functorch transforms."
# source = "torch/autograd/__init__.py"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "mutating directly with `.data` inside functorch transform is not allowed."
# source = "aten/src/ATen/functorch"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "torch.func.{grad, vjp, jacrev, hessian} don't yet support saved tensor hooks. Please open an issue with your use case."
# source = "torch/_functorch/eager_transforms.py"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "backward() called inside torch.vmap. This is not supported, please call backward() outside torch.vmap or instead use torch.autograd.grad inside torch.vmap"
# source = "torch/csrc/autograd/python_engine.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "torch.autograd.grad(outputs, inputs, grad_outputs) called inside torch.vmap. We do not support the case where any outputs are vmapped tensors (output <index> is being vmapped over). Please call autograd.grad() outside torch.vmap or file a bug report with your use case."
# source = "torch/csrc/autograd/python_engine.cpp"
# ///
"""
Ordinary autograd inside a torch.func transform
===============================================

You used ``requires_grad_``, ``backward`` or another part of ordinary autograd inside
a function that ``torch.func.grad`` or `vmap` is transforming. The transform keeps the
gradients itself, and the two do not mix.
"""

import traceback

import torch

x = torch.tensor([1.0, 2.0, 3.0])

# %%
# The errors
# ----------
#
# A training step moves into `torch.func.grad` with its lines as they were. One asks for a
# gradient, one calls backward, one keeps an inner gradient, one edits `.data`, and one
# sends each `saved tensor` to the CPU.


def requires_grad_inside(x):
    weight = torch.ones(3)
    weight.requires_grad_()
    return (x * weight).sum()


def backward_inside(x):
    loss = (x**2).sum()
    loss.backward()
    return loss


def retain_grad_inside(x):
    y = x * 2
    y.retain_grad()
    return y.sum()


def data_inside(x):
    x.data = x.data * 2
    return x.sum()


def hooks_inside(x):
    with torch.autograd.graph.save_on_cpu():
        return x.sin().sum()


for function in (
    requires_grad_inside,
    backward_inside,
    retain_grad_inside,
    data_inside,
    hooks_inside,
):
    try:
        torch.func.grad(function)(x)
    except RuntimeError:
        traceback.print_exc()

# %%
# Under `vmap`, `torch.autograd.grad` finds no graph if the mapped tensor is not the
# one that requires grad:

weight = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
try:
    torch.vmap(lambda v: torch.autograd.grad(weight * v, weight, v)[0])(torch.ones(2, 3))
except RuntimeError:
    traceback.print_exc()

# %%
# Let the transform take the gradient
# -----------------------------------
#
# What should get a gradient is an argument. ``argnums`` says which.


def loss(x, weight):
    return (x * weight).sum()


gradient = torch.func.grad(loss, argnums=1)(x, torch.ones(3))
print(gradient)
torch.testing.assert_close(gradient, x)

# %%
# Nest transforms for a gradient inside a function
# ------------------------------------------------


def slope(x):
    return torch.func.grad(lambda x: (x**3).sum())(x).sum()


second = torch.func.grad(slope)(x)
print(second)
torch.testing.assert_close(second, 6 * x)

# %%
# For many vectors, map the product
# ---------------------------------
#
# The graph is built outside, and the mapped function only multiplies. A product of the
# identity's rows with the `Jacobian` is the Jacobian.

weight = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
square = weight**2
jacobian = torch.vmap(lambda v: torch.autograd.grad(square, weight, v)[0])(torch.eye(3))
print(jacobian)
torch.testing.assert_close(jacobian, torch.diag(2 * weight.detach()))

# %%
# What only hides the error
# -------------------------
#
# Removing ``requires_grad_`` and nothing else lets the function run. The inner weight
# is then a constant: no gradient for it is computed anywhere.

gradient = torch.func.grad(lambda x: (x * torch.ones(3)).sum())(x)
print(gradient, "is the gradient of x, not of the weight", x)
assert not torch.equal(gradient, x)

# %%
# Batched gradients meet ordinary autograd in a backward
# ------------------------------------------------------
#
# ``is_grads_batched=True`` maps the `backward pass` itself. A ``backward`` that calls
# autograd again does not work there.


class CallsBackward(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        with torch.enable_grad():
            torch.autograd.backward(torch.ones(3, requires_grad=True) * 2, grad)
        return grad * 2


class CallsGrad(CallsBackward):
    @staticmethod
    def backward(ctx, grad):
        with torch.enable_grad():
            t = torch.ones(3, requires_grad=True)
            return torch.autograd.grad(t * grad, t, grad)[0]


class Double(CallsBackward):
    @staticmethod
    def backward(ctx, grad):
        return grad * 2


y = torch.ones(3, requires_grad=True)
for function in (CallsBackward, CallsGrad):
    try:
        torch.autograd.grad(function.apply(y), y, torch.eye(3), is_grads_batched=True)
    except RuntimeError:
        traceback.print_exc()

(jacobian,) = torch.autograd.grad(Double.apply(y), y, torch.eye(3), is_grads_batched=True)
torch.testing.assert_close(jacobian, 2 * torch.eye(3))
