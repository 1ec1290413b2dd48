"""Run the gallery in another release of PyTorch, or on CUDA, and write down what it does there.

    python -m tools.record torch-1.8.1-cpu       one environment
    python -m tools.record torch-1.8.1-cpu plot_leaf_inplace.py     one script there
    python -m tools.record all                   every release of tools/environments.toml
    python -m tools.record torch-latest-cpu      the newest release that the package index holds
    python -m tools.record torch-2.13.0-cuda     this Python and its torch, on CUDA

Each environment on the CPU is made for the purpose and thrown away: a real interpreter of the
right version, the release's own wheel without the libraries that only a GPU needs (see
`tools/no_cuda.py`), and `tools/run_blocks.py`. The transcript goes to docs/_data/transcripts.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "docs" / "_ext"))

from clean_output import clean  # noqa: E402
from recordings import (  # noqa: E402
    Raised,
    RecordedBlock,
    Recording,
    code_hash,
    read_recording,
    read_recordings,
    release_key,
    what_changed,
    write_recording,
)
from release_changes import compared_with  # noqa: E402
from script_blocks import code_blocks  # noqa: E402
from script_header import HeaderError, read_header  # noqa: E402

GALLERY = ROOT / "gallery"
TRANSCRIPTS = ROOT / "docs" / "_data" / "transcripts"
ENVIRONMENTS = ROOT / "tools" / "environments.toml"
RUNNER = ROOT / "tools" / "run_blocks.py"
STAND_INS = ROOT / "tools" / "no_cuda.py"

NAME = re.compile(r"torch-(?P<release>\d+\.\d+\.\d+|latest)-(?P<device>cpu|cuda)")
NEEDED_SPACE = 6  # GB: the wheel and the unpacked release at the same time
TIME_LIMIT = 120  # seconds for one script; machines that record are often busy
ANSI = re.compile(r"\x1B(?:[@-Z\\-_]|\[[0-?]*[ -/]*[@-~])")
RUNNER_FRAME = re.compile(
    rf'  File "[^"\n]*{RUNNER.name}", line .*\n(?:    .*\n)*|  [^\s(]*{RUNNER.name}\(\d+\): .*\n?'
)
CPP_FRAMES = re.compile(
    r"(?: \([^()\n]*(?:\(\))?[^()\n]* at [^()\s]+:\d+\)|\nException raised from .*)?"
    r"\n(?:(?:frame #\d+: |<omitting python frames>).*(?:\n|$))+\n?"
)
NO_DRIVER = "CUDA initialization: "
CHATTER = re.compile(
    r"[WIE]\d{4} [\d:.]+ \d+ \S+\] triton not found.*\n|"
    r"(?:\[Gloo\] Rank )?\d* ?is connected to \d+ peer ranks\. Expected number of connected peer "
    r"ranks is : ?\d*\n?|\[Gloo\] Rank \d*\n?"
)
LOG_TIME = re.compile(r"(?m)^([WIE])\d{4} [\d:.]+ \d+ (?=\S+:\d+\])")
NO_DRIVER_WARNING = re.compile(rf"\S+:\d+: UserWarning: {NO_DRIVER}.*\n(?:  .*\n)?")
ONE_THREAD = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}  # small tensors; many at once
IS_ALIVE = "import sys, venv, ensurepip; print('%d.%d' % sys.version_info[:2], sys.executable)"


class CannotRecord(Exception):
    """Why there is no recording, in one sentence that says what would help."""


@dataclass(frozen=True)
class Recipe:
    """How to install one release."""

    release: str
    python: str
    packages: list[str]
    fresh: bool = False


@dataclass(frozen=True)
class Environment:
    """An interpreter with torch, and what was installed into it."""

    python: str
    installed: list[str]
    stand_ins: list[str]


def main(arguments: list[str]) -> int:
    """Record the environments named in *arguments*; return 1 if one could not be recorded."""
    parser = argparse.ArgumentParser(prog="record", description=__doc__.partition("\n")[0])
    parser.add_argument(
        "names",
        nargs="+",
        help="environments (torch-1.8.1-cpu, torch-latest-cpu, all), then scripts",
    )
    parser.add_argument("--keep", type=Path, help="folder in which to keep and find environments")
    parser.add_argument(
        "--stale", action="store_true", help="only scripts whose recording is missing or stale"
    )
    parser.add_argument("--fresh", action="store_true", help="import torch anew for every script")
    parser.add_argument("--output", type=Path, default=TRANSCRIPTS, help="folder of transcripts")
    options = parser.parse_args(arguments)
    recipes = read_recipes()
    chosen = {Path(name).name for name in options.names if name.endswith(".py")}
    names = [name for name in options.names if not name.endswith(".py")]
    if names == ["all"]:
        names = [f"torch-{release}-cpu" for release in recipes]
    failures = 0
    for name in names:
        try:
            if options.stale:
                chosen = scripts_to_renew(options.output / f"{name}.json")
                if not chosen:
                    print(f"{name}: nothing is stale")
                    continue
            recording = record(name, recipes, options.keep, chosen, options.fresh)
        except CannotRecord as reason:
            print(f"{name}: {reason}", file=sys.stderr)
            failures += 1
            continue
        path = options.output / f"{recording.environment}.json"
        old = read_recording(path) if path.exists() else None
        if chosen and old is not None:
            keep_others(old, recording)
        write_recording(recording, path)
        changes = changes_in(old, recording, options.output)
        print(f"{recording.environment}: {len(recording.scripts)} scripts, {len(changes)} changed")
        print("".join(f"  {change}\n" for change in changes), end="", flush=True)
    return min(failures, 1)


def changes_in(old: Recording | None, new: Recording, folder: Path) -> list[str]:
    """Return what is new: against the *old* recording, or else against the release before."""
    if old is not None:
        return what_changed(old, new)
    earlier = [r for r in read_recordings(folder) if r.kind == new.kind and r.order < new.order]
    if not earlier:
        return []
    scripts = {script: code_blocks(GALLERY / script) for script in new.scripts}
    print(f"{new.environment} is recorded for the first time; against {earlier[-1].environment}:")
    return compared_with(earlier[-1], new, scripts)


def scripts_to_renew(transcript: Path) -> set[str]:
    """Return the scripts of which *transcript* says nothing, or something stale."""
    device = transcript.stem.rpartition("-")[2]
    scripts = gallery_scripts(device, set())
    if not transcript.exists():
        return {script.name for script in scripts}
    old = read_recording(transcript)
    gone = old.scripts.keys() - {script.name for script in scripts}
    unknown = {s.name for s in scripts if not old.is_fresh(s.name, code_blocks(s))}
    return unknown | ({scripts[0].name} if gone else set())


def keep_others(old: Recording, new: Recording) -> None:
    """Keep in *new* what *old* says about scripts that were not run, with today's line numbers."""
    for script, blocks in old.scripts.items():
        if script not in new.scripts and (GALLERY / script).exists():
            moved = old.blocks(script, code_blocks(GALLERY / script))
            new.scripts[script] = blocks if moved is None else moved
            if old.date_of(script) != new.date:
                new.dates[script] = old.date_of(script)
    new.dates = dict(sorted(new.dates.items()))


def record(
    name: str, recipes: dict[str, Recipe], keep: Path | None, chosen: set[str], fresh: bool
) -> Recording:
    """Return the recording of the environment called *name*: of the *chosen* scripts, or all."""
    wanted = NAME.fullmatch(name)
    if wanted is None:
        raise CannotRecord("expected a name like torch-1.8.1-cpu, torch-latest-cpu or all.")
    if not hasattr(os, "fork"):
        raise CannotRecord("recording needs a system with os.fork: Linux, macOS or WSL.")
    if wanted["device"] == "cuda":
        return record_cuda(wanted["release"], chosen)
    published = published_releases(recipes)
    release = published[-1] if wanted["release"] == "latest" else wanted["release"]
    recipe = recipe_of(release, recipes)
    with folder_for(f"torch-{release}-cpu", keep) as folder:
        environment = environment_in(folder, recipe)
        fork = not (fresh or recipe.fresh)
        scripts = gallery_scripts("cpu", chosen)
        results = run_scripts(environment.python, scripts, "cpu", fork=fork)
    earlier = [other for other in published if release_key(other) < release_key(release)]
    before = earlier[-1] if earlier else None
    return recording_of(f"torch-{release}-cpu", environment, results, before)


def record_cuda(release: str, chosen: set[str]) -> Recording:
    """Return the recording of this interpreter's torch on CUDA."""
    import torch

    here = torch.__version__.partition("+")[0]
    if release not in (here, "latest"):
        raise CannotRecord(f"CUDA is recorded with the installed torch, which is {here} here.")
    if not torch.cuda.is_available():
        raise CannotRecord("torch sees no CUDA device here, so there is nothing to record.")
    environment = Environment(sys.executable, installed_packages(sys.executable), [])
    scripts = gallery_scripts("cuda", chosen)
    results = run_scripts(sys.executable, scripts, "cuda", fork=False)
    return recording_of(f"torch-{here}-cuda", environment, results, None)


# -- Running and writing down ----------------------------------------------------------------------


def gallery_scripts(device: str | None, chosen: set[str]) -> list[Path]:
    """Return the scripts that make sense on *device*, of the *chosen* ones if there are any."""
    scripts = sorted(GALLERY.glob("plot_*.py"))
    unknown = chosen - {script.name for script in scripts}
    if unknown:
        raise CannotRecord(f"there is no {min(unknown)} in the gallery.")
    scripts = [script for script in scripts if not chosen or script.name in chosen]
    try:
        needs = {script: read_header(script).needs for script in scripts}
    except HeaderError as problem:
        raise CannotRecord(str(problem)) from problem
    return [script for script in scripts if device is None or needs[script] in (None, device)]


def run_scripts(python: str, scripts: list[Path], device: str, *, fork: bool) -> dict[str, Any]:
    """Run *scripts* under *python*, each in a process of its own; return what the runner noted.

    With *fork* the processes are forks of one that imported torch; without, each imports it anew.
    """
    jobs = {
        "device": device,
        "fork": fork,
        "scripts": [
            {
                "file": str(script),
                "source": script.read_text(encoding="utf-8"),
                "limit": limit_of(script),
                "blocks": [block._asdict() for block in code_blocks(script)],
            }
            for script in scripts
        ],
    }
    with tempfile.TemporaryDirectory() as folder:
        given, made = Path(folder, "jobs.json"), Path(folder, "results.json")
        given.write_text(json.dumps(jobs), encoding="utf-8")
        variables = {**os.environ, **ONE_THREAD, "PYTHONHASHSEED": "0", "MPLBACKEND": "agg"}
        for name in ("PYTHONPATH", "PYTHONDONTWRITEBYTECODE"):  # compile torch's files only once
            variables.pop(name, None)
        command = [python, str(RUNNER), str(given), str(made)]
        ended = subprocess.run(command, env=variables, capture_output=True, text=True, check=False)
        if ended.returncode:
            last = (ended.stderr.strip().splitlines() or ["nothing was printed"])[-1]
            raise CannotRecord(f"the runner failed in this environment: {last}")
        results = json.loads(made.read_text(encoding="utf-8"))
    about = results["about"]
    results["scripts"] = {
        script.name: recorded_blocks(script, records, about["stdlib"])
        for script, records in zip(scripts, results["scripts"], strict=True)
    }
    return results


def limit_of(script: Path) -> int:
    """Return how many seconds *script* may take."""
    return max(read_header(script).timeout or 0, TIME_LIMIT)


def recorded_blocks(
    script: Path, records: list[dict[str, Any]], stdlib: str
) -> list[RecordedBlock]:
    """Return what the runner noted of *script*, cleaned as the page's own output is.

    What belongs to the run, not to the release, goes: frames of the runner, frames of C++ that
    old releases append to messages, what a CUDA build says about a missing driver or compiler, and
    what Gloo says about its connections, in whatever order its processes get to it.
    """

    def cleaned(text: str) -> str:
        text = ANSI.sub("", text.expandtabs())
        text = RUNNER_FRAME.sub("", text).replace(f"{stdlib}/", "")
        text = LOG_TIME.sub(r"\1 ", CHATTER.sub("", text))
        return clean(NO_DRIVER_WARNING.sub("", CPP_FRAMES.sub("\n", text)), script)

    found = []
    for block, noted in zip(code_blocks(script), records, strict=True):
        emitted = tuple(
            (kind, cleaned(text).rstrip("\n"))
            for kind, text in noted["emitted"]
            if not text.startswith(NO_DRIVER)
        )
        raised = noted["exception"]
        if raised is not None:
            text = cleaned(raised["text"]).rstrip("\n")
            raised = Raised(raised["type"], text, raised["line"])
        output = cleaned(noted["output"])
        found.append(RecordedBlock(code_hash(block.code), block.line, output, emitted, raised))
    return found


def recording_of(
    name: str, environment: Environment, results: dict[str, Any], before: str | None
) -> Recording:
    """Return the transcript of one run."""
    about = results["about"]
    return Recording(
        environment=name,
        torch=about["torch"],
        python=about["python"],
        device=about["device"],
        date=datetime.now(timezone.utc).date().isoformat(),
        installed=environment.installed,
        stand_ins=environment.stand_ins,
        supplied=about["supplied"],
        before=before,
        scripts=results["scripts"],
    )


# -- Environments ----------------------------------------------------------------------------------


def read_recipes() -> dict[str, Recipe]:
    """Return the releases of environments.toml, oldest first."""
    table = tomllib.loads(ENVIRONMENTS.read_text(encoding="utf-8"))["releases"]
    recipes = [Recipe(release, **entry) for release, entry in table.items()]
    return {
        recipe.release: recipe for recipe in sorted(recipes, key=lambda r: release_key(r.release))
    }


def recipe_of(release: str, recipes: dict[str, Recipe]) -> Recipe:
    """Return how to install *release*: as the newest listed release that is not newer."""
    listed = [r for r in recipes.values() if release_key(r.release) <= release_key(release)]
    model = listed[-1] if listed else next(iter(recipes.values()))
    return Recipe(release, model.python, model.packages)


def published_releases(recipes: dict[str, Recipe]) -> list[str]:
    """Return every release that the package index holds for the Pythons in use, oldest first."""
    releases: set[str] = set()
    for python in sorted({recipe.python for recipe in recipes.values()}):
        command = [sys.executable, "-m", "pip", "index", "versions", "torch"]
        command += ["--python-version", python, "--only-binary", ":all:"]
        ended = subprocess.run(command, capture_output=True, text=True, check=False)
        found = re.search(r"Available versions: (.*)", ended.stdout)
        if found is None:
            raise CannotRecord(f"pip cannot list torch's releases: {last_line(ended.stderr)}")
        releases |= {version.strip() for version in found[1].split(",")}
    plain = [release for release in releases if re.fullmatch(r"\d+\.\d+\.\d+", release)]
    return sorted(plain, key=release_key)


class folder_for:
    """A folder for one environment: below *keep* if given, else gone after the block."""

    def __init__(self, name: str, keep: Path | None) -> None:
        self.kept = keep / name if keep else None

    def __enter__(self) -> Path:
        self.folder = self.kept or Path(tempfile.mkdtemp(prefix="record-"))
        self.folder.mkdir(parents=True, exist_ok=True)
        return self.folder

    def __exit__(self, *exception: object) -> None:
        if self.kept is None:
            shutil.rmtree(self.folder, ignore_errors=True)


def environment_in(folder: Path, recipe: Recipe) -> Environment:
    """Return the environment in *folder*, made by *recipe* unless it is complete already."""
    note = folder / "environment.json"
    if note.exists():
        return Environment(**json.loads(note.read_text()))
    require_space(folder)
    interpreter = find_interpreter(recipe.python)
    subprocess.run([interpreter, "-m", "venv", "--clear", str(folder / "venv")], check=True)
    python = str(folder / "venv" / "bin" / "python")
    install(python, [f"torch=={recipe.release}"], recipe, "--no-deps")
    install(python, [*recipe.packages, *declared_packages()], recipe)
    stand_ins = lay_stand_ins(python)
    environment = Environment(python, installed_packages(python), stand_ins)
    note.write_text(json.dumps(vars(environment), indent=1))
    return environment


def declared_packages() -> list[str]:
    """Return what the gallery's scripts declare that they need besides torch."""
    scripts = gallery_scripts(None, set())
    return sorted(
        {name for script in scripts for name in read_header(script).dependencies} - {"torch"}
    )


def require_space(folder: Path) -> None:
    """Refuse to fill a disk."""
    free = shutil.disk_usage(folder).free / 1e9
    if free < NEEDED_SPACE:
        raise CannotRecord(
            f"a release needs {NEEDED_SPACE} GB while it is unpacked and {folder} has {free:.1f} GB "
            "left: set TMPDIR to a folder with more space."
        )


def find_interpreter(version: str) -> str:
    """Return an interpreter of Python *version* that runs and can make environments.

    A name on PATH proves nothing: the shims of version managers are there and refuse to run.
    """
    for candidate in candidates(version):
        try:
            ended = subprocess.run(
                [candidate, "-c", IS_ALIVE], capture_output=True, text=True, timeout=30, check=False
            )
        except (OSError, subprocess.TimeoutExpired):
            continue
        if ended.returncode == 0 and ended.stdout.split()[:1] == [version]:
            return ended.stdout.split(maxsplit=1)[1].strip()
    raise CannotRecord(
        f"no Python {version} was found that runs: install one (uv python install {version}, or "
        f"pyenv install {version}) or set {variable_of(version)} to its path."
    )


def candidates(version: str) -> Iterator[str]:
    """Yield where an interpreter of Python *version* may lie, the caller's choice first."""
    if variable_of(version) in os.environ:
        yield os.environ[variable_of(version)]
        return
    home = Path.home()
    yield sys.executable
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        yield str(Path(folder, f"python{version}"))
    pyenv = Path(os.environ.get("PYENV_ROOT", home / ".pyenv"))
    uv = Path(os.environ.get("UV_PYTHON_INSTALL_DIR", home / ".local" / "share" / "uv" / "python"))
    yield from map(str, pyenv.glob(f"versions/{version}.*/bin/python"))
    yield from map(str, uv.glob(f"cpython-{version}.*/bin/python{version}"))


def variable_of(version: str) -> str:
    """Return the environment variable that names an interpreter of *version*."""
    return f"AUTOGRAD_ERRORS_PYTHON_{version.replace('.', '_')}"


def install(python: str, packages: list[str], recipe: Recipe, *options: str) -> None:
    """Install *packages* with pip, whose own settings hold."""
    command = [python, "-m", "pip", "install", "--no-compile", "--no-cache-dir"]
    command += ["--disable-pip-version-check", *options, *packages]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    if ended.returncode == 0:
        return
    here = f"Python {recipe.python} on {platform.system()} {platform.machine()}"
    if "(constraint)" in ended.stdout + ended.stderr:
        raise CannotRecord(
            f"pip's settings here forbid {packages[0]} (a constraint): set PIP_CONFIG_FILE="
            f"{os.devnull} for this command if you may."
        )
    if "No matching distribution" in ended.stderr:
        raise CannotRecord(f"the package index has no wheel of {packages[0]} for {here}.")
    raise CannotRecord(f"pip cannot install {packages[0]} for {here}: {last_line(ended.stderr)}")


def last_line(text: str) -> str:
    """Return the last line that says something."""
    return (text.strip().splitlines() or ["it printed nothing"])[-1]


def lay_stand_ins(python: str) -> list[str]:
    """Let torch run without a GPU's libraries; return the names of those replaced."""
    if platform.system() != "Linux":
        return []  # wheels for other systems are CPU builds
    for tool in ("gcc", "nm", "readelf"):
        if shutil.which(tool) is None:
            raise CannotRecord(
                f"replacing CUDA's libraries needs {tool}: install gcc and binutils."
            )
    where = "import sysconfig; print(sysconfig.get_paths()['purelib'])"
    purelib = subprocess.run([python, "-c", where], capture_output=True, text=True, check=True)
    folder = Path(purelib.stdout.strip(), "torch")
    command = [sys.executable, str(STAND_INS), str(folder)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    if ended.returncode:
        raise CannotRecord(f"CUDA's libraries could not be replaced: {last_line(ended.stderr)}")
    return [line for line in ended.stdout.split() if ".so" in line]


def installed_packages(python: str) -> list[str]:
    """Return torch and what the scripts use besides it, with versions."""
    command = [python, "-m", "pip", "list", "--format=json", "--disable-pip-version-check"]
    ended = subprocess.run(command, capture_output=True, text=True, check=True)
    packages = {package["name"].lower(): package["version"] for package in json.loads(ended.stdout)}
    return [
        f"{name}=={packages[name]}" for name in ("torch", *declared_packages()) if name in packages
    ]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
