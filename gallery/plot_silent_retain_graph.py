# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = ["silent/silent-retain-graph-fix-full-bptt"]
# symptom = "Each iteration is slower than the last and memory grows, since I use retain_graph=True."
# symptom-zh = "加了 retain_graph=True 之后训练越来越慢，显存一直增加（内存泄漏）"
# ///
"""
retain_graph=True in a training loop
====================================

You silenced "backward a second time" with ``retain_graph=True``, in a loop that carries
a tensor on. Every ``backward`` now walks through all earlier iterations again, and adds
their gradient once more.
"""

import torch

# %%
# The mistake
# -----------
#
# A state is multiplied by a weight in every step, and every step has a loss.


def run(steps, detach):
    weight = torch.tensor(0.5, requires_grad=True)
    state = torch.tensor(1.0)
    sizes = []
    for _ in range(steps):
        state = (state.detach() if detach else state) * weight
        state.backward(retain_graph=not detach)
        sizes.append(nodes_behind(state))
    return weight.grad, sizes


def nodes_behind(tensor):
    found, waiting = set(), [tensor.grad_fn]
    while waiting:
        node = waiting.pop()
        if node is not None and node not in found:
            found.add(node)
            waiting += [before for before, _ in node.next_functions]
    return len(found)


gradient, sizes = run(steps=4, detach=False)
print("nodes walked in each step:", sizes)
assert sizes == sorted(set(sizes))

# %%
# The work of a step grows with the number of steps, so the whole run grows with its square.
# After step ``t`` the state is ``w**t``, and all of its derivatives were added up:

w = 0.5
everything = sum(t * w ** (t - 1) for t in range(1, 5))
print(gradient)
torch.testing.assert_close(gradient, torch.tensor(everything))

# %%
# If each step is to learn from itself, detach the state
# ------------------------------------------------------
#
# The value goes on, the history does not, and no graph has to be retained. The gradient of a
# step is the state that came in.

gradient, sizes = run(steps=4, detach=True)
print(gradient, sizes)
torch.testing.assert_close(gradient, torch.tensor(sum(w**t for t in range(4))))
assert len(set(sizes)) == 1

# %%
# If late losses are to teach early steps, go back once
# -----------------------------------------------------
#
# The gradient above may even be the one you want, of the sum of all losses. Then add the
# losses up: one walk instead of four.

weight = torch.tensor(0.5, requires_grad=True)
state, loss = torch.tensor(1.0), 0.0
for _ in range(4):
    state = state * weight
    loss = loss + state
loss.backward()

print(weight.grad)
torch.testing.assert_close(weight.grad, torch.tensor(everything))

# %%
# What does not help
# ------------------
#
# Calling ``zero_grad`` in every step resets the sum, and not the walk: the gradient of a
# step is still that of all steps before it.

weight, state = torch.tensor(0.5, requires_grad=True), torch.tensor(1.0)
for _ in range(4):
    weight.grad = None
    incoming = state.detach()
    state = state * weight
    state.backward(retain_graph=True)

print("last step:", weight.grad, "instead of", incoming)
torch.testing.assert_close(weight.grad, torch.tensor(4 * w**3))
assert not torch.allclose(weight.grad, incoming)

# %%
# See also
# --------
#
# * `backward-twice`: the message behind it, with its causes
# * `backward-twice-rnn`: the state of a recurrent network
# * `version-hidden-state`: the same with an `optimizer` step in the loop
