"""The errors that the gallery documents: one object a page, an index, and links by id."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from docutils import nodes
from docutils.parsers.rst import directives
from graph_pictures import picture_html
from sphinx.domains import Domain, ObjType
from sphinx.errors import ExtensionError
from sphinx.roles import XRefRole
from sphinx.util.docutils import SphinxDirective
from sphinx.util.nodes import make_refnode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Set
    from typing import Any

    from script_header import ScriptHeader
    from sphinx.addnodes import pending_xref
    from sphinx.application import Sphinx
    from sphinx.builders import Builder
    from sphinx.environment import BuildEnvironment
    from sphinx.util.typing import ExtensionMetadata


SHOWN_CAUSES = 3


@dataclass
class ErrorPage:
    """What the site knows about one gallery page."""

    docname: str
    header: ScriptHeader
    fixes: list[tuple[str, str]] = field(default_factory=list)
    """Title and anchor of every section after the first."""
    is_question: bool = False
    """Whether it answers a question instead of repairing a mistake."""


class error_index(nodes.General, nodes.Element):
    """Stands where a list of pages goes once every page has been read."""


class ErrorIndexDirective(SphinxDirective):
    """List pages: all by family, the most reported ones, those with a symptom or a question."""

    option_spec = {
        "most-reported": directives.nonnegative_int,
        "family": directives.unchanged_required,
        "families": directives.flag,
        "pictures": directives.flag,
        "symptoms": directives.flag,
        "questions": directives.flag,
    }

    def run(self) -> list[nodes.Node]:
        self.env.get_domain("autograd").index_docs.add(self.env.docname)
        return [listing(**{key.replace("-", "_"): v for key, v in self.options.items()})]


def listing(**what: Any) -> error_index:
    """Return a placeholder for a list of pages."""
    node = error_index()
    node["what"] = {key: True if value is None else value for key, value in what.items()}
    return node


class ErrorDomain(Domain):
    """The documented errors, keyed by the document that documents them."""

    name = "autograd"
    label = "Autograd"
    object_types = {"error": ObjType("error", "error")}
    roles = {"error": XRefRole(innernodeclass=nodes.inline)}
    directives = {"index": ErrorIndexDirective}
    initial_data = {"pages": {}, "index_docs": set()}
    data_version = 2

    @property
    def pages(self) -> dict[str, ErrorPage]:
        """docname -> page"""
        return self.data["pages"]

    @property
    def index_docs(self) -> set[str]:
        """The documents that list pages; they are few, and written on every build."""
        return self.data["index_docs"]

    def by_id(self) -> dict[str, ErrorPage]:
        return {page.header.id: page for _, page in sorted(self.pages.items())}

    def clear_doc(self, docname: str) -> None:
        self.pages.pop(docname, None)
        self.index_docs.discard(docname)

    def merge_domaindata(self, docnames: Set[str], otherdata: dict[str, Any]) -> None:
        for docname in docnames & otherdata["pages"].keys():
            self.pages[docname] = otherdata["pages"][docname]
        self.index_docs.update(docnames & otherdata["index_docs"])

    def get_objects(self) -> Iterator[tuple[str, str, str, str, str, int]]:
        for docname, page in sorted(self.pages.items()):
            yield page.header.id, page.header.title, "error", docname, "", 1

    def resolve_xref(
        self,
        env: BuildEnvironment,
        fromdocname: str,
        builder: Builder,
        typ: str,
        target: str,
        node: pending_xref,
        contnode: nodes.Element,
    ) -> nodes.reference | None:
        page = self.by_id().get(target)
        if page is None:
            return None
        if contnode.astext() == target:  # no title of its own: show the page's
            contnode = nodes.inline("", page.header.title)
        return make_refnode(builder, fromdocname, page.docname, None, contnode)

    def resolve_any_xref(
        self,
        env: BuildEnvironment,
        fromdocname: str,
        builder: Builder,
        target: str,
        node: pending_xref,
        contnode: nodes.Element,
    ) -> list[tuple[str, nodes.reference]]:
        found = self.resolve_xref(env, fromdocname, builder, "error", target, node, contnode)
        return [("autograd:error", found)] if found is not None else []


def fill_lists(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Replace each placeholder by what it asks for."""
    for placeholder in list(doctree.findall(error_index)):
        lists = make_lists(app, placeholder["what"], lambda target: link(app, docname, target))
        placeholder.replace_self(lists)


def make_lists(
    app: Sphinx, what: dict[str, Any], to: Callable[[ErrorPage], nodes.reference]
) -> list[nodes.Node]:
    """Return the nodes of the list that *what* describes."""
    domain = app.env.get_domain("autograd")
    pages = sorted(domain.pages.values(), key=lambda page: page.header.id)
    families = app.config.autograd_errors_families
    if "causes_of" in what:
        return causes_list([p for p in pages if p.header.cause_of == what["causes_of"]], to)
    if "symptoms" in what or "questions" in what:
        told = [p for p in pages if p.header.symptom and p.is_question == ("questions" in what)]
        return bullet_list(told, to, symptom_note)
    if "most_reported" in what:
        ranked = most_reported(pages, Path(app.srcdir, app.config.autograd_errors_reports))
        return bullet_list(ranked[: what["most_reported"]], to, message_note)
    if "families" in what:
        return family_links(pages, families, to)
    if "family" in what:
        return family_list([p for p in pages if p.header.family == what["family"]], to)
    found: list[nodes.Node] = []
    for family, title in families.items():
        members = [page for page in pages if page.header.family == family]
        if members:
            found.append(family_heading(family, title))
            lists = family_list(members, to)
            if "pictures" in what:
                lists = [*family_picture(app, family, members, to), *lists]
            found.append(nodes.container("", *lists, classes=["family"]))
    return found


def link(app: Sphinx, docname: str, page: ErrorPage) -> nodes.reference:
    title = nodes.inline("", page.header.title)
    return make_refnode(app.builder, docname, page.docname, None, title)


def family_heading(family: str, title: str) -> nodes.rubric:
    heading = nodes.rubric("", title, ids=[f"family-{family}"])
    heading["heading-level"] = 2
    return heading


def family_picture(
    app: Sphinx,
    family: str,
    pages: list[ErrorPage],
    to: Callable[[ErrorPage], nodes.reference],
) -> list[nodes.Node]:
    """Return the picture that stands for a family, linked to its page; few families have one."""
    name, title = app.config.autograd_errors_family_pictures.get(family, (None, None))
    page = next((page for page in pages if page.header.id == name), None)
    if page is None:
        return []
    html = picture_html(app.config, app.srcdir, name, title)
    if html is None:
        if not app.config.sphinx_gallery_conf["plot_gallery"]:
            return []
        raise ExtensionError(
            f"docs/conf.py:1: expected the title of a picture of {name!r} in "
            f"autograd_errors_family_pictures[{family!r}], found {title!r}."
        )
    source = nodes.paragraph("", "", nodes.Text("From "), to(page))
    picture = nodes.raw("", html, format="html")
    return [nodes.container("", picture, source, classes=["family-picture"])]


def family_links(
    pages: list[ErrorPage],
    families: dict[str, str],
    to: Callable[[ErrorPage], nodes.reference],
) -> list[nodes.Node]:
    """Return one line a family: its title, linked to its part of the full index, and a count."""
    count = Counter(page.header.family for page in pages)
    entries = nodes.bullet_list(classes=["error-families"])
    for family, title in families.items():
        if count[family]:
            first = next(page for page in pages if page.header.family == family)
            reference = to(first)
            folder = reference["refuri"].rpartition("/")[0]
            index = f"{folder}/index.html" if folder else "index.html"
            target = nodes.reference("", title, refuri=f"{index}#family-{family}", internal=True)
            entry = nodes.paragraph("", "", target, nodes.Text(f" {count[family]}"))
            entries += nodes.list_item("", entry)
    return [entries]


def message_note(page: ErrorPage) -> str | None:
    """Return what identifies a page in a list: its message, or what its reader sees."""
    if page.header.errors:
        return page.header.errors[0].text
    return None


def symptom_note(page: ErrorPage) -> str | None:
    return page.header.symptom


def any_note(page: ErrorPage) -> str | None:
    """Return a page's message, else what its reader sees, else what happened."""
    return message_note(page) or symptom_note(page) or page.header.summary


def no_note(page: ErrorPage) -> None:
    """Leave the title alone."""


def bullet_list(
    pages: list[ErrorPage],
    to: Callable[[ErrorPage], nodes.reference],
    note: Callable[[ErrorPage], str | None] = message_note,
) -> list[nodes.Node]:
    entries = nodes.bullet_list(classes=["error-list"])
    for page in pages:
        line = nodes.paragraph("", "", to(page))
        text = note(page)
        if text:
            style = nodes.literal if text == message_note(page) else nodes.inline
            line += nodes.Text(" ")
            line += style(text, text, classes=["error-note"])
        entries += nodes.list_item("", line)
    return [entries]


def family_list(
    pages: list[ErrorPage], to: Callable[[ErrorPage], nodes.reference]
) -> list[nodes.Node]:
    """Return a family's pages, those about one cause below the page that owns the message."""
    owners = {page.header.id for page in pages}
    causes: dict[str | None, list[ErrorPage]] = defaultdict(list)
    for page in pages:
        causes[page.header.cause_of if page.header.cause_of in owners else None].append(page)
    [entries] = bullet_list(causes[None], to, any_note)
    for entry, page in zip(entries, causes[None], strict=True):
        if causes[page.header.id]:
            entry += bullet_list(causes[page.header.id], to, no_note)
    return [entries]


def causes_list(
    pages: list[ErrorPage], to: Callable[[ErrorPage], nodes.reference]
) -> list[nodes.Node]:
    """Return the cause pages of a message; many of them fold away."""
    if not pages:
        return []
    entries = nodes.bullet_list(classes=["cause-list"])
    for page in pages:
        line = nodes.paragraph("", "", to(page), nodes.Text(f": {page.header.summary}"))
        entries += nodes.list_item("", line)
    if len(pages) <= SHOWN_CAUSES:
        return [nodes.paragraph("", "Causes of this message with a page of their own:"), entries]
    summary = f"<summary>{len(pages)} causes of this message have a page of their own</summary>"
    opening = nodes.raw("", f'<details class="more-messages">{summary}', format="html")
    return [opening, entries, nodes.raw("", "</details>", format="html")]


def most_reported(pages: list[ErrorPage], reports: Path) -> list[ErrorPage]:
    """Return *pages* in order of the public reports that their causes explain, most first."""
    count: Counter[str] = Counter()
    for line in reports.read_text(encoding="utf-8").splitlines()[1:]:
        count[line.split("\t")[1]] += 1
    owner: dict[str, int] = defaultdict(int)
    for page in pages:
        seen = sum(count[cause] for cause in page.header.causes)
        owner[page.header.cause_of or page.header.id] += seen
    ranked = [p for p in pages if p.header.errors and owner[p.header.id]]
    return sorted(ranked, key=lambda page: -owner[page.header.id])


def check_families(app: Sphinx, env: BuildEnvironment) -> None:
    """End the build for a page whose family has no title."""
    families = app.config.autograd_errors_families
    for page in env.get_domain("autograd").pages.values():
        if page.header.family not in families:
            raise ExtensionError(
                f"gallery/{Path(page.docname).name}.py:1: expected a file name that begins with "
                f"plot_ and a family of autograd_errors_families in docs/conf.py, found "
                f"{page.header.family!r}."
            )


def setup(app: Sphinx) -> ExtensionMetadata:
    app.add_config_value("autograd_errors_families", {}, "env", dict)
    app.add_config_value("autograd_errors_family_pictures", {}, "env", dict)
    app.add_config_value("autograd_errors_reports", "../catalogue/reports.tsv", "env", str)
    app.add_domain(ErrorDomain)
    app.add_directive("error-index", ErrorIndexDirective)
    app.add_node(error_index)
    app.connect("env-updated", check_families)
    app.connect("doctree-resolved", fill_lists)
    return {"env_version": 1, "parallel_read_safe": True, "parallel_write_safe": True}
