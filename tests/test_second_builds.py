"""A second build shows what changed, and only that: no stale page, output or link."""

from __future__ import annotations

import json
from types import SimpleNamespace

import gallery_build
import glossary_backlinks
from error_domain import ErrorDomain
from minisite import page

TWO = page(title="Two", message="<n> pages", emitted="3 pages")


def ran(site) -> set[str]:
    """Return the pages whose scripts have run since the last call."""
    files = {p.name: p.stat().st_mtime_ns for p in (site.docs / "errors").glob("*.emissions.json")}
    before = getattr(site, "seen", {})
    site.seen = files
    return {name.split(".")[0] for name in files if files[name] != before.get(name)}


def ids(site) -> list[str]:
    catalogue = json.loads((site.root / "out" / "errors.json").read_text())
    return [entry["id"] for entry in catalogue["pages"]]


def test_unchanged_script_does_not_run_again(site):
    site.build()
    assert ran(site) == {"plot_one_example"}
    site.build()
    assert ran(site) == set()


def test_changed_script_alone_runs_again(site):
    site.script("two_pages", TWO)
    site.build()
    ran(site)
    site.script("two_pages", TWO.replace("A line that works.", "A line that always works."))
    site.build()
    assert ran(site) == {"plot_two_pages"}
    assert "always works" in site.html("two_pages")


def test_changed_header_reaches_box_index_and_catalogue(site):
    site.build()
    site.script("one_example", page(message="<count> is too much", emitted="3 is too much"))
    out = site.build()
    assert "is too much" in site.text("errors/plot_one_example")
    assert "is too much" in site.text("errors/index")
    assert "is too much" in (out / "errors.json").read_text()


def test_unchanged_pages_are_not_written_again(site):
    site.script("two_pages", TWO)
    out = site.build()
    written = out / "errors" / "plot_one_example.html"
    before = written.stat().st_mtime_ns
    site.script("two_pages", TWO.replace("A line that works.", "A line that always works."))
    site.build()
    assert written.stat().st_mtime_ns == before


def test_new_title_and_summary_reach_neighbors_and_the_owner(site):
    cause = page(
        title="Two", emitted="4 is too many", keys='# cause-of = "one-example"\n', declare=False
    )
    site.script("one_cause", cause)
    site.build()
    assert "Two: You wrote too much." in site.text("errors/plot_one_example")
    site.script("one_cause", cause.replace("Two\n===", "Ten\n===").replace("You wrote", "You sent"))
    site.build()
    neighbor = site.text("errors/plot_one_example")
    assert "Ten: You sent too much." in neighbor
    assert "Two" not in neighbor


def test_page_goes_away_with_its_script(site):
    site.script("two_pages", TWO)
    out = site.build()
    assert ids(site) == ["one-example", "two-pages"]
    (site.gallery / "plot_two_pages.py").unlink()
    site.build()
    assert ids(site) == ["one-example"]
    assert "plot_two_pages" not in (out / "errors" / "index.html").read_text()
    assert "plot_two_pages" not in (out / "glossary.html").read_text()
    assert not list((site.docs / "errors").glob("plot_two_pages*"))


def test_renamed_script_has_a_page_under_its_new_name_only(site):
    site.script("two_pages", TWO)
    site.build()
    (site.gallery / "plot_two_pages.py").rename(site.gallery / "plot_two_sheets.py")
    out = site.build()
    assert ids(site) == ["one-example", "two-sheets"]
    glossary = (out / "glossary.html").read_text()
    assert "plot_two_sheets" in glossary
    assert "plot_two_pages" not in glossary


def test_term_forgets_a_page_that_no_longer_uses_it(site):
    site.build()
    assert "Used on: Too many" in site.text("glossary")
    site.script("one_example", page().replace("`leaf tensor`", "nothing"))
    site.build()
    assert "Used on" not in site.text("glossary")


def test_term_that_many_pages_use_folds_them_away(site, monkeypatch):
    monkeypatch.setattr(glossary_backlinks, "SHOWN_USES", 1)
    site.script("two_pages", TWO)
    out = site.build()
    assert "<summary>Used on 2 pages</summary>" in (out / "glossary.html").read_text("utf-8")


def test_another_torch_runs_every_script_again(site, monkeypatch):
    site.build()
    ran(site)
    monkeypatch.setattr(gallery_build.torch, "__version__", "99.0")
    site.build()
    assert ran(site) == {"plot_one_example"}


def test_another_device_runs_every_script_again(site):
    site.build()
    ran(site)
    site.build(autograd_errors_device="meta")
    assert ran(site) == {"plot_one_example"}


def test_page_that_was_not_written_is_run_again(site):
    site.build()
    ran(site)
    (site.docs / "errors" / "plot_one_example.rst").unlink()
    site.build()
    assert ran(site) == {"plot_one_example"}


def test_parallel_build_gives_the_same_site(tmp_path):
    from minisite import MiniSite

    sites = []
    for name, parallel in (("alone", 0), ("parallel", 2)):
        site = MiniSite(tmp_path / name)
        for number in range(6):
            text = page(
                title=f"Page {number}", message=f"<n> is {number}", emitted=f"3 is {number}"
            )
            site.script(f"two_number_{number}", text)
        out = site.build(parallel=parallel)
        sites.append(
            {
                path.relative_to(out): path.read_bytes()
                for path in sorted(out.rglob("*"))
                if path.is_file() and path.suffix in {".html", ".json", ".inv", ".js"}
            }
        )
    assert sites[0] == sites[1]


def test_pages_stand_in_one_order_whichever_process_read_them_first():
    domain = object.__new__(ErrorDomain)
    headers = {name: SimpleNamespace(header=SimpleNamespace(id=name)) for name in "cab"}
    domain.data = {"pages": headers}
    assert list(domain.by_id()) == ["a", "b", "c"]
