"""List the pages that a change touches, as Markdown: ``python -m tools.changed_pages BASE``."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "docs" / "_ext"))

from script_header import read_header  # noqa: E402


def main(base: str) -> int:
    """Print one line for every gallery script that differs from commit *base*."""
    command = ["git", "diff", "--name-status", base, "--", "gallery"]
    changes = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT).stdout
    print("### Pages that change\n")
    for line in changes.splitlines():
        status, *names = line.split("\t")
        path = ROOT / names[-1]
        title = f": {read_header(path).title}" if path.exists() and path.suffix == ".py" else ""
        print(f"- {status[0]} `{names[-1]}`{title}")
    if not changes:
        print("None.")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
