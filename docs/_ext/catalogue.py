"""The entries of ``errors.json``, from headers and what the build knows about their pages.

Standard library only: the Sphinx extension and the lookup's tests make the same entries.
"""

from __future__ import annotations

import csv
from collections import Counter
from typing import TYPE_CHECKING, Any

from wording import TRIGGERED, pattern_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from script_header import DeclaredError, ScriptHeader

SCHEMA = 1
OPTIONAL = {"symptom_zh", "reports"}


def page_entry(
    header: ScriptHeader,
    *,
    url: str,
    terms: Sequence[str] = (),
    formerly: Mapping[str, Sequence[Mapping[str, str]]] | None = None,
    fixes: Sequence[tuple[str, str]] = (),
    reports: Mapping[str, int] | None = None,
) -> dict[str, Any]:
    """Return the entry of one page.

    *formerly* maps a declared message to its former wordings, each with ``message`` and
    ``releases``; *fixes* holds title and anchor of the page's later sections; *reports* says how
    often each cause was reported: where nothing else decides, the lookup names those first.
    Keys stand in the order that compresses best: like texts of one page close together. Keys
    beyond the contract (`OPTIONAL`) are left out where they say nothing, and a former wording that
    two messages of the page share stands at the first.
    """
    wordings = _told_once(header.errors, formerly or {})
    entry = {
        "family": header.family,
        "url": url,
        "terms": list(terms),
        "id": header.id,
        "reports": sum((reports or {}).get(cause, 0) for cause in header.causes),
        "causes": list(header.causes),
        "summary": header.summary,
        "title": header.title,
        "symptom": header.symptom,
        "symptom_zh": header.symptom_zh,
        "fixes": [{"title": title, "anchor": anchor} for title, anchor in fixes],
        "errors": [
            {
                "raises": error.raises,
                "patterns": [wording_pattern(error.raises, error.message)],
                "message": error.message,
                "formerly": [
                    {
                        "patterns": [wording_pattern(error.raises, former["message"])],
                        "message": former["message"],
                        "releases": former["releases"],
                    }
                    for former in wordings[error.message]
                ],
            }
            for error in header.errors
        ],
        "cause_of": header.cause_of,
        "when": dict(header.when),
    }
    return {key: value for key, value in entry.items() if value or key not in OPTIONAL}


def _told_once(
    errors: Sequence[DeclaredError], formerly: Mapping[str, Sequence[Mapping[str, str]]]
) -> dict[str, list[Mapping[str, str]]]:
    """Return the former wordings of each message that no message before it has."""
    told: set[str] = set()
    found = {}
    for error in errors:
        new = [f for f in formerly.get(error.message, ()) if f["message"] not in told]
        told.update(former["message"] for former in new)
        found[error.message] = new
    return found


def count_reports(table: Path) -> Counter[str]:
    """Return for each cause the number of public reports in ``catalogue/reports.tsv``."""
    with table.open(encoding="utf-8", newline="") as lines:
        return Counter(row["cause"] for row in csv.DictReader(lines, delimiter="\t"))


def wording_pattern(raises: str, message: str) -> str:
    """Return the pattern of *message*; only warnings say where they were triggered."""
    pattern = pattern_of(message)
    return pattern if raises.endswith("Warning") else pattern.replace(TRIGGERED, "")


def catalogue(entries: Sequence[dict[str, Any]], torch: str, device: str) -> dict[str, Any]:
    """Return the whole of ``errors.json``."""
    return {"schema": SCHEMA, "torch": torch, "device": device, "pages": list(entries)}
