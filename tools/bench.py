"""Measure the figures of the design: ``nox -s bench``, or ``-- --quick`` for those under 2 minutes.

Everything is built in temporary copies, on one machine and in one run, so that ratios mean
something; absolute times are written beside them for the curious. Sizes of a first visit are those
of a real browser, each response compressed by gzip as a host would send it.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import gzip
import http.server
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ROOT = Path(__file__).parents[1]
SITE = ROOT / "docs" / "_build" / "html"
RESULT = ROOT / "docs" / "_build" / "bench.json"
VISITED = "errors/plot_view_of_leaf.html"
PASTE_BYTES = 100_000
COPIED = ("catalogue", "docs", "gallery", "glossary", "tools", "pyproject.toml", "CHANGELOG.md")
MADE = shutil.ignore_patterns("_build", "errors", "__pycache__", "sg_*")
NOTEBOOK_CONF = """\
extensions = ["myst_nb"]
html_theme = "furo"
nb_execution_mode = "force"
nb_execution_timeout = 120
"""
WORK = ("Task", "Script", "Layout", "RecalcStyle")
PHONE_NETWORK = {
    "offline": False,
    "latency": 150,  # milliseconds
    "downloadThroughput": 1_600_000 // 8,  # bytes a second
    "uploadThroughput": 750_000 // 8,
}
"""The slow 4G network that Lighthouse uses for phones."""
PHONE_SLOWDOWN = 4
TIMER = """\
import { readFileSync } from "node:fs";
const [module, data] = process.argv.slice(1);
const { lookup } = await import(module);
const catalogue = JSON.parse(readFileSync(data, "utf8"));
const text = readFileSync(0, "utf8");
const times = [];
for (let run = 0; run < 15; run++) {
  const start = performance.now();
  lookup(text, catalogue);
  times.push(performance.now() - start);
}
console.log(JSON.stringify(times));
"""


@dataclass
class Figure:
    """One measured value; without a target it is there to compare with."""

    name: str
    value: float
    unit: str = ""
    target: float | None = None
    detail: dict[str, float | str] = field(default_factory=dict)

    @property
    def passed(self) -> bool | None:
        return None if self.target is None else self.value <= self.target


@dataclass
class Visit:
    """What a browser with an empty cache fetched and did for one page."""

    sizes: dict[str, int]
    foreign: int
    busy: dict[str, float]
    """Milliseconds of the page's main thread, by kind of work."""
    first_text: float
    """Milliseconds until the first text was shown."""

    @property
    def compressed(self) -> int:
        return sum(self.sizes.values())


def ratio(name: str, part: float, whole: float, target: float) -> Figure:
    """Return *part* ÷ *whole* as a figure that tells both."""
    detail = {"seconds": round(part, 2), "of": round(whole, 2)}
    return Figure(name, round(part / whole, 3), "", target, detail)


def per_page(seconds: dict[int, float]) -> float:
    """Return the cost of one more page, from the times of a site of few pages and one of many."""
    (few, short), (many, long) = sorted(seconds.items())
    return (long - short) / (many - few)


def compressed(data: bytes) -> int:
    """Return the size of *data* as a host sends it."""
    return len(gzip.compress(data, mtime=0))


def table(figures: Iterable[Figure]) -> str:
    """Return *figures* as lines in columns."""
    rows = [("figure", "value", "target", "")]
    for figure in figures:
        target = "" if figure.target is None else f"<= {figure.target:g} {figure.unit}".rstrip()
        verdict = {True: "pass", False: "FAIL", None: ""}[figure.passed]
        rows.append((figure.name, f"{figure.value:g} {figure.unit}".rstrip(), target, verdict))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )


def long_paste(message: str, size: int = PASTE_BYTES) -> str:
    """Return a log of *size* bytes or a little more that ends in a traceback with *message*."""
    end = f'Traceback (most recent call last):\n  File "train.py", line 9, in step\n{message}\n'
    lines, length, step = [], len(end), 0
    while length < size:
        step += 1
        lines.append(f"[INFO] epoch {step // 100} step {step} loss={1 / step:.6f} lr=0.001 ok\n")
        length += len(lines[-1])
    return "".join(lines) + end


def time_lookup(site: Path, text: str) -> float:
    """Return the median milliseconds of looking *text* up in Node."""
    module = (site / "_static" / "lookup.mjs").as_uri()
    command = ["node", "--input-type=module", "-e", TIMER, module, str(site / "errors.json")]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    return statistics.median(json.loads(done.stdout))


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@contextlib.contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve *folder* on this machine and yield its address."""
    handler = functools.partial(_Quiet, directory=str(folder))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()


@contextlib.contextmanager
def browser() -> Iterator[object]:
    """Yield a running Chromium."""
    from playwright.sync_api import sync_playwright

    from tools.require_browser import find_browser

    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=find_browser(), args=["--no-sandbox"])
        try:
            yield found
        finally:
            found.close()


def visit(chromium: object, folder: Path, page: str, *, phone: bool = False) -> Visit:
    """Open *page* of the site in *folder* with an empty cache and note what it fetches and does.

    With *phone* the network and the processor are as slow as PHONE says.
    """
    with served(folder) as address:
        context = chromium.new_context()
        tab, responses, asked = context.new_page(), [], []
        tools = context.new_cdp_session(tab)
        tools.send("Performance.enable")
        if phone:
            tools.send("Network.enable")
            tools.send("Network.emulateNetworkConditions", PHONE_NETWORK)
            tools.send("Emulation.setCPUThrottlingRate", {"rate": PHONE_SLOWDOWN})
        tab.on("request", lambda request: asked.append(request.url))
        tab.on("response", lambda response: responses.append(response))
        tab.goto(address + page, wait_until="networkidle")
        own = urlsplit(address).netloc
        sizes = {r.url.removeprefix(address): compressed(r.body()) for r in responses if r.ok}
        metrics = {m["name"]: m["value"] for m in tools.send("Performance.getMetrics")["metrics"]}
        busy = {name: round(metrics[f"{name}Duration"] * 1000, 1) for name in WORK}
        first_text = tab.evaluate(
            "performance.getEntriesByName('first-contentful-paint')[0].startTime"
        )
        context.close()
    foreign = [url for url in asked if urlsplit(url).netloc not in (own, "")]
    return Visit(sizes, len(foreign), busy, first_text)


def site_figures(site: Path) -> list[Figure]:
    """Return what can be measured on a built site."""
    data = (site / "errors.json").read_bytes()
    message = next(
        f"{error['raises']}: {error['message']}"
        for page in json.loads(data)["pages"]
        for error in page["errors"]
        if "<" not in error["message"]
    )
    with browser() as chromium:
        seen = visit(chromium, site, VISITED)
        phone = visit(chromium, site, VISITED, phone=True)
        conditions = {"browser": f"Chromium {chromium.version}", "processors": os.cpu_count()}
    return [
        Figure(
            "first visit of an error page, compressed",
            round(seen.compressed / 1000, 1), "KB", 100, seen.sizes,
        ),
        Figure("requests of that visit", len(seen.sizes), "", 15),
        Figure("third-party requests", seen.foreign, "", 0),
        Figure("processor time of that visit", seen.busy["Task"], "ms", None,
               {**seen.busy, **conditions}),
        Figure("first text on this machine", round(seen.first_text), "ms"),
        Figure("first text on a phone with slow 4G", round(phone.first_text), "ms", None,
               {**phone.busy, **conditions, **PHONE_NETWORK, "slowdown": PHONE_SLOWDOWN}),
        Figure(
            "lookup of a 100 KB paste", round(time_lookup(site, long_paste(message)), 2), "ms", 20
        ),
        Figure("errors.json, compressed", round(compressed(data) / 1000, 1), "KB", 60),
    ]  # fmt: skip


def seconds(command: list[str], folder: Path, **variables: str) -> float:
    """Run *command* in *folder*; return how long it took, or raise with what it said."""
    start = time.perf_counter()
    done = subprocess.run(
        command, cwd=folder, env={**os.environ, **variables}, check=False,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    taken = time.perf_counter() - start
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stdout[-4000:]}")
    return taken


def sphinx(source: Path, out: Path, *options: str) -> float:
    """Build *source* into *out* and return the seconds it took."""
    command = [sys.executable, "-m", "sphinx", "-q", "-j", "auto", "-d", f"{out}.doctrees"]
    return seconds([*command, *options, str(source), str(out)], source.parent)


def copy_project(target: Path) -> Path:
    """Copy what a build reads to *target*."""
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, target / name, ignore=MADE)
        else:
            shutil.copy(source, target / name)
    return target


def whole_site(work: Path) -> list[Figure]:
    """Build the whole site clean, unchanged and with one script edited, and its floor."""
    floor_copy = copy_project(work / "floor")
    floor = seconds([sys.executable, "-c", "import torch"], work)
    floor += sphinx(floor_copy / "docs", work / "floor-out", "-D", "plot_gallery=0")
    project = copy_project(work / "project")
    docs, out = project / "docs", work / "out"
    clean = sphinx(docs, out)
    unchanged = sphinx(docs, out)
    script = project / "gallery" / f"{Path(VISITED).stem}.py"
    script.write_text(script.read_text("utf-8") + "\n# A remark.\n", encoding="utf-8")
    edited = sphinx(docs, out)
    return [
        ratio("clean build / floor", clean, floor, 1.5),
        ratio("build without a change / clean", unchanged, clean, 0.2),
        ratio("build after editing one script / clean", edited, clean, 0.35),
    ]


def small_site(root: Path, scripts: dict[str, str]) -> Path:
    """Write a site of *scripts* with a front page and a glossary; return its sources."""
    from tests.minisite import MiniSite

    site = MiniSite(root)
    (site.gallery / "plot_one_example.py").unlink()
    for name in ("causes.tsv", "inventory.tsv"):
        shutil.copy(ROOT / "catalogue" / name, root / "catalogue")
    with (root / "catalogue" / "causes.tsv").open("a", encoding="utf-8") as causes:
        causes.write("nowhere/too-many\t\n")
    site.write("docs/_data/.keep", "")
    shutil.copy(ROOT / "docs" / "_data" / "torch.inv", site.docs / "_data")
    for name, text in scripts.items():
        site.script(name, text)
    return site.docs


def build_small(docs: Path, out: Path, *options: str) -> float:
    """Build a small site with the project's own configuration."""
    return sphinx(
        docs, out, "-c", str(ROOT / "docs"), "-D", "autograd_errors_families.one=One",
        "-D", "autograd_errors_families.other=Other", *options,
    )  # fmt: skip


def copies(count: int) -> dict[str, str]:
    """Return *count* small pages that differ in their message."""
    from tests.minisite import page

    return {
        f"one_copy_{number:04}": page(
            title=f"Too many of kind {number}",
            message=f"<count> is too many of kind {number}.",
            emitted=f"3 is too many of kind {number}.",
        )
        for number in range(count)
    }


def growth(work: Path, few: int, many: int) -> Figure:
    """Compare the cost of a page in a large site with that in a small one."""
    taken = {
        count: build_small(small_site(work / f"n{count}", copies(count)), work / f"o{count}")
        for count in (1, few, many)
    }
    costs = {n: per_page({1: taken[1], n: taken[n]}) for n in (few, many)}
    name = f"cost per page at {many} pages / at {few}"
    return Figure(
        name, round(costs[many] / costs[few], 3), "", 1.2, {str(n): costs[n] for n in costs}
    )


def sample(count: int) -> list[Path]:
    """Return *count* scripts spread over the gallery that need no other page."""
    alone = [
        script
        for script in sorted((ROOT / "gallery").glob("plot_*.py"))
        if not any(
            key in script.read_text("utf-8")
            for key in ("# cause-of", "# shows", "# needs", "# timeout", "# recorded")
        )
    ]
    return alone[:: max(1, len(alone) // count)][:count]


def notebooks(work: Path, count: int) -> list[Figure]:
    """Build a sample here, under another theme, and as notebooks; compare time and bytes."""
    scripts = {p.stem.removeprefix("plot_"): p.read_text("utf-8") for p in sample(count)}
    docs, out = small_site(work / "sample", scripts), work / "sample-out"
    ours = build_small(docs, out)
    themed = work / "themed-out"
    build_small(
        small_site(work / "themed", scripts), themed, "-D", "html_theme=pydata_sphinx_theme"
    )
    source = work / "notebooks"
    source.mkdir()
    (source / "conf.py").write_text(NOTEBOOK_CONF, encoding="utf-8")
    names = [f"plot_{name}" for name in scripts]
    toctree = "Home\n====\n\n.. toctree::\n\n" + "".join(f"   {name}\n" for name in names)
    (source / "index.rst").write_text(toctree, encoding="utf-8")
    for name in names:
        shutil.copy(next((out / "_downloads").rglob(f"{name}.ipynb")), source)
    theirs = sphinx(source, work / "notebooks-out")
    with browser() as chromium:
        seen = {
            "here": visit(chromium, out, f"errors/{names[0]}.html"),
            "under pydata-sphinx-theme": visit(chromium, themed, f"errors/{names[0]}.html"),
            "as a myst-nb notebook": visit(chromium, work / "notebooks-out", f"{names[0]}.html"),
        }
    return [
        ratio(f"{len(names)} scripts: clean build / as myst-nb notebooks", ours, theirs, 0.1),
        *(
            Figure(f"one of them {where}", round(v.compressed / 1000, 1), "KB", None,
                   {"requests": len(v.sizes), "foreign": v.foreign})
            for where, v in seen.items()
        ),
    ]  # fmt: skip


def main(arguments: list[str] | None = None) -> int:
    """Measure, print the table and write the JSON; 1 if a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="only what takes under 2 minutes")
    parser.add_argument(
        "--sample", type=int, default=1000, help="scripts also built as notebooks, if not all"
    )
    parser.add_argument("--few", type=int, default=100, help="pages of the smaller site")
    parser.add_argument("--many", type=int, default=400, help="pages of the larger site")
    options = parser.parse_args(arguments)
    if not (SITE / "errors.json").exists():
        status = subprocess.run(
            [sys.executable, "-m", "tools.build_site", "docs", str(SITE)], cwd=ROOT, check=False
        ).returncode
        if status:
            return status
    figures = site_figures(SITE)
    if not options.quick:
        with tempfile.TemporaryDirectory() as folder:
            work = Path(folder)
            figures += notebooks(work, options.sample)
            figures.append(growth(work, options.few, options.many))
            figures += whole_site(work)
    print(table(figures))
    report = [{**asdict(figure), "passed": figure.passed} for figure in figures]
    RESULT.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    return int(any(figure.passed is False for figure in figures))


if __name__ == "__main__":
    sys.exit(main())
