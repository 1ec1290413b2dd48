"""Show what every operation saves, views and shares, from the recording of ``nox -s operations``."""

from __future__ import annotations

import json
from collections import Counter
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import torch
from docutils import nodes
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from sphinx.application import Sphinx
    from sphinx.util.typing import ExtensionMetadata

logger = logging.getLogger(__name__)


class Cell(NamedTuple):
    """A cell of a table: its text, and whether it is good or bad news."""

    text: str
    mood: str = ""
    code: bool = False
    parts: tuple[Cell, ...] = ()
    """The lines of a cell whose news differ."""


# -- Tables ------------------------------------------------------------------------------------------


def saves_table(data: dict[str, Any]) -> tuple[list[str], list[list[Cell]]]:
    """Return what each operation saves and what may be overwritten."""
    head = ["operation", "node", "saves", "may its input be overwritten?", "and its output?"]
    rows = [
        [
            Cell(row["operation"], code=True),
            Cell(row["node"] or "", code=True),
            Cell(", ".join(kept_by(row)) or "nothing"),
            answer(row["inputs"]),
            answer(row["outputs"]),
        ]
        for row in sorted(data["saves"], key=by_name)
    ]
    return head, rows


def by_name(row: dict[str, Any]) -> tuple[bool, str]:
    """Return the key that sorts public names before private ones."""
    return row["operation"].startswith("_"), row["operation"].lower()


def kept_by(row: dict[str, Any]) -> list[str]:
    """Return what an operation keeps, in words."""
    kept = [f"its {part['name']}" for part in row["inputs"] if part["saved"]]
    outputs = [part["name"] for part in row["outputs"] if part["saved"]]
    if outputs:
        kept.append("its output" if len(row["outputs"]) == 1 else f"its {', '.join(outputs)}")
    if row["something_else"]:
        kept.append("something else")
    return [part.replace("its argument", "argument") for part in kept]


def answer(parts: list[dict[str, Any]]) -> Cell:
    """Return whether tensors may be overwritten: one word if it is the same for all."""
    said = {part["overwrite"] for part in parts}
    if len(said) == 1:
        return news(said.pop())
    lines = tuple(news(part["overwrite"], f"{part['name']}: ") for part in parts)
    return Cell("; ".join(line.text for line in lines), parts=lines)


def news(said: str, about: str = "") -> Cell:
    """Return the outcome of one trial, *about* what."""
    return Cell(f"{about}{said}", "good" if said == "yes" else "bad")


def views_table(data: dict[str, Any]) -> tuple[list[str], list[list[Cell]]]:
    """Return which operations return their input's memory."""
    head = ["operation", "returns", "outputs", "shared memory in", "the input itself in"]
    order = {"view": 0, "maybe": 1, "copy": 2}
    rows = []
    for row in sorted(data["views"], key=lambda row: (order[row["kind"]], *by_name(row))):
        kind = {"view": "a view", "maybe": "a view or a copy", "copy": "a copy"}[row["kind"]]
        if row["kind"] == "view" and row["hidden"] == row["tried"]:
            kind = "shared memory without a base"
        if row["itself"] == row["tried"]:
            kind = "the input itself"
        calls = f"of {row['tried']} calls"
        several = "one" if row["outputs"] < 2 else "several"
        rows.append(
            [
                Cell(row["operation"], code=True),
                Cell(kind),
                Cell(several),
                Cell(f"{row['shared']} {calls}"),
                Cell(f"{row['itself']} {calls}" if row["itself"] else "none"),
            ]
        )
    return head, rows


def sharing_table(data: dict[str, Any]) -> tuple[list[str], list[list[Cell]]]:
    """Return what copies, cuts and shares."""
    head = [
        "expression", "shares memory?", "keeps history?", "does the version counter notice?",
        "under no_grad", "in inference mode",
    ]  # fmt: skip
    rows = []
    for row in data["sharing"]:
        if row["raises"]:
            facts = [Cell(f"raises {row['raises']}", "bad"), Cell(""), Cell("")]
        else:
            shares = "yes, it is x itself" if row["itself"] else yes_no(row["shares_memory"])
            counts = row["counts_writes"] or "nothing is shared"
            facts = [
                Cell(shares),
                Cell(yes_no(row["keeps_history"]), "good" if row["keeps_history"] else ""),
                Cell(counts, "bad" if counts == "no" else ""),
            ]
        modes = [Cell(in_mode(row[key])) for key in ("under_no_grad", "in_inference_mode")]
        rows.append([Cell(row["expression"], code=True), *facts, *modes])
    return head, rows


def yes_no(fact: bool) -> str:
    return "yes" if fact else "no"


def in_mode(text: str) -> str:
    return f"raises {text}" if text.endswith("Error") else text


def untried_table(data: dict[str, Any]) -> tuple[list[str], list[list[Cell]]]:
    """Return what could not be tried, and why."""
    rows = [[Cell(row["operation"], code=True), Cell(row["why"])] for row in data["untried"]]
    return ["operation", "why"], rows


TABLES: dict[str, Callable[[dict[str, Any]], tuple[list[str], list[list[Cell]]]]] = {
    "saves": saves_table,
    "views": views_table,
    "sharing": sharing_table,
    "untried": untried_table,
}


def html_of(kind: str, head: list[str], rows: list[list[Cell]]) -> str:
    """Return a table that can be read as it is; ``tables.js`` makes it sortable."""
    top = "".join(f'<th scope="col">{escape(text)}</th>' for text in head)
    body = "\n".join(
        f'<tr id="{kind}-{slug(row[0].text)}">{"".join(map(cell_html, row, range(len(row))))}</tr>'
        for row in rows
    )
    return (
        f'<div class="operations">\n<table class="operations-{kind}"><thead><tr>{top}</tr></thead>\n'
        f"<tbody>\n{body}\n</tbody></table></div>"
    )


def cell_html(cell: Cell, number: int) -> str:
    text = f"<code>{escape(cell.text)}</code>" if cell.code and cell.text else escape(cell.text)
    if cell.parts:
        text = " ".join(f'<span class="{p.mood}">{escape(p.text)}</span>' for p in cell.parts)
    mood = f' class="{cell.mood}"' if cell.mood else ""
    return f'<th scope="row">{text}</th>' if number == 0 else f"<td{mood}>{text}</td>"


def slug(text: str) -> str:
    """Return *text* as part of an address."""
    return "".join(letter if letter.isalnum() else "-" for letter in text).strip("-")


# -- Sentences ---------------------------------------------------------------------------------------


def provenance(data: dict[str, Any], kind: str) -> str:
    """Return where the numbers come from."""
    tried, untried = len(data["saves"]), len(data["untried"])
    number = f"{tried} operations were called and tried, {untried} could not be."
    if kind == "sharing":
        number = f"{len(data['sharing'])} expressions were executed."
    return (
        f"Recorded on {data['date']} with torch {data['torch']} on the CPU (Python "
        f"{data['python']}): {number}"
    )


def counts(data: dict[str, Any]) -> str:
    """Return how many operations keep what."""
    found = Counter()
    for row in data["saves"]:
        kept = kept_by(row)
        found["nothing"] += not kept
        found["an input"] += any(part["saved"] for part in row["inputs"])
        found["an output"] += any(part["saved"] for part in row["outputs"])
    return (
        f"Of these, {found['an input']} save an input, {found['an output']} an output, and "
        f"{found['nothing']} save neither of them nor anything else."
    )


class OperationTable(SphinxDirective):
    """Show one of the tables, with where it comes from."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        kind = self.arguments[0]
        if kind not in TABLES:
            raise self.error(f"expected one of {sorted(TABLES)}, found {kind!r}")
        source = recording(self.config, self.env.srcdir)
        self.env.note_dependency(str(source))
        self.env.metadata[self.env.docname]["operation-table"] = "yes"
        data = json.loads(source.read_text("utf-8"))
        release = torch.__version__.partition("+")[0]
        if data["torch"] != release:
            logger.warning(
                "%s was recorded with torch %s, this build has %s; run `nox -s operations`",
                source.name, data["torch"], release, location=self.get_location(),
            )  # fmt: skip
        table = nodes.raw("", html_of(kind, *TABLES[kind](data)), format="html")
        said: Iterable[str] = [provenance(data, kind)] if kind != "untried" else []
        if kind == "saves":
            said = [*said, counts(data)]
        return [*(nodes.paragraph("", text, classes=["environment"]) for text in said), table]


def recording(config: Any, srcdir: Path) -> Path:
    return Path(srcdir, config.autograd_errors_operations)


def add_script(app: Sphinx, pagename: str, template: str, context: Any, doctree: Any) -> None:
    """Load the script only where there is a table."""
    if "operation-table" in app.env.metadata.get(pagename, {}):
        app.add_js_file("tables.js", loading_method="defer")


def setup(app: Sphinx) -> ExtensionMetadata:
    app.add_config_value("autograd_errors_operations", "_data/operations.json", "env", str)
    app.add_directive("operation-table", OperationTable)
    app.connect("html-page-context", add_script)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
