"""The catalogue is covered: each known text leads to a page that explains what produced it."""

from __future__ import annotations

import io
import os
from contextlib import redirect_stderr, redirect_stdout

import pytest
import torch  # noqa: F401  # once, before the first fork
from conftest import GALLERY, ROOT
from emissions import Emission, observed
from inventory_coverage import claims, read_rows, share
from isolated_run import ScriptFailure, run_isolated
from script_header import read_header
from wording import pattern_of, python_pattern

ROWS = read_rows(ROOT / "catalogue" / "inventory.tsv")
HEADERS = {header.id: header for header in map(read_header, GALLERY)}
CLAIMED = claims(HEADERS.values())
COVERED = [row for row in ROWS if row.cause in CLAIMED and row.reproduced and not row.is_silent]
NEEDED = {
    "core common and occasional": (1.0, [r for r in ROWS if r.is_core and r.frequency != "rare"]),
    "core rare": (0.8, [r for r in ROWS if r.is_core and r.frequency == "rare"]),
}


@pytest.mark.parametrize("least, rows", NEEDED.values(), ids=NEEDED)
def test_known_rows_have_pages(least, rows):
    open_rows = sorted(row.id for row in rows if row.can_be_shown and row.cause not in CLAIMED)
    assert share(rows, CLAIMED) >= least, f"no page for: {open_rows}"


def emitted_by(row, folder) -> list[Emission]:
    """Run the trigger of *row* in *folder* and return everything it emits."""
    trigger = ROOT / "catalogue" / "triggers" / f"{row.id}.py"
    code = compile(trigger.read_text("utf-8"), str(trigger), "exec")

    def child() -> list[Emission]:
        os.chdir(folder)
        quiet = io.StringIO()
        with observed() as seen, redirect_stdout(quiet), redirect_stderr(quiet):
            try:
                exec(code, {"__name__": "__main__"})
            except BaseException as problem:
                import traceback

                traceback.print_exception(problem)
        text = quiet.getvalue()
        return [*seen, *(Emission("", line) for line in text.splitlines())]

    return run_isolated(child, 120)


@pytest.mark.parametrize("row", COVERED, ids=lambda row: row.id)
def test_trigger_is_found_on_its_page(row, tmp_path):
    if not row.can_be_shown:
        pytest.skip(f"{row.id} cannot be shown on a CPU: {row.reach}")
    try:
        seen = emitted_by(row, tmp_path)
    except ScriptFailure as failure:
        pytest.fail(f"the trigger of {row.id} did not end: {failure}")
    owners = [HEADERS[page.cause_of or page.id] for page in CLAIMED[row.cause]]
    patterns = [
        (error.raises, python_pattern(pattern_of(error.message)))
        for owner in owners
        for error in owner.errors
    ]
    found = any(
        pattern.match(emission.text.strip()) and emission.raises in (raises, "")
        for raises, pattern in patterns
        for emission in seen
    )
    told = [f"{e.raises}: {e.text}" for e in seen if e.raises]
    assert found, f"{[owner.id for owner in owners]} declare none of {told}"
