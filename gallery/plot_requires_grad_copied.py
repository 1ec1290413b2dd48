# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "inventory/copy-construct-torch-tensor", "inventory/copy-construct-new-tensor",
#     "inventory/asarray-requires-grad",
# ]
#
# [[tool.autograd-errors.error]]
# raises = "UserWarning"
# message = "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or sourceTensor.detach().clone().requires_grad_(True), rather than torch.tensor(sourceTensor)."
# source = "torch/csrc/utils/tensor_new.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "UserWarning"
# message = "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or sourceTensor.detach().clone().requires_grad_(True), rather than tensor.new_tensor(sourceTensor)."
# source = "torch/csrc/utils/tensor_new.cpp"
#
# [[tool.autograd-errors.error]]
# raises = "UserWarning"
# message = "torch.asarray: unspecified requires_grad now defaults to obj.requires_grad instead of False. Pass requires_grad=False explicitly to get the old behavior and silence this warning."
# source = "torch/csrc/utils/tensor_new.cpp"
# ///
"""
A tensor made from a tensor
===========================

You called ``torch.tensor`` on something that is a tensor already. The result is
a copy without history, and the warning asks whether you meant to leave the graph
there.
"""

import torch

# %%
# The warnings
# ------------
#
# A data set wraps everything it returns in ``torch.tensor``, in case it is a
# list. This time it is a tensor that was computed from a weight.

weight = torch.tensor([1.0, 2.0], requires_grad=True)
features = 3 * weight
sample = torch.tensor(features)

# %%
# ``new_tensor``, which adopts the dtype and device of another tensor, does the
# same.

sample = features.new_tensor(features)

# %%
# The numbers are there, and the way back is not:

print(sample.requires_grad, sample.grad_fn, sample.data_ptr() == features.data_ptr())
assert not sample.requires_grad

# %%
# To keep the gradient, do not copy
# ---------------------------------
#
# A tensor needs no conversion. Where other types may come, `torch.as_tensor`
# converts those and hands a tensor through, graph and all. By hand, the gradient
# of ``sum((3 * weight)**2)`` is ``18 * weight``.

weight = torch.tensor([1.0, 2.0], requires_grad=True)
sample = torch.as_tensor(3 * weight)
(sample**2).sum().backward()

print(weight.grad)
torch.testing.assert_close(weight.grad, 18 * weight.detach())

# %%
# To copy and keep the gradient, clone
# ------------------------------------
#
# A `clone` has memory of its own, so you may overwrite it.

weight = torch.tensor([1.0, 2.0], requires_grad=True)
sample = weight.clone()
sample[0] = 0.0
(sample**2).sum().backward()

print(weight.grad)
torch.testing.assert_close(weight.grad, torch.tensor([0.0, 2 * 2.0]))

# %%
# To copy the numbers only, say so
# --------------------------------
#
# This is what ``torch.tensor`` did, and what the warning recommends. `detach` cuts
# the history, ``clone`` copies the memory. Add ``requires_grad_()`` for a copy that
# learns by itself.

copy = weight.detach().clone().requires_grad_()
(copy**2).sum().backward()

print(copy.grad)
torch.testing.assert_close(copy.grad, 2 * weight.detach())

# %%
# To build one tensor from several, stack
# ---------------------------------------
#
# A list of tensors draws no such warning and loses the gradient as well:
# ``torch.tensor([first, second])`` reads out numbers, see
# `numpy-scalar-conversion`. ``stack`` and ``cat`` keep the graph.

weight = torch.tensor([1.0, 2.0], requires_grad=True)
losses = torch.stack([weight.sum(), weight.prod()])
losses.sum().backward()

torch.testing.assert_close(weight.grad, torch.tensor([1.0 + 2.0, 1.0 + 1.0]))

# %%
# With asarray, say what you expect
# ---------------------------------
#
# `torch.asarray` used to forget `requires_grad` and now keeps it. Its warning
# asks you to choose, as the old and the new result differ.

kept = torch.asarray(weight)
print(kept is weight, kept.requires_grad)

cut = torch.asarray(weight, requires_grad=False)
print(cut.requires_grad, cut.data_ptr() == weight.data_ptr())

weight.grad = None
(torch.asarray(weight, requires_grad=True) ** 2).sum().backward()
torch.testing.assert_close(weight.grad, 2 * weight.detach())

# %%
# What only hides the error
# -------------------------
#
# The recommendation, followed to the letter in the middle of a model, ends the
# warning and not the problem: the graph is cut there on purpose now, and the
# copy's own gradient reaches nobody.

weight = torch.tensor([1.0, 2.0], requires_grad=True)
sample = (3 * weight).detach().clone().requires_grad_(True)
(sample**2).sum().backward()

print(sample.grad, weight.grad)
assert weight.grad is None

# %%
# Related: `requires-grad-set`, `backward-no-grad-fn`, `grad-of-nonleaf`.
