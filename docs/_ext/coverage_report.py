"""The page "What is covered": every known message with its page, or the reason for none."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from docutils import nodes
from inventory_coverage import claims, read_rows, share
from sphinx.util.docutils import SphinxDirective
from sphinx.util.nodes import make_refnode

if TYPE_CHECKING:
    from error_domain import ErrorPage
    from inventory_coverage import Row
    from sphinx.application import Sphinx
    from sphinx.util.typing import ExtensionMetadata


class coverage_report(nodes.General, nodes.Element):
    """Stands where the report goes once every page has been read."""


class CoverageDirective(SphinxDirective):
    """Report on every row of the inventory."""

    def run(self) -> list[nodes.Node]:
        self.env.get_domain("autograd").index_docs.add(self.env.docname)
        self.env.note_dependency(str(inventory(self.env.app)))
        return [coverage_report()]


def inventory(app: Sphinx) -> Path:
    return Path(app.srcdir, app.config.autograd_errors_inventory).resolve()


def fill_report(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    for placeholder in list(doctree.findall(coverage_report)):
        placeholder.replace_self(report(app, docname))


def report(app: Sphinx, docname: str) -> list[nodes.Node]:
    """Return a summary and a table for each family of the inventory."""
    pages = app.env.get_domain("autograd").by_id()
    claimed = claims(page.header for page in pages.values())
    rows = sorted(read_rows(inventory(app)), key=lambda row: (row.family, row.id))
    found: list[nodes.Node] = [summary(rows, claimed)]
    for family, group in groupby(rows, key=lambda row: row.family):
        members = list(group)
        covered = sum(row.cause in claimed for row in members)
        heading = nodes.rubric("", f"{family}: {covered} of {len(members)}", ids=[f"rows-{family}"])
        heading["heading-level"] = 2
        entries = [
            [
                nodes.literal(text=row.id),
                nodes.literal(
                    text=f"{row.exception}: {row.message}" if row.exception else row.message
                ),
                where(app, docname, row, [pages[h.id] for h in claimed.get(row.cause, [])]),
            ]
            for row in members
        ]
        found += [
            heading,
            table(["row", "message or mistake", "page, or why there is none"], entries),
        ]
    return found


def summary(rows: list[Row], claimed: dict) -> nodes.table:
    """Return how much of each kind of row is covered."""
    lines = []
    for name, chosen in (
        ("core families", [row for row in rows if row.is_core]),
        ("all families", rows),
    ):
        for frequencies in (("common", "occasional"), ("rare",)):
            part = [row for row in chosen if row.frequency in frequencies]
            lines.append([
                nodes.Text(f"{name}, {' and '.join(frequencies)}"),
                nodes.Text(str(sum(row.can_be_shown for row in part))),
                nodes.Text(f"{share(part, claimed):.0%}"),
            ])  # fmt: skip
    return table(["rows", "can be shown on a CPU", "covered"], lines)


def where(app: Sphinx, docname: str, row: Row, pages: list[ErrorPage]) -> nodes.inline:
    """Return links to the pages of *row*, or the reason why there is none."""
    cell = nodes.inline()
    for number, page in enumerate(pages):
        if number:
            cell += nodes.Text(", ")
        title = nodes.inline("", page.header.title)
        cell += make_refnode(app.builder, docname, page.docname, None, title)
    if not pages:
        cell += nodes.emphasis("", row.why_not)
    return cell


def table(head: list[str], rows: list[list[nodes.Node]]) -> nodes.table:
    group = nodes.tgroup(cols=len(head))
    group += [nodes.colspec(colwidth=1) for _ in head]
    group += nodes.thead("", table_row([nodes.Text(text) for text in head]))
    group += nodes.tbody("", *[table_row(cells) for cells in rows])
    return nodes.table("", group, classes=["coverage"])


def table_row(cells: list[nodes.Node]) -> nodes.row:
    return nodes.row("", *[nodes.entry("", nodes.paragraph("", "", cell)) for cell in cells])


def setup(app: Sphinx) -> ExtensionMetadata:
    app.add_node(coverage_report)
    app.add_directive("coverage-report", CoverageDirective)
    app.connect("doctree-resolved", fill_report)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
