"""What goes wrong around a build, and what scripts do to it: the site is right or stays as it was."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from minisite import ROOT, MiniSite, page

OPTIONS = ("-D", "autograd_errors_families.one=One", "-D", "autograd_errors_families.two=Two")
PASSING = {
    "two_lines": page(title="Windows", message="<n> lines", emitted="3 lines"),
    "two_pages": page(
        title="Two", message="<n> pages", emitted="3 pages", extra="print(list('é'))"
    ),
}
CONFIGURATION = [
    f"docs/{name}"
    for name in ("_ext", "_static", "_templates", "_data/torch.inv", "conf.py", "redirects.txt")
] + ["tools"]

MOMENTS = (
    "open plot_two_lines.emissions.json",
    "open stage/glossary.html",
    "os.rename html.new",
)

# Runs before everything else in the building process. It moves the clock, and ends the build's
# whole process group the moment that one of Python's audit events tells of a certain path.
STARTUP = """\
import os, signal, sys, time

shift = float(os.environ.get("CLOCK_SHIFT", "0"))
if shift:
    now, local, universal, form = time.time, time.localtime, time.gmtime, time.strftime
    time.time = lambda: now() + shift
    time.localtime = lambda at=None: local(time.time() if at is None else at)
    time.gmtime = lambda at=None: universal(time.time() if at is None else at)
    time.strftime = lambda text, at=None: form(text, time.localtime() if at is None else at)

event, _, path = os.environ.get("END_AT", "").partition(" ")


def watch(name, arguments):
    if name == event and str(arguments[0]).endswith(path) and (
        name != "open" or str(arguments[1])[:1] in "wx"
    ):
        os.killpg(0, signal.SIGKILL)


if event:
    sys.addaudithook(watch)
"""


class Project:
    """A small checkout, built by the command that the nox session runs."""

    def __init__(self, root: Path, sources: Path, scripts: dict[str, str] | None = None) -> None:
        self.root = root
        self.site = MiniSite(root)
        for name, text in (PASSING if scripts is None else scripts).items():
            self.site.script(name, text)
        shutil.copytree(sources, root, dirs_exist_ok=True)
        self.site.write("startup/sitecustomize.py", STARTUP)
        self.out = root / "docs" / "_build" / "html"

    def start(self, *options: str, **environment: str) -> subprocess.Popen:
        """Start a build; it leads a process group of its own."""
        command = [sys.executable, "-m", "tools.build_site", "docs", "docs/_build/html"]
        return subprocess.Popen(
            [*command, *OPTIONS, *options],
            cwd=self.root,
            env={
                **os.environ,
                "PYTHONPATH": str(self.root / "startup"),
                "AUTOGRAD_ERRORS_COMMIT": "c0ffee",
                "OMP_NUM_THREADS": "1",
                **environment,
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            errors="replace",
            start_new_session=True,
        )

    def build(self, *options: str, **environment: str) -> tuple[int, str]:
        """Build, and return the exit status and all that was printed."""
        process = self.start(*options, **environment)
        printed, _ = process.communicate(timeout=120)
        return process.returncode, printed

    def built(self, *options: str, **environment: str) -> dict[str, bytes]:
        """Build, which must succeed, and return the site."""
        status, printed = self.build(*options, **environment)
        assert status == 0, printed[-4000:]
        return self.files()

    def files(self) -> dict[str, bytes]:
        """Return the published site: every file's bytes."""
        return {
            path.relative_to(self.out).as_posix(): path.read_bytes()
            for path in self.out.rglob("*")
            if path.is_file()
        }


@pytest.fixture(scope="module")
def sources(tmp_path_factory) -> Path:
    """Return a copy of this project's configuration, which nobody edits while tests run."""
    folder = tmp_path_factory.mktemp("sources")
    for name in CONFIGURATION:
        source, target = ROOT / name, folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, target)
    return folder


def assert_same(found: dict[str, bytes], wanted: dict[str, bytes]) -> None:
    """Fail with the names of the files that differ, not with their bytes."""
    differ = [name for name in sorted(found | wanted) if found.get(name) != wanted.get(name)]
    assert differ == []


@pytest.fixture(scope="module")
def clean(tmp_path_factory, sources) -> dict[str, bytes]:
    """Return the site as a first build makes it when nothing goes wrong."""
    return Project(tmp_path_factory.mktemp("clean") / "project", sources).built("-j", "1")


def test_site_holds_pages_and_notebooks(clean):
    assert "errors/plot_two_pages.html" in clean
    assert any(name.endswith(".ipynb") for name in clean)


def test_place_time_language_and_processes_do_not_matter(tmp_path, sources, clean):
    """One odd build: another folder, a past clock, LANG=C, two processes, a gallery to read only."""
    project = Project(tmp_path / "Prüfung 叶子 of paths", sources)
    gallery = sorted(project.site.gallery.iterdir())
    for path in gallery:
        os.utime(path, (86400, 86400))
        path.chmod(0o444)
    project.site.gallery.chmod(0o555)
    before = [(path, path.stat().st_mtime_ns, path.read_bytes()) for path in gallery]
    found = project.built(
        "-j", "2", CLOCK_SHIFT="-900000000", LANG="C", LC_ALL="C", TZ="Asia/Kolkata"
    )
    project.site.gallery.chmod(0o755)
    after = sorted(project.site.gallery.iterdir())
    assert [(path, path.stat().st_mtime_ns, path.read_bytes()) for path in after] == before
    assert_same(found, clean)


def test_killed_builds_leave_nothing_behind(tmp_path, sources, clean):
    """A build is killed while scripts run, the next while pages and the last while it publishes."""
    project = Project(tmp_path / "project", sources)
    for moment in MOMENTS:
        status, printed = project.build("-j", "1", END_AT=moment)
        assert status == -signal.SIGKILL, printed[-4000:]
        assert not project.out.exists()  # no half site
    assert_same(project.built("-j", "1"), clean)


def test_two_builds_at_once_take_turns(tmp_path, sources, clean):
    project = Project(tmp_path / "project", sources)
    builds = [project.start() for _ in range(2)]
    printed = [build.communicate(timeout=120)[0] for build in builds]
    assert [build.returncode for build in builds] == [0, 0], printed[0][-2000:] + printed[1][-2000:]
    waited = [text for text in printed if "Another build works in this checkout" in text]
    assert len(waited) == 1
    assert_same(project.files(), clean)


@pytest.fixture
def small_disk(tmp_path, sources):
    """Return a project that is built on a disk of its own, which has little space."""
    project = Project(tmp_path / "project", sources, {})
    folder = project.out.parent
    folder.mkdir()
    if os.geteuid() != 0 or not shutil.which("mount"):
        pytest.skip("only root can mount a small disk; run this test as root")
    options = ["-t", "tmpfs", "-o", "size=64m", "none", str(folder)]
    mounted = subprocess.run(["mount", *options], capture_output=True, text=True, check=False)
    if mounted.returncode:
        pytest.skip(f"a small disk cannot be mounted here: {mounted.stderr.strip()}")
    yield project
    subprocess.run(["umount", "-l", str(folder)], check=True)


def test_full_disk_keeps_the_site_and_says_so(small_disk):
    project, filling = small_disk, small_disk.out.parent / "filler"
    before = project.built()
    project.site.script("two_pages", PASSING["two_pages"])
    with filling.open("wb", buffering=0) as filler, pytest.raises(OSError, match="No space"):
        while filler.write(b"0" * 65536):
            pass
    status, printed = project.build()
    assert status != 0
    assert "No space left on the disk that holds docs/_build" in printed
    assert "the site in docs/_build/html is the one built before" in printed
    assert_same(project.files(), before)


BEHAVIOURS = {
    "two_folders": "import os, tempfile\n\nos.chdir(tempfile.gettempdir())",
    "two_patches": "import torch\n\ntorch.Tensor.backward = torch.ones = None",
    "two_processes": (
        "import subprocess, sys\n\n"
        "for _ in range(20):\n"
        '    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(999.25)"])'
    ),
}


def test_scripts_cannot_disturb_their_neighbours(tmp_path, sources, clean):
    """They change directory, patch torch, leave processes running, and come from Windows."""
    scripts = {
        name: page(title=name, message=f"<n> {name}", emitted=f"3 {name}", extra=extra)
        for name, extra in BEHAVIOURS.items()
    }
    project = Project(tmp_path / "project", sources, {**scripts, **PASSING})
    windows = project.site.gallery / "plot_two_lines.py"
    windows.write_bytes(windows.read_bytes().replace(b"\n", b"\r\n"))
    found = project.built()
    for name in scripts:
        assert f"errors/plot_{name}.html" in found
    assert output(project, "one_example")
    for name in ("one_example", "two_lines"):
        assert body(found, name) == body(clean, name)
    running = [
        path.parent.name
        for path in Path("/proc").glob("[0-9]*/cmdline")
        if b"time.sleep(999.25)" in reading(path)
    ]
    assert running == []


def reading(path: Path) -> bytes:
    """Return what *path* holds, nothing if it went away meanwhile."""
    try:
        return path.read_bytes()
    except OSError:
        return b""


def output(project: Project, name: str) -> str:
    record = project.root / "docs" / "errors" / f"plot_{name}.emissions.json"
    return json.loads(record.read_text("utf-8"))["output"]


def body(files: dict[str, bytes], name: str) -> str:
    """Return the article of a page, without the links to its neighbours."""
    text = files[f"errors/plot_{name}.html"].decode()
    return text.partition("<article")[2].partition("</article>")[0]


FAILURES = {
    "two_floods": (
        "for _ in range(100):\n    print('x' * 1_000_000)",
        "it printed more than 1 MB",
    ),
    "two_natives": (
        "import os\n\nfor _ in range(100):\n    os.write(2, b'x' * 1_000_000)\nprint()",
        "it printed more than 1 MB",
    ),
    "two_removals": (
        "import os\n\nos.unlink('plot_two_removals.py')",
        "it changed or deleted its own file, which is put back",
    ),
}


def test_scripts_that_harm_end_in_a_sentence_each(tmp_path, sources):
    scripts = {
        name: page(title=name, message=f"<n> {name}", emitted=f"3 {name}", extra=extra)
        for name, (extra, _) in FAILURES.items()
    }
    project = Project(tmp_path / "project", sources, scripts)
    status, printed = project.build()
    assert status != 0
    for name, (_, sentence) in FAILURES.items():
        expected = f"plot_{name}.py:1: expected a script that runs to its end, but {sentence}"
        assert len([line for line in printed.splitlines() if expected in line]) == 1, printed
        assert (project.site.gallery / f"plot_{name}.py").read_text() == scripts[name]
    assert len(printed) < 20_000
    assert not project.out.exists()
