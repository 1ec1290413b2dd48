"""Public reports lead to a page that explains their cause and warns of the wrong answer."""

from __future__ import annotations

import csv

import pytest
from conftest import GALLERY, ROOT
from page_shape import sections
from script_header import read_header

WARNINGS = {"What only hides the error", "What does not help"}

with (ROOT / "catalogue" / "reports.tsv").open(encoding="utf-8", newline="") as table:
    REPORTS = list(csv.DictReader(table, delimiter="\t"))

PAGES: dict[str, list] = {}
for _script in GALLERY:
    for _cause in read_header(_script).causes:
        PAGES.setdefault(_cause, []).append(_script)


@pytest.mark.parametrize("report", REPORTS, ids=lambda report: report["id"])
def test_cause_of_report_has_a_page(report):
    assert report["cause"] in PAGES, f"no page claims {report['cause']} ({report['url']})"


WRONG = sorted({r["cause"] for r in REPORTS if r["popular_answer_is_wrong"] == "yes"})


@pytest.mark.parametrize("cause", WRONG)
def test_wrong_popular_answer_is_shown_wrong(cause):
    titles = {section.title for script in PAGES.get(cause, []) for section in sections(script)}
    assert titles & WARNINGS, f"no page on {cause} has one of {sorted(WARNINGS)}"
