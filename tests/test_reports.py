"""Public reports lead to a page that explains their cause, repairs it and warns of wrong advice.

`catalogue/reports.tsv` names for each report its page and the section that repairs it. Where
`catalogue/reports` holds a report's reproduction, the reproduction runs here as it was reported,
repaired as that section says, and with the popular answer if that is wrong; each of the last two
compares its gradient with one known another way.
"""

from __future__ import annotations

import csv
import io
import runpy
import sys
import warnings
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest
import torch._dynamo  # noqa: F401  # once here, instead of in every child
from conftest import GALLERY, ROOT
from emissions import Emission, matches
from isolated_run import ScriptFailure, run_isolated
from page_shape import CHECK, HIDES, HIDES_SILENTLY, sections
from registry import read_registry

WARNINGS = {HIDES, HIDES_SILENTLY}
REPRODUCTIONS = ROOT / "catalogue" / "reports"
ENDS_WELL = ("SILENT", "no error on this version")  # what a reproduction without error says last
SECONDS = 60

with (ROOT / "catalogue" / "reports.tsv").open(encoding="utf-8", newline="") as table:
    REPORTS = {row["id"]: row for row in csv.DictReader(table, delimiter="\t")}

REGISTRY = read_registry(
    GALLERY, ROOT / "catalogue" / "causes.tsv", ROOT / "catalogue" / "inventory.tsv"
)
PAGES: dict[str, list[Path]] = {}
for _name, _header in REGISTRY.headers.items():
    for _cause in _header.causes:
        PAGES.setdefault(_cause, []).append(REGISTRY.scripts[_name])


def reproductions(kind: str) -> list[str]:
    """Return the ids of the reports that have a reproduction of *kind*: bad, good or wrongfix."""
    return sorted(file.name.split("_")[0] for file in REPRODUCTIONS.glob(f"*_{kind}.py"))


def run(report: str, kind: str) -> tuple[Emission | None, str]:
    """Run a reproduction in a child; return the exception that ended it, and what it printed."""
    script = REPRODUCTIONS / f"{report}_{kind}.py"

    def child() -> tuple[Emission | None, str]:
        sys.path.insert(0, str(REPRODUCTIONS))
        printed = io.StringIO()
        with redirect_stdout(printed), redirect_stderr(printed):
            warnings.simplefilter("ignore")
            try:
                runpy.run_path(str(script), run_name="__main__")
            except Exception as problem:
                return Emission(type(problem).__name__, str(problem)), printed.getvalue()
        return None, printed.getvalue()

    return run_isolated(child, SECONDS)


@pytest.mark.parametrize("report", REPORTS.values(), ids=REPORTS)
def test_cause_of_report_has_a_page(report):
    assert report["cause"] in PAGES, f"no page claims {report['cause']} ({report['url']})"


@pytest.mark.parametrize("report", REPORTS.values(), ids=REPORTS)
def test_page_of_report_names_its_cause_and_repairs_it(report):
    script = REGISTRY.scripts[report["page"]]
    assert report["cause"] in REGISTRY.headers[report["page"]].causes
    assert report["fix"] in {part.title for part in sections(script) if part.is_checked}


WRONG = sorted({r["cause"] for r in REPORTS.values() if r["popular_answer_is_wrong"] == "yes"})


@pytest.mark.parametrize(
    "cause", sorted({*WRONG, *(REPORTS[report]["cause"] for report in reproductions("wrongfix"))})
)
def test_wrong_popular_answer_is_shown_wrong(cause):
    titles = {section.title for script in PAGES.get(cause, []) for section in sections(script)}
    assert titles & WARNINGS, f"no page on {cause} has one of {sorted(WARNINGS)}"


@pytest.mark.parametrize("report", reproductions("bad"))
def test_reproduction_shows_what_its_page_is_about(report):
    ended, printed = run(report, "bad")
    if ended is None:
        assert any(word in printed for word in ENDS_WELL), printed
    else:
        header = REGISTRY.headers[REPORTS[report]["page"]]
        assert any(matches(error, ended) for error in REGISTRY.allowed(header)), ended


@pytest.mark.parametrize("report", reproductions("bad"))
def test_fix_of_the_page_repairs_the_reproduction(report):
    assert CHECK.search((REPRODUCTIONS / f"{report}_good.py").read_text("utf-8"))
    ended, printed = run(report, "good")
    assert ended is None, f"{ended}\n{printed}"


@pytest.mark.parametrize("report", reproductions("wrongfix"))
def test_popular_answer_does_not_repair_the_reproduction(report):
    assert CHECK.search((REPRODUCTIONS / f"{report}_wrongfix.py").read_text("utf-8"))
    ended, printed = run(report, "wrongfix")
    assert ended is None, f"{ended}\n{printed}"


def test_failing_reproduction_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "REPRODUCTIONS", tmp_path)
    (tmp_path / "R000_good.py").write_text("assert 1 == 2, 'gradients differ'\n")
    ended, _ = run("R000", "good")
    assert ended == Emission("AssertionError", "gradients differ")
    (tmp_path / "R000_good.py").write_text("import os\nos._exit(3)\n")
    with pytest.raises(ScriptFailure, match="exit status 3"):
        run("R000", "good")
