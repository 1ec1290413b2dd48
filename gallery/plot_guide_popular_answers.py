# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = [
#     "leaf-inplace/explained-wrongly",
#     "leaf-moved-interior/explained-wrongly",
#     "confusion/popular-answers",
# ]
# symptom = "I found clone, detach, no_grad and .data as answers to the in-place error. Which of them are right?"
# symptom-zh = "叶子张量原地操作报错，网上说用 clone、detach、no_grad 或 .data，到底哪个是对的？"
# ///
"""
Popular answers, run
====================

What is claimed about leaves, views and in-place writes does not always happen
when you run it. Each row below is a claim of a widely read article or answer,
what it says you get, and what you get.
"""

import re
import warnings

import torch

# %%
# The question
# ------------
#
# Which answers can you follow? A claim is a sentence, the result it promises and
# a function that does what it says. These two helpers run the function and
# compare. An error counts as the promised one if it begins the same way.


def outcome(run):
    try:
        result = run()
    except RuntimeError as error:
        return f"error: {error}"
    if isinstance(result, torch.Tensor):
        return ", ".join(f"{number:g}" for number in result.flatten().tolist())
    if isinstance(result, bool):
        return "yes" if result else "no"
    return str(result)


def short(text, width):
    return text if len(text) <= width else text[: width - 3] + "..."


def measured(claims):
    rows = [("answer", "claimed", "measured", "holds")]
    for answer, claimed, run in claims:
        found = outcome(run)
        holds = "yes" if found[: len(claimed) if "error" in claimed else None] == claimed else "no"
        rows.append((answer, claimed, short(found, 23), holds))
    for answer, claimed, found, holds in rows:
        print(f"{answer:37} {claimed:20} {found:23} {holds}")
    return rows


# %%
# An article about views of a leaf
# --------------------------------
#
# It explains "a view of a leaf Variable" (`view-of-leaf`) by an immutable
# `computational graph`, and repairs a detection model (`case-yolov5-biases`).


def write_into_view():
    weight = torch.nn.Parameter(torch.zeros(2))
    weight.view(-1)[0] += 1


def gradient_after_the_refusal():
    weight = torch.ones(2, requires_grad=True)
    column = weight.view(2, 1)
    total = column.sum()
    try:
        column[0] += 1
    except RuntimeError:
        total.backward()
    return weight.grad


def write_into_view_of_a_result():
    weight = torch.ones(2, requires_grad=True)
    hidden = weight * 1
    hidden.view(2, 1)[1] *= 5
    hidden.sum().backward()
    return weight.grad


def assign_data():
    weight = torch.tensor(3.0, requires_grad=True)
    loss = weight * weight
    weight.data = torch.tensor(100.0)
    loss.backward()
    return weight.grad


def write_under_no_grad():
    weight = torch.nn.Parameter(torch.zeros(2))
    with torch.no_grad():
        view = weight.view(-1)
        view[0] += 1
    return weight.detach()


def write_into_data(weight):
    weight.data.view(-1)[0] += 1
    return weight.detach()


def write_into_parameter_data():
    return write_into_data(torch.nn.Parameter(torch.zeros(2)))


def counted(write):
    weight = torch.nn.Parameter(torch.zeros(2))
    with torch.no_grad():
        write(weight)
    return weight._version


def yolo_original():
    head = torch.nn.Conv2d(1, 6, 1)
    bias = head.bias.view(3, -1)
    bias[:, 1] += 1.0


def yolo_repair(answer):
    head = torch.nn.Conv2d(1, 6, 1)
    optimizer = torch.optim.SGD(head.parameters(), lr=1.0)
    with torch.no_grad():
        bias = head.bias.view(3, -1)
        bias[:, 1] += 1.0
        head.bias = torch.nn.Parameter(bias.view(-1), requires_grad=True)
    held = optimizer.param_groups[0]["params"]
    return answer(head.bias, held)


def is_held(bias, held):
    return any(parameter is bias for parameter in held)


def fill_first():
    values = torch.zeros(2)
    values[0] += 4
    return torch.nn.Parameter(values).is_leaf


def initialize():
    return torch.nn.init.ones_(torch.nn.Parameter(torch.zeros(2))).is_leaf


def write_into_clone():
    bias = torch.nn.Parameter(torch.zeros(2))
    shifted = bias.clone()
    shifted[0] += 4
    (shifted**2).sum().backward()
    return bias.grad


rows = measured(
    [
        ("p.view(-1)[0] += 1 raises", "error: a view", write_into_view),
        ("after that the gradient is lost", "None", gradient_after_the_refusal),
        ("no view may be written at all", "error: a view", write_into_view_of_a_result),
        ("the written view is a leaf", "yes", lambda: torch.ones(2).requires_grad_()[:1].is_leaf),
        ("p.data = new keeps gradients right", "6", assign_data),
        ("view and write under no_grad work", "1, 0", write_under_no_grad),
        ("p.data.view(-1)[0] += 1 works", "1, 0", write_into_parameter_data),
        ("no_grad is noticed by backward", "1", lambda: counted(lambda p: p.view(-1)[0].add_(1))),
        (".data is no different from it", "1", lambda: counted(write_into_data)),
        ("YOLO's b[:, 4] += ... raises", "error: a view", yolo_original),
        ("its repair keeps a leaf", "yes", lambda: yolo_repair(lambda bias, held: bias.is_leaf)),
        ("... and training goes on", "yes", lambda: yolo_repair(is_held)),
        ("a clone may be written", "8, 0", write_into_clone),
        ("fill first, then make it a parameter", "yes", fill_first),
        ("nn.init needs no precaution", "yes", initialize),
    ]
)
everything = rows[1:]
# table: rows as "An article about views of a leaf: claimed and measured"

# %%
# An article about leaves written in place
# ----------------------------------------
#
# It offers `clone`, `detach` and `no_grad` as three equal repairs of the message
# of `leaf-inplace`, each with the gradient that it should print.


def wording():
    x = torch.tensor([1.0], requires_grad=True)
    try:
        x += 1
    except RuntimeError as error:
        return re.search(r"(has been|is being) used", str(error))[0]


def square_of_clone():
    x = torch.tensor([1.0], requires_grad=True)
    y = x.clone()
    y += 1
    (y * y).backward()
    return x.grad


def square_of_detached():
    x = torch.tensor([1.0], requires_grad=True)
    y = x.detach()
    y += 1
    (y * y).backward()
    return x.grad


def original_of_detached():
    x = torch.tensor([1.0], requires_grad=True)
    y = x.detach()
    y += 1
    return x.detach()


def square_after_no_grad():
    x = torch.tensor([1.0], requires_grad=True)
    with torch.no_grad():
        x += 1
    (x * x).backward()
    return x.grad


def training_loop_writes():
    model = torch.nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    x = torch.tensor([[1.0], [2.0], [3.0], [4.0]])
    before = model.weight._version
    loss = torch.nn.functional.mse_loss(model(x), 2 * x)
    optimizer.zero_grad()
    loss.backward()
    return model.weight._version > before


def square_of_double(grad_of):
    x = torch.tensor([1.0], requires_grad=True)
    y = x * 2
    z = y * y
    before = x.grad
    z.backward()
    with warnings.catch_warnings(record=True):  # reading y.grad warns
        return grad_of(before, x, y)


rows = measured(
    [
        ("x += 1 says", "has been used", wording),
        ("clone, then += and square: x.grad", "4", square_of_clone),
        ("detach, then += and square: x.grad", "1", square_of_detached),
        ("detach leaves the original alone", "1", original_of_detached),
        ("no_grad +=, then square: x.grad", "2", square_after_no_grad),
        ("the training loop had such a write", "yes", training_loop_writes),
        ("before backward x.grad is", "None", lambda: square_of_double(lambda old, x, y: old)),
        ("after it, for (2x)**2, it is", "8", lambda: square_of_double(lambda old, x, y: x.grad)),
        (
            "a result keeps its gradient, too",
            "yes",
            lambda: square_of_double(lambda old, x, y: y.grad is not None),
        ),
        ("a new tensor has requires_grad", "no", lambda: torch.ones(1).requires_grad),
        (
            "requires_grad_() sets it to",
            "yes",
            lambda: torch.ones(1).requires_grad_().requires_grad,
        ),
        (
            "requires_grad_(False) sets it to",
            "no",
            lambda: torch.ones(1).requires_grad_().requires_grad_(False).requires_grad,
        ),
    ]
)
everything += rows[1:]
# table: rows as "An article about leaves written in place: claimed and measured"

# %%
# A question about a tensor filled with results
# ---------------------------------------------
#
# The question and its answers are about "moved into the graph interior"
# (`leaf-moved-interior`) and about what is a leaf (`leaf-what-is`).


def fill(requires_grad, answer):
    x = torch.ones(3, 5, requires_grad=True)
    z = (x + 2) * (x + 2) * 3
    buffer = torch.empty(2, requires_grad=requires_grad)
    before = f"{buffer.is_leaf} {buffer.grad_fn} {buffer.requires_grad}"
    buffer[0] = z.mean()
    buffer[1] = 2 * z.mean()
    after = f"{buffer.is_leaf} {buffer.grad_fn.name()} {buffer.requires_grad}"
    buffer.backward(torch.tensor([0.0, 1.0]))
    with warnings.catch_warnings(record=True):
        return answer(before, after, x.grad[0, 0], buffer.grad)


def fresh_leaf():
    buffer = torch.empty(2, requires_grad=True)
    return f"{buffer.is_leaf} {buffer.grad_fn} {buffer.requires_grad}"


def double(answer):
    a = torch.ones(2)
    b = 2 * a
    before = b.is_leaf
    b.requires_grad = True
    return answer(before, b)


def gradient_of_frozen_leaf():
    frozen, weight = torch.ones(1), torch.ones(1, requires_grad=True)
    (frozen * weight).backward()
    return frozen.grad is not None


def gradient_of_retained():
    weight = torch.ones(1, requires_grad=True)
    hidden = weight * 2
    hidden.retain_grad()
    (hidden * 3).backward()
    return hidden.grad


def slice_of_leaf(answer):
    weight = torch.ones(2, requires_grad=True)
    part = weight[0]
    (part * 3).backward()
    with warnings.catch_warnings(record=True):
        return answer(part)


rows = measured(
    [
        (
            "requires_grad=True: the error is",
            "error: leaf variable",
            lambda: fill(True, lambda *a: a[0]),
        ),
        ("a new buffer with it is", "True None True", fresh_leaf),
        ("filled, it becomes", "False CopySlices", lambda: fill(True, lambda old, new, x, b: new)),
        ("without it, x.grad is", "2.4", lambda: fill(False, lambda old, new, x, b: x)),
        ("a new buffer without it is", "True None False", lambda: fill(False, lambda *a: a[0])),
        ("b.grad of the filled buffer is", "None", lambda: fill(False, lambda *a: a[3])),
        ("2 * a is a leaf, if a needs none", "yes", lambda: double(lambda before, b: before)),
        ("... also with requires_grad = True", "yes", lambda: double(lambda before, b: b.is_leaf)),
        ("every leaf in the graph gets .grad", "yes", gradient_of_frozen_leaf),
        ("so does a result with retain_grad()", "3", gradient_of_retained),
        (
            "a result has a grad_fn",
            "yes",
            lambda: double(lambda before, b: (b * 2).grad_fn is not None),
        ),
        (
            "what is off the graph is a leaf",
            "yes",
            lambda: torch.ones(2).requires_grad_().detach().is_leaf,
        ),
        (
            "a slice inherits requires_grad",
            "yes",
            lambda: slice_of_leaf(lambda part: part.requires_grad),
        ),
        (
            "... and its .grad is available",
            "yes",
            lambda: slice_of_leaf(lambda part: part.grad is not None),
        ),
    ]
)
everything += rows[1:]
# table: rows as "A question about a tensor filled with results: claimed and measured"

# %%
# What does not help
# ------------------
#
# Fixes that are found everywhere, each with the gradient you would get from the
# model you meant. One more needs two processes: `silent-ddp-module`.


def after(write, create=lambda: torch.tensor([3.0], device="cpu", requires_grad=True)):
    weight = create()
    loss = (weight * weight).sum()
    write(weight)
    weight.grad = None
    loss.backward()
    return weight.grad


def numpy_write(weight):
    weight.detach().numpy()[:] = 30.0


def fused_step(weight):
    weight.grad = torch.full_like(weight, 0.5)
    torch.optim.SGD([weight], lr=1.0, fused=True).step()


def plain_step(weight):
    weight.grad = torch.full_like(weight, 0.5)
    torch.optim.SGD([weight], lr=1.0).step()


def require_on_loss():
    net = torch.nn.Linear(1, 1)
    loss = net(torch.ones(1)).detach().requires_grad_()
    loss.backward()
    return net.weight.grad


def wrapped_loss():
    net = torch.nn.Linear(1, 1)
    loss = torch.autograd.Variable(net(torch.ones(1)).data, requires_grad=True)
    loss.backward()
    return net.weight.grad


def recurrent(retain, step=0.0):
    weight, hidden = torch.tensor(0.5, requires_grad=True), torch.tensor(1.0)
    for _ in range(3):
        hidden = (hidden if retain else hidden.detach()) * weight
        hidden.backward(retain_graph=retain)
        with torch.no_grad():
            if step:
                weight.add_(step)
    return weight.grad


def allow_unused():
    weight = torch.tensor(2.0, requires_grad=True)
    copied = weight.clone()
    return torch.autograd.grad(weight * 3, copied, allow_unused=True)[0]


def through_numpy():
    weight = torch.tensor(2.0, requires_grad=True)
    hidden = torch.tensor((weight * 3).detach().cpu().numpy())
    (hidden * 1.0).backward()
    return weight.grad


def through_parameter():
    weight = torch.tensor(2.0, requires_grad=True)
    torch.nn.Parameter(weight * 3).backward()
    return weight.grad


def no_grad_on_result():
    weight = torch.tensor(1.0, requires_grad=True)
    hidden = weight * 2
    with torch.no_grad():
        hidden.mul_(3)
    hidden.backward()
    return weight.grad


def out_of_place_step():
    weight = torch.tensor(1.0, requires_grad=True)
    (weight * 2).backward()
    weight = weight - 0.5 * weight.grad
    (weight * 2).backward()
    with warnings.catch_warnings(record=True):
        return weight.grad


rows = measured(
    [
        ("in place: write to .data", "6", lambda: after(lambda weight: weight.data.mul_(10))),
        ("in place: write through NumPy", "6", lambda: after(numpy_write)),
        ("version error: fused=True", "6", lambda: after(fused_step)),
        ("hand-written step: w = w - lr * grad", "2", out_of_place_step),
        ("no gradient: loss.requires_grad_()", "1", require_on_loss),
        ("no gradient: Variable(loss, True)", "1", wrapped_loss),
        ("second time: retain_graph in a loop", "1.75", lambda: recurrent(retain=True)),
        ("... with a step in the loop", "1.75", lambda: recurrent(retain=True, step=-0.1)),
        ("not used: allow_unused=True", "3", allow_unused),
        ("NumPy call: detach() in forward", "3", through_numpy),
        ("not a Parameter: nn.Parameter(x)", "3", through_parameter),
        ("in place: no_grad on a result", "6", no_grad_on_result),
    ]
)
everything += rows[1:]
assert all(holds == "no" for *_, holds in rows[1:])
# table: rows as "What does not help: claimed and measured"

# %%
# What the right ones have in common
# ----------------------------------
#
# Count them first.

print(sum(holds == "yes" for *_, holds in everything), "of", len(everything), "hold")
assert 0 < sum(holds == "yes" for *_, holds in everything) < len(everything)

# %%
# Two rules are enough. To learn through a change, make a new tensor, with an
# operation out of place, a `clone` or a stack. To change a value and not learn
# from it, write under `no_grad`, and only into a leaf. The gradients then agree
# with formulas written by hand.

torch.testing.assert_close(square_of_clone(), torch.tensor([2 * (1.0 + 1.0)]))
torch.testing.assert_close(square_after_no_grad(), torch.tensor([2 * (1.0 + 1.0)]))
torch.testing.assert_close(write_into_clone(), torch.tensor([2 * 4.0, 0.0]))
torch.testing.assert_close(write_into_view_of_a_result(), torch.tensor([1.0, 5.0]))
torch.testing.assert_close(recurrent(retain=False), torch.tensor(1.0 + 0.5 + 0.25))

# %%
# Where a write under `no_grad` comes too early, you are told. The same write by
# an optimizer that is not fused is refused by backward (`version-modified`):

print(short(outcome(lambda: after(plain_step)), 80))
assert outcome(lambda: after(plain_step)).startswith("error")

# %%
# - `leaf-inplace` and `view-of-leaf`, the errors with their repairs
# - `silent-wrong-fixes`, some of the wrong fixes at length
# - `silent-data-edit` and `silent-fused-optimizer`, writes that no check sees
# - `leaf-what-is`, leaves and results
