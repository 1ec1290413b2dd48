"""Compare recordings: which releases behave alike, what a page's mistake does in each of them.

Standard library only.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from recordings import Raised, Recording, release_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from recordings import RecordedBlock
    from script_blocks import CodeBlock

# -- What is cosmetic ------------------------------------------------------------------------------

FRAMES = re.compile(r"(?m)^Traceback \(most recent call last\):\n(?:[ \t]+.*\n)*")
FRAME = re.compile(r'(?m)^ +File "[^"\n]*", line \d+.*\n?(?:^ {4,}\S.*\n?)*')
SOURCE_LINE = re.compile(r'(?<=\.cpp[:"])(?::?\d+)|(?<=\.h[:"])(?::?\d+)')
WARNING_PLACE = re.compile(r"(?m)^\S+?:\d+: (?=\w+Warning: )")
WARNING_SOURCE = re.compile(r"(?m)^(\w+Warning: .*)\n  \S.*$")
NODE = re.compile(r"\b(\w+?)Backward\d*\b(?!\()")
DEVICE = re.compile(r",? ?device='cuda:\d+'|(?<=torch\.)cuda\.(?=\w+Tensor)")
QUALIFIED = re.compile(r"\b(?:\w+\.(?:<locals>\.)?)+(?=\w+\(\) (?:takes|missing|got an unexp))")
LAST_LINE = re.compile(r"(?m)^(?:\[rank\d+\]: ?)?(\w*(?:Error|Warning|Exception)): (.+)$")


ALIKE = 0.55  # of two texts' words in common, from which they are one message in other words
SAME_START = 6  # words that two messages begin with only if they are one
FEW_WORDS, MOSTLY = 5, 0.8  # or the shorter text is in the longer one

Emission = tuple[str, str]
"""Type and text of an exception or a warning."""


FAILED_CHECK = "FailedCheck"
"""Stands for an `AssertionError` that a block did not catch: its own check, not PyTorch's."""


@cache
def normalised(text: str) -> str:
    """Return *text* without what differs between environments and means nothing.

    Frames of tracebacks, the places of warnings, numbers of nodes and names of devices go; the
    texts of messages stay.
    """
    text = QUALIFIED.sub("", text)  # since Python 3.10
    text = SOURCE_LINE.sub("", FRAME.sub("", FRAMES.sub("", text)))
    text = WARNING_SOURCE.sub(r"\1", WARNING_PLACE.sub("", text))
    text = DEVICE.sub("", NODE.sub(r"\1", text))
    return "\n".join(line.rstrip() for line in text.splitlines()).strip()


def behavior(output: str, exception: Raised | None) -> tuple[str, str]:
    """Return what two environments must have in common to behave alike in a block."""
    if exception is not None and exception.type == "AssertionError":
        return normalised(output), "AssertionError"  # how a check words its failure is no behavior
    return normalised(output), normalised(str(exception)) if exception else ""


def emissions(block: RecordedBlock) -> list[Emission]:
    """Return the exceptions and warnings that a block showed, the uncaught one last.

    What C++ and child processes print passes no Python code; its last lines are read instead.
    """
    found = list(block.emitted) or LAST_LINE.findall(block.output)
    if block.exception is not None:
        is_check = block.exception.type == "AssertionError"
        found.append(
            (FAILED_CHECK, "") if is_check else (block.exception.type, block.exception.text)
        )
    return found


def paired(before: list[Emission], now: list[Emission]) -> list[tuple[Emission | None, ...]]:
    """Return which of two lists of emissions belong together, in the order of the second.

    The same text belongs to itself, then a like text; then what is left of errors to errors and of
    warnings to warnings, in order. A warning that came never takes the place of an error.
    """
    left = list(range(len(before)))
    partner: list[int | None] = [None] * len(now)

    def is_same(one: Emission, other: Emission) -> bool:
        return one[0] == other[0] and normalised(one[1]) == normalised(other[1])

    def is_like(one: Emission, other: Emission) -> bool:
        return is_of_kind(one, other) and are_alike(one[1], other[1])

    def is_of_kind(one: Emission, other: Emission) -> bool:
        return one[0].endswith("Warning") == other[0].endswith("Warning")

    for fits_together in (is_same, is_like, is_of_kind):
        for place, emission in enumerate(now):
            if partner[place] is None:
                found = next((i for i in left if fits_together(before[i], emission)), None)
                if found is not None:
                    partner[place] = found
                    left.remove(found)
    pairs = [
        (None if i is None else before[i], emission)
        for i, emission in zip(partner, now, strict=True)
    ]
    return [*pairs, *((before[i], None) for i in left)]


@cache
def are_alike(one: str, other: str) -> bool:
    """Return whether two texts are one message in different words, or with more of them."""
    words, others = one.split(), other.split()
    if words[:SAME_START] == others[:SAME_START] and len(words) > SAME_START < len(others):
        return True
    common, shorter = words_in_common(one, other), min(len(words), len(others))
    if shorter >= FEW_WORDS and common >= MOSTLY * shorter:
        return True
    return 2 * common >= ALIKE * (len(words) + len(others))


def words_in_common(one: str, other: str) -> int:
    """Return how many words two texts share, in order."""
    matcher = SequenceMatcher(None, one.split(), other.split(), autojunk=False)
    return sum(block.size for block in matcher.get_matching_blocks())


# -- What a release lacks --------------------------------------------------------------------------

LACKING = (
    (r"module '(?P<owner>torch[\w.]*)' has no attribute '(?P<name>\w+)'", "{owner}.{name}"),
    (r"cannot import name '(?P<name>\w+)' from '(?P<owner>torch[\w.]*)'.*", "{owner}.{name}"),
    (r"No module named '(?P<owner>torch[\w.]*)'.*", "{owner}"),
    (
        r"'(?P<owner>Tensor|Parameter)' object has no attribute '(?P<name>\w+)'",
        "torch.Tensor.{name}",
    ),
    (r"type object '(?P<owner>\w+)' has no attribute '(?P<name>\w+)'", "{owner}.{name}"),
    (r"'(?P<owner>[A-Z]\w+)' object has no attribute '(?P<name>\w+)'", "{owner}.{name}"),
)
LACKING_ARGUMENT = re.compile(
    r"(?:(?P<function>[\w.]+)\(\) got an unexpected keyword argument '(?P<name>\w+)'"
    r"|Unexpected keyword arguments: (?P<names>[\w,]+)).*"
)


def lacking(raised: Raised | None) -> str | None:
    """Return a sentence on the API that a block asked for and the release does not have."""
    if raised is None:
        return None
    if raised.type in ("AttributeError", "ImportError", "ModuleNotFoundError"):
        for pattern, name in LACKING:
            found = re.fullmatch(pattern, raised.text, re.DOTALL)
            if found:
                return f"``{name.format(**found.groupdict())}`` does not exist in this release."
    found = LACKING_ARGUMENT.fullmatch(raised.text)
    if raised.type in ("TypeError", "ValueError") and found:
        name = found["name"] or found["names"].partition(",")[0]
        function = (found["function"] or "").removesuffix("__init__").strip(".")
        owner = f"``{function}``" if function else "The function"
        return f"{owner} has no argument ``{name}`` in this release."
    return None


# -- What follows from an earlier failure ----------------------------------------------------------


def affected(code: Sequence[CodeBlock], recorded: Sequence[RecordedBlock]) -> set[int]:
    """Return the blocks that say nothing, since they read what a failed block was to assign."""
    missing: set[str] = set()
    found = set()
    for number, (block, noted) in enumerate(zip(code, recorded, strict=True)):
        reads, writes = names_of(block)
        unfinished = noted.exception is not None and noted.exception.type == "NotRun"
        if reads & missing or unfinished:
            found.add(number)
            missing |= writes
        elif noted.exception is None:
            missing -= writes
        else:
            missing |= names_of(block, noted.exception.line or block.line)[1]
    return found


@cache
def names_of(block: CodeBlock, since: int = 0) -> tuple[set[str], set[str]]:
    """Return the names that a block reads before assigning them, and those that it assigns.

    Statements that end before line *since* of the script do not count.
    """
    reads: set[str] = set()
    writes: set[str] = set()
    for statement in ast.parse(block.code).body:
        if (statement.end_lineno or statement.lineno) + block.line - 1 < since:
            continue
        stored = set()
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
                stored.add(node.id)
            elif isinstance(node, ast.Name):
                reads |= {node.id} - writes
            elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                stored.add(node.name)
            elif isinstance(node, (ast.Import, ast.ImportFrom)):
                stored |= {(name.asname or name.name).partition(".")[0] for name in node.names}
            elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
                reads |= {node.target.id} - writes
        writes |= stored
    return reads, writes


# -- Which environments behave alike ---------------------------------------------------------------


@dataclass
class Group:
    """Environments in which a block does the same."""

    recordings: list[Recording]
    block: RecordedBlock
    """What the newest of them did."""

    @property
    def lacking(self) -> str | None:
        return lacking(self.block.exception)


def groups(shown: str, number: int, runs: Iterable[Run]) -> list[Group]:
    """Return the groups of *runs* in which block *number* does not do what is *shown*."""
    here = behavior(shown, None)
    found: dict[Any, Group] = {}
    for run in runs:
        block = run.blocks[number]
        key = lacking(block.exception) or behavior(block.output, block.exception)
        if key == here or number in run.affected or is_python(block.exception):
            continue
        group = found.setdefault(key, Group([], block))
        group.recordings.append(run.recording)
        group.block = block
    return list(found.values())


def is_python(raised: Raised | None) -> bool:
    """Return whether a block failed because the interpreter, not torch, is too old for it."""
    return raised is not None and raised.type in ("SyntaxError", "IndentationError")


class Run(NamedTuple):
    """One script in one recording that is fresh."""

    recording: Recording
    blocks: list[RecordedBlock]
    affected: set[int]


def fresh_runs(
    recordings: Iterable[Recording], script: str, code: Sequence[CodeBlock]
) -> list[Run]:
    """Return what fresh recordings say about *script*, in their order."""
    found = []
    for recording in recordings:
        blocks = recording.blocks(script, code)
        if blocks is not None:
            found.append(Run(recording, blocks, affected(code, blocks)))
    return found


def span(chosen: Sequence[Recording], among: Sequence[Recording]) -> str:
    """Return *chosen* as ranges of neighbours *among* all recordings: ``1.0 – 1.7, CUDA``."""
    parts = []
    cpu = [recording for recording in among if recording.kind == "cpu"]
    names = {recording.environment for recording in chosen}
    run: list[Recording] = []
    for recording in [*cpu, None]:
        if recording is not None and recording.environment in names:
            run.append(recording)
        elif run:
            first, last = short(run[0], cpu), short(run[-1], cpu)
            parts.append(first if len(run) == 1 else f"{first} – {last}")
            run = []
    for recording in among:
        if recording.kind != "cpu" and recording.environment in names:
            kinds = [other for other in among if other.kind == recording.kind]
            number = f" {recording.release}" if len(kinds) > 1 else ""
            parts.append(f"{recording.kind.upper()}{number}")
    return ", ".join(parts)


def short(recording: Recording, among: Sequence[Recording]) -> str:
    """Return ``1.8`` for 1.8.1 if no other recording is of 1.8, else the whole number."""
    series = release_key(recording.release)[:2]
    alike = [other for other in among if release_key(other.release)[:2] == series]
    return recording.release if len(alike) > 1 else ".".join(map(str, series))


# -- What a page's mistake does in a release -------------------------------------------------------

SAME = "same"
WORDING = "other words"
OTHER = "another error"
WRONG = "silently wrong"
NONE = "no error"
RESULT = "another result"
LACKS = "not available"
UNKNOWN = "not reached"


@dataclass
class Verdict:
    """What became of each message of a page in one environment."""

    recording: Recording
    counts: dict[str, int] = field(default_factory=dict)
    texts: list[str] = field(default_factory=list)
    """What was raised instead, or what is not available."""

    @property
    def key(self) -> tuple[Any, ...]:
        """Return what makes two verdicts say the same."""
        return tuple(sorted(self.counts.items()))

    def add(self, outcome: str, said: str | None) -> None:
        """Count one more message."""
        self.counts[outcome] = self.counts.get(outcome, 0) + 1
        if said and said not in self.texts:
            self.texts.append(said)


def verdict(today: Run, then: Run, declared: Sequence[re.Pattern[str]] = ()) -> Verdict:
    """Compare what a script showed *today* with what it showed *then*.

    *declared* picks among today's emissions those that the page is about; none picks all. A message
    that a page shows several times counts once, where the other environment first came to it.
    """
    found = Verdict(then.recording)
    a_check_fails = any(
        block.exception is not None and block.exception.type == "AssertionError"
        for number, block in enumerate(then.blocks)
        if number not in then.affected
    )
    fates: dict[int | str, tuple[str, str | None]] = {}
    for number, block in enumerate(today.blocks):
        for instead, emission in paired(emissions(then.blocks[number]), emissions(block)):
            message = emission and which_message(emission[1], declared)
            if message is None:
                continue
            outcome = fate(emission, instead, then, number, a_check_fails)
            if fates.setdefault(message, outcome)[0] in (LACKS, UNKNOWN):
                fates[message] = outcome
    for outcome in fates.values():
        found.add(*outcome)
    if not found.counts:
        found.add(*silent_fate(today, then))
    return found


def which_message(text: str, declared: Sequence[re.Pattern[str]]) -> int | str | None:
    """Return which of the *declared* messages *text* is, itself if there are none."""
    if not declared:
        return normalised(text)
    return next((n for n, pattern in enumerate(declared) if pattern.match(text)), None)


def silent_fate(today: Run, then: Run) -> tuple[str, str | None]:
    """Return what became of a mistake that shows no message, and what came instead."""
    outcome: tuple[str, str | None] = SAME, None
    for number, (now, before) in enumerate(zip(today.blocks, then.blocks, strict=True)):
        if number in then.affected or is_python(before.exception):
            continue
        if behavior(now.output, now.exception) == behavior(before.output, before.exception):
            continue
        sentence = lacking(before.exception)
        if sentence is not None:
            return LACKS, sentence
        for kind, text in emissions(before):
            if kind != FAILED_CHECK:
                return OTHER, f"{kind}: {text}"
        outcome = RESULT, None
    return outcome


def fate(
    emission: Emission, instead: Emission | None, then: Run, number: int, a_check_fails: bool
) -> tuple[str, str | None]:
    """Return what became of one emission of block *number*, and what came instead."""
    if number in then.affected:
        lacked = any(lacking(block.exception) for block in then.blocks[:number])
        return LACKS if lacked else UNKNOWN, None
    if instead is not None and normalised(": ".join(instead)) == normalised(": ".join(emission)):
        return SAME, None
    sentence = lacking(then.blocks[number].exception)
    if sentence is not None:
        return LACKS, sentence
    if instead is None or instead[0] == FAILED_CHECK:
        return (WRONG if a_check_fails else NONE), None
    return (WORDING if are_alike(emission[1], instead[1]) else OTHER), ": ".join(instead)
