"""Try every differentiable operation of the installed torch and write what it saves, views, shares.

``python -m tools.operations`` writes docs/_data/operations.json. Samples come from PyTorch's own
operator database; every answer is the outcome of a trial, and what could not be tried says why.
Name operations after the command to try only those and print the result instead.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import warnings
from dataclasses import asdict, dataclass, field
from datetime import date
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "docs" / "_ext"))

import torch  # noqa: E402
from graph_walk import grad_fn, memory, node_name, saved_tensors  # noqa: E402
from isolated_run import ScriptFailure, run_isolated  # noqa: E402
from torch.utils import _pytree as pytree  # noqa: E402

from tools import sharing  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

DATA = ROOT / "docs" / "_data" / "operations.json"
TIME_LIMIT = 60
MOST_LOOKED_AT = 100
MOST_SAMPLES = 12
MOST_TRIALS = 4
SEED = 0
STEP = 0.5
DTYPES = (torch.float64, torch.float32, torch.complex128)
"""In order of preference; operations on complex numbers alone get the last one."""

MAY, RAISES, WRITE_RAISES, WRONG = (
    "yes",
    "no, backward raises",
    "no, the write raises",
    "no, the gradient is silently wrong",
)


class NotTried(Exception):
    """An operation that cannot be tried; its text is the reason."""


@dataclass
class Written:
    """One tensor of a call: is it saved, and may it be overwritten before backward?"""

    name: str
    saved: bool
    overwrite: str


@dataclass
class Saves:
    """What one operation keeps for backward, and what that forbids."""

    operation: str
    node: str | None
    inputs: list[Written] = field(default_factory=list)
    outputs: list[Written] = field(default_factory=list)
    something_else: bool = False


@dataclass
class View:
    """Whether one operation returns its input's memory."""

    operation: str
    kind: str
    """"view", "maybe" or "copy"."""
    outputs: int
    shared: int
    tried: int
    itself: int
    """In how many calls an output was the input tensor itself."""
    hidden: int
    """In how many calls an output shared memory although ``_base`` says nothing of it."""


class Call:
    """One sample of an operation, called anew for each trial with the same numbers."""

    def __init__(self, operation: Callable[..., Any], sample: Any) -> None:
        self.operation = operation
        self.leaves, self.spec = pytree.tree_flatten((sample.input, sample.args, sample.kwargs))
        paths, _ = pytree.tree_flatten_with_path((sample.input, sample.args, sample.kwargs))
        self.names = [name_of(path) for path, _ in paths]

    def run(self) -> tuple[list[Any], list[Any], list[torch.Tensor]]:
        """Return the leaf tensors, the arguments made of them, and the results."""
        torch.manual_seed(SEED)
        roots, arguments = [], []
        for leaf in self.leaves:
            if not isinstance(leaf, torch.Tensor):
                roots.append(None)
                arguments.append(leaf)
                continue
            root = leaf.detach().clone().requires_grad_(leaf.requires_grad)
            roots.append(root if root.requires_grad else None)
            arguments.append(root.clone() if root.requires_grad else root)
        first, args, kwargs = pytree.tree_unflatten(arguments, self.spec)
        results = pytree.tree_leaves(self.operation(first, *args, **kwargs))
        return roots, arguments, [out for out in results if isinstance(out, torch.Tensor)]

    def gradients(self, roots: list[Any], results: list[torch.Tensor]) -> list[Any]:
        """Return the gradients of a weighted sum of *results*."""
        outputs = [out for out in results if out.requires_grad]
        return list(
            torch.autograd.grad(
                outputs,
                [root for root in roots if root is not None],
                [weights(out) for out in outputs],
                allow_unused=True,
            )
        )


def name_of(path: Any) -> str:
    """Return what a reader calls an argument: "input", "argument 2" or its keyword."""
    steps = [getattr(step, "idx", getattr(step, "key", None)) for step in path]
    if steps[0] == 0:
        return "input"
    if steps[0] == 1:
        return f"argument {steps[1] + 2}"
    return str(steps[1])


def weights(out: torch.Tensor) -> torch.Tensor:
    """Return different weights for the elements, so that no two errors cancel."""
    return torch.linspace(0.5, 1.5, out.numel()).to(out.dtype).reshape(out.shape)


# -- What is saved -------------------------------------------------------------------------------------


def try_saves(name: str, call: Call) -> Saves:
    """Return what the operation saves, and whether each tensor may be overwritten."""
    roots, arguments, results = call.run()
    differentiable = [out for out in results if out.requires_grad]
    found = Saves(name, node_name(grad_fn(differentiable[0])))
    kept = saved_memory(arguments, results)
    places = [memory(tensor) if isinstance(tensor, torch.Tensor) else None for tensor in arguments]
    outputs = [memory(out) for out in results]
    reference = call.gradients(roots, results)
    again, _, others = call.run()
    if not same(reference, call.gradients(again, others)):
        raise NotTried("two calls with the same numbers give different gradients")
    for number, root in enumerate(roots):
        if root is not None and len(found.inputs) < MOST_TRIALS:
            overwritten = overwrite(call, reference, lambda a, r, n=number: a[n])
            found.inputs.append(Written(call.names[number], places[number] in kept, overwritten))
    own = set(outputs) - set(places)
    for number, out in enumerate(results):
        if out.requires_grad and len(found.outputs) < MOST_TRIALS:
            overwritten = overwrite(call, reference, lambda a, r, n=number: r[n])
            is_saved = outputs[number] in kept & own
            found.outputs.append(Written(f"output {number}", is_saved, overwritten))
    found.something_else = bool(kept - set(places) - own)
    return found


def saved_memory(arguments: list[Any], results: list[torch.Tensor]) -> set[Any]:
    """Return the storages that the nodes between *arguments* and *results* keep."""
    ends = {id(grad_fn(argument)) for argument in arguments if isinstance(argument, torch.Tensor)}
    queue = [node for out in results if (node := grad_fn(out)) is not None]
    reached: dict[int, Any] = {}
    kept = set()
    for node in queue:
        if id(node) in reached or id(node) in ends:
            continue
        reached[id(node)] = node
        queue += [follower for follower, _ in node.next_functions if follower is not None]
        kept |= {memory(data) for _, data in saved_tensors(node) if data is not None}
    return kept - {None}


def overwrite(
    call: Call, reference: list[Any], choose: Callable[[list[Any], list[Any]], torch.Tensor]
) -> str:
    """Return what becomes of the gradient when one tensor is overwritten before backward."""
    roots, arguments, results = call.run()
    tensor = choose(arguments, results)
    try:
        tensor.add_(STEP)
    except RuntimeError:
        return WRITE_RAISES
    try:
        gradients = call.gradients(roots, results)
    except RuntimeError:
        return RAISES
    return MAY if same(reference, gradients) else WRONG


def same(one: list[Any], other: list[Any]) -> bool:
    """Return whether two lists of gradients agree."""
    for left, right in zip(one, other, strict=True):
        if (left is None) != (right is None):
            return False
        if left is None:
            continue
        if left.layout != torch.strided or left.is_nested:
            raise NotTried("its gradients are sparse or nested")
        if not torch.allclose(left, right, equal_nan=True):
            return False
    return True


# -- What is a view ------------------------------------------------------------------------------------


def try_views(name: str, calls: list[Call]) -> View:
    """Return how often the operation returns its input's memory."""
    found = View(name, "copy", 0, 0, 0, 0, 0)
    for call in calls:
        for scattered in (False, True):
            try:
                arguments, results = call_plainly(call, scattered)
            except (RuntimeError, NotImplementedError, TypeError, ValueError):
                continue  # a sample that torch refuses with other strides
            places = {memory(tensor) for tensor in arguments} - {None}
            found.tried += 1
            found.outputs = max(found.outputs, len(results))
            found.shared += any(memory(out) in places for out in results)
            new = [out for out in results if not any(out is tensor for tensor in arguments)]
            found.itself += len(new) < len(results)
            found.hidden += any(memory(out) in places and out._base is None for out in new)
    if found.tried == 0:
        raise NotTried("no sample gives a tensor")
    if found.shared:
        found.kind = "view" if found.shared == found.tried else "maybe"
    return found


def call_plainly(call: Call, scattered: bool) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
    """Call with arguments that are contiguous, or all of them not."""
    torch.manual_seed(SEED)
    arguments = []
    for leaf in call.leaves:
        if isinstance(leaf, torch.Tensor):
            leaf = leaf.detach().clone()
            if scattered and leaf.dim():
                leaf = torch.stack([leaf, leaf], -1)[..., 0].detach()  # other strides, no base
        arguments.append(leaf)
    first, args, kwargs = pytree.tree_unflatten(arguments, call.spec)
    results = pytree.tree_leaves(call.operation(first, *args, **kwargs))
    tensors = [argument for argument in arguments if isinstance(argument, torch.Tensor)]
    return tensors, [out for out in results if isinstance(out, torch.Tensor) and out.numel()]


# -- All operations ------------------------------------------------------------------------------------


def try_operation(info: Any) -> dict[str, Any]:
    """Return the outcome of both trials for one entry of PyTorch's database."""
    name = full_name(info)
    warnings.simplefilter("ignore")
    try:
        calls = samples(info)
        return {
            "saves": asdict(try_saves(name, calls[0])),
            "view": asdict(try_views(name, calls)),
        }
    except NotTried as reason:
        return {"untried": {"operation": name, "why": str(reason)}}


def full_name(info: Any) -> str:
    """Return the name of an entry, with its variant where the database has several."""
    return f"{info.name} ({info.variant_test_name})" if info.variant_test_name else info.name


def samples(info: Any) -> list[Call]:
    """Return sample calls with differentiable results; the first one is the plainest."""
    dtype = next((dtype for dtype in DTYPES if dtype in info.dtypes), None)
    if dtype is None:
        raise NotTried("it takes no float and no complex numbers on the CPU")
    found: list[Call] = []
    torch.manual_seed(SEED)
    try:
        for sample in islice(info.sample_inputs("cpu", dtype, requires_grad=True), MOST_LOOKED_AT):
            call = Call(info.op, sample)
            if is_usable(call):
                found.append(call)
            if len(found) == MOST_SAMPLES:
                break
    except Exception as problem:
        raise NotTried(f"no sample on this machine: {type(problem).__name__}") from None
    if not found:
        raise NotTried("no sample gives a differentiable result")
    return sorted(found, key=lambda call: (not has_elements(call), not has_matrix(call)))


def is_usable(call: Call) -> bool:
    """Return whether a call runs and gives something that can be differentiated."""
    try:
        _, _, results = call.run()
    except Exception:  # samples may ask for a device or a library that is not here
        return False
    tensors = [leaf for leaf in call.leaves if isinstance(leaf, torch.Tensor)] + results
    return any(out.requires_grad for out in results) and all(part.numel() for part in tensors)


def has_elements(call: Call) -> bool:
    """Return whether every tensor of a call has several elements."""
    return all(leaf.numel() > 1 for leaf in call.leaves if isinstance(leaf, torch.Tensor))


def has_matrix(call: Call) -> bool:
    """Return whether the first tensor of a call has two dimensions."""
    return next((leaf.dim() == 2 for leaf in call.leaves if isinstance(leaf, torch.Tensor)), False)


def outcomes(chosen: list[str]) -> Iterator[dict[str, Any]]:
    """Try all operations, or the *chosen* ones, each in a process of its own."""
    from torch.testing._internal.common_methods_invocations import op_db

    for info in sorted(op_db, key=full_name):
        if not info.supports_autograd or (chosen and info.name not in chosen):
            continue
        try:
            yield run_isolated(lambda info=info: try_operation(info), TIME_LIMIT)
        except ScriptFailure as failure:
            why = str(failure).strip().splitlines()[-1]
            yield {"untried": {"operation": full_name(info), "why": why}}


def collect(chosen: list[str]) -> dict[str, Any]:
    """Return everything the pages show."""
    tried = list(outcomes(chosen))
    return {
        "schema": 1,
        "torch": torch.__version__.partition("+")[0],
        "python": platform.python_version(),
        "date": date.today().isoformat(),
        "saves": [outcome["saves"] for outcome in tried if "saves" in outcome],
        "views": [outcome["view"] for outcome in tried if "view" in outcome],
        "untried": [outcome["untried"] for outcome in tried if "untried" in outcome],
        "sharing": [asdict(run_isolated(lambda e=e: sharing.try_expression(e), TIME_LIMIT))
                    for e in sharing.EXPRESSIONS],
    }  # fmt: skip


def text_of(found: dict[str, Any]) -> str:
    """Return *found* as JSON with one operation a line, so that a new recording reads as a diff."""
    parts = []
    for key, value in found.items():
        if isinstance(value, list):
            rows = ",\n".join(json.dumps(row, ensure_ascii=False) for row in value)
            parts.append(f'"{key}": [\n{rows}\n]')
        else:
            parts.append(f'"{key}": {json.dumps(value)}')
    return "{\n" + ",\n".join(parts) + "\n}\n"


def main(arguments: list[str]) -> int:
    """Write the recording, or print it for the operations named."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("operation", nargs="*")
    chosen = parser.parse_args(arguments).operation
    torch.set_num_threads(1)  # children are forked, and threads do not survive that
    found = collect(chosen)
    if chosen:
        print(text_of(found))
    else:
        DATA.parent.mkdir(exist_ok=True)
        DATA.write_text(text_of(found), encoding="utf-8")
        print(f"{len(found['saves'])} operations tried, {len(found['untried'])} not; see {DATA}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
