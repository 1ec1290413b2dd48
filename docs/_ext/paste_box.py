"""A directive for the paste box; only pages that have one load its script."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

if TYPE_CHECKING:
    from typing import Any

    from sphinx.application import Sphinx
    from sphinx.util.typing import ExtensionMetadata

BOX = (
    '<div class="lookup-box" data-repository="{repository}"><noscript><p>The box needs JavaScript; '
    "without it, search the list of messages with your browser.</p></noscript></div>"
)
SCRIPT = "lookup-box.js"
STYLE = "lookup.css"


class paste_box(nodes.General, nodes.Element):
    """Stands for the box; only HTML has one."""


class PasteBoxDirective(SphinxDirective):
    """Put the paste box here."""

    def run(self) -> list[nodes.Node]:
        return [paste_box()]


def visit_html(translator: Any, node: paste_box) -> None:
    """Write the place that the script fills."""
    repository = translator.config.autograd_errors_repository
    translator.body.append(BOX.format(repository=escape(repository)))
    raise nodes.SkipNode


def skip(translator: Any, node: paste_box) -> None:
    raise nodes.SkipNode


def add_script(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any
) -> None:
    """Let a page with a box load what the box needs."""
    if doctree is not None and next(doctree.findall(paste_box), None) is not None:
        app.add_css_file(STYLE)
        app.add_js_file(SCRIPT, loading_method="defer")


def setup(app: Sphinx) -> ExtensionMetadata:
    app.add_directive("paste-box", PasteBoxDirective)
    app.add_node(
        paste_box,
        html=(visit_html, None),
        latex=(skip, None),
        man=(skip, None),
        texinfo=(skip, None),
        text=(skip, None),
    )
    app.connect("html-page-context", add_script)
    return {"env_version": 1, "parallel_read_safe": True, "parallel_write_safe": True}
