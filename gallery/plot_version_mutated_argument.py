# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = ["version-counter/forward-mutates-argument"]
# cause-of = "version-modified"
# when = { node = "^(Add|Mul|Sub|Div|Clone)(Backward\\d*)?$" }
# ///
"""
A forward changed the tensor it was given
=========================================

A function or ``forward`` wrote into its argument with ``x += ...``. The
caller's tensor is changed, and whatever used it before finds another value in
backward.
"""

import traceback

import torch
from torch import nn

# %%
# The error
# ---------
#
# A decoder adds a position to its tokens. The same tokens go through it twice.

position = torch.tensor([[1.0, -1.0]], dtype=torch.float64)
layer = nn.Linear(2, 2, bias=False, dtype=torch.float64)
nn.init.eye_(layer.weight)


def decode(tokens):
    tokens += position
    return (layer(tokens) ** 2).sum()


codes = torch.tensor([[1.0, 2.0]], dtype=torch.float64, requires_grad=True)
tokens = codes * 1.0

try:
    (decode(tokens) + decode(tokens)).backward()
except RuntimeError:
    traceback.print_exc()

# %%
# In Python an argument is the caller's own tensor, and ``+=`` on a tensor is an
# `in-place operation`. It is not short for ``tokens = tokens + position``:

print(tokens.detach(), tokens._version)

# %%
# Inside the function, make a new tensor
# --------------------------------------
#
# The name ``tokens`` then means the sum inside the function only. The caller
# keeps what it had.


def decode_copy(tokens):
    tokens = tokens + position
    return (layer(tokens) ** 2).sum()


tokens = codes * 1.0
(decode_copy(tokens) + decode_copy(tokens)).backward()

print(codes.grad)
torch.testing.assert_close(codes.grad, 2 * 2 * (codes.detach() + position))

# %%
# If you cannot change the function, pass a copy
# ----------------------------------------------
#
# Look for the argument's name left of ``+=``, ``*=`` or ``[...] =`` in the
# library's ``forward``. Until it is repaired, hand it a `clone`:

codes.grad = None
tokens = codes * 1.0
(decode(tokens.clone()) + decode(tokens.clone())).backward()

print(codes.grad)
torch.testing.assert_close(codes.grad, 2 * 2 * (codes.detach() + position))

# %%
# To catch it in a test, compare the version
# ------------------------------------------
#
# A function that only reads its argument leaves the `version counter` alone.

for function in (decode, decode_copy):
    tokens = codes * 1.0
    function(tokens)
    print(function.__name__, tokens._version)

assert tokens._version == 0

# %%
# What only hides the error
# -------------------------
#
# The message disappears if no operation saved the argument, for example when
# the layer is frozen or gone. The second call still starts from the tokens that
# the first one changed, and its result is wrong:


def count(tokens):
    tokens += position
    return tokens[0, 0].item()


tokens = torch.zeros(1, 2, dtype=torch.float64)
first, second = count(tokens), count(tokens)
print(first, second)
assert first != second

# %%
# See also
# --------
#
# * `version-saved-input`: which operations keep their inputs
# * `a public report <https://github.com/thuanz123/enhancing-transformers/issues/11>`__
