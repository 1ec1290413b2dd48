"""What the gallery's scripts did in other environments: read, compare, and put into words.

Standard library only: the recorder, the site and the tests read transcripts here.
"""

from __future__ import annotations

import bisect
import hashlib
import json
import re
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path
    from typing import Any

    from script_blocks import CodeBlock

SCHEMA = 1
HASH_LENGTH = 12
ENVIRONMENT = re.compile(r"torch-(?P<torch>\d+\.\d+\.\d+)-(?P<device>\w+)")
LINE_OF_SCRIPT = r'(?<=%s", line )\d+|(?<=%s:)\d+(?=: )'
PAGE_BLOCK = re.compile(r"(?m)^\.\. GENERATED FROM PYTHON SOURCE LINES (?P<line>\d+)-\d+$")
PAGE_OUTPUT = re.compile(
    r"\.\. rst-class:: sphx-glr-script-out\n\n \.\. code-block:: \w+\n\n(?P<output>(?:    .*\n|\n)*)"
)


@dataclass(frozen=True)
class Raised:
    """An exception that a block did not catch, or how its process ended."""

    type: str
    text: str
    line: int | None = None

    def __str__(self) -> str:
        return f"{self.type}: {self.text}" if self.text else self.type

    def moved(self, lines: int) -> Raised:
        """Return the same, raised so many lines further down."""
        return self if self.line is None else replace(self, line=self.line + lines)


@dataclass(frozen=True)
class RecordedBlock:
    """What one block did in one environment."""

    code: str
    line: int
    output: str
    emitted: tuple[tuple[str, str], ...] = ()
    exception: Raised | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the block as it is written to a transcript."""
        data: dict[str, Any] = {"code": self.code, "line": self.line, "output": self.output}
        if self.emitted:
            data["emitted"] = [list(emission) for emission in self.emitted]
        data["exception"] = vars(self.exception) if self.exception else None
        return data


@dataclass
class Recording:
    """One transcript: every script's blocks in one environment."""

    environment: str
    torch: str
    python: str
    device: str
    date: str
    installed: list[str]
    stand_ins: list[str] = field(default_factory=list)
    supplied: list[str] = field(default_factory=list)
    before: str | None = None
    """The release that the package index holds before this one."""
    dates: dict[str, str] = field(default_factory=dict)
    """When scripts were recorded that the last run left as they were."""
    scripts: dict[str, list[RecordedBlock]] = field(default_factory=dict)

    @property
    def release(self) -> str:
        """Return the release without the kind of build: ``2.13.0``."""
        return self.torch.partition("+")[0]

    @property
    def kind(self) -> str:
        """Return the kind of device: ``cpu`` or ``cuda``."""
        return self.environment.rpartition("-")[2]

    @property
    def order(self) -> tuple[str, tuple[int, ...]]:
        """Sort the CPU before other devices, then by release."""
        return self.kind, release_key(self.release)

    def date_of(self, script: str) -> str:
        """Return the day on which *script* was recorded."""
        return self.dates.get(script, self.date)

    def is_fresh(self, script: str, blocks: Sequence[CodeBlock]) -> bool:
        """Return whether the recording of *script* is one of exactly these *blocks*."""
        recorded = self.scripts.get(script)
        return recorded is not None and [block.code for block in recorded] == [
            code_hash(block.code) for block in blocks
        ]

    def blocks(self, script: str, blocks: Sequence[CodeBlock]) -> list[RecordedBlock] | None:
        """Return what *blocks* did, with today's line numbers, or None if there is no fresh word.

        Prose may move a block up or down; the lines that its output names move with it.
        """
        if not self.is_fresh(script, blocks):
            return None
        recorded = self.scripts[script]
        starts = [block.line for block in recorded]
        shift = [now.line - then.line for now, then in zip(blocks, recorded, strict=True)]
        if not any(shift):
            return recorded

        def moved(found: re.Match[str]) -> str:
            number = int(found[0])
            return str(number + shift[max(bisect.bisect_right(starts, number) - 1, 0)])

        lines = re.compile(LINE_OF_SCRIPT % ((re.escape(script),) * 2))
        return [
            replace(
                block,
                line=block.line + shift[number],
                output=lines.sub(moved, block.output),
                exception=block.exception and block.exception.moved(shift[number]),
            )
            for number, block in enumerate(recorded)
        ]


@cache
def code_hash(code: str) -> str:
    """Return the hash of a block; what follows its last statement does not count."""
    lines = code.splitlines()
    while lines and (not lines[-1].strip() or lines[-1].startswith("#")):
        lines.pop()
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:HASH_LENGTH]


def release_key(release: str) -> tuple[int, ...]:
    """Return what sorts releases by number."""
    return tuple(int(part) for part in re.findall(r"\d+", release))


def stale(recordings: Iterable[Recording], scripts: Mapping[str, Sequence[CodeBlock]]) -> list[str]:
    """Return a sentence for each recording that no longer fits its script, with the remedy."""
    return [
        f"{script}: its recording in {recording.environment}.json is of other code; renew it with "
        f"'nox -s record -- {recording.environment} {script}'."
        for recording in recordings
        for script in recording.scripts
        if script not in scripts or not recording.is_fresh(script, scripts[script])
    ]


def page_outputs(rst: str) -> dict[int, str]:
    """Return the output that a page generated by sphinx-gallery shows below each block's line."""
    parts = PAGE_BLOCK.split(rst)[1:]
    found = {}
    for line, part in zip(parts[::2], parts[1::2], strict=True):
        output = PAGE_OUTPUT.search(part)
        text = re.sub(r"(?m)^    ", "", output["output"]) if output else ""
        found[int(line)] = text.strip("\n")
    return found


# -- Files -----------------------------------------------------------------------------------------


def read_recording(path: Path) -> Recording:
    """Read one transcript."""
    data = json.loads(path.read_text(encoding="utf-8"))
    if data.pop("schema") != SCHEMA:
        raise ValueError(f"{path.name}: expected schema {SCHEMA}; record it again.")
    data["scripts"] = {
        script: [
            RecordedBlock(
                block["code"],
                block["line"],
                block["output"],
                tuple((kind, text) for kind, text in block.get("emitted", ())),
                Raised(**block["exception"]) if block["exception"] else None,
            )
            for block in blocks
        ]
        for script, blocks in data["scripts"].items()
    }
    return Recording(**data)


def write_recording(recording: Recording, path: Path) -> None:
    """Write a transcript: sorted, one block a line."""
    head = {"schema": SCHEMA, **vars(recording)}
    scripts = head.pop("scripts")
    if not recording.dates:
        del head["dates"]
    lines = [f" {json.dumps(key)}: {_json(value)}," for key, value in head.items()]
    entries = [
        f"  {json.dumps(script)}: [\n"
        + ",\n".join(f"   {_json(block.as_json())}" for block in blocks)
        + "\n  ]"
        for script, blocks in sorted(scripts.items())
    ]
    text = "\n".join(["{", *lines, ' "scripts": {', ",\n".join(entries), " }", "}", ""])
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def read_recordings(folder: Path) -> list[Recording]:
    """Return every transcript in *folder*, the CPU's first, oldest release first."""
    stamps = tuple((path, path.stat().st_mtime_ns) for path in sorted(folder.glob("torch-*.json")))
    return list(_read_all(stamps))


@lru_cache(maxsize=4)
def _read_all(stamps: tuple[tuple[Path, int], ...]) -> tuple[Recording, ...]:
    recordings = [read_recording(path) for path, _ in stamps]
    return tuple(sorted(recordings, key=lambda recording: recording.order))


def what_changed(old: Recording, new: Recording) -> list[str]:
    """Return a line for each script whose recording differs from the *old* one."""
    found = []
    for script in sorted(old.scripts.keys() | new.scripts.keys()):
        before, now = old.scripts.get(script), new.scripts.get(script)
        if before is None or now is None:
            found.append(f"{script}: {'new' if before is None else 'gone'}")
        elif before != now:
            found.append(f"{script}: {_difference(before, now)}")
    return found


def _difference(before: list[RecordedBlock], now: list[RecordedBlock]) -> str:
    if [block.code for block in before] != [block.code for block in now]:
        return "its code changed"
    lines = [
        str(block.line)
        for then, block in zip(before, now, strict=True)
        if (then.output, then.emitted, then.exception)
        != (block.output, block.emitted, block.exception)
    ]
    if not lines:
        return "its blocks moved"
    return f"other results in the {'block' if len(lines) == 1 else 'blocks'} at line {', '.join(lines)}"
