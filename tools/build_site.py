"""Build the site aside and put it in place whole: ``python -m tools.build_site SOURCE TARGET``.

The target always holds a complete site: an interrupted, failed or second build at the same time
works beside it. Options after the two folders go to sphinx-build.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

try:
    import fcntl
except ImportError:  # Windows: two builds at once are up to the reader
    fcntl = None


LITTLE_SPACE = 4_000_000  # bytes; less than one copy of a site's fixed files


def main(arguments: list[str]) -> int:
    """Build *arguments*' source into its target; return the exit status."""
    source, target, *options = arguments
    work = Path(target).parent
    work.mkdir(parents=True, exist_ok=True)
    with one_build_at_a_time(work / "lock"):
        full = False
        try:
            status = build(Path(source), work, options)
            if status == 0:
                publish(work / "stage", Path(target))
        except OSError as problem:
            if os.strerror(errno.ENOSPC) not in str(problem):  # copytree collects its errors
                raise
            status, full = 1, True
    if status:
        if full or shutil.disk_usage(work).free < LITTLE_SPACE:
            print(f"No space left on the disk that holds {work}: free some and build again.")
        kept = "is the one built before" if Path(target).exists() else "does not exist yet"
        print(f"The build failed; the site in {target} {kept}.", file=sys.stderr)
    return status


@contextlib.contextmanager
def one_build_at_a_time(lock: Path) -> Iterator[None]:
    """Wait until no other build works in the same checkout."""
    with lock.open("w") as handle:
        if fcntl is not None:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                print("Another build works in this checkout; waiting for it to end.")
                fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def build(source: Path, work: Path, options: list[str]) -> int:
    """Run sphinx-build into *work*/stage; after an unfinished build, from scratch.

    What the scripts printed is kept even then: sphinx-gallery's cache is written page by page.
    """
    unfinished = work / "unfinished"
    if unfinished.exists():
        for leftover in (work / "stage", work / "doctrees"):
            shutil.rmtree(leftover, ignore_errors=True)
    unfinished.touch()
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-j", "auto"]
    command += ["-d", str(work / "doctrees"), str(source), str(work / "stage"), *options]
    status = subprocess.run(command, check=False).returncode
    if status == 0:
        unfinished.unlink()
    return status


def publish(stage: Path, target: Path) -> None:
    """Replace *target* by a copy of *stage*, which later builds go on with."""
    fresh, old = target.with_name(f"{target.name}.new"), target.with_name(f"{target.name}.old")
    shutil.rmtree(fresh, ignore_errors=True)
    shutil.rmtree(old, ignore_errors=True)
    try:
        shutil.copytree(stage, fresh)
    except (OSError, shutil.Error):
        shutil.rmtree(fresh, ignore_errors=True)
        raise
    if target.exists():
        target.rename(old)
    fresh.rename(target)
    shutil.rmtree(old, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
