"""Run gallery scripts as their readers do: alone, in a fresh interpreter, with what they declare.

``python -m tools.standalone [script ...]`` makes one environment for each set of declared
dependencies, with the versions of ``constraints.txt``.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "docs" / "_ext"))

from script_header import read_header  # noqa: E402

TIME_LIMIT = 180


def main(arguments: list[str]) -> int:
    """Run the scripts of *arguments*, or all; return 1 if any did not end well."""
    scripts = [Path(a).resolve() for a in arguments] or sorted((ROOT / "gallery").glob("plot_*.py"))
    by_dependencies = defaultdict(list)
    for script in scripts:
        header = read_header(script)
        if header.needs:
            print(f"not run: {script.name} (needs {header.needs})")
            continue
        by_dependencies[tuple(sorted(header.dependencies))].append(script)
    failed = 0
    with tempfile.TemporaryDirectory() as work:
        for number, (dependencies, group) in enumerate(by_dependencies.items()):
            python = make_environment(Path(work, f"env-{number}"), dependencies)
            with ThreadPoolExecutor(os.cpu_count()) as pool:
                problems = pool.map(run_alone, [python] * len(group), group)
                for script, problem in zip(group, problems, strict=True):
                    failed += bool(problem)
                    print(f"{'FAILED' if problem else 'ok'}: {script.name}{problem}", flush=True)
    ran = sum(map(len, by_dependencies.values()))
    print(f"{ran - failed} passed, {failed} failed")
    return int(failed > 0)


def make_environment(folder: Path, dependencies: tuple[str, ...]) -> Path:
    """Return the interpreter of a new environment that holds *dependencies*."""
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    python = folder / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    constraints = str(ROOT / "constraints.txt")
    subprocess.run([*install, "--constraint", constraints, *dependencies], check=True)
    return python


def run_alone(python: Path, script: Path) -> str:
    """Return what went wrong with *script* in a folder of its own, or nothing.

    A script must end with exit status 0 within the time limit and leave no file behind.
    """
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, script.name)
        copy.write_bytes(script.read_bytes())
        try:
            done = subprocess.run(
                [str(python), "-I", copy.name],
                cwd=folder, capture_output=True, text=True, timeout=TIME_LIMIT, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return f": ran longer than {TIME_LIMIT} s"
        if done.returncode:
            return f": exit status {done.returncode}\n{done.stdout}\n{done.stderr}"
        left = sorted(path.name for path in Path(folder).iterdir() if path != copy)
        return f": left files behind: {left}" if left else ""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
