"""Give each gallery page its box, its downloads, its environment and its search-engine texts."""

from __future__ import annotations

import os
import platform
import re
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from docutils import nodes
from error_domain import ErrorPage, listing
from page_shape import QUESTION, fix_titles
from script_header import page_id, read_header
from sphinx import addnodes
from sphinx.transforms import SphinxTransform
from wording import PLACEHOLDER

if TYPE_CHECKING:
    from typing import Any

    from script_header import DeclaredError, ScriptHeader
    from sphinx.application import Sphinx
    from sphinx.config import Config
    from sphinx.util.typing import ExtensionMetadata

PYTORCH_SOURCE = "https://github.com/pytorch/pytorch/blob/v{release}/{path}"
LONGEST_DESCRIPTION = 300
SHOWN_BOXES = 2


class DressPage(SphinxTransform):
    """Turn sphinx-gallery's page into an error page, and tell the domain about it."""

    default_priority = 400

    def apply(self, **kwargs: Any) -> None:
        script = gallery_script(self.config, self.env.srcdir, self.env.docname)
        if script is None:
            return
        header = read_header(script)
        self.env.note_dependency(str(script))
        title = next(self.document.findall(nodes.title))
        section = title.parent
        downloads = take_downloads(self.document)
        parts, titles = subsections(section), fix_titles(script)
        page = ErrorPage(
            self.env.docname,
            header,
            fixes=[part for part in parts if part[0] in titles],
            is_question=[title for title, _ in parts[:1]] == [QUESTION],
        )
        self.env.get_domain("autograd").pages[self.env.docname] = page
        self.document += nodes.meta(name="description", content=description(header))
        top = message_boxes(header.errors)
        if header.cause_of:
            top.append(cause_line(header, self.env.docname))
        if header.symptom:
            top.append(symptom_line(header))
        lead = next((n for n in section.children if isinstance(n, nodes.paragraph)), title)
        section[section.index(title) + 1 : section.index(title) + 1] = top
        after = section.index(lead) + 1
        section[after:after] = [
            fix_links(page.fixes),
            furniture(script, downloads, self.config),
            listing(causes_of=header.id),
        ]


def gallery_script(config: Config, srcdir: Path, docname: str) -> Path | None:
    """Return the script that sphinx-gallery turned into *docname*, if one did."""
    folder, _, stem = docname.rpartition("/")
    conf = config.sphinx_gallery_conf
    if folder != conf["gallery_dirs"] or not stem.startswith("plot_"):
        return None
    return Path(srcdir, conf["examples_dirs"], f"{stem}.py").resolve()


def subsections(section: nodes.section) -> list[tuple[str, str]]:
    """Return title and anchor of every section below *section*."""
    parts = [part for part in section.children if isinstance(part, nodes.section)]
    return [(part.next_node(nodes.title).astext(), part["ids"][0]) for part in parts]


def fix_links(fixes: list[tuple[str, str]]) -> nodes.paragraph:
    """Return a line with a link to each fix, for readers who know their error already."""
    line = nodes.paragraph("", "", classes=["fixes"])
    line += nodes.strong("", "Fixes: " if len(fixes) > 1 else "Fix: ")
    for number, (title, anchor) in enumerate(fixes):
        if number:
            line += nodes.Text(" · ")
        line += nodes.reference("", title, refid=anchor, internal=True)
    return line


def message_boxes(errors: list[DeclaredError]) -> list[nodes.Node]:
    """Return a box for each message; from the third on they fold away."""
    boxes = [message_box(error) for error in errors]
    if len(boxes) <= SHOWN_BOXES:
        return boxes
    more = len(boxes) - 1
    summary = f"<summary>{more} more messages on this page</summary>"
    opening = nodes.raw("", f'<details class="more-messages">{summary}', format="html")
    closing = nodes.raw("", "</details>", format="html")
    return [boxes[0], opening, *boxes[1:], closing]


def message_box(error: DeclaredError) -> nodes.container:
    """Return the box with a message, its type and where PyTorch raises it."""
    box = nodes.container(classes=["autograd-error"])
    box += nodes.literal_block(error.text, error.text, language="none", classes=["message"])
    release = torch.__version__.partition("+")[0]
    origin = nodes.paragraph("", "Raised in ", classes=["origin"])
    source = nodes.literal(text=error.source)
    path = error.source.partition(":")[0]
    if re.fullmatch(r"[\w./-]+\.\w+", path) and "/" in path:
        uri = PYTORCH_SOURCE.format(release=release, path=path)
        origin += nodes.reference("", "", source, refuri=uri, internal=False)
    else:
        origin += source
    box += origin
    return box


def cause_line(header: ScriptHeader, docname: str) -> nodes.paragraph:
    """Return "One cause of ...", linked to the page that owns the message."""
    line = nodes.paragraph("", "One cause of ", classes=["cause-of"])
    reference = addnodes.pending_xref(
        "",
        nodes.literal("", header.cause_of),
        refdomain="autograd",
        reftype="error",
        reftarget=header.cause_of,
        refdoc=docname,
        refwarn=True,
    )
    line += [reference, nodes.Text(".")]
    return line


def symptom_line(header: ScriptHeader) -> nodes.paragraph:
    line = nodes.paragraph("", "", classes=["symptom"])
    line += [nodes.strong("", "You see: "), nodes.Text(header.symptom)]
    return line


def take_downloads(document: nodes.document) -> list[nodes.Node]:
    """Remove sphinx-gallery's note and footer; return the links to script and notebook."""
    links = []
    for node in list(document.findall(addnodes.download_reference)):
        if node["reftarget"].endswith((".py", ".ipynb")):
            links.append(node.deepcopy())
    for node in list(document.findall(addnodes.only)):
        for part in node.children:
            classes = set(part.get("classes", ()))
            if classes & {"sphx-glr-footer", "sphx-glr-download-link-note"}:
                node.parent.remove(node)
                break
    links.sort(key=lambda node: not node["reftarget"].endswith(".py"))
    for node in links:
        node["classes"] = ["download"]
        kind = "Download the script" if node["reftarget"].endswith(".py") else "the notebook"
        node.children = []
        node += nodes.inline("", kind)
    return links


def furniture(script: Path, downloads: list[nodes.Node], config: Config) -> nodes.container:
    """Return the line with downloads, the command that runs the script, and the environment."""
    box = nodes.container(classes=["page-furniture"])
    line = nodes.paragraph()
    for number, node in enumerate(downloads):
        if number:
            line += nodes.Text(" or ")
        line += node
    if downloads:
        line += nodes.Text(" (")
        line += nodes.reference("", "checksums", refuri="../SHA256SUMS", internal=True)
        line += nodes.Text("), run it: ")
        line += nodes.literal(text=f"uv run {script.name}")
    box += [line, nodes.paragraph("", environment(config), classes=["environment"])]
    return box


def environment(config: Config) -> str:
    """Return what produced the outputs of this build."""
    device = "CPU" if config.autograd_errors_device == "cpu" else config.autograd_errors_device
    return (
        f"Every output below was produced by this build: torch {torch.__version__}, "
        f"Python {platform.python_version()}, {device}, commit {config.autograd_errors_commit}."
    )


def description(header: ScriptHeader) -> str:
    """Return the text for search engines: the message itself, then what happened."""
    parts = [plain(error.text) for error in header.errors[:1]]
    parts.append(header.summary)
    text = " ".join(parts)
    if len(text) <= LONGEST_DESCRIPTION:
        return text
    return text[: LONGEST_DESCRIPTION - 1].rsplit(" ", 1)[0] + "…"


def plain(message: str) -> str:
    """Return *message* with its placeholders as ellipses."""
    return PLACEHOLDER.sub("…", message)


def page_context(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any
) -> None:
    """Put the message into ``<title>``, edit the script, stay within the family."""
    page = app.env.get_domain("autograd").pages.get(pagename)
    if page is None:
        return
    if page.header.errors:
        context["title"] = f"{plain(page.header.errors[0].text)} – {context['title']}"
    script = f"{Path(pagename).name}.py"
    repository = app.config.autograd_errors_repository
    context["theme_source_edit_link"] = f"{repository}/edit/main/gallery/{script}"
    domain = app.env.get_domain("autograd")
    context["family_title"] = app.config.autograd_errors_families[page.header.family]
    context["family_pages"] = [
        {
            "title": other.header.title,
            "url": app.builder.get_relative_uri(pagename, other.docname),
            "current": other is page,
        }
        for other in sorted(domain.pages.values(), key=lambda other: other.header.id)
        if other.header.family == page.header.family
    ]
    for direction in ("prev", "next"):
        neighbour = context.get(direction)
        if neighbour and not same_family(neighbour["link"], page):
            context[direction] = None


def same_family(link: str, page: ErrorPage) -> bool:
    name = page_id(Path(link.partition("#")[0]))
    return name.partition("-")[0] == page.header.family and "plot_" in link


def commit_here() -> str:
    """Return the commit that is being built, or "unknown" outside a repository."""
    given = os.environ.get("AUTOGRAD_ERRORS_COMMIT")
    if given:
        return given
    command = ["git", "rev-parse", "--short=12", "HEAD"]
    try:
        found = subprocess.run(
            command, capture_output=True, text=True, check=True, cwd=Path(__file__).parent
        )
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return found.stdout.strip()


def setup(app: Sphinx) -> ExtensionMetadata:
    app.add_config_value("autograd_errors_commit", commit_here(), "", str)
    app.add_config_value("autograd_errors_repository", "", "html", str)
    app.add_transform(DressPage)
    app.connect("html-page-context", page_context)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
