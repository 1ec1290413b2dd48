# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = ["version-counter/ddp-buffer-broadcast"]
# cause-of = "version-modified"
# when = { node = "^$" }
# ///
"""
A buffer was rewritten between two forwards
===========================================

Your module uses a buffer in forward, and the next forward writes into it before
the first one's backward. Running statistics do that, and so does the copying
of buffers in distributed training.
"""

import traceback

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

# %%
# The error
# ---------
#
# A running scale is updated in each forward. Two batches go through the module
# before one backward, as in contrastive training.


class Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.tensor([2.0]))
        self.register_buffer("scale", torch.ones(1))

    def forward(self, x):
        self.scale.mul_(0.5).add_(0.5 * x.detach().abs().mean())
        return self.weight * x / self.scale


net = Scaled()
first, second = torch.tensor([3.0]), torch.tensor([6.0])

try:
    (net(first) + net(second)).sum().backward()
except RuntimeError:
    traceback.print_exc()

# %%
# The `buffer` has no history, so no operation is named; ``mul_`` and ``add_``
# count as two writes. `DDP` has the same effect without any line of yours: by
# default it copies the buffers of rank 0 into those of the others before each
# forward.
#
# Make a new buffer instead of writing into the old one
# -----------------------------------------------------
#
# Assigning to the name keeps it registered, and the division keeps the tensor
# it saved.


class Replaced(Scaled):
    def forward(self, x):
        self.scale = 0.5 * self.scale + 0.5 * x.detach().abs().mean()
        return self.weight * x / self.scale


net = Replaced()
(net(first) + net(second)).sum().backward()

scale_1 = 0.5 * 1.0 + 0.5 * 3.0
scale_2 = 0.5 * scale_1 + 0.5 * 6.0
print(net.weight.grad, [name for name, _ in net.named_buffers()])
torch.testing.assert_close(net.weight.grad, torch.tensor([3.0 / scale_1 + 6.0 / scale_2]))

# %%
# If the write must stay in place, use a copy
# -------------------------------------------
#
# ``self.scale.clone()`` where the buffer is *used*. In a library's module this
# is the line to look for.


class Copied(Scaled):
    def forward(self, x):
        self.scale.mul_(0.5).add_(0.5 * x.detach().abs().mean())
        return self.weight * x / self.scale.clone()


net = Copied()
(net(first) + net(second)).sum().backward()
torch.testing.assert_close(net.weight.grad, torch.tensor([3.0 / scale_1 + 6.0 / scale_2]))

# %%
# If DDP copies a constant buffer, switch the copying off
# -------------------------------------------------------
#
# A buffer that is the same everywhere needs no copying: pass
# ``forward_sync_buffers=False``, in older code ``broadcast_buffers=False``.


class Masked(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.tensor([2.0, 3.0]))
        self.register_buffer("mask", torch.tensor([1.0, 0.0]))

    def forward(self, x):
        return self.weight * x * self.mask


dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
net = DistributedDataParallel(Masked(), forward_sync_buffers=False)
(net(first) + net(second)).sum().backward()
dist.destroy_process_group()

print(net.module.weight.grad)
torch.testing.assert_close(net.module.weight.grad, torch.tensor([3.0 + 6.0, 0.0]))

# %%
# What only hides the error
# -------------------------
#
# For batch normalization a popular answer is ``track_running_stats=False``. It
# removes the buffers, and with them the statistics for evaluation. A sample's
# output then depends on the other samples in its batch, even after ``eval()``:

norm = nn.BatchNorm1d(1, track_running_stats=False).eval()
alone = norm(torch.tensor([[1.0], [2.0]]))[0]
beside = norm(torch.tensor([[1.0], [20.0]]))[0]
usual = nn.BatchNorm1d(1).eval()

print(alone.item(), beside.item(), usual(torch.tensor([[1.0]])).item())
assert not torch.allclose(alone, beside, atol=1e-6)
torch.testing.assert_close(
    usual(torch.tensor([[1.0], [2.0]]))[0], usual(torch.tensor([[1.0], [20.0]]))[0]
)

# %%
# See also
# --------
#
# * `silent-batchnorm`: the same without an error
# * `a public report <https://github.com/pytorch/pytorch/issues/22095>`__
