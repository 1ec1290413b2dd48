# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "second-backward/rnn-hidden-state-kept",
#     "inventory/backward-twice-rnn-hidden-state",
# ]
# cause-of = "backward-twice"
# ///
"""
A hidden state is carried from one step to the next
===================================================

Your loop passes the state of one step into the next. The state brings the
graph of all earlier steps with it, and the last backward has already freed it.
"""

import traceback

import torch

# %%
# The error
# ---------
#
# A recurrent cell reads a long text in pieces and learns after every piece.

torch.manual_seed(0)
cell = torch.nn.RNNCell(1, 1)
pieces = [torch.tensor([[1.0]]), torch.tensor([[-1.0]]), torch.tensor([[2.0]])]
state = torch.zeros(1, 1)

try:
    for piece in pieces:
        state = cell(piece, state)
        state.square().sum().backward()
except RuntimeError:
    traceback.print_exc()

# %%
# The state at the start of the second step is a result of the first:

print(state.grad_fn is not None)
assert state.requires_grad

# %%
# Detach the state between the pieces
# -----------------------------------
#
# The value goes on, the history ends: *truncated* backpropagation through time.
# Each piece learns from itself. Its gradient is that of the cell with the
# incoming state as a constant, here taken by `torch.func.grad`.


def loss_of(parameters, piece, state):
    return torch.func.functional_call(cell, parameters, (piece, state)).square().sum()


parameters = {name: value.detach() for name, value in cell.named_parameters()}
state = torch.zeros(1, 1)
for piece in pieces:
    incoming = state.detach()
    cell.zero_grad()
    state = cell(piece, incoming)
    state.square().sum().backward()

    expected = torch.func.grad(loss_of)(parameters, piece, incoming)
    torch.testing.assert_close(cell.weight_hh.grad, expected["weight_hh"])

# %%
# An LSTM has two states, and a tuple has no ``detach``. Do it for each:

lstm = torch.nn.LSTMCell(1, 1)
states = (torch.zeros(1, 1), torch.zeros(1, 1))
for piece in pieces:
    states = lstm(piece, tuple(state.detach() for state in states))
    states[0].square().sum().backward()
assert all(parameter.grad is not None for parameter in lstm.parameters())

# %%
# To learn across the pieces, add the losses up
# ---------------------------------------------
#
# One backward over the sum walks every step once, and the gradient holds the
# influence of early pieces on late states.

cell.zero_grad()
state, loss = torch.zeros(1, 1), 0.0
for piece in pieces:
    state = cell(piece, state)
    loss = loss + state.square().sum()
loss.backward()


def whole_loss(parameters):
    state, loss = torch.zeros(1, 1), 0.0
    for piece in pieces:
        state = torch.func.functional_call(cell, parameters, (piece, state))
        loss = loss + state.square().sum()
    return loss


expected = torch.func.grad(whole_loss)(parameters)
torch.testing.assert_close(cell.weight_hh.grad, expected["weight_hh"])

# %%
# What only hides the error
# -------------------------
#
# ``retain_graph=True`` keeps every step alive. Each backward walks the whole
# history again, and the graph grows with the length of the text.


def size_of(tensor):
    found, waiting = set(), [tensor.grad_fn]
    while waiting:
        node = waiting.pop()
        if node is not None and node not in found:
            found.add(node)
            waiting += [before for before, _ in node.next_functions]
    return len(found)


cell.zero_grad()
state, sizes = torch.zeros(1, 1), []
for piece in pieces:
    state = cell(piece, state)
    state.square().sum().backward(retain_graph=True)
    sizes.append(size_of(state))

print("nodes walked in each step:", sizes)
assert sizes[0] < sizes[1] < sizes[2]

# %%
# With an `optimizer` step in the loop the message changes to "modified by an
# `in-place operation`", because the old steps need the old weights. Look at
# `version-optimizer-step` then. The cure is the same: detach the state.
#
# If a helper detaches for you, look whether it still recognizes a tensor.
# Old language models carry a ``repackage_hidden`` that compares
# ``type(h) == Variable``, which is never true today:


def repackage_hidden(hidden):
    if isinstance(hidden, torch.Tensor):
        return hidden.detach()
    return tuple(repackage_hidden(each) for each in hidden)


assert type(state) is not torch.autograd.Variable
print([each.requires_grad for each in repackage_hidden((state, state * 2))])
assert not any(each.requires_grad for each in repackage_hidden((state, state * 2)))

# %%
# See also
# --------
#
# * `backward-twice`: the other causes of the message
# * `silent-retain-graph`: what retaining does to the gradient
