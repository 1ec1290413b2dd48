"""The figures: what computes them, and those that a built site must keep."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from tools.bench import Figure, long_paste, per_page, ratio, site_figures, small_site, table

if TYPE_CHECKING:
    from pathlib import Path

    from minisite import MiniSite


def test_cost_per_page_leaves_out_what_every_build_costs() -> None:
    assert per_page({1: 10.0, 101: 60.0}) == per_page({101: 60.0, 1: 10.0}) == 0.5


def test_ratio_passes_up_to_its_target() -> None:
    assert ratio("half", 1, 2, 0.5).passed
    assert not ratio("half", 1.01, 2, 0.5).passed
    assert Figure("other", 3.0).passed is None


def test_table_names_what_fails() -> None:
    lines = table([Figure("wide", 3, "KB", 2), Figure("thin", 1, "KB", 2), Figure("to compare", 1)])
    told = {line.split("  ")[0]: line.split()[-1] for line in lines.splitlines()[1:]}
    assert told == {"wide": "FAIL", "thin": "pass", "to compare": "1"}


@pytest.mark.parametrize("size", [500, 100_000])
def test_paste_has_its_size_and_ends_in_the_message(size: int) -> None:
    text = long_paste("RuntimeError: no", size)
    assert size <= len(text) < size + 200
    assert text.endswith("RuntimeError: no\n")


def test_small_site_holds_only_the_scripts_it_is_given(tmp_path: Path) -> None:
    docs = small_site(tmp_path / "site", {"one_two": "print(2)\n"})
    assert [p.name for p in (docs.parent / "gallery").glob("*.py")] == ["plot_one_two.py"]


def test_pages_load_nothing_that_they_do_not_use(site: MiniSite) -> None:
    from page_weight import UNUSED

    site.build()
    html = site.html()
    assert "sg_gallery.css" in html
    assert [name for name in UNUSED if name in html] == []


def test_built_site_keeps_its_budgets(built: Path) -> None:
    assert shutil.which("node"), "The lookup is measured in Node: install it."
    missed = [figure for figure in site_figures(built) if figure.passed is False]
    assert not missed, table(missed)
