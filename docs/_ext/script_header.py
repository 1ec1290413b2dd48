"""Read the PEP 723 block that opens a gallery script.

Standard library only: Sphinx, the tests, the recorder and the page checker all read headers here.
"""

from __future__ import annotations

import ast
import re
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from wording import WordingError, pattern_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

TABLE = "autograd-errors"
OPENING = "# /// script"
CLOSING = "# ///"
TEXT_KEYS = {"cause-of", "symptom", "symptom-zh", "needs"}
LIST_KEYS = {"causes", "shows"}
KEYS = TEXT_KEYS | LIST_KEYS | {"error", "when", "timeout"}
ERROR_KEYS = {"raises", "message", "source", "recorded", "reworded"}
REQUIRED_ERROR_KEYS = ("raises", "message", "source")
LONGEST_TITLE = 60


class HeaderError(Exception):
    """A header that cannot be used; its text is one sentence with file and line."""

    def __init__(self, script: Path, line: int, expected: str, found: str) -> None:
        self.script = script
        self.line = line
        super().__init__(f"{script.name}:{line}: expected {expected}, found {found}.")


@dataclass(frozen=True)
class DeclaredError:
    """One message that a page documents."""

    raises: str
    message: str
    source: str
    line: int
    recorded: str | None = None
    """The recording that shows the message, when the built torch can no longer emit it."""
    reworded: bool = False
    """Whether other words of another release, from the same statement, are this error too."""

    @property
    def text(self) -> str:
        """Return type and message as a traceback ends: ``RuntimeError: ...``."""
        return f"{self.raises}: {self.message}"


@dataclass(frozen=True)
class ScriptHeader:
    """What a script says about the mistake it reproduces."""

    id: str
    title: str
    lead: str
    family: str
    causes: list[str]
    dependencies: list[str]
    cause_of: str | None = None
    when: dict[str, str] = field(default_factory=dict)
    symptom: str | None = None
    symptom_zh: str | None = None
    shows: list[str] = field(default_factory=list)
    errors: list[DeclaredError] = field(default_factory=list)
    needs: str | None = None
    timeout: int | None = None

    @property
    def summary(self) -> str:
        """Return the first sentence of the lead paragraph, without markup."""
        plain = re.sub(r"`+([^`]+)`+", r"\1", self.lead)
        return re.split(r"(?<=[.!?])\s", plain, maxsplit=1)[0]


def page_id(script: Path) -> str:
    """Return the id of *script*: its name without ``plot_``, with hyphens."""
    return script.stem.removeprefix("plot_").replace("_", "-")


def script_name(page: str) -> str:
    """Return the file name of the script of a *page*, given by its id."""
    return f"plot_{page.replace('-', '_')}.py"


def read_header(script: Path) -> ScriptHeader:
    """Return the header of *script*, or raise `HeaderError` in one sentence."""
    lines = script.read_text(encoding="utf-8").splitlines()
    end = _block_end(script, lines)
    table = _own_table(script, lines[1:end])
    line_of = _LineFinder(lines[:end])
    _check_keys(script, table, line_of)
    title, lead = _title_and_lead(script, lines, end)
    own = table["tool"][TABLE]
    return ScriptHeader(
        id=page_id(script),
        title=title,
        lead=lead,
        family=page_id(script).partition("-")[0],
        causes=own["causes"],
        dependencies=table["dependencies"],
        cause_of=own.get("cause-of"),
        when=own.get("when", {}),
        symptom=own.get("symptom"),
        symptom_zh=own.get("symptom-zh"),
        shows=own.get("shows", []),
        errors=[
            DeclaredError(**error, line=line_of.error(number))
            for number, error in enumerate(own.get("error", []))
        ],
        needs=own.get("needs"),
        timeout=own.get("timeout"),
    )


def _block_end(script: Path, lines: list[str]) -> int:
    if not lines or lines[0] != OPENING:
        found = repr(lines[0]) if lines else "an empty file"
        raise HeaderError(script, 1, f"{OPENING!r} as the first line", found)
    for number, line in enumerate(lines[1:], 1):
        if line == CLOSING:
            return number
        if line != "#" and not line.startswith("# "):
            raise HeaderError(
                script, number + 1, f"a comment line or {CLOSING!r} to end the header", repr(line)
            )
    raise HeaderError(script, len(lines), f"{CLOSING!r} to end the header", "the end of the file")


def _own_table(script: Path, block: list[str]) -> dict[str, Any]:
    try:
        table = tomllib.loads("\n".join(line[2:] for line in block))
    except tomllib.TOMLDecodeError as problem:
        where = re.search(r"line (\d+)", str(problem))
        line = int(where[1]) + 1 if where else len(block) + 1
        raise HeaderError(script, line, "a TOML table in the header", str(problem)) from None
    if not isinstance(table.get("dependencies"), list):
        raise HeaderError(script, 1, "a list 'dependencies'", "none")
    if TABLE not in table.get("tool", {}):
        raise HeaderError(script, 1, f"a table [tool.{TABLE}]", "none")
    return table


class _LineFinder:
    """Find the line of a key, so that a complaint points at it."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = lines

    def key(self, name: str) -> int:
        for number, line in enumerate(self.lines, 1):
            if re.match(rf"# {re.escape(name)}\s*=", line) or line == f"# [tool.{TABLE}.{name}]":
                return number
        return 1

    def error(self, index: int) -> int:
        heads = [
            number
            for number, line in enumerate(self.lines, 1)
            if line.strip() == f"# [[tool.{TABLE}.error]]"
        ]
        return heads[index] if index < len(heads) else 1


def _check_keys(script: Path, table: dict[str, Any], line_of: _LineFinder) -> None:
    own = table["tool"][TABLE]
    for key in own.keys() - KEYS:
        raise HeaderError(script, line_of.key(key), f"one of {sorted(KEYS)}", repr(key))
    if not own.get("causes"):
        raise HeaderError(script, line_of.key("causes"), "a non-empty list 'causes'", "none")
    for key in LIST_KEYS & own.keys():
        if not all(isinstance(item, str) for item in own[key]):
            raise HeaderError(
                script, line_of.key(key), f"a list of strings {key!r}", repr(own[key])
            )
    for key in TEXT_KEYS & own.keys():
        if not isinstance(own[key], str) or not own[key]:
            raise HeaderError(script, line_of.key(key), f"text in {key!r}", repr(own[key]))
    if not {"error", "cause-of", "symptom"} & own.keys():
        raise HeaderError(
            script,
            1,
            f"a table [[tool.{TABLE}.error]], or 'cause-of', or 'symptom'",
            "none of them",
        )
    if "when" in own and "cause-of" not in own:
        raise HeaderError(script, line_of.key("when"), "'cause-of' beside 'when'", "'when' alone")
    for number, error in enumerate(own.get("error", [])):
        _check_error(script, error, line_of.error(number))


def _check_error(script: Path, error: dict[str, Any], line: int) -> None:
    for key in error.keys() - ERROR_KEYS:
        raise HeaderError(script, line, f"one of {sorted(ERROR_KEYS)}", repr(key))
    for key in REQUIRED_ERROR_KEYS:
        if not isinstance(error.get(key), str) or not error[key]:
            raise HeaderError(script, line, f"text in {key!r}", repr(error.get(key)))
    if not isinstance(error.get("reworded", False), bool):
        raise HeaderError(script, line, "true or false in 'reworded'", repr(error["reworded"]))
    if error["message"].endswith(("…", "...")):
        raise HeaderError(script, line, "the whole message", "one that is cut short")
    try:
        pattern_of(error["message"])
    except WordingError as problem:
        raise HeaderError(
            script, line, "a message with distinct <placeholders>", str(problem)
        ) from None


def _title_and_lead(script: Path, lines: list[str], end: int) -> tuple[str, str]:
    try:
        tree = ast.parse("\n".join(lines))
    except SyntaxError as problem:
        raise HeaderError(script, problem.lineno or 1, "Python", f"{problem.msg}") from None
    docstring = ast.get_docstring(tree) or ""
    found = re.match(r"(?P<title>.+)\n=+\n\n(?P<lead>(?:\S.*\n?)+)", docstring)
    if found is None:
        raise HeaderError(
            script,
            end + 2,
            "a docstring with a title, a line of '=', an empty line and a lead paragraph",
            repr(docstring.partition("\n")[0]) if docstring else "none",
        )
    if len(found["title"]) > LONGEST_TITLE:
        raise HeaderError(
            script,
            end + 3,
            f"a title of at most {LONGEST_TITLE} characters",
            f"{len(found['title'])}",
        )
    return found["title"], " ".join(found["lead"].split())
