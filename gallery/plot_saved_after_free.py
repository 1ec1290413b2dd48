# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = ["inventory/saved-tensor-access-after-free"]
# cause-of = "backward-twice"
# when = { frame = "_saved_" }
# ///
"""
A node's saved value is read after backward
===========================================

You read ``grad_fn._saved_...`` after ``backward()``. Backward frees the saved
values as it goes, and the message is the same as for a second backward.
"""

import traceback

import torch

# %%
# The error
# ---------
#
# A debugging line prints what the exponential had saved.

x = torch.tensor([0.0, 1.0], requires_grad=True)
y = x.exp()
node = y.grad_fn
y.sum().backward()

try:
    print(node._saved_result)
except RuntimeError:
    traceback.print_exc()

# %%
# Read before backward
# --------------------
#
# A `saved tensor` can be read as long as the graph is there. The exponential
# saves its result.

y = x.exp()
saved = y.grad_fn._saved_result.clone()
x.grad = None
y.sum().backward()

print(saved, x.grad)
torch.testing.assert_close(x.grad, torch.tensor([1.0, torch.e]))

# %%
# If you need it afterwards, keep the graph
# -----------------------------------------
#
# ``retain_graph=True`` keeps all saved values until the graph itself goes away.
# It costs their memory, so take it out again after debugging.

y = x.exp()
y.sum().backward(retain_graph=True)

print(y.grad_fn._saved_result)
torch.testing.assert_close(y.grad_fn._saved_result, y)

# %%
# See also
# --------
#
# * `backward-twice`: the other causes of this message
# * `saved-tensor-hooks`
