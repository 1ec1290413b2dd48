"""See a block's statements run, one by one, without touching its code.

Everything that looks at tensors happens in a forked child, so that looking changes nothing: not
the nodes that autograd renews when asked, not the warnings that it gives once.
"""

from __future__ import annotations

import ast
import os
import sys
from dataclasses import asdict, dataclass, field
from textwrap import indent
from typing import TYPE_CHECKING

import torch
from graph_walk import (
    VERSIONS,
    grad_fn,
    memory,
    named_tensors,
    node_name,
    saved_tensors,
    version_of,
)
from isolated_run import run_isolated

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from types import FrameType
    from typing import Any

LOOK_LIMIT = 30
ENGINE = ("graph.py", "_engine_run_backward")
QUIET_CALLS = ("print", "traceback.print_exc", "torch.testing.assert_close")
SIMPLE = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr, ast.Delete)


@dataclass
class Save:
    """A node that keeps a watched tensor."""

    name: str
    node: str
    then: int | None
    now: int | None


@dataclass
class Step:
    """One executed statement and what it did to the watched tensors."""

    line: int
    code: str
    versions: dict[str, int | None] = field(default_factory=dict)
    new: list[str] = field(default_factory=list)
    """The names that the statement bound to another tensor."""
    wrote: list[str] = field(default_factory=list)
    saved: list[Save] = field(default_factory=list)
    compared: list[Save] = field(default_factory=list)
    error: str | None = None


@dataclass
class Statement:
    """A statement of the block that gets a column."""

    first: int
    last: int
    code: str


def look(function: Callable[[], Any]) -> Any:
    """Return *function*'s result from a forked child that prints nothing."""

    def silent() -> Any:
        sys.settrace(None)
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        sys.stdout, sys.stderr = sys.__stdout__, sys.__stderr__
        return function()

    return run_isolated(silent, LOOK_LIMIT)


class BlockTracer:
    """Follows the lines of one block while it runs."""

    def __init__(
        self,
        filename: str,
        code: str,
        first_line: int,
        *,
        watched: Iterable[str] = (),
        moments: Mapping[int, Callable[[Mapping[str, Any]], None]] | None = None,
    ) -> None:
        self.filename = filename
        self.statements = statements(code, first_line) if watched else []
        self.watched = list(watched)
        self.moments = dict(moments or {})
        """Lines of the script, each with what to do once execution is past it."""
        self.steps: list[Step] = []
        self.step: Step | None = None
        self.current: Statement | None = None
        self.known: dict[str, tuple[int, int | None]] | None = None
        self.seen: set[tuple[Any, ...]] = set()
        self.before: Any = None

    def start(self) -> None:
        self.before = sys.gettrace()
        sys.settrace(self.enter)

    def stop(self) -> None:
        """Stop following; a second call does nothing."""
        if sys.gettrace() == self.enter:
            sys.settrace(self.before)

    def enter(self, frame: FrameType, event: str, argument: Any) -> Any:
        """Decide whether to follow a frame; Python calls this for every new one."""
        code = frame.f_code
        if code.co_filename == self.filename and code.co_name == "<module>":
            return self.follow
        if code.co_name == ENGINE[1] and code.co_filename.endswith(ENGINE[0]) and self.step:
            self.compare(frame.f_locals["t_outputs"])
        return None

    def follow(self, frame: FrameType, event: str, argument: Any) -> Any:
        """Note what the module's own frame does."""
        if event == "line":
            for line in [line for line in self.moments if line < frame.f_lineno]:
                self.moments.pop(line)(frame.f_globals)
            if self.watched:
                self.reach(frame)
        elif event == "exception" and self.step:
            self.step.error = f"{argument[0].__name__}: {argument[1]}"
        elif event == "return":
            self.finish(frame.f_globals)
        return self.follow

    def reach(self, frame: FrameType) -> None:
        number = frame.f_lineno
        found = next((s for s in self.statements if s.first <= number <= s.last), None)
        if self.known is None:
            self.known, saves = look(lambda: self.snapshot(frame.f_globals))
            self.seen.update(saves)
        if found is self.current and found is not None:
            return
        self.finish(frame.f_globals)
        self.current = found
        if found:
            self.step = Step(found.first, found.code)

    def finish(self, namespace: Mapping[str, Any]) -> None:
        """Close the column of the statement that has run."""
        step, self.step, self.current = self.step, None, None
        if step is None:
            return
        known, saves = look(lambda: self.snapshot(namespace))
        for name, (identity, version) in known.items():
            step.versions[name] = version
            before = self.known.get(name)
            if before is None or before[0] != identity:
                step.new.append(name)
            elif before[1] != version:
                step.wrote.append(name)
        self.add_saves(step, saves)
        self.known = known
        self.steps.append(step)

    def add_saves(self, step: Step, saves: dict[tuple[Any, ...], Save]) -> None:
        for key, save in saves.items():
            if key not in self.seen:
                self.seen.add(key)
                step.saved.append(save)

    def compare(self, outputs: Any) -> None:
        """Note what the engine is about to compare."""
        namespace = sys._getframe(2)
        while namespace is not None and namespace.f_code.co_filename != self.filename:
            namespace = namespace.f_back
        if namespace is None:
            return
        nodes = [getattr(output, "node", None) or grad_fn(output) for output in outputs]
        saves = look(lambda: self.saves(nodes, namespace.f_globals))
        self.add_saves(self.step, saves)
        self.step.compared += saves.values()

    # -- In the child ------------------------------------------------------------------------------

    def snapshot(
        self, namespace: Mapping[str, Any]
    ) -> tuple[dict[str, tuple[int, int | None]], dict[tuple[Any, ...], Save]]:
        """Return identity and version of the watched tensors, and who keeps them."""
        versions = {
            name: (id(tensor), version_of(tensor)) for name, tensor in self.tensors(namespace)
        }
        nodes = [grad_fn(tensor) for _, tensor in named_tensors(namespace)]
        return versions, self.saves(nodes, namespace)

    def tensors(self, namespace: Mapping[str, Any]) -> Iterator[tuple[str, torch.Tensor]]:
        for name in self.watched:
            value = namespace.get(name)
            if isinstance(value, torch.Tensor):
                yield name, value

    def saves(
        self, nodes: Iterable[Any], namespace: Mapping[str, Any]
    ) -> dict[tuple[Any, ...], Save]:
        """Return what the graph behind *nodes* keeps of the watched tensors."""
        owners = {memory(tensor): name for name, tensor in reversed(list(self.tensors(namespace)))}
        queue = [node for node in nodes if node is not None]
        reached: dict[int, Any] = {}
        found = {}
        for node in queue:
            if id(node) in reached:
                continue
            reached[id(node)] = node
            queue += [follower for follower, _ in node.next_functions if follower is not None]
            for saved, data in saved_tensors(node):
                owner = owners.get(memory(data)) if data is not None else None
                if owner is not None:
                    key = (node._sequence_nr(), node_name(node), saved.name)
                    found[key] = Save(owner, node_name(node), saved.then, saved.now)
        return found


def statements(code: str, first_line: int) -> list[Statement]:
    """Return the statements of a block that do something, with the ``with`` around them.

    Lines that only print or check say nothing new about tensors and get no column.
    """
    found = []

    def visit(body: list[ast.stmt], around: list[str]) -> None:
        for statement in body:
            if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
                continue
            if isinstance(statement, SIMPLE) and not is_quiet(statement):
                inner = ast.get_source_segment(code, statement)
                text = "\n".join([*around, indent(inner, "    " * len(around))])
                lines = (statement.lineno, statement.end_lineno)
                found.append(Statement(*(line + first_line - 1 for line in lines), text))
            head = around
            if isinstance(statement, (ast.With, ast.AsyncWith)):
                managers = ", ".join(ast.unparse(item) for item in statement.items)
                head = [*around, f"{'    ' * len(around)}with {managers}:"]
            for part in ("body", "orelse", "finalbody"):
                visit(getattr(statement, part, []), head)
            for handler in getattr(statement, "handlers", []):
                visit(handler.body, head)

    visit(ast.parse(code).body, [])
    return found


def is_quiet(statement: ast.stmt) -> bool:
    """Return whether a statement only prints or checks, or is a text standing alone."""
    if not isinstance(statement, ast.Expr):
        return False
    value = statement.value
    return isinstance(value, ast.Constant) or (
        isinstance(value, ast.Call) and ast.unparse(value.func) in QUIET_CALLS
    )


def steps_data(steps: Iterable[Step]) -> list[dict[str, Any]]:
    """Return steps as JSON can hold them."""
    return [asdict(step) for step in steps]


def failed_comparison(step: Step) -> bool:
    """Return whether backward stopped in this step because versions differ."""
    return bool(step.error and VERSIONS.search(step.error))
