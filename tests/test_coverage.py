"""The catalogue is covered: each known text leads to a page that explains what produced it."""

from __future__ import annotations

import io
import os
import sys
import traceback
import warnings
from contextlib import redirect_stderr, redirect_stdout

import pytest
from clean_output import clean
from conftest import GALLERY, ROOT
from emissions import Emission, is_shown, matches, observed
from gallery_build import enter
from inventory_coverage import claims, read_rows, share
from isolated_run import ScriptFailure, run_isolated
from native_output import native_errors
from script_header import read_header

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


def show(message, category, filename, lineno, file=None, line=None) -> None:
    sys.stderr.write(warnings.formatwarning(message, category, filename, lineno, line))


def run_trigger(row, folder) -> tuple[list[Emission], str]:
    """Run the trigger of *row* in *folder*; return what it emits and all that it prints."""
    trigger = ROOT / "catalogue" / "triggers" / f"{row.id}.py"
    code = compile(trigger.read_text("utf-8"), str(trigger), "exec")

    def child() -> tuple[list[Emission], str]:
        os.chdir(folder)
        enter("cpu")
        warnings.showwarning = show  # pytest records warnings instead of showing them
        printed = io.StringIO()
        with (
            observed() as seen,
            native_errors() as native,
            redirect_stdout(printed),
            redirect_stderr(printed),
        ):
            try:
                exec(code, {"__name__": "__main__"})
            except BaseException as problem:
                traceback.print_exception(problem)
            printed.write(native())
        return list(seen), clean(printed.getvalue(), trigger)

    return run_isolated(child, 120)


@pytest.mark.parametrize("row", COVERED, ids=lambda row: row.id)
def test_trigger_is_found_on_its_page(row, tmp_path):
    if not row.can_be_shown:
        pytest.skip(f"{row.id} cannot be shown on a CPU: {row.reach}")
    try:
        seen, printed = run_trigger(row, tmp_path)
    except ScriptFailure as failure:
        pytest.fail(f"the trigger of {row.id} did not end: {failure}")
    pages = CLAIMED[row.cause]
    owners = {page.id for page in pages} | {page.cause_of for page in pages}
    owners |= {other for page in pages for other in page.shows}
    declared = [error for owner in sorted(owners - {None}) for error in HEADERS[owner].errors]
    assert any(
        is_shown(error, printed) or any(matches(error, emission) for emission in seen)
        for error in declared
    ), f"{sorted(owners - {None})} declare none of {[tuple(emission) for emission in seen]}"
