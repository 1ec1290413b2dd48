"""What the nox sessions run: one clear sentence for bad input, and nothing lost."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from conftest import ROOT
from page_shape import check_shape
from script_header import HeaderError, read_header

from tools import check_page, new_page, require_browser, standalone


def run(*command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", *command],
        cwd=ROOT, capture_output=True, text=True, check=False, env={**os.environ, **environment},
    )  # fmt: skip


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device here")
def test_cuda_session_refuses_without_a_device_in_one_sentence():
    done = run("tools.require_cuda")
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith(f"torch {torch.__version__} sees no CUDA device: run ")
    assert done.stderr.count("\n") == 1


def test_browser_session_says_what_to_install(monkeypatch, capsys):
    monkeypatch.delenv("AUTOGRAD_ERRORS_BROWSER", raising=False)
    monkeypatch.setattr(require_browser.shutil, "which", lambda name: None)
    assert require_browser.main() == 1
    assert "need Chromium: install it" in capsys.readouterr().err


def write_skeleton(gallery: Path, *arguments: str) -> int:
    return new_page.main([*arguments, "--gallery", str(gallery)])


def test_skeleton_fails_every_check_until_it_is_filled(tmp_path, capsys):
    arguments = (
        "--raises",
        "ValueError",
        "--message",
        'it says "no"\nat all',
        "--name",
        "leaf_new",
    )
    assert write_skeleton(tmp_path, *arguments) == 0
    script = tmp_path / "plot_leaf_new.py"
    header = read_header(script)
    assert header.errors[0].message == 'it says "no"\nat all'
    problems = [str(problem) for problem in check_shape(script, header, set())]
    assert any("expected a finished page" in problem for problem in problems)
    assert "Replace every TODO" in capsys.readouterr().out


def test_skeleton_of_a_silent_mistake_has_a_symptom(tmp_path):
    assert write_skeleton(tmp_path, "--message", "", "--name", "silent_new") == 0
    assert read_header(tmp_path / "plot_silent_new.py").symptom.startswith("TODO")


@pytest.mark.parametrize(
    "name, sentence",
    [
        ("Leaf New", "Expected a name such as view_of_leaf"),
        ("strange_new", "Expected a name that begins with one of leaf"),
        ("leaf_old", "Expected a new name, found 'leaf_old', whose page exists already."),
        ("leaf_" + "x" * 40, "at most 40 characters"),
    ],
)
def test_bad_page_name_is_refused(tmp_path, capsys, name, sentence):
    (tmp_path / "plot_leaf_old.py").write_text("")
    arguments = ("--raises", "ValueError", "--message", "no", "--name", name)
    assert write_skeleton(tmp_path, *arguments) == 1
    assert sentence in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["plot_leaf_old.py"]


@pytest.mark.parametrize(
    "code, problem",
    [
        ("print('fine')", ""),
        ("raise SystemExit(3)", ": exit status 3"),
        ("open('left.txt', 'w').close()", ": left files behind: ['left.txt']"),
    ],
)
def test_script_alone_must_end_well_and_leave_nothing(tmp_path, code, problem):
    script = tmp_path / "plot_x.py"
    script.write_text(code)
    assert standalone.run_alone(Path(sys.executable), script).partition("\n")[0] == problem


def test_page_checker_finds_an_unknown_reference(tmp_path):
    script = tmp_path / "plot_x.py"
    script.write_text('"""\nTitle\n=====\n\nSee `leaf tensor` and `svaed tensor`.\n"""\n\nx = 1\n')
    (problem,) = check_page.check_references(script, {"leaf tensor"})
    assert problem.startswith("plot_x.py:5: expected a glossary term")
    assert problem.endswith("found 'svaed tensor'.")


def test_every_script_is_named_for_its_family_and_fits():
    for script in sorted((ROOT / "gallery").glob("plot_*.py")):
        assert len(script.name) <= new_page.LONGEST_NAME, script.name
        assert read_header(script).family in new_page.families(), script.name


def test_header_error_is_one_sentence(tmp_path):
    script = tmp_path / "plot_x.py"
    script.write_text("")
    with pytest.raises(HeaderError, match=r"^plot_x\.py:1: expected .*, found an empty file\.$"):
        read_header(script)
