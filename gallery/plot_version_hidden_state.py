# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "version-counter/rnn-hidden-state-kept",
#     "inventory/rnn-retain-graph-then-step",
# ]
# cause-of = "version-modified"
# when = { node = "^(AsStrided|T)(Backward\\d*)?$", shape = "^\\[?(?!1,)\\d+, ?\\d+\\]?$" }
# ///
"""
A recurrent state carried over an optimizer step
================================================

You feed the hidden state of one step into the next and step the optimizer in
between. The state still holds the graph of the step before, so backward walks
into it and finds weights that have changed since.
"""

import copy
import traceback

import torch
from torch import nn

# %%
# The error
# ---------
#
# Three pieces of a sequence, one update after each. ``retain_graph=True``
# answered the first complaint, and this is the next one.

torch.manual_seed(0)
start = nn.RNN(2, 2).double()
sequence = torch.linspace(-1, 1, 24, dtype=torch.float64).reshape(3, 4, 1, 2)

rnn = copy.deepcopy(start)
optimizer = torch.optim.SGD(rnn.parameters(), lr=0.5)
hidden = torch.zeros(1, 1, 2, dtype=torch.float64)

try:
    for piece in sequence:
        output, hidden = rnn(piece, hidden)
        optimizer.zero_grad()
        (output**2).sum().backward(retain_graph=True)
        optimizer.step()
except RuntimeError:
    traceback.print_exc()

# %%
# The state has a history, and that history uses the recurrent weight:

print(hidden.grad_fn is not None, rnn.weight_hh_l0._version)

# %%
# Keep the value, drop the history
# --------------------------------
#
# `detach` the state before each piece. The network then learns within a piece,
# which is called truncated backpropagation through time. ``retain_graph`` goes.
# For an LSTM, detach both parts of the state.


def by_differences(network, piece, hidden, change=1e-6):
    """Return the derivative of the piece's loss by one recurrent weight."""
    losses = []
    with torch.no_grad():
        for sign in (1.0, -1.0):
            moved = copy.deepcopy(network)
            moved.weight_hh_l0[0, 1] += sign * change
            losses.append((moved(piece, hidden)[0] ** 2).sum())
    return (losses[0] - losses[1]) / (2 * change)


rnn = copy.deepcopy(start)
optimizer = torch.optim.SGD(rnn.parameters(), lr=0.5)
hidden = torch.zeros(1, 1, 2, dtype=torch.float64)

for piece in sequence:
    hidden = hidden.detach()
    right = by_differences(rnn, piece, hidden)
    output, hidden = rnn(piece, hidden)
    optimizer.zero_grad()
    (output**2).sum().backward()
    print(rnn.weight_hh_l0.grad[0, 1])
    torch.testing.assert_close(rnn.weight_hh_l0.grad[0, 1], right)
    optimizer.step()

# %%
# If the whole sequence must count, step once
# -------------------------------------------
#
# Add the losses of the pieces and call ``backward()`` and ``step()`` at the end.

rnn = copy.deepcopy(start)
hidden = torch.zeros(1, 1, 2, dtype=torch.float64)
loss = 0.0
for piece in sequence:
    output, hidden = rnn(piece, hidden)
    loss = loss + (output**2).sum()
loss.backward()

whole = sequence.reshape(12, 1, 2)
right = by_differences(rnn, whole, torch.zeros(1, 1, 2, dtype=torch.float64))
print(rnn.weight_hh_l0.grad[0, 1])
torch.testing.assert_close(rnn.weight_hh_l0.grad[0, 1], right)

# %%
# What only hides the error
# -------------------------
#
# Without a step in the loop ``retain_graph=True`` raises nothing, so it looks
# like a cure. Each backward walks the whole past again, takes longer than the
# one before, and returns another gradient than that of the piece:

rnn = copy.deepcopy(start)
hidden = torch.zeros(1, 1, 2, dtype=torch.float64)
for piece in sequence:
    received = hidden.detach()
    output, hidden = rnn(piece, hidden)
    rnn.zero_grad()
    (output**2).sum().backward(retain_graph=True)

cut = by_differences(rnn, sequence[2], received)
print(rnn.weight_hh_l0.grad[0, 1], cut)
assert not torch.allclose(rnn.weight_hh_l0.grad[0, 1], cut, rtol=1e-2)

# %%
# See also
# --------
#
# * `backward-twice`: the message before ``retain_graph=True``
# * `version-graph-reused`
