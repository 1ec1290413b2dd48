"""Write ``errors.json``, from a message, a symptom or a cause to its page, and ``fixes.json``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from glossary_backlinks import terms, uses

from catalogue import catalogue, count_reports, page_entry

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.util.typing import ExtensionMetadata


def write_catalogue(app: Sphinx, exception: Exception | None) -> None:
    """Write the catalogue of all pages beside the site's front page."""
    if exception is not None or app.builder.format != "html":
        return
    known = terms(app.env)
    reports = count_reports(Path(app.srcdir, app.config.autograd_errors_reports))
    entries = []
    for docname, page in sorted(app.env.get_domain("autograd").pages.items()):
        used = uses(app.env).get(docname, set()) & known.keys()
        entries.append(
            page_entry(
                page.header,
                url=app.builder.get_target_uri(docname),
                terms=sorted({known[term].name for term in used}),
                formerly=app.env.former_wordings if hasattr(app.env, "former_wordings") else {},
                fixes=page.fixes,
                reports=reports,
            )
        )
    data = catalogue(
        entries, torch.__version__.partition("+")[0], app.config.autograd_errors_device
    )
    # A reader's lookup needs the fixes of one page, and only once it has found it.
    fixes = {entry["id"]: entry.pop("fixes") for entry in entries}
    for name, value in (("errors.json", data), ("fixes.json", fixes)):
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n"
        Path(app.outdir, name).write_text(text, encoding="utf-8")


def setup(app: Sphinx) -> ExtensionMetadata:
    app.connect("build-finished", write_catalogue)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
