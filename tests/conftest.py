"""Fixtures shared by all tests."""

from __future__ import annotations

import fcntl
import subprocess
import sys
from pathlib import Path

import pytest
from minisite import MiniSite

ROOT = Path(__file__).parents[1]
SITE = ROOT / "docs" / "_build" / "html"
GALLERY = sorted((ROOT / "gallery").glob("plot_*.py"))


@pytest.fixture
def site(tmp_path: Path) -> MiniSite:
    """Return the sources of a small site, not yet built."""
    return MiniSite(tmp_path / "site")


@pytest.fixture(scope="session")
def built() -> Path:
    """Build the real site as ``nox -s docs`` does, and return its folder."""
    SITE.parent.mkdir(parents=True, exist_ok=True)
    with (SITE.parent / "test-lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        command = [sys.executable, "-m", "tools.build_site", "docs", str(SITE)]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-8000:]
    return SITE


@pytest.fixture(params=GALLERY, ids=lambda script: script.stem)
def script(request: pytest.FixtureRequest) -> Path:
    """Return each gallery script in turn."""
    return request.param
