# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# cause-of = "leaf-inplace"
# when = { frame = "forward" }
# causes = ["leaf-inplace/augmented-assign-in-forward"]
# ///
"""
A parameter added to in forward
===============================

Your forward gave a parameter a second name and used ``+=`` on it. Both names
mean one `leaf tensor`, and ``+=`` writes into it.
"""

import traceback

import torch

# %%
# The error
# ---------
#
# A prompt of learned embeddings gets its positions added.


class Prompt(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.text = torch.nn.Parameter(torch.tensor([1.0, 2.0]))

    def forward(self, position):
        hidden = self.text
        hidden += position
        return hidden**2


prompt = Prompt()
position = torch.tensor([10.0, 20.0])
try:
    prompt(position)
except RuntimeError:
    traceback.print_exc()

# %%
# ``hidden`` is no copy:

hidden = prompt.text
print(hidden is prompt.text)
assert hidden is prompt.text

# %%
# Write the sum out of place
# --------------------------
#
# ``hidden + position`` is a new tensor. The parameter keeps its value, and the
# gradient of the square is twice the sum.


class OutOfPlacePrompt(Prompt):
    def forward(self, position):
        hidden = self.text
        hidden = hidden + position
        return hidden**2


prompt = OutOfPlacePrompt()
prompt(position).sum().backward()

print(prompt.text.detach(), prompt.text.grad)
torch.testing.assert_close(prompt.text.grad, 2 * torch.tensor([11.0, 22.0]))

# %%
# What only hides the error
# -------------------------
#
# `no_grad` around the line takes the message away. Now every forward adds the
# positions to the stored parameter again, so the model drifts while you only
# look at it:


class DriftingPrompt(Prompt):
    def forward(self, position):
        hidden = self.text
        with torch.no_grad():
            hidden += position
        return hidden**2


prompt = DriftingPrompt()
first, second = prompt(position), prompt(position)

print(first.detach(), second.detach(), prompt.text.detach())
assert not torch.equal(first, second)

# %%
# - `leaf-inplace`, all causes of this message
# - `leaf-relu-on-input`, the same write by a module
