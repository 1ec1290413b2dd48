# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "ddp/unused-parameters",
#     "inventory/ddp-unused-parameters",
#     "inventory/ddp-find-unused-none-found",
#     "inventory/ddp-static-graph-changed",
#     "inventory/ddp-static-graph-new-param",
#     "inventory/ddp-set-static-graph-late",
#     "inventory/ddp-no-grad-params",
# ]
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "Expected to have finished reduction in the prior iteration before starting a new one. This error indicates that your module has parameters that were not used in producing loss. You can enable unused parameter detection by passing the keyword argument `find_unused_parameters=True` to `torch.nn.parallel.DistributedDataParallel`, and by \nmaking sure all `forward` function outputs participate in calculating loss. \nIf you already have done the above, then the distributed data parallel module wasn't able to locate the output tensors in the return value of your module's `forward` function. Please include the loss function and the structure of the return value of `forward` of your module when reporting this issue (e.g. list, dict, iterable).\nParameter indices which did not receive grad for rank <rank>: <indices>\n In addition, you can set the environment variable TORCH_DISTRIBUTED_DEBUG to either INFO or DETAIL to print out information about which particular parameters did not receive gradient on this rank as part of this error"
# source = "torch/csrc/distributed/c10d/reducer.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "Warning"
# message = "find_unused_parameters=True was specified in DDP constructor, but did not find any unused parameters in the forward pass. This flag results in an extra traversal of the autograd graph every iteration,  which can adversely affect performance. If your model indeed never has any unused parameters in the forward pass, consider turning this flag off. Note that this warning may be a false positive if your model has flow control causing later iterations to have unused parameters."
# source = "torch/csrc/distributed/c10d/reducer.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "Expected to have finished reduction in the prior iteration before starting a new one. This error indicates that your training graph has changed in this iteration, e.g., one parameter is used in first iteration, but then got unused in the second iteration. this is not compatible with static_graph set to True.\nParameter indices which did not receive grad for rank <rank>: <indices>\n In addition, you can set the environment variable TORCH_DISTRIBUTED_DEBUG to either INFO or DETAIL to print out information about which particular parameters did not receive gradient on this rank as part of this error"
# source = "torch/csrc/distributed/c10d/reducer.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "Your training graph has changed in this iteration, e.g., one parameter is unused in first iteration, but then got used in the second iteration. this is not compatible with static_graph set to True."
# source = "torch/csrc/distributed/c10d/reducer.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "set_static_graph() should be called before training loop starts and after DistributedDataParallel is constructed."
# source = "torch/csrc/distributed/c10d/reducer.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "DistributedDataParallel is not needed when a module doesn't have any parameter that requires a gradient."
# source = "torch/nn/parallel/distributed.py"
# ///
"""
Parameters that took no part in the loss under DDP
==================================================

`DDP` waits for a gradient of every parameter before it averages them, and in
the last iteration some never came. The message appears one iteration late, at
the next call of the model.
"""

import traceback

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)

# %%
# The error
# ---------
#
# One process is enough to see it. The model has an auxiliary head that is only
# used in some iterations.


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body = torch.nn.Linear(2, 2)
        self.auxiliary = torch.nn.Linear(2, 2)

    def forward(self, x, auxiliary=False):
        hidden = self.body(x)
        return self.auxiliary(hidden) if auxiliary else hidden


batch = torch.ones(1, 2)
net = DistributedDataParallel(Net())

net(batch).sum().backward()
try:
    net(batch).sum().backward()
except RuntimeError:
    traceback.print_exc()

# %%
# The indices count ``net.parameters()``. Their names:

for index, (name, parameter) in enumerate(net.module.named_parameters()):
    print(index, name, parameter.grad is not None)

# %%
# If the model always skips them, freeze or remove them
# -----------------------------------------------------
#
# A parameter that does not require grad is not waited for.

model = Net()
model.auxiliary.requires_grad_(False)
net = DistributedDataParallel(model)
for _ in range(2):
    net.zero_grad()
    net(batch).sum().backward()

print(model.body.bias.grad)
torch.testing.assert_close(model.body.bias.grad, torch.ones(2))

# %%
# If it skips them now and then, let DDP look
# -------------------------------------------
#
# With ``find_unused_parameters=True`` it walks the graph of the output in every
# iteration and marks what is missing.

net = DistributedDataParallel(Net(), find_unused_parameters=True)
for auxiliary in (False, True, False):
    net.zero_grad()
    net(batch, auxiliary).sum().backward()

print(net.module.body.bias.grad, net.module.auxiliary.bias.grad)
torch.testing.assert_close(net.module.body.bias.grad, torch.ones(2))

# %%
# If a module output is not used in the loss, use it
# --------------------------------------------------
#
# DDP looks at what ``forward`` returns. An output that the loss ignores still
# counts as used, so its parameters are waited for. Return only what the loss
# needs, or add it with its weight:

net = DistributedDataParallel(Net())
for _ in range(2):
    net.zero_grad()
    hidden = net(batch, auxiliary=True)
    hidden.sum().backward()

torch.testing.assert_close(net.module.auxiliary.bias.grad, torch.ones(2))

# %%
# What only hides the error
# -------------------------
#
# Adding ``0 * sum(p.sum() for p in model.parameters())`` to the loss is popular.
# Every gradient arrives, but the unused ones are zeros instead of ``None``: an
# optimizer with weight decay or momentum now changes parameters that took no
# part.

model = Net()
net = DistributedDataParallel(model)
optimizer = torch.optim.SGD(model.parameters(), lr=1.0, weight_decay=0.5)
before = model.auxiliary.bias.detach().clone()
loss = net(batch).sum() + 0 * sum(p.sum() for p in model.parameters())
loss.backward()
optimizer.step()

print(model.auxiliary.bias.grad)
torch.testing.assert_close(model.auxiliary.bias.detach(), before * 0.5)

# %%
# Calling ``net.module(batch)`` hides it too, see `silent-ddp-module`.
#
# If a library raised it
# ----------------------
#
# Run once with ``TORCH_DISTRIBUTED_DEBUG=DETAIL``; the message then names the
# parameters. Then look for the library's switch: ``ddp_find_unused_parameters`` in
# the arguments of the Hugging Face trainer, ``strategy="ddp_find_unused_parameters_true"``
# in Lightning, ``find_unused_parameters = True`` at the top of a config of the OpenMMLab
# detectors. A head that your task never uses is better frozen.
#
# The rarer messages of the same family
# -------------------------------------
#
# ``static_graph=True`` promises that every iteration uses the same parameters.

for pattern in ((True, False, True), (False, True)):
    net = DistributedDataParallel(Net(), static_graph=True)
    try:
        for auxiliary in pattern:
            net(batch, auxiliary).sum().backward()
    except RuntimeError:
        traceback.print_exc()

net = DistributedDataParallel(Net(), find_unused_parameters=True)
net(batch).sum().backward()
try:
    net._set_static_graph()
except RuntimeError:
    traceback.print_exc()
try:
    DistributedDataParallel(Net().requires_grad_(False))
except RuntimeError:
    traceback.print_exc()

# %%
# And if everything is used, the search is for nothing. C++ prints the warning
# itself, past Python's ``warnings``:

net = DistributedDataParallel(Net(), find_unused_parameters=True)
net(batch, auxiliary=True).sum().backward()

# %%

dist.destroy_process_group()
