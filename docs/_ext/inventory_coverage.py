"""Which known messages and silent mistakes have a page.

Standard library only: the report on the site and the tests read the same functions.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from script_header import ScriptHeader

CORE_FAMILIES = {
    "leaf-inplace", "view-inplace", "version-counter", "saved-tensors", "backward-call",
    "leaf-grad", "requires-grad", "module-parameter", "optimizer", "numpy", "copy-pickle",
    "inference-mode", "grad-mode", "memory-overlap", "inplace-shape-dtype", "out-variant",
    "data-set-resize", "device-mismatch", "loss-shape", "anomaly",
}  # fmt: skip
REACHABLE = {"cpu", "distributed", "compile-only"}


@dataclass(frozen=True)
class Row:
    """One measured way to get an autograd error, a warning, or a silently wrong gradient."""

    id: str
    kind: str
    exception: str
    message: str
    family: str
    reach: str
    frequency: str
    reason: str
    reproduced: bool

    @property
    def is_silent(self) -> bool:
        return self.kind == "silent"

    @property
    def is_core(self) -> bool:
        """Return whether the row belongs to the families of everyday eager autograd."""
        return self.family.startswith("silent-") or self.family in CORE_FAMILIES

    @property
    def cause(self) -> str:
        """Return the name under which a page's header claims the row."""
        return f"{'silent' if self.is_silent else 'inventory'}/{self.id}"

    @property
    def can_be_shown(self) -> bool:
        """Return whether a script on a CPU can reach it."""
        return self.reproduced and self.reach in REACHABLE

    @property
    def why_not(self) -> str:
        """Return why no page covers the row."""
        if self.reason:
            return self.reason
        if not self.can_be_shown:
            return f"cannot be reached on a CPU ({self.reach})"
        return "not written yet"


def read_rows(inventory: Path) -> list[Row]:
    """Return all rows of ``catalogue/inventory.tsv``."""
    with inventory.open(encoding="utf-8", newline="") as lines:
        return [
            Row(
                id=row["id"],
                kind=row["kind"],
                exception=row["exception"],
                message=row["message_template"],
                family=row["family"],
                reach=row["reach"],
                frequency=row["frequency"],
                reason=row["reason"],
                reproduced=row["repro"] == "yes",
            )
            for row in csv.DictReader(lines, delimiter="\t")
        ]


def claims(headers: Iterable[ScriptHeader]) -> dict[str, list[ScriptHeader]]:
    """Return, for each cause, the pages whose headers claim it."""
    found: dict[str, list[ScriptHeader]] = {}
    for header in headers:
        for cause in header.causes:
            found.setdefault(cause, []).append(header)
    return found


def share(rows: Iterable[Row], claimed: dict[str, list[ScriptHeader]]) -> float:
    """Return which part of the reachable *rows* has a page, between 0 and 1."""
    reachable = [row for row in rows if row.can_be_shown]
    if not reachable:
        return 1.0
    return sum(row.cause in claimed for row in reachable) / len(reachable)
