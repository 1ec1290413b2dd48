"""Write a page again when what it shows of other pages has changed, and only then."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from glossary_backlinks import terms

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment
    from sphinx.util.typing import ExtensionMetadata


def shown_elsewhere(env: BuildEnvironment) -> str:
    """Return a digest of all that one page may show of another.

    A page names its neighbors and its family, links with other pages' titles, lists the causes of
    its message with their summaries, and explains the terms it uses.
    """
    titles = sorted((name, title.astext()) for name, title in env.titles.items())
    order = sorted(env.toctree_includes.items())
    headers = [page.header for page in env.get_domain("autograd").pages.values()]
    pages = sorted((one.id, one.title, one.summary, str(one.cause_of)) for one in headers)
    return hashlib.sha256(repr((titles, order, pages, terms(env))).encode()).hexdigest()


def pages_to_write(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Return the lists and the glossary, and every page when any may show something new."""
    now = shown_elsewhere(env)
    before, env.shown_elsewhere = getattr(env, "shown_elsewhere", None), now
    if before != now:
        return sorted(env.found_docs)
    return sorted(env.get_domain("autograd").index_docs | {t.docname for t in terms(env).values()})


def setup(app: Sphinx) -> ExtensionMetadata:
    app.connect("env-updated", pages_to_write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
