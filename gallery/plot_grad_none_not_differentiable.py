# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = ["grad-none/non-differentiable-op", "inventory/grad-none-data"]
# cause-of = "grad-is-none"
# ///
"""
No gradient behind a choice, a comparison or an integer
=======================================================

Your loss does depend on the tensor, through an operation that has no
derivative: ``argmax``, a comparison, a conversion to integers. Autograd ends the
graph there without a word, and whatever is behind it gets no gradient.
"""

import traceback

import torch
from torch import nn

# %%
# The error
# ---------
#
# A small network picks the best of three rows in a table, and the loss wants
# the row to sum up to zero. The picking layer should learn to pick better.

picker = nn.Linear(2, 3, bias=False)
with torch.no_grad():
    picker.weight.copy_(torch.tensor([[1.0, 0.0], [0.0, 2.0], [-1.0, 0.0]]))
table = nn.Parameter(torch.tensor([[1.0, 1.0], [2.0, 2.0], [4.0, 4.0]]))
x = torch.tensor([1.0, 1.0])

chosen = picker(x).argmax()
(table[chosen].sum() ** 2).backward()

try:
    print(picker.weight.grad.norm())
except AttributeError:
    traceback.print_exc()

# %%
# Backward ran, since the table gives it a way. The other way ends at an integer:

print(chosen, chosen.requires_grad, chosen.is_leaf)
print(table.grad)

# %%
# To learn the choice, weigh instead of choosing
# ----------------------------------------------
#
# ``softmax`` gives each row a share, and shares have derivatives. `gradcheck`
# compares them with `finite differences`.


def loss_of(weight, table, x):
    share = torch.softmax(weight @ x, dim=0)
    return (share @ table).sum() ** 2


weight = picker.weight.detach().double().requires_grad_()
fixed, example = table.detach().double(), x.double()
loss_of(weight, fixed, example).backward()

print(weight.grad.norm() > 0)
assert torch.autograd.gradcheck(lambda w: loss_of(w, fixed, example), (weight,))

# %%
# To choose hard and learn softly, pass the gradient straight through
# -------------------------------------------------------------------
#
# Forward uses the hard choice, backward the derivative of the soft one. Adding
# the difference as a constant does it. The value is that of the choice, and the
# gradient is, by construction, that of ``share @ row_sums``.

weight = picker.weight.detach().clone().requires_grad_()
row_sums = table.detach().sum(1)
share = torch.softmax(weight @ x, dim=0)
hard = nn.functional.one_hot(share.argmax(), 3)
straight = hard + share - share.detach()
(straight @ row_sums).backward()

soft = picker.weight.detach().clone().requires_grad_()
(torch.softmax(soft @ x, dim=0) @ row_sums).backward()

print(straight.detach(), weight.grad)
torch.testing.assert_close(straight.detach(), hard.float())
torch.testing.assert_close(weight.grad, soft.grad)

# %%
# If the choice is not meant to learn, leave it out
# -------------------------------------------------
#
# Then ``None`` is the right gradient. Freeze what cannot learn, so that nobody
# waits for it, and pass on only what can.

picker.requires_grad_(False)
table.grad = None
(table[picker(x).argmax()].sum() ** 2).backward()

trained = [p for p in [picker.weight, table] if p.requires_grad]
torch.testing.assert_close(trained[0].grad[1], torch.full((2,), 2 * (2.0 + 2.0)))

# %%
# What only hides the error
# -------------------------
#
# ``chosen.float().requires_grad_()`` is a new `leaf tensor`: backward accepts it,
# and the picker still gets nothing.

picker.requires_grad_(True)
chosen = picker(x).argmax().float().requires_grad_()
(chosen**2).backward()
print(chosen.grad, picker.weight.grad)
assert picker.weight.grad is None

# %%
# ``round`` looks better, because it keeps a `grad_fn`. Its derivative is zero
# wherever it has one, and zeros train no better than ``None``.

score = torch.tensor([1.2, 0.3], requires_grad=True)
score.round().sum().backward()
print(score.grad)
assert not score.grad.any()

# %%
# Related: `grad-is-none`, `backward-argmax`.
