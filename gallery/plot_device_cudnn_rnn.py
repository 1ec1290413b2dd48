# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "cudnn/rnn-eval-backward",
#     "inventory/cudnn-rnn-backward-eval",
#     "inventory/cudnn-rnn-double-backward",
#     "inventory/cudnn-rnn-weights-not-contiguous",
# ]
# needs = "cuda"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "cudnn RNN backward can only be called in training mode"
# source = "aten/src/ATen/native/cudnn/RNN.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "Double backwards is not supported for CuDNN RNNs due to limitations in the CuDNN API. To run double backwards, please disable the CuDNN backend temporarily while running the forward pass of your RNN. For example: \nwith torch.backends.cudnn.flags(enabled=False):\n    output = model(inputs)"
# source = "tools/autograd/derivatives.yaml"
#
# [[tool.autograd-errors.error]]
# raises = "UserWarning"
# message = "RNN module weights are not part of single contiguous chunk of memory. This means they need to be compacted at every call, possibly greatly increasing memory usage. To compact weights again call flatten_parameters()."
# source = "aten/src/ATen/native/cudnn/RNN.cpp"
# ///
"""
Backward through a cuDNN RNN in eval mode
=========================================

You called ``eval()`` and then asked an LSTM on the GPU for a gradient, for a
saliency map or an attack. In eval mode cuDNN keeps nothing for backward.
"""

import copy
import traceback
import warnings

import torch
from torch import nn

# %%
# The errors
# ----------
#
# How much does the score depend on each input? Dropout is off, as it should be.


class Scorer(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(2, 3)
        self.dropout = nn.Dropout(0.5)

    def forward(self, x):
        return self.dropout(self.rnn(x)[0]).sum()


net = Scorer().to("cuda").eval()
words = torch.tensor([[[1.0, 2.0]], [[3.0, 4.0]]], device="cuda", requires_grad=True)

try:
    net(words).backward()
except RuntimeError:
    traceback.print_exc()

# %%
# The gradient of a gradient is a second thing that cuDNN cannot do, as in a
# penalty on the input's gradient (`double backward`). It says so in either mode.

net.rnn.train()
(slope,) = torch.autograd.grad(net(words), words, create_graph=True)

try:
    slope.square().sum().backward()
except RuntimeError:
    traceback.print_exc()

# %%
# A warning has another reason: cuDNN wants all weights in one piece of memory, and
# somebody has replaced one, by pruning, sharing or copying.

pruned = nn.LSTM(2, 3).to("cuda")
pruned.weight_hh_l0 = nn.Parameter(pruned.weight_hh_l0.detach().tril())
pruned(words.detach())

# %%
# Switch cuDNN off for this forward pass
# --------------------------------------
#
# PyTorch's own kernels do both. The flag must be off while forward runs; that is
# where the kernel is chosen. The same weights on the CPU give the same gradient.

net.eval()
with torch.backends.cudnn.flags(enabled=False):
    score = net(words)
(gradient,) = torch.autograd.grad(score, words, create_graph=True)

twin = copy.deepcopy(net).cpu()
on_cpu = words.detach().cpu().requires_grad_()
(expected,) = torch.autograd.grad(twin(on_cpu), on_cpu)
print(gradient.shape)
torch.testing.assert_close(gradient.detach().cpu(), expected, rtol=1e-4, atol=1e-5)

gradient.square().sum().backward()
assert words.grad is not None

# %%
# If only the LSTM is in the way, train mode for it alone
# -------------------------------------------------------
#
# An LSTM without dropout of its own computes the same in both modes.

net.eval()
net.rnn.train()
(gradient,) = torch.autograd.grad(net(words), words)

print(net.rnn.training, net.dropout.training)
torch.testing.assert_close(gradient.cpu(), expected, rtol=1e-4, atol=1e-5)

# %%
# If a weight was replaced, lay them out again
# --------------------------------------------
#
# ``flatten_parameters()`` copies the weights into one piece and warns no more. The
# parameters stay the same objects, so an optimizer keeps them; the output is that of
# the CPU.

pruned.flatten_parameters()
with warnings.catch_warnings():
    warnings.simplefilter("error")
    output, _ = pruned(words.detach())

twin = copy.deepcopy(pruned).cpu()
torch.testing.assert_close(output.cpu(), twin(words.detach().cpu())[0], rtol=1e-4, atol=1e-5)
print(pruned.weight_hh_l0.is_leaf)

# %%
# What only hides the error
# -------------------------
#
# ``train()`` on the whole model is the usual answer. Dropout then drops: two runs
# over one input disagree, and so would their saliency maps.

net.train()
maps = [torch.autograd.grad(net(words), words)[0] for _ in range(8)]

print(all(torch.equal(maps[0], other) for other in maps))
assert not all(torch.equal(maps[0], other) for other in maps)

# %%
# See also
# --------
#
# * `silent-eval-mode`: what ``eval()`` changes, and what it does not
# * `double-backward-missing`: derivatives that have no derivative
