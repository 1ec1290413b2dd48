"""Name the site's top pages in the sidebar, without the tree of all pages behind them.

The theme resolves that tree for every page, which costs more the more pages there are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

    from sphinx.application import Sphinx
    from sphinx.util.typing import ExtensionMetadata

BEFORE_THE_THEME = 400


def name_top_pages(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any
) -> None:
    """Put ``top_pages`` into the context: what the front page's tree of contents lists."""
    context["toctree"] = lambda **_: ""
    context["top_pages"] = [
        {
            "title": app.env.titles[name].astext(),
            "name": name,
            "current": name == pagename,
        }
        for name in app.env.toctree_includes.get(app.config.root_doc, ())
    ]


def setup(app: Sphinx) -> ExtensionMetadata:
    app.connect("html-page-context", name_top_pages, priority=BEFORE_THE_THEME)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
