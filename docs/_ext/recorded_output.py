"""Show on each page what its script did in other releases and on CUDA, where that differs."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from docutils import nodes
from error_page import gallery_script
from former_wordings import fits, former_wordings
from recorded_behavior import (
    LACKS,
    NONE,
    OTHER,
    RESULT,
    SAME,
    UNKNOWN,
    WORDING,
    WRONG,
    Run,
    emissions,
    fresh_runs,
    groups,
    span,
    verdict,
)
from recordings import Recording, read_recordings
from script_blocks import code_blocks
from script_header import read_header, script_name
from sphinx.transforms import SphinxTransform
from sphinx.util import logging
from wording import pattern_of, python_pattern

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from recorded_behavior import Group, Verdict
    from recordings import RecordedBlock
    from script_blocks import CodeBlock
    from script_header import ScriptHeader
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment
    from sphinx.util.typing import ExtensionMetadata

logger = logging.getLogger(__name__)

AFTER_DRESSING = 410
HISTORY = "releases"
LINES = re.compile(r"GENERATED FROM PYTHON SOURCE LINES (?P<first>\d+)-\d+")
OUTPUT_CLASS = "sphx-glr-script-out"
TRACEBACK = "Traceback (most recent call last):"
NOT_YET = (
    "This script makes sense only on CUDA. It is not yet recorded on CUDA, so its output is not "
    "shown."
)
SAYS = {  # what became of a message -> how the line near the top puts it
    SAME: "as here",
    WORDING: "other words",
    OTHER: "another error",
    WRONG: "silently wrong",
    NONE: "no error",
    RESULT: "another result",
    LACKS: "not available",
    UNKNOWN: "not reached",
}


class recorded_details(nodes.General, nodes.Element):
    """A part of a page that is closed until the reader opens it."""


class ShowRecordings(SphinxTransform):
    """Put differing recordings beside the output of each block, and the verdict near the top."""

    default_priority = AFTER_DRESSING

    def apply(self, **kwargs: Any) -> None:
        script = gallery_script(self.config, self.env.srcdir, self.env.docname)
        if script is None:
            return
        recordings = read_recordings(recordings_folder(self.config, self.env.srcdir))
        code = code_blocks(script)
        runs = fresh_runs(recordings, script.name, code)
        page = self.env.get_domain("autograd").pages[self.env.docname]
        device = torch.device(self.config.autograd_errors_device).type
        if page.header.needs not in (None, device):
            instead = [run for run in runs if run.recording.kind == page.header.needs]
            show_instead(self.document, code, instead, script.name)
            return
        others = [run for run in runs if run.recording.environment != here(device)]
        among = [run.recording for run in runs]
        for number, place, shown in shown_outputs(self.document, code):
            found = groups(shown, number, others)
            if found:
                box = details(found, among, script.name)
                box["open"] = any(shows_recorded(page.header, group.block) for group in found)
                insert_after(place, box)
        check_recorded(page.header, runs, self.env.docname)
        if page.header.cause_of:
            self.env.note_dependency(str(script.with_name(script_name(page.header.cause_of))))
        line = version_line(page.header, messages_of(page.header, script), runs, here(device))
        if line is not None:
            furniture_of(self.document).append(line)


def insert_after(place: nodes.Element, node: nodes.Element) -> None:
    """Put *node* behind *place*."""
    place.parent.insert(place.parent.index(place) + 1, node)


def furniture_of(document: nodes.document) -> nodes.container:
    """Return the line with downloads and environment near the top of a page."""
    boxes = document.findall(nodes.container)
    return next(box for box in boxes if "page-furniture" in box["classes"])


def recordings_folder(config: Any, srcdir: Any) -> Path:
    """Return where the transcripts lie."""
    return Path(srcdir, config.autograd_errors_transcripts)


def renew_pages(
    app: Sphinx, env: BuildEnvironment, added: set[str], changed: set[str], removed: set[str]
) -> list[str]:
    """Have every page that shows recordings read again when one came, changed or went."""
    digest = hashlib.sha256()
    for path in sorted(recordings_folder(app.config, app.srcdir).glob("torch-*.json")):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    now = digest.hexdigest()
    if getattr(env, "recordings_digest", now) == now:
        env.recordings_digest = now
        return []
    env.recordings_digest = now
    return [name for name in env.found_docs if shows_recordings(app.config, env, name)]


def shows_recordings(config: Any, env: BuildEnvironment, docname: str) -> bool:
    """Return whether a page is of a script, or lists what recordings say."""
    return docname == HISTORY or gallery_script(config, env.srcdir, docname) is not None


def collect_former_wordings(app: Sphinx, env: BuildEnvironment) -> None:
    """Let ``errors.json`` know how messages read in other releases."""
    pages = env.get_domain("autograd").pages
    known = [python_pattern(pattern_of(e.message)) for p in pages.values() for e in p.header.errors]
    recordings = read_recordings(recordings_folder(app.config, app.srcdir))
    own = here(torch.device(app.config.autograd_errors_device).type)
    env.former_wordings = {}
    for docname, page in sorted(pages.items()):
        script = gallery_script(app.config, app.srcdir, docname)
        if script is None or not page.header.errors:
            continue
        runs = fresh_runs(recordings, script.name, code_blocks(script))
        today = next((run for run in runs if run.recording.environment == own), None)
        if today is not None:
            cpu = [run for run in runs if run.recording.kind == "cpu"]
            env.former_wordings.update(former_wordings(page.header.errors, today, cpu, known))


def here(device: str) -> str:
    """Return the name of the building environment."""
    return f"torch-{torch.__version__.partition('+')[0]}-{device}"


# -- Beside the blocks -----------------------------------------------------------------------------


def shown_outputs(
    document: nodes.document, code: Sequence[CodeBlock]
) -> list[tuple[int, nodes.Element, str]]:
    """Return for each block its number, the node after which recordings go, and its output."""
    number_of = {block.line: number for number, block in enumerate(code)}
    found: dict[int, tuple[int, nodes.Element, str]] = {}
    number = None
    for node in document.findall(lambda n: isinstance(n, (nodes.comment, nodes.literal_block))):
        if isinstance(node, nodes.comment):
            lines = LINES.search(node.astext())
            if lines:
                number = number_of.get(int(lines["first"]))
        elif number is not None and OUTPUT_CLASS in node["classes"]:
            found[number] = number, node, node.astext()
        elif number is not None and number not in found:
            found[number] = number, node, ""
    return list(found.values())


def shows_recorded(header: ScriptHeader, block: RecordedBlock) -> bool:
    """Return whether *block* shows a message that only recordings can show."""
    return any(
        error.recorded and (error.raises == kind and fits(error, text))
        for error in header.errors
        for kind, text in emissions(block)
    )


def check_recorded(header: ScriptHeader, runs: list[Run], docname: str) -> None:
    """Warn of a message that neither this build nor the recording that it names can show."""
    for error in header.errors:
        if error.recorded is None:
            continue
        run = next((run for run in runs if run.recording.environment == error.recorded), None)
        if run is None or not any(
            error.raises == kind and fits(error, text)
            for block in run.blocks
            for kind, text in emissions(block)
        ):
            found = "no fresh recording" if run is None else "other messages"
            logger.warning(
                "expected %r in the recording %s, found %s", error.text, error.recorded, found,
                location=docname, type="autograd-errors", subtype="recorded",
            )  # fmt: skip


def details(found: list[Group], among: list[Recording], script: str) -> recorded_details:
    """Return the closed part with one entry a group of environments."""
    covered = [recording for group in found for recording in group.recordings]
    box = recorded_details(classes=["recorded"])
    box["summary"] = f"Different in {names(span(covered, among))}"
    for group in found:
        box += nodes.paragraph("", caption(group, among, script), classes=["recorded-in"])
        if group.block.output.strip():
            box += output_block(group.block.output)
        if group.lacking:
            box += sentence(group.lacking)
        elif group.block.exception is not None:
            box += output_block(str(group.block.exception))
        elif not group.block.output.strip():
            box += nodes.paragraph("", "It prints nothing there.")
    return box


def names(ranges: str) -> str:
    """Return ranges of releases as a phrase; devices need no ``torch`` before them."""
    return ranges if ranges.startswith("CUDA") else f"torch {ranges}"


def caption(group: Group, among: list[Recording], script: str) -> str:
    """Return which environments did this, and when the newest of them was recorded."""
    newest = group.recordings[-1]
    device = newest.device if newest.kind != "cpu" else "CPU"
    return (
        f"{names(span(group.recordings, among))} (recorded with torch {newest.torch}, "
        f"Python {newest.python}, {device}, {newest.date_of(script)}):"
    )


def output_block(text: str) -> nodes.literal_block:
    """Return *text* as the page shows outputs."""
    text = text.strip("\n")
    language = "pytb" if TRACEBACK in text else "none"
    return nodes.literal_block(text, text, language=language, classes=[OUTPUT_CLASS])


def sentence(text: str) -> nodes.paragraph:
    """Return a sentence whose ``code`` is shown as such."""
    line = nodes.paragraph()
    for number, part in enumerate(text.split("``")):
        line += nodes.literal("", part) if number % 2 else nodes.Text(part)
    return line


# -- Scripts that this build cannot run ------------------------------------------------------------


def show_instead(
    document: nodes.document, code: Sequence[CodeBlock], runs: list[Run], script: str
) -> None:
    """Show the newest recording where the build's own output would stand."""
    for line in list(document.findall(nodes.paragraph)):
        if "environment" in line["classes"]:
            line.parent.remove(line)
    furniture = furniture_of(document)
    if not runs:
        furniture += nodes.paragraph("", NOT_YET, classes=["not-recorded"])
        return
    run = runs[-1]
    furniture += nodes.paragraph(
        "",
        f"Every output below is a recording: torch {run.recording.torch}, Python "
        f"{run.recording.python}, {run.recording.device}, {run.recording.date_of(script)}.",
        classes=["environment"],
    )
    for number, place, _ in shown_outputs(document, code):
        block = run.blocks[number]
        text = block.output + (f"{block.exception}\n" if block.exception else "")
        if text.strip():
            insert_after(place, output_block(text))


# -- Near the top ----------------------------------------------------------------------------------


def messages_of(header: ScriptHeader, script: Path) -> list[re.Pattern[str]]:
    """Return the patterns of the messages that a page is about, its owner's on a cause page."""
    errors = header.errors
    if header.cause_of and not errors:
        errors = read_header(script.with_name(script_name(header.cause_of))).errors
    return [python_pattern(pattern_of(error.message)) for error in errors]


def version_line(
    header: ScriptHeader, declared: list[re.Pattern[str]], runs: list[Run], own: str
) -> nodes.container | None:
    """Return the line that says what the page's mistake does in each recorded release."""
    only_recorded = {error.recorded for error in header.errors} - {None}
    if len(only_recorded) == len(header.errors) == 1:
        (own,) = only_recorded  # the page is about what this build cannot show
    today = next((run for run in runs if run.recording.environment == own), None)
    if today is None or len(runs) < 2:
        return None
    verdicts = [verdict(today, run, declared) for run in runs]
    newest = max(
        (v.recording for v in verdicts if v.recording.kind == "cpu"), key=lambda r: r.order
    )
    among = [run.recording for run in runs]
    parts = [
        f"{names(span([v.recording for v in alike], among))}: {in_words(alike[-1])}"
        for alike in grouped(verdicts)
    ]
    text = "; ".join(parts) + f". Newest release run: {newest.release}, {newest.date}."
    line = nodes.paragraph("", "", nodes.strong("", "In your version: "), nodes.Text(text))
    return nodes.container("", line, classes=["in-your-version"])


def grouped(verdicts: list[Verdict]) -> list[list[Verdict]]:
    """Return the verdicts that say the same together, in the order of their first release."""
    found: dict[Any, list[Verdict]] = {}
    for one in verdicts:
        found.setdefault(one.key, []).append(one)
    return list(found.values())


def in_words(one: Verdict) -> str:
    """Return a verdict as a phrase; on a page with several messages it counts them."""
    total = sum(one.counts.values())
    counted = [
        (one.counts[outcome], says) for outcome, says in SAYS.items() if outcome in one.counts
    ]
    if len(counted) == 1:
        return counted[0][1]
    return f"of {total} messages " + ", ".join(f"{count} {says}" for count, says in counted)


def setup(app: Sphinx) -> ExtensionMetadata:
    app.add_config_value("autograd_errors_transcripts", "_data/transcripts", "env", str)
    app.add_node(
        recorded_details,
        html=(visit_details, depart_details),
        text=(visit_plain, depart_plain),
        latex=(visit_plain, depart_plain),
    )
    app.add_css_file("recorded.css")
    app.add_transform(ShowRecordings)
    app.connect("env-get-outdated", renew_pages)
    app.connect("env-updated", collect_former_wordings)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def visit_details(self: Any, node: recorded_details) -> None:
    opened = {"open": "open"} if node.get("open") else {}
    self.body.append(self.starttag(node, "details", **opened))
    self.body.append(f"<summary>{self.encode(node['summary'])}</summary>\n")


def depart_details(self: Any, node: recorded_details) -> None:
    self.body.append("</details>\n")


def visit_plain(self: Any, node: recorded_details) -> None:
    pass


def depart_plain(self: Any, node: recorded_details) -> None:
    pass
