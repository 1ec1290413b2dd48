"""Leave out what pages load but never use, for a first visit of few requests."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

    from sphinx.application import Sphinx
    from sphinx.util.typing import ExtensionMetadata

# Of sphinx-gallery: for Binder links, HTML and tables in output, and tags; no page has any.
UNUSED = {
    "sg_gallery-binder.css",
    "sg_gallery-dataframe.css",
    "sg_gallery-rendered-html.css",
    "sg-tags.js",
}


def leave_out(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any
) -> None:
    """Take unused style sheets and scripts off every page."""
    for kind in ("css_files", "script_files"):
        context[kind] = [file for file in context.get(kind, []) if _name(file) not in UNUSED]


def _name(file: Any) -> str:
    return PurePosixPath(str(getattr(file, "filename", file) or "")).name


def setup(app: Sphinx) -> ExtensionMetadata:
    app.connect("html-page-context", leave_out, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
