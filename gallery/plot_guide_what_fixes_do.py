# /// script
# requires-python = ">=3.10"
# dependencies = ["torch", "numpy"]
#
# [tool.autograd-errors]
# causes = ["guide/what-fixes-do"]
# symptom = "There are seven answers to my error: .data, detach, no_grad, clone, retain_graph, requires_grad. Which one is right?"
# symptom-zh = "同一个报错有很多种解决办法：.data、detach、no_grad、clone、retain_graph=True、requires_grad_，到底该用哪个，有什么区别？"
# ///
"""
What each popular fix really does
=================================

Seven answers are given to nearly every error of autograd, and each is right for some
errors and wrong for others. Here every answer is applied to every error, and the gradient
that comes out is compared with the right one.
"""

import contextlib

import torch

# %%
# The question
# ------------
#
# You have an error and a fix that somebody found. Does it still raise, and if not, is
# the gradient right?
#
# These helpers apply a fix to the tensor in the line that fails. ``no_grad`` is put around
# that line, "retain" is ``retain_graph=True``, "requires" is ``requires_grad_(True)``.

FIXES = (".data", "detach()", "no_grad", "clone()", "retain", "requires", "out of place")
CHANGES = {
    ".data": lambda tensor: tensor.data,
    "detach()": torch.Tensor.detach,
    "clone()": torch.clone,
    "requires": torch.Tensor.requires_grad_,
}
start = torch.tensor([1.0, 2.0])


def fixed(tensor, fix):
    return CHANGES.get(fix, lambda tensor: tensor)(tensor)


def mode(fix):
    return torch.no_grad() if fix == "no_grad" else contextlib.nullcontext()


def add(tensor, amount, fix):
    return tensor + amount if fix == "out of place" else tensor.add_(amount)


def goes_on_with(tensor, written, fix):
    """``.data`` and ``no_grad`` are used for the write alone; else the result is used."""
    return tensor if fix in (".data", "no_grad") else written


# %%
# Errors of writing in place
# --------------------------
#
# Each function makes one mistake, with a fix applied, and returns the gradient of the
# weight. Beside it stands the gradient known by hand.


def leaf_before_forward(fix):  # leaf-inplace: w += 1, then the loss
    weight = start.clone().requires_grad_()
    with mode(fix):
        written = add(fixed(weight, fix), 1.0, fix)
    (goes_on_with(weight, written, fix) ** 2).sum().backward(retain_graph=fix == "retain")
    return weight.grad


def leaf_after_forward(fix):  # leaf-inplace: the loss, then w += 1, then backward
    weight = start.clone().requires_grad_()
    loss = ((weight.clone() if fix == "clone()" else weight) ** 2).sum()
    with mode(fix):
        add(fixed(weight, fix), 1.0, fix)
    loss.backward(retain_graph=fix == "retain")
    return weight.grad


def view_of_leaf(fix):  # view-of-leaf: w.view(2, 1)[0] += 1, then the loss
    weight = start.clone().requires_grad_()
    with mode(fix):
        view = fixed(weight, fix).view(2, 1)
        written = add(view, torch.tensor([[1.0], [0.0]]), fix)
    (goes_on_with(weight, written, fix) ** 2).sum().backward(retain_graph=fix == "retain")
    return weight.grad


def activation_output(fix):  # version-activation-output: exp(), then += 1
    weight = start.clone().requires_grad_()
    hidden = weight.exp()
    with mode(fix):
        written = add(fixed(hidden, fix), 1.0, fix)
    goes_on_with(hidden, written, fix).sum().backward(retain_graph=fix == "retain")
    return weight.grad


def optimizer_step(fix):  # version-optimizer-step: forward, step of the second weight, backward
    first, second = start.clone().requires_grad_(), start.clone().requires_grad_()
    hidden = first * 2.0
    used = second.clone() if fix == "clone()" else second
    loss = (used * (hidden.detach() if fix == "detach()" else hidden)).sum()
    with torch.no_grad():
        add(second.data if fix == ".data" else second, -1.0, fix)
    (loss.requires_grad_() if fix == "requires" else loss).backward(retain_graph=fix == "retain")
    return first.grad


# %%
# Errors of calling backward
# --------------------------
#
# Nothing is written here, so "out of place" does not apply and is left out.


def no_graph(fix):  # backward-no-grad-fn: the prediction is made again from numbers
    weight = start.clone().requires_grad_()
    prediction = torch.tensor((weight * 3.0).tolist())
    with mode(fix):
        loss = fixed((prediction**2).sum(), fix)
    loss.backward(retain_graph=fix == "retain")
    return weight.grad


def second_loss(fix):  # backward-twice: two losses of one forward
    weight = start.clone().requires_grad_()
    hidden = weight.exp()
    hidden.sum().backward(retain_graph=fix == "retain")
    with mode(fix):
        loss = (fixed(hidden, fix) ** 2).sum()
    loss.backward()
    return weight.grad


def kept_state(fix):  # backward-twice: each step is to learn from itself
    weight, state = start.clone().requires_grad_(), torch.ones(2)
    for _ in range(2):
        weight.grad = None
        with mode(fix):
            state = fixed(state, fix) * weight
        state.sum().backward(retain_graph=fix == "retain")
    return weight.grad


def numpy_in_loss(fix):  # numpy-requires-grad: one factor of the loss comes from numpy
    weight = start.clone().requires_grad_()
    with mode(fix):
        array = fixed(weight * 2.0, fix).numpy()
    (weight * torch.from_numpy(array)).sum().backward(retain_graph=fix == "retain")
    return weight.grad


def unused_input(fix):  # grad-unused-input: the gradient of a copy made beside the loss
    weight = start.clone().requires_grad_()
    asked = weight.clone()
    with mode(fix):
        loss = (weight**2).sum()
    return torch.autograd.grad(loss, fixed(asked, fix), retain_graph=fix == "retain")[0]


# %%
# Every fix on every error
# ------------------------
#
# "None" means that backward ran and the weight got no gradient.

writing = {
    "leaf, then forward": (leaf_before_forward, 2 * (start + 1)),
    "leaf after forward": (leaf_after_forward, 2 * start),
    "view of a leaf": (view_of_leaf, 2 * (start + torch.tensor([1.0, 0.0]))),
    "activation output": (activation_output, start.exp()),
    "optimizer step": (optimizer_step, 2 * start),
}
calling = {
    "no grad_fn": (no_graph, 2 * 9 * start),
    "second loss": (second_loss, start.exp() + 2 * (2 * start).exp()),
    "state is kept": (kept_state, start),
    "numpy in the loss": (numpy_in_loss, 2 * 2 * start),
    "unused input": (unused_input, 2 * start),
}


def verdict(mistake, right, fix):
    try:
        gradient = mistake(fix)
    except RuntimeError:
        return "raises"
    if gradient is None:
        return "none"
    return "right" if torch.allclose(gradient, right) else "wrong"


rows = [("error", *FIXES)]
for error, (mistake, right) in (writing | calling).items():
    applicable = FIXES if error in writing else FIXES[:-1]
    cells = [verdict(mistake, right, fix) if fix in applicable else "-" for fix in FIXES]
    rows.append((error, *cells))

for error, *cells in rows:
    print(f"{error:19}" + " ".join(f"{cell:{len(fix) + 1}}" for cell, fix in zip(cells, FIXES)))
# table: rows as "What each fix does to each error"

# %%
# Out of place is never wrong
# ---------------------------
#
# Wherever something was written, a new tensor repairs it, and so does a `clone` that is
# written instead. If the new tensor replaces a weight, hand the weight's update to
# `no_grad` all the same, or it is no `leaf tensor` any more: `grad-none-after-update`.

table = {row[0]: dict(zip(FIXES, row[1:], strict=True)) for row in rows[1:]}
assert all(table[error]["out of place"] == "right" for error in writing)
assert all(table[error]["clone()"] == "right" for error in writing)

# %%
# The other columns have one use each
# -----------------------------------
#
# - ``no_grad`` is for a write before forward, such as an initial value. Later, backward
#   refuses it, and that is its merit. Around a part of the model it cuts that part out.
# - ``.data`` does the same before forward and is a *wrong gradient* after it, because the
#   `version counter` does not see it.
# - ``detach()`` is for a value that nothing is to be learned through, such as a kept state.
# - ``retain_graph=True`` is for several gradients of one forward pass.
# - ``requires_grad_(True)`` repairs none of these errors.


def errors_with(fix, word):
    return [error for error, cells in table.items() if cells[fix] == word]


for fix in FIXES[:-1]:
    print(f"{fix:10} right: {', '.join(errors_with(fix, 'right')) or 'never'}")

assert errors_with("requires", "right") == []
assert errors_with("retain", "right") == ["second loss"]
assert errors_with("detach()", "right") == ["state is kept"]
assert errors_with("no_grad", "wrong") == ["numpy in the loss"]
assert "leaf after forward" in errors_with(".data", "wrong")

# %%
# Where no column is right
# ------------------------
#
# Three errors say that the way from the weight to the loss is broken. No call on the last
# tensor mends it; the way itself has to be kept.

weight = start.clone().requires_grad_()
((weight * 3.0) ** 2).sum().backward()  # no detour through numbers
torch.testing.assert_close(weight.grad, calling["no grad_fn"][1])

weight = start.clone().requires_grad_()
(weight * (weight * 2.0)).sum().backward()  # torch instead of numpy
torch.testing.assert_close(weight.grad, calling["numpy in the loss"][1])

weight = start.clone().requires_grad_()
(gradient,) = torch.autograd.grad((weight**2).sum(), weight)  # the tensor that was used
torch.testing.assert_close(gradient, calling["unused input"][1])

broken = [error for error, cells in table.items() if "right" not in cells.values()]
print(broken)
assert broken == ["no grad_fn", "numpy in the loss", "unused input"]

# %%
# See also
# --------
#
# * `guide-popular-answers`: what widely read articles claim, measured
# * `guide-find-the-line`
# * `version-modified` and `backward-twice`: the errors with the most wrong answers
