"""The page "What changed in each release", and its feed."""

from __future__ import annotations

from functools import lru_cache
from html import escape
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from docutils import nodes
from recorded_output import HISTORY, recordings_folder, sentence
from recordings import read_recordings
from release_changes import BEHAVIOR, NAMES, NO_ERROR, WORDING, release_changes
from script_blocks import code_blocks
from script_header import page_id
from sphinx import addnodes
from sphinx.util.docutils import SphinxDirective

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from release_changes import Change, ReleaseChanges
    from sphinx.application import Sphinx
    from sphinx.util.typing import ExtensionMetadata

FEED = "releases.atom"
TITLES = {
    BEHAVIOR: "Other behavior",
    WORDING: "Other words",
    NAMES: "Names that came or went",
}
MOST_PAGES = 5
BEGINNING, CONTEXT, LONGEST = 80, 60, 320  # characters of a message that a list shows


class ReleaseHistory(SphinxDirective):
    """List what the gallery shows differently from one recorded release to the next."""

    def run(self) -> list[nodes.Node]:
        for script in gallery(self.config, self.env.srcdir):
            self.env.note_dependency(str(script))
        history = history_of(self.config, self.env.srcdir)
        if not history:
            return [nodes.paragraph("", "No two releases are recorded yet.")]
        return [release_section(release, self.env.docname) for release in history]


def gallery(config: Any, srcdir: Any) -> list[Path]:
    """Return the gallery's scripts."""
    folder = Path(srcdir, config.sphinx_gallery_conf["examples_dirs"]).resolve()
    return sorted(folder.glob("plot_*.py"))


def history_of(config: Any, srcdir: Any) -> list[ReleaseChanges]:
    """Return what changed at each recorded release, newest first."""
    folder = recordings_folder(config, srcdir)
    return _history(folder, stamps(folder.glob("torch-*.json")), stamps(gallery(config, srcdir)))


Stamps = tuple[tuple[Path, int], ...]


def stamps(paths: Iterable[Path]) -> Stamps:
    """Return files with the times of their last change."""
    return tuple((path, path.stat().st_mtime_ns) for path in sorted(paths))


@lru_cache(maxsize=1)  # the page and the feed ask for the same
def _history(folder: Path, transcripts: Stamps, scripts: Stamps) -> list[ReleaseChanges]:
    code = {script.name: code_blocks(script) for script, _ in scripts}
    return release_changes(read_recordings(folder), code)


def anchor(release: str) -> str:
    """Return the id of a release's section."""
    return f"torch-{release.replace('.', '-')}"


def release_section(release: ReleaseChanges, docname: str) -> nodes.section:
    """Return the section of one release."""
    name = f"torch {release.recording.release}"
    section = nodes.section(ids=[anchor(release.recording.release)], names=[name])
    section += [nodes.title("", name), nodes.paragraph("", compared(release))]
    for kind, title in TITLES.items():
        changes = release.of(kind)
        if changes:
            section += nodes.rubric("", title)
            entries = nodes.bullet_list(classes=["release-changes"])
            entries += [change_item(change, docname) for change in changes]
            section += entries
    return section


def compared(release: ReleaseChanges) -> str:
    """Return with what a release was compared, and what that proves."""
    text = f"Recorded {release.recording.date}, compared with {release.previous.release}."
    if not release.changes:
        return f"{text} No page shows a difference."
    if release.is_next:
        text += " No release lies between the two: all of this came with this release."
    else:
        text += (
            " Releases between the two were not run: all of this is seen from "
            f"{release.recording.release} and may have come before it."
        )
    if release.pythons:
        text += (
            f" They ran under Python {' and '.join(release.pythons)}, so a new message of "
            "Python's own may be Python's change."
        )
    return text


def change_item(change: Change, docname: str) -> nodes.list_item:
    """Return one change: the pages that show it, then before and after."""
    item = nodes.list_item()
    if change.kind == NAMES:
        item += sentence(came_or_went(change))
    else:
        for label, text in zip(("before: ", "now: "), shortened(change), strict=True):
            style = nodes.Text(text) if text == NO_ERROR else nodes.literal("", text)
            item += nodes.paragraph("", "", nodes.Text(label), style)
    pages = nodes.paragraph("", "on ", classes=["release-pages"])
    for number, script in enumerate(change.scripts[:MOST_PAGES]):
        if number:
            pages += nodes.Text(", ")
        pages += page_reference(page_id(Path(script)), docname)
    more = len(change.scripts) - MOST_PAGES
    if more > 0:
        pages += nodes.Text(f" and {more} more {'page' if more == 1 else 'pages'}")
    item += pages
    return item


def shortened(change: Change) -> tuple[str, str]:
    """Return both texts, long ones cut to their beginning and to where they differ."""
    pairs = zip(change.before, change.after, strict=False)
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    return cut(change.before, same), cut(change.after, same)


def cut(text: str, same: int) -> str:
    """Return *text*, of which the first *same* characters are the same elsewhere, cut if long."""
    start = max(same - CONTEXT, 0)
    if start > BEGINNING:
        text = f"{text[:BEGINNING].rpartition(' ')[0]} … {text[start:].partition(' ')[2]}"
    if len(text) > LONGEST:
        text = f"{text[:LONGEST].rpartition(' ')[0]} …"
    return text


def came_or_went(change: Change) -> str:
    """Return a sentence on a name that one of two releases does not have."""
    if not change.after:
        return (
            change.before.replace(" does not exist in this release", " is new")
            .replace(" has no argument ", " has a new argument ")
            .replace(" in this release", "")
        )
    return change.after.replace(" in this release", " any more")


def page_reference(name: str, docname: str) -> addnodes.pending_xref:
    """Return a link to the page called *name*."""
    return addnodes.pending_xref(
        "",
        nodes.inline("", name),
        refdomain="autograd",
        reftype="error",
        reftarget=name,
        refdoc=docname,
        refwarn=True,
    )


# -- The feed --------------------------------------------------------------------------------------


def write_feed(app: Sphinx, exception: Exception | None) -> None:
    """Write an Atom feed with one entry a release that changed something; its dates are those of the recordings."""
    if exception is not None or app.builder.format != "html" or HISTORY not in app.env.found_docs:
        return
    history = [release for release in history_of(app.config, app.srcdir) if release.changes]
    base = app.config.html_baseurl
    page = urljoin(base, app.builder.get_target_uri(HISTORY))
    dates = [release.recording.date for release in history]
    lines = [
        '<?xml version="1.0" encoding="utf-8"?>',
        '<feed xmlns="http://www.w3.org/2005/Atom">',
        f"<title>{escape(app.config.project)}: what changed in each release</title>",
        f"<id>{escape(page)}</id>",
        f'<link href="{escape(page)}"/>',
        f'<link rel="self" href="{escape(urljoin(base, FEED))}"/>',
        f"<author><name>{escape(app.config.author)}</name></author>",
        f"<updated>{max(dates, default='1970-01-01')}T00:00:00Z</updated>",
        *(line for release in history for line in feed_entry(release, page)),
        "</feed>",
    ]
    Path(app.outdir, FEED).write_text("\n".join(lines) + "\n", encoding="utf-8")


def feed_entry(release: ReleaseChanges, page: str) -> Iterable[str]:
    """Yield the lines of one release's entry."""
    number = release.recording.release
    where = escape(f"{page}#{anchor(number)}")
    yield "<entry>"
    yield f"<title>What changed in torch {number}</title>"
    yield f'<id>{where}</id><link href="{where}"/>'
    yield f"<updated>{release.recording.date}T00:00:00Z</updated>"
    yield f'<content type="html">{escape(feed_content(release))}</content>'
    yield "</entry>"


def feed_content(release: ReleaseChanges) -> str:
    """Return a release's changes as HTML, behavior first."""
    parts = [f"<p>{escape(compared(release))}</p>"]
    for kind in (BEHAVIOR, WORDING):
        changes = release.of(kind)
        if changes:
            items = "".join(
                f"<li>before: {escape(before)}<br/>now: {escape(after)}</li>"
                for before, after in map(shortened, changes)
            )
            parts.append(f"<h3>{TITLES[kind]}</h3><ul>{items}</ul>")
    return "".join(parts)


def link_feed(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any
) -> None:
    """Let feed readers find the feed from its page."""
    if pagename == HISTORY:
        context["metatags"] = (
            context.get("metatags", "")
            + f'\n<link rel="alternate" type="application/atom+xml" title="Releases" href="{FEED}"/>'
        )


def setup(app: Sphinx) -> ExtensionMetadata:
    app.add_directive("release-history", ReleaseHistory)
    app.connect("html-page-context", link_feed)
    app.connect("build-finished", write_feed)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
