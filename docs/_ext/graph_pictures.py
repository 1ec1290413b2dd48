"""Draw what autograd did in the blocks of a script that ask for it.

``# draw: loss``, ``# timeline: x, y``, ``# facts: x, y`` and ``# table: rows`` as a line of a
block put a graph, a strip of versions, a table of facts or a table of rows below it. The line is
shown neither on the page nor in the notebook. A ``# draw:`` or ``# facts:`` between two statements
shows the moment between them; several graphs of one block stand side by side.
"""

from __future__ import annotations

import ast
import json
import re
from html import escape, unescape
from pathlib import Path
from typing import TYPE_CHECKING

from block_tracer import BlockTracer, failed_comparison, look, steps_data
from docutils import nodes
from docutils.parsers.rst import directives
from graph_svg import svg
from graph_walk import grad_fn, named_tensors, node_name, version_of, walk
from picture_comments import picture_comments, without_picture_comments
from sphinx.util.docutils import SphinxDirective
from sphinx_gallery import gen_rst
from sphinx_gallery.py_source_parser import split_code_and_text_blocks

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from block_tracer import Step
    from picture_comments import PictureComment
    from sphinx.application import Sphinx
    from sphinx.config import Config
    from sphinx.util.typing import ExtensionMetadata

BEFORE_GALLERY, AFTER_GALLERY = 150, 850
FIGURE = re.compile(r"(?s)<figure class=\"autograd-picture.*?</figure>")
LEGEND = (
    '<p class="picture-legend">Solid arrows lead the way that backward walks, dashed ones from a '
    "tensor to its <code>grad_fn</code>, dotted ones from a view to its base and from a node to "
    "what it saved. Green boxes are leaves that get a <code>.grad</code>; red is what was "
    "overwritten after it was saved.</p>"
)
FACTS = ("is_leaf", "requires_grad", "grad_fn", "_version", "_base")
HOLDS_DATA = re.compile(r'<figure class="autograd-picture \w+" data-(\w+)="([^"]*)"')
MOST_COLUMNS = 4
MOMENTARY = ("draw", "facts")
"""What shows the moment that execution passes the comment; the rest shows the whole block."""
_execute_block = gen_rst.execute_code_block
_clean_blocks = gen_rst._clean_script_blocks
_renderer = ""


class PictureError(Exception):
    """A comment that asks for what cannot be shown."""


# -- One block -----------------------------------------------------------------------------------------


class BlockPictures:
    """The pictures of one block, taken while it runs and when it has run."""

    def __init__(self, filename: str, code: str, first_line: int, *, legend: bool = True) -> None:
        self.comments = picture_comments(code)
        self.has_graph = any(comment.kind == "draw" for comment in self.comments)
        self.legend = LEGEND if legend else ""
        self.filename = filename
        self.first_line = first_line
        self.drawn: dict[PictureComment, str] = {}
        last = last_statement_line(code)
        early = [c for c in self.comments if c.kind in MOMENTARY and c.line < last]
        watched = [name for c in self.comments if c.kind == "timeline" for name in c.names]
        self.tracer = BlockTracer(
            filename, code, first_line, watched=watched,
            moments={c.line + first_line - 1: self.taking(c) for c in early},
        ) if early or watched else None  # fmt: skip

    def taking(self, comment: PictureComment) -> Any:
        return lambda namespace: self.take(comment, namespace)

    def take(self, comment: PictureComment, namespace: Mapping[str, Any]) -> None:
        """Make the picture of *comment* from what the names mean now."""
        prefix = f"picture-{self.first_line + comment.line - 1}"
        try:
            if comment.kind == "timeline":
                self.drawn[comment] = timeline(comment, self.tracer.steps)
            else:
                draw = {"draw": graph, "facts": facts, "table": table}[comment.kind]
                self.drawn[comment] = look(lambda: draw(comment, namespace, prefix))
        except Exception as problem:
            place = f"{Path(self.filename).name}:{self.first_line + comment.line - 1}"
            reason = str(problem).strip().splitlines()[-1]
            raise PictureError(f"{place}: {reason}") from None

    def html(self, namespace: Mapping[str, Any]) -> list[str]:
        """Return all pictures of the block, which has run to its end."""
        if self.tracer:
            self.tracer.stop()
        for comment in self.comments:
            if comment not in self.drawn:
                self.take(comment, namespace)
        graphs = [self.drawn[c] for c in self.comments if c.kind == "draw"]
        others = [self.drawn[c] for c in self.comments if c.kind != "draw"]
        if graphs:
            graphs = [f'<div class="autograd-pictures">{"".join(graphs)}{self.legend}</div>']
        return graphs + others


def last_statement_line(code: str) -> int:
    """Return the line, from 1, that the last statement of a block begins on."""
    body = ast.parse(code).body
    return body[-1].lineno if body else 0


# -- Kinds of pictures ---------------------------------------------------------------------------------


def figure(kind: str, caption: str, body: str, data: Any = None, label: str = "") -> str:
    """Return a picture with its caption, in a box that scrolls by itself where it is too wide."""
    content = json.dumps(data, ensure_ascii=False, separators=(",", ":")) if data else ""
    holds = f' data-{kind}="{escape(content)}"' if content else ""
    return (
        f'<figure class="autograd-picture {kind}"{holds}>'
        f'<div class="picture-scroll" role="group" tabindex="0" aria-label="{escape(label)}">'
        f"{body}</div><figcaption>{caption}</figcaption></figure>"
    )


def captioned(comment: PictureComment, text: str) -> str:
    """Return *text* below the title of a picture that has one."""
    return (
        f"<strong>{escape(comment.title)}</strong>: {text[0].lower()}{text[1:]}"
        if comment.title
        else text
    )


def codes(names: tuple[str, ...]) -> str:
    return ", ".join(f"<code>{escape(name)}</code>" for name in names)


def values(comment: PictureComment, namespace: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the names of *comment*, or expressions such as ``layer.weight``, mean now."""
    return {name: eval(name, dict(namespace)) for name in comment.names}


def graph(comment: PictureComment, namespace: Mapping[str, Any], prefix: str) -> str:
    """Return the graph behind some tensors."""
    found = walk(values(comment, namespace), namespace)
    title = f"Autograd graph of {', '.join(comment.names)}"
    if comment.title:
        title += f", {comment.title}"
    drawing = svg(found, prefix=prefix, title=title, renderer=_renderer)
    caption = captioned(comment, f"The graph behind {codes(comment.names)}.")
    return figure("graph", caption, drawing, found.data(), title)


def facts(comment: PictureComment, namespace: Mapping[str, Any], prefix: str) -> str:
    """Return a table of what autograd knows about some tensors."""
    names = {id(tensor): name for name, tensor in reversed(list(named_tensors(namespace)))}
    rows = [("", *FACTS)]
    for name, tensor in values(comment, namespace).items():
        node, base = grad_fn(tensor), tensor._base
        rows.append(
            (
                name,
                tensor.is_leaf,
                tensor.requires_grad,
                node_name(node) if node is not None else None,
                version_of(tensor),
                names.get(id(base), "no name") if base is not None else None,
            )
        )
    caption = captioned(comment, f"What autograd knows about {codes(comment.names)} here.")
    label = comment.title or f"Tensor facts of {', '.join(comment.names)}"
    return figure("facts", caption, html_table(rows), rows, label)


def table(comment: PictureComment, namespace: Mapping[str, Any], prefix: str) -> str:
    """Return rows that the script collected as a table; the first one is its head."""
    (rows,) = values(comment, namespace).values()
    plain = [tuple(str(cell) for cell in row) for row in rows]
    caption = escape(comment.title) if comment.title else f"What {codes(comment.names)} holds."
    label = comment.title or f"Table {', '.join(comment.names)}, line {comment.line}"
    return figure("rows", caption, html_table(plain), plain, label)


def html_table(rows: list[tuple[Any, ...]]) -> str:
    """Return a table; it says what its cells are, for the style sheet may lay them out anew."""
    head = "".join(cell_html("th", str(cell), "col") for cell in rows[0])
    body = "".join(
        '<tr role="row">'
        + cell_html("th", str(row[0]), "row")
        + "".join(cell_html("td", str(cell)) for cell in row[1:])
        + "</tr>"
        for row in rows[1:]
    )
    return (
        f'<table role="table"><thead role="rowgroup"><tr role="row">{head}</tr></thead>'
        f'<tbody role="rowgroup">{body}</tbody></table>'
    )


def cell_html(tag: str, text: str, scope: str = "") -> str:
    role = {"col": "columnheader", "row": "rowheader", "": "cell"}[scope]
    scoped = f' scope="{scope}"' if scope else ""
    code = f"<code>{escape(text)}</code>" if text else ""
    return f'<{tag}{scoped} role="{role}">{code}</{tag}>'


def timeline(comment: PictureComment, steps: list[Step]) -> str:
    """Return a strip with one column for each statement that ran."""
    if not steps:
        raise PictureError("no statement ran that a timeline could show")
    shown = from_first_tensor(steps, comment.names)
    head = "".join(
        f'<th scope="col" role="columnheader"><code>{breakable(step.code)}</code></th>'
        for step in shown
    )
    rows = [
        f'<tr role="row"><th scope="row" role="rowheader"><code>{escape(name)}</code></th>'
        + "".join(f'<td role="cell">{text}</td>' for text in cells(shown, name))
        + "</tr>"
        for name in comment.names
    ]
    # The style sheet lays the cells out, which takes the roles away that a table has by itself.
    size = " long" if len(shown) > MOST_COLUMNS else ""
    body = (
        f'<table role="table" class="strip{size}" style="--lines: {len(shown)}">'
        '<thead role="rowgroup"><tr role="row"><th scope="col" role="columnheader">line</th>'
        f'{head}</tr></thead><tbody role="rowgroup">{"".join(rows)}</tbody></table>'
    )
    names = ", ".join(comment.names)
    caption = f"The version of {codes(comment.names)} after each line that ran."
    return figure("timeline", caption, body, steps_data(steps), f"Version timeline of {names}")


def from_first_tensor(steps: list[Step], names: tuple[str, ...]) -> list[Step]:
    """Return the steps from where one of *names* is a tensor; the ones before tell nothing."""
    rows = [cells(steps, name) for name in names]
    first = next((n for n in range(len(steps)) if any(row[n] for row in rows)), 0)
    return steps[first:]


def breakable(code: str) -> str:
    """Return code as HTML that may go on in the next line after a bracket, a dot or a comma."""
    return re.sub(r"([(\[](?![)\]])|[.,](?=[A-Za-z_]))", r"\1<wbr>", escape(code, quote=False))


def cells(steps: list[Step], name: str) -> list[str]:
    """Return the row of one tensor, empty until it is made.

    A name left over from an earlier block means another tensor until this block binds it.
    """
    made = next((number for number, step in enumerate(steps) if name in step.new), 0)
    if any(name in step.wrote for step in steps[:made]):
        made = 0
    return [
        cell(step, name) if number >= made and name in step.versions else ""
        for number, step in enumerate(steps)
    ]


def cell(step: Step, name: str) -> str:
    """Return what one statement did to one tensor."""
    version = step.versions[name]
    marks = [f'<span class="version">{"–" if version is None else version}</span>']
    if name in step.wrote:
        marks.append('<span class="wrote">written</span>')
    marks += [
        f'<span class="saved">saved by {escape(save.node)}'
        f"{'' if save.then is None else f' at {save.then}'}</span>"
        for save in step.saved
        if save.name == name
    ]
    failed = failed_comparison(step)
    for save in step.compared:
        stale = save.then != save.now
        if save.name != name or save.then is None or stale != failed:
            continue
        sign, kind = ("≠", "stale") if stale else ("=", "compared")
        marks.append(
            f'<span class="{kind}">compared for {escape(save.node)}: '
            f"{save.then}\N{NO-BREAK SPACE}{sign}\N{NO-BREAK SPACE}{save.now}</span>"
        )
    return "".join(dict.fromkeys(marks))  # x * x saves x twice


# -- The gallery -----------------------------------------------------------------------------------------


def scrape(block: Any, block_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
    """Make the pictures of a block that has run; one of sphinx-gallery's image scrapers.

    sphinx-gallery puts images above the output. A reader wants the traceback first, so this
    returns none, and `execute_block` adds them.
    """
    pictures = block_vars.pop("pictures", None)
    if pictures is not None and pictures.comments:
        block_vars["pictures_rst"] = as_rst(pictures.html(block_vars["example_globals"]))
    return ""


def as_rst(parts: list[str]) -> str:
    """Return HTML as reST that keeps it whole."""
    indented = (part.replace("\n", "\n    ") for part in parts)
    return "".join(f"\n.. raw:: html\n\n    {part}\n\n" for part in indented)


def execute_block(
    compiler: Any, block: Any, example_globals: Any, script_vars: dict[str, Any], *rest: Any
) -> str:
    """Run a block under the eyes of its pictures; a stand-in for sphinx-gallery's function."""
    if block.type != "code" or not script_vars["execute_script"]:
        return _execute_block(compiler, block, example_globals, script_vars, *rest)
    explained = script_vars.get("pictures_explained", False)
    pictures = BlockPictures(
        script_vars["src_file"], block.content, block.lineno, legend=not explained
    )
    script_vars["pictures"] = pictures
    script_vars["pictures_explained"] = explained or pictures.has_graph
    if pictures.tracer:
        pictures.tracer.start()
    try:
        output = _execute_block(compiler, block, example_globals, script_vars, *rest)
    finally:
        if pictures.tracer:
            pictures.tracer.stop()
    return output + script_vars.pop("pictures_rst", "")


def clean_blocks(conf: Any, parser: Any, blocks: list[Any], outputs: list[str]) -> Any:
    """Take the comments out of what page and notebook show."""
    blocks = [
        block._replace(content=without_picture_comments(block.content))
        if block.type == "code"
        else block
        for block in blocks
    ]
    return _clean_blocks(conf, parser, blocks, outputs)


def pictures_of(script: Path) -> Iterator[tuple[str, Any]]:
    """Run *script* here, as the build does, and yield kind and data of each picture."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    _, blocks = split_code_and_text_blocks(str(script))
    for block in blocks:
        if block.type != "code":
            continue
        pictures = BlockPictures(str(script), block.content, block.lineno)
        code = compile("\n" * (block.lineno - 1) + block.content, str(script), "exec")
        if pictures.tracer:
            pictures.tracer.start()
        try:
            exec(code, namespace)
        finally:
            if pictures.tracer:
                pictures.tracer.stop()
        for html in pictures.html(namespace):
            yield from data_of(html)


def data_of(html: str) -> Iterator[tuple[str, Any]]:
    """Yield kind and data of each picture in a page."""
    for kind, content in HOLDS_DATA.findall(html):
        yield kind, json.loads(unescape(content))


# -- Pictures elsewhere ------------------------------------------------------------------------------------


class PictureOf(SphinxDirective):
    """Show the first picture, or the one called ``:title:``, of an error page again."""

    required_arguments = 1
    option_spec = {"title": directives.unchanged_required}

    def run(self) -> list[nodes.Node]:
        page, title = self.arguments[0], self.options.get("title")
        self.env.note_dependency(str(page_source(self.config, self.env.srcdir, page)))
        html = picture_html(self.config, self.env.srcdir, page, title)
        if html is None:
            if not self.config.sphinx_gallery_conf["plot_gallery"]:
                return []
            called = f" with the title {title!r}" if title else ""
            raise self.error(f"page {page!r} has no picture{called}")
        return [nodes.raw("", html, format="html")]


def page_source(config: Config, srcdir: Path, page: str) -> Path:
    """Return the file that sphinx-gallery wrote for the error page *page*."""
    folder = config.sphinx_gallery_conf["gallery_dirs"]
    return Path(srcdir, folder, f"plot_{page.replace('-', '_')}.rst")


def picture_html(config: Config, srcdir: Path, page: str, title: str | None = None) -> str | None:
    """Return a picture of an error page with ids of its own, None if there is no such picture."""
    source = page_source(config, srcdir, page)
    figures = FIGURE.findall(source.read_text("utf-8")) if source.exists() else []
    wanted = f"<figcaption><strong>{escape(title)}</strong>" if title else ""
    found = next((html for html in figures if wanted in html), None)
    return found and re.sub(r"\bpicture-(\d+-)", rf"{page}-\1", found)


def before_gallery(app: Sphinx) -> None:
    global _renderer
    _renderer = app.config.autograd_errors_graph_renderer
    gen_rst.execute_code_block = execute_block
    gen_rst._clean_script_blocks = clean_blocks


def after_gallery(app: Sphinx) -> None:
    gen_rst.execute_code_block = _execute_block
    gen_rst._clean_script_blocks = _clean_blocks


def setup(app: Sphinx) -> ExtensionMetadata:
    app.add_config_value("autograd_errors_graph_renderer", "", "env", str)
    app.add_directive("picture-of", PictureOf)
    app.add_css_file("pictures.css")
    app.connect("builder-inited", before_gallery, priority=BEFORE_GALLERY)
    app.connect("builder-inited", after_gallery, priority=AFTER_GALLERY)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
