"""Link pages and glossary both ways: pages show a term's definition, terms list their pages."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from docutils import nodes
from sphinx import addnodes
from sphinx.environment.collectors import EnvironmentCollector
from sphinx.util.nodes import make_refnode

if TYPE_CHECKING:
    from collections.abc import Set

    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment
    from sphinx.util.typing import ExtensionMetadata


SHOWN_USES = 6  # pages that a term names without being asked
CODE = re.compile(r"[_.A-Z]|^grad$")


class Term(NamedTuple):
    """Where a term is defined; synonyms share the first one's *name* and its *definition*."""

    docname: str
    anchor: str
    name: str
    definition: str


class TermUses(EnvironmentCollector):
    """Collect, for each page, the targets that may turn out to be glossary terms."""

    def clear_doc(self, app: Sphinx, env: BuildEnvironment, docname: str) -> None:
        uses(env).pop(docname, None)
        entries(env).pop(docname, None)

    def merge_other(
        self, app: Sphinx, env: BuildEnvironment, docnames: Set[str], other: BuildEnvironment
    ) -> None:
        for mine, theirs in ((uses(env), uses(other)), (entries(env), entries(other))):
            mine.update({name: theirs[name] for name in docnames & theirs.keys()})

    def process_doc(self, app: Sphinx, doctree: nodes.document) -> None:
        docname = app.env.docname
        uses(app.env)[docname] = {
            xref["reftarget"].lower()
            for xref in doctree.findall(addnodes.pending_xref)
            if xref["reftype"] in ("any", "term")
        }
        entries(app.env)[docname] = {
            identifier: Term(docname, identifier, *name_and_definition(item))
            for item in doctree.findall(nodes.definition_list_item)
            for term in item.findall(nodes.term)
            for identifier in term["ids"]
        }


def name_and_definition(item: nodes.definition_list_item) -> tuple[str, str]:
    """Return the first term of an entry and the first paragraph of its definition."""
    definition = next(item.findall(nodes.definition), nodes.definition())
    first = next(definition.findall(nodes.paragraph), nodes.paragraph())
    return next(item.findall(nodes.term)).astext(), " ".join(first.astext().split())


def uses(env: BuildEnvironment) -> dict[str, set[str]]:
    """docname -> lower-case targets"""
    if not hasattr(env, "glossary_uses"):
        env.glossary_uses = {}
    return env.glossary_uses


def entries(env: BuildEnvironment) -> dict[str, dict[str, Term]]:
    """docname -> anchor -> entry"""
    if not hasattr(env, "glossary_entries"):
        env.glossary_entries = {}
    return env.glossary_entries


def terms(env: BuildEnvironment) -> dict[str, Term]:
    """lower-case term -> its entry"""
    return {
        name.lower(): entries(env)[docname][anchor]
        for (kind, name), (docname, anchor) in env.domains.standard_domain.objects.items()
        if kind == "term" and anchor in entries(env).get(docname, {})
    }


def add_backlinks(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    known = terms(app.env)
    if docname not in {term.docname for term in known.values()}:
        return
    pages = defaultdict(set)
    for page, targets in uses(app.env).items():
        for target in targets & known.keys():
            if page != known[target].docname:
                pages[known[target].name].add(page)
    for item in doctree.findall(nodes.definition_list_item):
        found = sorted(pages[next(item.findall(nodes.term)).astext()])
        if found:
            item[-1] += folded(used_on(app, docname, found), len(found))


def resolve_term(
    app: Sphinx, env: BuildEnvironment, node: addnodes.pending_xref, contnode: nodes.Element
) -> nodes.reference | None:
    """Resolve a term in single backticks; Sphinx itself finds those in lower case only."""
    if node["reftype"] != "any":
        return None
    entry = terms(env).get(" ".join(node["reftarget"].lower().split()))
    if entry is None:
        return None
    contnode["classes"].append("std-term")
    return make_refnode(app.builder, node["refdoc"], entry.docname, entry.anchor, contnode)


def show_terms(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Show a linked term in plain letters unless it is code, with its definition at hand."""
    known = terms(app.env)
    for reference in list(doctree.findall(nodes.reference)):
        text = reference.next_node(nodes.literal)
        if text is None or "std-term" not in text["classes"]:
            continue
        entry = known.get(" ".join(text.astext().lower().split()))
        if entry is not None:
            reference["reftitle"] = entry.definition
        if not CODE.search(text.astext()):
            text.replace_self(nodes.inline("", text.astext(), classes=["term"]))


def used_on(app: Sphinx, docname: str, pages: list[str]) -> nodes.paragraph:
    line = nodes.paragraph("", "Used on: ", classes=["term-uses"])
    for number, page in enumerate(pages):
        if number:
            line += nodes.Text(", ")
        title = nodes.Text(app.env.titles[page].astext())
        line += make_refnode(app.builder, docname, page, None, title)
    return line


def folded(line: nodes.paragraph, pages: int) -> list[nodes.Node]:
    """Return *line* as it is, or folded away if it names many *pages*."""
    if pages <= SHOWN_USES:
        return [line]
    opening = f'<details class="term-uses"><summary>Used on {pages} pages</summary>'
    return [nodes.raw("", opening, format="html"), line, nodes.raw("", "</details>", format="html")]


def setup(app: Sphinx) -> ExtensionMetadata:
    app.add_env_collector(TermUses)
    app.connect("missing-reference", resolve_term)
    app.connect("doctree-resolved", add_backlinks)
    app.connect("doctree-resolved", show_terms)
    return {"env_version": 3, "parallel_read_safe": True, "parallel_write_safe": True}
