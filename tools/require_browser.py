"""Find a Chromium for the browser tests, or install Debian's, or end with one sentence."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")


def find_browser() -> str | None:
    """Return the path of a Chromium: ``AUTOGRAD_ERRORS_BROWSER``, or the first one on PATH."""
    return os.environ.get("AUTOGRAD_ERRORS_BROWSER") or next(
        filter(None, map(shutil.which, NAMES)), None
    )


def main() -> int:
    """Return 0 once there is a browser."""
    if find_browser() is None and shutil.which("apt-get") and os.geteuid() == 0:
        for command in (["update", "-qq"], ["install", "-y", "-qq", "chromium"]):
            subprocess.run(["apt-get", *command], check=False)
    browser = find_browser()
    if browser is None:
        print(
            "The browser tests need Chromium: install it (Debian: `apt-get install chromium`) or "
            "name one in AUTOGRAD_ERRORS_BROWSER.",
            file=sys.stderr,
        )
        return 1
    print(f"Browser: {browser}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
