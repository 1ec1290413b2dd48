"""All gallery headers together: what must be unique and what must exist across pages."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from script_header import HeaderError, read_header

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from script_header import DeclaredError, ScriptHeader

INVENTORY_CAUSE = re.compile(r"(?:inventory|silent)/(?P<row>.+)")


@dataclass
class Registry:
    """Every readable header of a gallery, by page id, and what is wrong with them."""

    scripts: dict[str, Path] = field(default_factory=dict)
    headers: dict[str, ScriptHeader] = field(default_factory=dict)
    problems: list[HeaderError] = field(default_factory=list)

    def allowed(self, header: ScriptHeader) -> list[DeclaredError]:
        """Return the errors that *header*'s page may show: its own and those it points to."""
        others = [*header.shows, *([header.cause_of] if header.cause_of else [])]
        return header.errors + [
            error
            for other in others
            if other in self.headers
            for error in self.headers[other].errors
        ]


def read_registry(scripts: Iterable[Path], causes: Path, inventory: Path) -> Registry:
    """Read the header of every script and check them against each other.

    *causes* and *inventory* are the tables of `catalogue/`; a missing table checks nothing.
    """
    registry = Registry()
    for script in sorted(scripts):
        try:
            header = read_header(script)
        except HeaderError as problem:
            registry.problems.append(problem)
            continue
        registry.scripts[header.id] = script
        registry.headers[header.id] = header
    _check_messages(registry)
    _check_pointers(registry)
    _check_causes(registry, column(causes, "cause"), column(inventory, "id"))
    return registry


def column(table: Path, name: str) -> set[str]:
    """Return one column of a tab-separated *table* with a header line."""
    with table.open(encoding="utf-8", newline="") as lines:
        return {row[name] for row in csv.DictReader(lines, delimiter="\t")}


def wrong_advice(causes: Path) -> set[str]:
    """Return the causes for which a popular answer was measured to be wrong."""
    with causes.open(encoding="utf-8", newline="") as lines:
        return {
            row["cause"]
            for row in csv.DictReader(lines, delimiter="\t")
            if row["popular_advice"] == "wrong"
        }


def _check_messages(registry: Registry) -> None:
    owner: dict[str, str] = {}
    for name, header in registry.headers.items():
        for error in header.errors:
            other = owner.setdefault(error.text, name)
            if other != name:
                registry.problems.append(
                    HeaderError(
                        registry.scripts[name],
                        error.line,
                        "a message that no other page owns (use 'cause-of' or 'shows')",
                        f"one that {registry.scripts[other].name} owns",
                    )
                )


def _check_pointers(registry: Registry) -> None:
    for name, header in registry.headers.items():
        for key, others in (("cause-of", [header.cause_of]), ("shows", header.shows)):
            for other in filter(None, others):
                if other not in registry.headers:
                    registry.problems.append(
                        HeaderError(
                            registry.scripts[name], 1, f"the id of a page in {key!r}", repr(other)
                        )
                    )


def _check_causes(registry: Registry, causes: set[str], rows: set[str]) -> None:
    for name, header in registry.headers.items():
        for cause in header.causes:
            row = INVENTORY_CAUSE.fullmatch(cause)
            if cause not in causes and not (row and row["row"] in rows):
                registry.problems.append(
                    HeaderError(
                        registry.scripts[name],
                        1,
                        "a cause listed in catalogue/causes.tsv, or inventory/<row> or "
                        "silent/<row> of catalogue/inventory.tsv",
                        repr(cause),
                    )
                )
