# /// script
# requires-python = ">=3.10"
# dependencies = ["torch", "numpy"]
#
# [tool.autograd-errors]
# causes = [
#     "inventory/cuda-device-mismatch-forward",
#     "inventory/cuda-device-mismatch-argument",
#     "inventory/cuda-numpy-conversion",
# ]
# needs = "cuda"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "Expected all tensors to be on the same device, but found at least two devices, <device> and <other_device>!"
# source = "aten/src/ATen/TensorIterator.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "Expected all tensors to be on the same device, but got <argument> is on <device>, different from other tensors on <other_device> (when checking argument in method <operation>)"
# source = "aten/src/ATen/core/adaption.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "TypeError"
# message = "can't convert <device> device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host memory first."
# source = "torch/csrc/utils/tensor_numpy.cpp"
# ///
"""
A tensor on the GPU meets one on the CPU
========================================

An operation got one tensor from the GPU and one from the CPU, or NumPy got one
from the GPU. PyTorch never copies between devices unless you say so. The model,
the batch, and every tensor that ``forward`` makes must be in one place.
"""

import traceback

import torch
from torch import nn

# %%
# The errors
# ----------
#
# The model was moved, the batch was not. The message names the argument of the
# function that is in another place than the rest.

net = nn.Linear(2, 1, bias=False, device="cuda")
batch = torch.tensor([[3.0, 5.0]], device="cpu")

try:
    net(batch)
except RuntimeError:
    traceback.print_exc()

# %%
# An addition names only the two devices:

try:
    net.weight + batch
except RuntimeError:
    traceback.print_exc()

# %%
# NumPy cannot read the memory of the GPU.

try:
    net.weight.detach().numpy()
except TypeError:
    traceback.print_exc()

# %%
# Print where everything is, before the line that fails:

print({"batch": batch.device.type} | {n: p.device.type for n, p in net.named_parameters()})

# %%
# Move the batch to where the model is
# ------------------------------------
#
# ``to`` returns a new tensor, so assign the result; for a module it moves the
# module itself. The gradient of ``sum(weight * x)`` is ``x``.

device = next(net.parameters()).device
moved = batch.to(device)
net(moved).sum().backward()

print(net.weight.grad.device.type)
torch.testing.assert_close(net.weight.grad, moved)

# %%
# Let the module carry its tensors
# --------------------------------
#
# A `buffer` moves with the module; a tensor in a plain attribute or a list stays
# behind. What ``forward`` makes should take the device of its input.


class Center(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.tensor([1.0, 1.0], device="cpu"))

    def forward(self, x):
        return x - self.mean + torch.zeros(2, device=x.device)


x = torch.tensor([3.0, 5.0], device="cuda", requires_grad=True)
(Center().to("cuda")(x) ** 2).sum().backward()

print(x.grad.device.type)
torch.testing.assert_close(x.grad.cpu(), torch.tensor([4.0, 8.0], device="cpu"))

# %%
# Ask for a gradient after the move
# ---------------------------------
#
# ``x.to("cuda")`` is an operation like others. If ``x`` required a gradient
# before, the gradient arrives at the tensor that stayed on the CPU.

stayed = torch.ones(2, device="cpu", requires_grad=True)
result = stayed.to("cuda")
(result * 3).sum().backward()

print(stayed.grad.device.type, result.is_leaf)
torch.testing.assert_close(stayed.grad, torch.full((2,), 3.0, device="cpu"))

# %%
# For NumPy, detach and copy to the CPU
# -------------------------------------
#
# ``numpy(force=True)`` does both.

array = x.detach().cpu().numpy()

print(array)
assert array.tolist() == [3.0, 5.0] == x.numpy(force=True).tolist()

# %%
# See also
# --------
#
# * `device-mismatch`: the same, shown without a GPU
# * `optimizer-non-leaf`: what the optimizer says about a moved tensor
# * `numpy-requires-grad`
