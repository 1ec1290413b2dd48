"""Check that a gallery script has the parts that every page needs."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from script_header import HeaderError
from sphinx_gallery.py_source_parser import split_code_and_text_blocks

if TYPE_CHECKING:
    from collections.abc import Set
    from pathlib import Path

    from script_header import ScriptHeader

QUESTION = "The question"
OPENINGS = ("The error", "The errors", "The warning", "The warnings", "The mistake", QUESTION)
HIDES = "What only hides the error"
HIDES_SILENTLY = "What does not help"
NO_FIX = (HIDES, HIDES_SILENTLY, "If a library raised it", "Am I right now?")
HEADING = re.compile(r"(?m)^(?P<title>\S.*)\n-{3,}$")
CHECK = re.compile(r"\b(assert_close|gradcheck|gradgradcheck)\(|^\s*assert ", re.MULTILINE)


@dataclass
class Section:
    """One heading of a page with the code below it."""

    title: str
    line: int
    code: str = ""

    @property
    def is_checked(self) -> bool:
        """Return whether the code compares something with a value known another way."""
        return bool(CHECK.search(self.code))

    @property
    def is_fix(self) -> bool:
        """Return whether the section repairs something and proves it."""
        return self.is_checked and self.title not in NO_FIX


def sections(script: Path) -> list[Section]:
    """Return the sections of *script* in order."""
    found: list[Section] = []
    _, blocks = split_code_and_text_blocks(str(script))
    for block in blocks:
        if block.type == "text":
            for heading in HEADING.finditer(block.content):
                line = block.lineno + block.content[: heading.start()].count("\n")
                found.append(Section(heading["title"], line))
        elif found:
            found[-1].code += block.content
    return found


def fix_titles(script: Path) -> list[str]:
    """Return the titles of the sections of *script* that hold a checked fix."""
    return [part.title for part in sections(script)[1:] if part.is_fix]


def check_shape(script: Path, header: ScriptHeader, wrong_advice: Set[str]) -> list[HeaderError]:
    """Return what is missing on the page, a sentence each.

    *wrong_advice* holds the causes for which a popular answer was measured to be wrong.
    """
    for number, line in enumerate(script.read_text("utf-8").splitlines(), 1):
        if "TODO" in line:
            return [HeaderError(script, number, "a finished page", repr(line))]
    parts = sections(script)
    if not parts or parts[0].title not in OPENINGS:
        first = parts[0] if parts else Section("no section", 1)
        return [
            HeaderError(
                script,
                first.line,
                f"a first section named one of {list(OPENINGS)}",
                repr(first.title),
            )
        ]
    problems = []
    if not any(part.is_fix for part in parts[1:]):
        problems.append(
            HeaderError(
                script,
                parts[0].line,
                "a section with a fix that ends in a check (assert_close, gradcheck or assert)",
                "none",
            )
        )
    hiding = [part for part in parts if part.title in (HIDES, HIDES_SILENTLY)]
    advised = sorted(wrong_advice.intersection(header.causes))
    if advised and not hiding:
        problems.append(
            HeaderError(
                script,
                1,
                f"a section {HIDES!r} or {HIDES_SILENTLY!r}, since popular advice on "
                f"{advised[0]} is wrong",
                "none",
            )
        )
    problems += [
        HeaderError(script, part.line, f"code in {part.title!r} that runs the advice", "none")
        for part in hiding
        if not part.code.strip()
    ]
    return problems
