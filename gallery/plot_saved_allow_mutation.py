# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "inventory/allow-mutation-backward-outside",
#     "inventory/allow-mutation-nested",
# ]
#
# [[tool.autograd-errors.error]]
# raises = "AssertionError"
# message = "Trying to backward outside of the 'allow_mutation_on_saved_tensors' contextin which the graph was originally recorded."
# source = "torch/autograd/graph.py"
#
# [[tool.autograd-errors.error]]
# raises = "RuntimeError"
# message = "allow_mutation_on_saved_tensors contexts cannot be nested"
# source = "torch/autograd/graph.py"
# ///
"""
Leaving allow_mutation_on_saved_tensors too early
=================================================

Inside ``allow_mutation_on_saved_tensors`` autograd copies each saved value
before you overwrite it. The copies end with the block, so backward must run
inside it, and a block inside another is refused.
"""

import traceback

import torch
from torch.autograd.graph import allow_mutation_on_saved_tensors

# %%
# The errors
# ----------
#
# Forward stands in the block, backward after it.

x = torch.tensor([0.0, 1.0], dtype=torch.float64, requires_grad=True)

with allow_mutation_on_saved_tensors():
    y = x.exp()
    y *= 3.0  # overwrites what exp saved

try:
    y.sum().backward()
except AssertionError:
    traceback.print_exc()

# %%
# A function that opens the block itself is called from code that did so, too:

try:
    with allow_mutation_on_saved_tensors(), allow_mutation_on_saved_tensors():
        pass
except RuntimeError:
    traceback.print_exc()

# %%
# Put forward and backward into one block
# ---------------------------------------
#
# Open it once, at the outermost place: the training step.

with allow_mutation_on_saved_tensors():
    y = x.exp()
    y *= 3.0
    y.sum().backward()

print(x.grad)
torch.testing.assert_close(x.grad, 3 * x.detach().exp())

# %%
# If a library overwrites something, this helps to find it
# --------------------------------------------------------
#
# The block makes its code right at the price of copies. Compare with a run
# without the block: if only that one raises `version-modified`, the write is
# inside. The repair for good is out of place:

x.grad = None
(x.exp() * 3.0).sum().backward()
torch.testing.assert_close(x.grad, 3 * x.detach().exp())

# %%
# See also
# --------
#
# * `saved-tensor-hooks`
# * `version-activation-output`
