"""What changed from one recorded release to the next.

Standard library only.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import pairwise, zip_longest
from typing import TYPE_CHECKING

from recorded_behavior import (
    FAILED_CHECK,
    NODE,
    are_alike,
    behavior,
    emissions,
    fresh_runs,
    is_python,
    lacking,
    normalised,
    paired,
)
from recordings import release_key

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from recorded_behavior import Emission, Run
    from recordings import Recording
    from script_blocks import CodeBlock

BEHAVIOR, WORDING, NAMES = "behavior", "wording", "names"
NO_ERROR = "no error"
CHECK_FAILS = "the check in this block fails"
VALUES = re.compile(r"\d+(?:\.\d+)?|(?<=\[)[^\]]*(?=\])|(?<=')[^']*(?=')")
GRAD_FN = re.compile(r"(?<=grad_fn=<)\w+")


@dataclass
class Change:
    """One thing that became different, and the scripts that show it."""

    kind: str
    before: str
    after: str
    scripts: list[str] = field(default_factory=list)


@dataclass
class ReleaseChanges:
    """All that became different from *previous* to *recording*."""

    recording: Recording
    previous: Recording
    changes: list[Change]

    @property
    def is_next(self) -> bool:
        """Return whether no release lies between the two."""
        return self.recording.before == self.previous.release

    @property
    def pythons(self) -> tuple[str, str] | None:
        """Return both Pythons if they are not of one series."""
        both = self.previous.python, self.recording.python
        series = {release_key(python)[:2] for python in both}
        return both if len(series) > 1 else None

    def of(self, kind: str) -> list[Change]:
        """Return the changes of one *kind*, those that most scripts show first."""
        return sorted(
            (change for change in self.changes if change.kind == kind),
            key=lambda change: (-len(change.scripts), change.scripts, change.before),
        )


def release_changes(
    recordings: Sequence[Recording], scripts: Mapping[str, Sequence[CodeBlock]]
) -> list[ReleaseChanges]:
    """Return what changed at each recorded release on the CPU, newest first."""
    cpu = [recording for recording in recordings if recording.kind == "cpu"]
    runs = {name: fresh_runs(cpu, name, code) for name, code in scripts.items()}
    found = []
    for previous, recording in pairwise(cpu):
        changes: dict[Any, Change] = {}
        for script, known in runs.items():
            pair = [run for run in known if run.recording in (previous, recording)]
            if len(pair) == 2:
                for kind, before, after in differences(*pair):
                    key = kind, general(before), general(after)
                    change = changes.setdefault(key, Change(kind, before, after))
                    if script not in change.scripts:
                        change.scripts.append(script)
        found.append(ReleaseChanges(recording, previous, list(changes.values())))
    return found[::-1]


def compared_with(
    previous: Recording, recording: Recording, scripts: Mapping[str, Sequence[CodeBlock]]
) -> list[str]:
    """Return a line for everything that *scripts* show differently from *previous*."""
    lines = []
    for script, code in scripts.items():
        pair = fresh_runs([previous, recording], script, code)
        if len(pair) == 2:
            found = [
                f"{before or 'it existed'} -> {after or 'it exists'}"
                for _, before, after in differences(*pair)
            ]
            lines += [f"{script}: {line}" for line in dict.fromkeys(found)]
    return lines


def differences(then: Run, now: Run) -> Iterator[tuple[str, str, str]]:
    """Yield kind, before and after of everything that a script shows differently."""
    for number, (before, after) in enumerate(zip(then.blocks, now.blocks, strict=True)):
        if number in then.affected or number in now.affected:
            continue
        if is_python(before.exception) or is_python(after.exception):
            continue
        if behavior(before.output, before.exception) == behavior(after.output, after.exception):
            continue
        lacked, lacks = lacking(before.exception), lacking(after.exception)
        if lacked or lacks:
            if lacked != lacks:
                yield NAMES, lacked or "", lacks or ""
            continue
        pairs = [
            tuple(message(emission) for emission in pair)
            for pair in paired(emissions(before), emissions(after))
        ]
        changed = [(old, new) for old, new in pairs if normalised(old) != normalised(new)]
        for old, new in changed:
            same = NO_ERROR not in (old, new) and are_alike(old, new)
            yield (WORDING if same else BEHAVIOR), old, new
        lines = first_difference(normalised(before.output), normalised(after.output))
        if not changed and lines is not None:
            renamed = GRAD_FN.sub("", before.output) == GRAD_FN.sub("", after.output)
            yield (WORDING if renamed else BEHAVIOR), *lines


def message(emission: Emission | None) -> str:
    """Return an emission as a line; how a check words its failure is not PyTorch's message."""
    if emission is None:
        return NO_ERROR
    return CHECK_FAILS if emission[0] == FAILED_CHECK else ": ".join(emission)


def first_difference(before: str, after: str) -> tuple[str, str] | None:
    """Return the first line that differs in each of two outputs."""
    for old, new in zip_longest(before.splitlines(), after.splitlines(), fillvalue=""):
        if old != new:
            return old or "nothing", new or "nothing"
    return None


def general(text: str) -> str:
    """Return *text* without values, so that the same change on two pages is one change."""
    return VALUES.sub("#", NODE.sub("#", text))
