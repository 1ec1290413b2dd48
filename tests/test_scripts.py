"""Promise 5: a script stands alone, and its page shows what it prints alone."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from clean_output import clean
from conftest import GALLERY, ROOT
from gallery_build import enter
from isolated_run import run_isolated
from script_header import read_header

TIME_LIMIT = 180
OUTPUT = re.compile(
    r"(?m)^\.\. rst-class:: sphx-glr-script-out\n\n \.\. code-block:: \w+\n\n((?:    .*\n|[ ]*\n)*)"
)


def shown(rst: str) -> str:
    """Return all output blocks of a generated page, joined."""
    return "".join(textwrap.dedent(block).strip("\n") + "\n" for block in OUTPUT.findall(rst))


def squeeze(text: str) -> str:
    """Drop empty lines: sphinx-gallery trims the edges of each block's output."""
    return "\n".join(line.rstrip() for line in text.splitlines() if line.strip())


def skip_without_device(script: Path) -> None:
    header = read_header(script)
    if header.needs:
        pytest.skip(f"{script.name} needs {header.needs}; its page shows the recording")


def test_page_shows_what_the_script_prints_alone(built, script, tmp_path):
    skip_without_device(script)
    copy = tmp_path / script.name
    copy.write_bytes(script.read_bytes())
    done = subprocess.run(
        [sys.executable, "-Iu", copy.name],
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        timeout=TIME_LIMIT, check=False, env={"MPLBACKEND": "Agg", "PATH": ""},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    assert [path.name for path in tmp_path.iterdir()] == [script.name], "the script left files"
    page = (ROOT / "docs" / "errors" / f"{script.stem}.rst").read_text("utf-8")
    alone = clean(done.stdout, copy).replace(f"{copy.parent}/", "")
    assert squeeze(alone) == squeeze(shown(page))


def run_notebook(path: Path) -> str | None:
    """Run all cells in IPython, as "Run all" does; return the first error."""
    import io
    from contextlib import redirect_stderr, redirect_stdout

    from IPython.core.interactiveshell import InteractiveShell

    enter("cpu")
    notebook = json.loads(path.read_text("utf-8"))
    shell = InteractiveShell()
    output = io.StringIO()
    with redirect_stdout(output), redirect_stderr(output):
        for cell in notebook["cells"]:
            if cell["cell_type"] == "code":
                result = shell.run_cell("".join(cell["source"]))
                if not result.success:
                    return output.getvalue()
    return None


def test_notebook_runs_to_its_end(built, script, tmp_path, monkeypatch):
    skip_without_device(script)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.setenv("MPLBACKEND", "Agg")
    notebook = ROOT / "docs" / "errors" / f"{script.stem}.ipynb"
    assert run_isolated(lambda: run_notebook(notebook), TIME_LIMIT) is None


def test_notebook_runs_in_a_real_kernel(built, tmp_path):
    import nbformat
    from nbclient import NotebookClient

    path = ROOT / "docs" / "errors" / f"{GALLERY[0].stem}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(
        notebook, timeout=TIME_LIMIT, resources={"metadata": {"path": tmp_path}}
    ).execute()
    assert all(cell.execution_count for cell in notebook.cells if cell.cell_type == "code")
