"""Other releases: what the runner notes, what recordings say, and when they are believed."""

from __future__ import annotations

import ast
import dataclasses
import json
import os
import platform
import re
import shutil
import sys
import types
from pathlib import Path

import pytest
import recorded_behavior as behaves
import torch
from conftest import GALLERY, ROOT
from former_wordings import former_template, former_wordings
from minisite import page
from recordings import (
    Raised,
    RecordedBlock,
    Recording,
    code_hash,
    page_outputs,
    read_recording,
    read_recordings,
    stale,
    what_changed,
    write_recording,
)
from release_changes import BEHAVIOR, NAMES, WORDING, Change, release_changes
from release_history import LONGEST, compared, shortened
from script_blocks import CodeBlock, code_blocks
from script_header import DeclaredError, read_header
from sphinx.errors import SphinxError
from wording import pattern_of, python_pattern

from tools import record, run_blocks

TRANSCRIPTS = ROOT / "docs" / "_data" / "transcripts"
COMMITTED = read_recordings(TRANSCRIPTS)
ITS_OWN = f"torch-{torch.__version__.partition('+')[0]}-cpu"

# -- The runner ------------------------------------------------------------------------------------

LIMIT = 4  # seconds

SCRIPTS = {
    "goes_on": ["import torch\nx = 1", "print(x)\nraise KeyError('gone')", "print(x + 1)"],
    "leaves": ["import sys\nprint('a')\nsys.exit(3)", "print('b')"],
    "ends": ["import os\nprint('before', flush=True)\nos._exit(3)", "print('after')"],
    "crashes": ["import os, signal", "os.kill(os.getpid(), signal.SIGSEGV)"],
    "hangs": ["print('soon')\nwhile True: pass", "print('never')"],
    "streams": [
        "import os, sys, subprocess",
        "print('one')\nos.write(2, b'two\\n')\nprint('three', file=sys.stderr)\n"
        "subprocess.run(['echo', 'four'], check=True)\nos.write(1, b'\\xff\\n')\nprint('five')",
    ],
    "reports": [
        "import traceback\nimport warnings",
        "try:\n    1 / 0\nexcept ZeroDivisionError:\n    traceback.print_exc()",
        "warnings.warn('careful')",
        "try:\n    {}['a']\nexcept KeyError as error:\n"
        "    try:\n        raise ValueError('b') from error\n"
        "    except ValueError:\n        traceback.print_exc()",
    ],
    "is_main": ["print(__name__)", "print(', '.join(traceback_of()))", "x = ("],
    "lacks": ["import torch\ntorch.no_such_function(1)"],
}  # fmt: skip


@pytest.fixture(scope="module")
def noted(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[RecordedBlock]]:
    """Return what forks of one process note of `SCRIPTS`."""
    return run_made_up(tmp_path_factory.mktemp("forked"), SCRIPTS, fork=True)


def run_made_up(folder: Path, scripts: dict, *, fork: bool) -> dict[str, list[RecordedBlock]]:
    """Run scripts that are given as lists of blocks."""
    paths = []
    for name, blocks in scripts.items():
        paths.append(folder / f"plot_{name}.py")
        text = "\n\n# %%\n# Text.\n\n".join(blocks)
        paths[-1].write_text(f'"""\nTitle\n=====\n\nLead.\n"""\n\n{text}\n')
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(record, "limit_of", lambda script: LIMIT)
        results = record.run_scripts(sys.executable, paths, "cpu", fork=fork)
    return {path.stem.removeprefix("plot_"): results["scripts"][path.name] for path in paths}


def test_uncaught_exception_is_noted_and_the_next_block_runs(noted):
    first, second, third = noted["goes_on"]
    assert (first.output, first.exception) == ("", None)
    assert second.output == "1\n"
    assert second.exception == Raised("KeyError", "'gone'", second.line + 2)
    assert third.output == "2\n"


def test_leaving_the_interpreter_is_noted_and_the_next_block_runs(noted):
    first, second = noted["leaves"]
    assert (first.output, str(first.exception)) == ("a\n", "SystemExit: 3")
    assert second.output == "b\n"


def test_process_that_ends_keeps_what_it_printed(noted):
    first, second = noted["ends"]
    assert first.output == "before\n"
    assert str(first.exception) == "ProcessEnd: the process ended with exit status 3"
    assert second.exception.type == "NotRun"
    assert "SIGSEGV" in str(noted["crashes"][1].exception)


def test_hanging_script_is_ended_in_time_and_keeps_what_it_printed(noted):
    first, second = noted["hangs"]
    assert first.output == "soon\n"
    assert str(first.exception) == f"TimeLimit: the script ran longer than its limit of {LIMIT} s"
    assert second.exception.type == "NotRun"


def test_all_streams_of_a_block_are_one_in_order(noted):
    assert noted["streams"][1].output == "one\ntwo\nthree\nfour\n\\xff\nfive\n"


def test_tracebacks_and_warnings_name_the_script_and_its_lines(noted):
    _, error, warning, chained = noted["reports"]
    assert error.output == (
        f'Traceback (most recent call last):\n  File "plot_reports.py", line {error.line + 2}, '
        "in <module>\n    1 / 0\n    ~~^~~\nZeroDivisionError: division by zero\n"
    )
    assert error.emitted == (("ZeroDivisionError", "division by zero"),)
    assert warning.output == (
        f"plot_reports.py:{warning.line + 1}: UserWarning: careful\n  warnings.warn('careful')\n"
    )
    assert warning.emitted == (("UserWarning", "careful"),)
    assert chained.emitted == (("ValueError", "b"), ("KeyError", "'a'"))


def test_script_is_main_and_a_syntax_error_is_noted(noted):
    name, unknown, unfinished = noted["is_main"]
    assert name.output == "__main__\n"
    assert unknown.exception.type == "NameError"
    assert unfinished.exception.type == "SyntaxError"


def test_missing_name_is_noted_as_what_it_is(noted):
    sentence = behaves.lacking(noted["lacks"][0].exception)
    assert sentence == "``torch.no_such_function`` does not exist in this release."


def test_fresh_interpreters_note_the_same_as_forks(noted, tmp_path):
    some = {name: SCRIPTS[name] for name in ("goes_on", "streams", "reports", "leaves")}
    assert run_made_up(tmp_path, some, fork=False) == {name: noted[name] for name in some}


def test_runner_is_one_file_for_python_3_7():
    source = Path(run_blocks.__file__).read_text("utf-8")
    tree = ast.parse(source, feature_version=(3, 7))
    imported = {
        name.name.partition(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for name in (node.names if isinstance(node, ast.Import) else [ast.alias(node.module)])
    }
    assert imported - {"torch"} <= set(sys.stdlib_module_names)


CLOSE = [
    (1.0, 1.0, {}),
    (1.0, 1.001, {}),
    (1.0, 1.001, {"rtol": 0.0, "atol": 0.01}),
    (1, 1.0, {}),
    (float("nan"), float("nan"), {}),
    (float("nan"), float("nan"), {"equal_nan": True}),
    ([1.0, 2.0], [1.0, 2.0], {}),
    ([1.0], [1.0, 2.0], {}),
    (torch.ones(2), torch.ones(2) + 1e-7, {}),
    (torch.ones(2), torch.ones(2) + 1e-4, {}),
    (torch.ones(2), torch.ones(1, 2), {}),
    (torch.ones(2), torch.ones(2, dtype=torch.double), {}),
    (torch.ones(2), torch.ones(2, dtype=torch.double), {"check_dtype": False}),
    (torch.ones(2, requires_grad=True), torch.ones(2), {}),
    (torch.tensor(1 + 1j), torch.tensor(1 + 1j), {}),
    (torch.tensor(1 + 1j), torch.tensor(1 + 2j), {}),
]


CLEANED = {
    "frames of C++ since 1.5": (
        "RuntimeError: no\nException raised from f at /x/y.cpp:3 (most recent call first):\n"
        "frame #0: c10::Error + 0x1 (0x7f00 in /a/libc10.so)\nframe #1: _start (0x7 in b)\n\nnext\n",
        "RuntimeError: no\nnext\n",
    ),
    "frames of C++ before": (
        "RuntimeError: no (operator() at ../x/y.cpp:3)\nframe #0: c10::Error (0x7f00 in /a/b.so)\n\n",
        "RuntimeError: no\n",
    ),
    "frames of the runner": (
        f'Traceback:\n  File "{record.RUNNER}", line 3, in run\n    exec(x)\n  File "plot_x.py"\n'
        f"At:\n  {record.RUNNER}(210): run_block\n  plot_x.py(3): <module>\n",
        'Traceback:\n  File "plot_x.py"\nAt:\n  plot_x.py(3): <module>\n',
    ),
    "complaint of a CUDA build": (
        "torch/a.py:3: UserWarning: CUDA initialization: Found no driver\n  run(\nplot_x.py:3: "
        "UserWarning: other\n  f()\n",
        "plot_x.py:3: UserWarning: other\n  f()\n",
    ),
    "missing compiler": (
        "W1201 06:13:02.363000 29452 torch/utils/flop_counter.py:29] triton not found; no counting\n1\n",
        "1\n",
    ),
    "time of a log": (
        "W1201 06:13:02.363000 29 torch/a.py:29] careful\n",
        "W torch/a.py:29] careful\n",
    ),
    "connections of processes": (
        "[Gloo] Rank 1 is connected to 1 peer ranks. Expected number of connected peer ranks is : 1"
        "[Gloo] Rank \n0 is connected to 1 peer ranks. Expected number of connected peer ranks is : 1\n2\n",
        "2\n",
    ),
    "colors": ("\x1b[31mred\x1b[0m\n", "red\n"),
    "tabs": ("a\tb\n", "a       b\n"),
    "library of the interpreter": ('File "/lib/python3.8/copy.py"\n', 'File "copy.py"\n'),
}


@pytest.mark.parametrize(("printed", "kept"), CLEANED.values(), ids=CLEANED)
def test_what_belongs_to_the_run_is_not_recorded(monkeypatch, tmp_path, printed, kept):
    script = tmp_path / "plot_x.py"
    script.write_text('"""\nTitle\n=====\n\nLead.\n"""\n\nf()\n')
    noted = {"output": printed, "emitted": [], "exception": None}
    (block,) = record.recorded_blocks(script, [noted], "/lib/python3.8")
    assert block.output == kept


LACKING = {
    "module 'torch' has no attribute 'vmap'": ("AttributeError", "``torch.vmap`` does not exist"),
    "No module named 'torch.func'": ("ModuleNotFoundError", "``torch.func`` does not exist"),
    "cannot import name 'grad' from 'torch.func' (a.py)": ("ImportError", "``torch.func.grad`` does"),
    "'Tensor' object has no attribute 'mH'": ("AttributeError", "``torch.Tensor.mH`` does not exist"),
    "grad() got an unexpected keyword argument 'x'": ("TypeError", "``grad`` has no argument ``x``"),
    "__init__() got an unexpected keyword argument 'x'": ("TypeError", "The function has no argument"),
    "DDP.__init__() got an unexpected keyword argument 'x'": ("TypeError", "``DDP`` has no argument"),
    "Unexpected keyword arguments: a,b": ("ValueError", "The function has no argument ``a``"),
}  # fmt: skip


@pytest.mark.parametrize("text", LACKING)
def test_missing_api_is_one_sentence(text):
    kind, sentence = LACKING[text]
    assert behaves.lacking(Raised(kind, text)).startswith(sentence)
    assert behaves.lacking(Raised("RuntimeError", text)) is None


@pytest.mark.parametrize(("actual", "expected", "options"), CLOSE)
def test_supplied_check_decides_as_torch_does(monkeypatch, actual, expected, options):
    theirs = torch.testing.assert_close
    monkeypatch.setattr(torch.testing, "assert_close", theirs)
    run_blocks.supply_assert_close(torch)
    ours = torch.testing.assert_close
    assert not run_blocks.lacks_assert_close(torch)

    def passes(check):
        try:
            check(actual, expected, **options)
        except AssertionError:
            return False
        return True

    assert ours is not theirs
    assert passes(ours) == passes(theirs)


def test_check_that_compares_strides_is_replaced():
    def assert_close(actual, expected, *, check_stride=True):
        raise AssertionError

    old = types.SimpleNamespace(testing=types.SimpleNamespace(assert_close=assert_close))
    assert run_blocks.lacks_assert_close(old)
    assert run_blocks.lacks_assert_close(types.SimpleNamespace())


# -- Finding and filling an environment ------------------------------------------------------------


def fake_python(path: Path, text: str) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


@pytest.fixture
def nowhere(monkeypatch, tmp_path):
    """Return a folder on PATH, with no interpreter anywhere else."""
    monkeypatch.setenv("PATH", str(tmp_path / "shims"))
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "pyenv"))
    monkeypatch.setenv("UV_PYTHON_INSTALL_DIR", str(tmp_path / "uv"))
    return tmp_path


def test_interpreter_that_refuses_to_run_is_passed_over(nowhere):
    fake_python(
        nowhere / "shims" / "python3.4", "echo 'pyenv: python3.4: command not found' >&2; exit 127"
    )
    real = fake_python(nowhere / "pyenv" / "versions" / "3.4.1" / "bin" / "python", 'echo "3.4 $0"')
    assert record.find_interpreter("3.4") == real


def test_interpreter_is_found_in_the_folder_of_uv(nowhere):
    real = fake_python(nowhere / "uv" / "cpython-3.4.1-x" / "bin" / "python3.4", 'echo "3.4 $0"')
    assert record.find_interpreter("3.4") == real


def test_interpreter_named_by_the_caller_comes_first(nowhere, monkeypatch):
    fake_python(nowhere / "shims" / "python3.4", 'echo "3.4 $0"')
    chosen = fake_python(nowhere / "mine", 'echo "3.4 $0"')
    monkeypatch.setenv("AUTOGRAD_ERRORS_PYTHON_3_4", chosen)
    assert record.find_interpreter("3.4") == chosen


def test_missing_interpreter_is_one_sentence_with_a_remedy(nowhere):
    fake_python(nowhere / "shims" / "python3.4", 'echo "3.5 $0"')
    with pytest.raises(record.CannotRecord, match=r"^no Python 3\.4 .*uv python install 3\.4.*\.$"):
        record.find_interpreter("3.4")


def test_full_disk_is_one_sentence_with_a_remedy(monkeypatch, tmp_path):
    usage = types.SimpleNamespace(free=2e9)
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: usage)
    with pytest.raises(record.CannotRecord, match=r"needs 6 GB .* has 2\.0 GB left: set TMPDIR"):
        record.require_space(tmp_path)


def test_missing_wheel_and_forbidden_wheel_are_one_sentence_each(monkeypatch, tmp_path):
    recipe = record.Recipe("99.0.0", "3.11", [])
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    with pytest.raises(record.CannotRecord, match=r"no wheel of torch==99\.0\.0 for Python 3\.11"):
        record.install(sys.executable, ["torch==99.0.0"], recipe, "--no-deps")
    limits = tmp_path / "limits.txt"
    limits.write_text("torch<2\n")
    monkeypatch.setenv("PIP_CONSTRAINT", str(limits))
    (tmp_path / "torch-99.0.0-py3-none-any.whl").write_bytes(b"")
    with pytest.raises(record.CannotRecord, match="pip's settings here forbid torch==99"):
        record.install(sys.executable, ["torch==99.0.0"], recipe, "--no-deps")


@pytest.mark.parametrize("name", ["torch-1.8-cpu", "1.8.1", "torch-1.8.1-mps"])
def test_unknown_environment_is_one_sentence(name, capsys):
    assert record.main([name]) == 1
    assert capsys.readouterr().err.startswith(f"{name}: expected a name like torch-1.8.1-cpu")


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device")
def test_recording_cuda_without_a_device_is_refused(capsys):
    release = torch.__version__.partition("+")[0]
    assert record.main([f"torch-{release}-cuda"]) == 1
    assert "torch sees no CUDA device here" in capsys.readouterr().err


def test_recording_another_release_on_cuda_is_refused(capsys):
    assert record.main(["torch-1.4.0-cuda"]) == 1
    assert "CUDA is recorded with the installed torch" in capsys.readouterr().err


def test_release_between_two_recipes_uses_the_older_one():
    recipes = record.read_recipes()
    assert record.recipe_of("1.7.2", recipes).packages == recipes["1.7.1"].packages
    assert record.recipe_of("99.0.0", recipes).python == recipes["2.15.0"].python
    assert list(recipes) == sorted(recipes, key=record.release_key)


# -- Transcripts -----------------------------------------------------------------------------------

CODE = [CodeBlock("import torch", 10), CodeBlock("mistake()", 20), CodeBlock("print(repaired)", 30)]


def made_up(release: str, *outcomes: str | Raised | tuple, kind: str = "cpu", **more) -> Recording:
    """Return a recording of `CODE`: for each block after the first an output or an exception."""
    blocks = [RecordedBlock(code_hash(CODE[0].code), 10, "")]
    for code, outcome in zip(CODE[1:], outcomes, strict=True):
        output, emitted, raised = "", (), None
        if isinstance(outcome, Raised):
            raised = outcome
        elif isinstance(outcome, tuple):
            emitted = (outcome,)
            output = (
                "Traceback (most recent call last):\n"
                f'  File "plot_x.py", line {code.line + 1}, in <module>\n    mistake()\n'
                f"{outcome[0]}: {outcome[1]}\n"
            )
        else:
            output = outcome
        blocks.append(RecordedBlock(code_hash(code.code), code.line, output, emitted, raised))
    return Recording(
        environment=f"torch-{release}-{kind}", torch=release, python="3.8.1", device=kind,
        date="2026-01-02", installed=[], scripts={"plot_x.py": blocks}, **more,
    )  # fmt: skip


ERROR = "RuntimeError", "output 0 of ReluBackward0 was changed"
OLD_ERROR = "RuntimeError", "output 0 of ReluBackward1 has been changed"


def runs_of(*recordings: Recording) -> list[behaves.Run]:
    return behaves.fresh_runs(recordings, "plot_x.py", CODE)


def test_transcript_survives_writing_and_reading(tmp_path):
    lacking = Raised("AttributeError", "module 'torch' has no attribute 'vmap'", 31)
    recording = made_up("1.8.1", ERROR, lacking, dates={"plot_x.py": "2025-01-01"})
    path = tmp_path / "torch-1.8.1-cpu.json"
    write_recording(recording, path)
    assert read_recording(path) == recording
    first = path.read_bytes()
    write_recording(read_recording(path), path)
    assert path.read_bytes() == first
    assert json.loads(first)["scripts"]["plot_x.py"][1]["exception"] is None
    assert sum('"code":' in line for line in first.decode().splitlines()) == len(CODE)


def test_stale_recording_says_nothing_and_is_named_with_its_remedy():
    recording = made_up("1.8.1", ERROR, "1\n")
    edited = [CODE[0], CodeBlock("another_mistake()", 20), CODE[2]]
    assert recording.blocks("plot_x.py", edited) is None
    assert behaves.fresh_runs([recording], "plot_x.py", edited) == []
    assert stale([recording], {"plot_x.py": CODE}) == []
    for scripts in ({"plot_x.py": edited}, {"plot_x.py": CODE[:2]}, {}):
        (sentence,) = stale([recording], scripts)
        assert "nox -s record -- torch-1.8.1-cpu plot_x.py" in sentence


def test_prose_may_move_a_block_and_its_lines_follow():
    moved = [CODE[0], CodeBlock("mistake()", 25), CodeBlock("print(repaired)\n\n# draw: x\n", 39)]
    blocks = made_up("1.8.1", ERROR, "plot_x.py:30: UserWarning: w\n").blocks("plot_x.py", moved)
    assert 'File "plot_x.py", line 26,' in blocks[1].output
    assert blocks[2].output == "plot_x.py:39: UserWarning: w\n"
    assert [block.line for block in blocks] == [10, 25, 39]
    failed = made_up("1.8.1", Raised("KeyError", "a", 21), Raised("TimeLimit", "", None))
    assert [b.exception and b.exception.line for b in failed.blocks("plot_x.py", moved)] == [
        None,
        26,
        None,
    ]


def test_recorder_says_what_changed():
    old, new = made_up("1.8.1", ERROR, "1\n"), made_up("1.8.1", OLD_ERROR, "1\n")
    assert what_changed(old, made_up("1.8.1", ERROR, "1\n")) == []
    assert what_changed(old, new) == ["plot_x.py: other results in the block at line 20"]
    new.scripts["plot_y.py"] = []
    assert "plot_y.py: new" in what_changed(old, new)
    assert "plot_y.py: gone" in what_changed(new, old)


def test_first_recording_of_a_release_is_compared_with_the_one_before(
    monkeypatch, tmp_path, capsys
):
    monkeypatch.setattr(record, "GALLERY", tmp_path)
    monkeypatch.setattr(record, "code_blocks", lambda script: CODE)
    for release, outcome in (("1.8.1", ""), ("1.4.0", OLD_ERROR), ("1.9.1", ERROR)):
        recording = made_up(release, outcome, "1\n")
        write_recording(recording, tmp_path / f"{recording.environment}.json")
    changes = record.changes_in(None, recording, tmp_path)
    assert changes == [f"plot_x.py: no error -> {': '.join(ERROR)}"]
    assert "against torch-1.8.1-cpu" in capsys.readouterr().out


def test_recording_some_scripts_keeps_the_others_and_their_dates(monkeypatch, tmp_path):
    monkeypatch.setattr(record, "GALLERY", tmp_path)
    monkeypatch.setattr(
        record,
        "code_blocks",
        lambda script: [CODE[0], *(CodeBlock(b.code, b.line + 2) for b in CODE[1:])],
    )
    (tmp_path / "plot_x.py").touch()
    old, new = made_up("1.8.1", ERROR, "1\n"), made_up("1.8.1", ERROR, "1\n")
    old.scripts["plot_gone.py"] = []
    new.scripts, new.date = {"plot_y.py": []}, "2026-03-04"
    record.keep_others(old, new)
    assert list(new.scripts) == ["plot_y.py", "plot_x.py"]
    assert [block.line for block in new.scripts["plot_x.py"]] == [10, 22, 32]
    assert "line 23, in" in new.scripts["plot_x.py"][1].output
    assert (new.date_of("plot_x.py"), new.date_of("plot_y.py")) == ("2026-01-02", "2026-03-04")


def test_output_of_a_generated_page_is_found_below_its_block():
    rst = (
        ".. GENERATED FROM PYTHON SOURCE LINES 5-7\n\n.. code-block:: Python\n\n    f()\n\n\n"
        ".. rst-class:: sphx-glr-script-out\n\n .. code-block:: pytb\n\n    Traceback:\n\n      x\n\n\n\n"
        ".. GENERATED FROM PYTHON SOURCE LINES 9-9\n\n.. code-block:: Python\n\n    g()\n"
    )
    assert page_outputs(rst) == {5: "Traceback:\n\n  x", 9: ""}


# -- Comparing -------------------------------------------------------------------------------------


def test_what_differs_only_cosmetically_is_the_same():
    here = (
        'Traceback (most recent call last):\n  File "plot_x.py", line 3, in <module>\n    f(x)\n'
        "    ^^^^\nRuntimeError: output 0 of Relu\nplot_x.py:5: UserWarning: w\n  f(x)\n"
        "tensor(1., grad_fn=<AddBackward0>)\n"
    )
    there = (
        'Traceback (most recent call last):\n  File "plot_x.py", line 4, in <module>\n    f(\n'
        '  File "torch/tensor.py", line 3, in f\n    g()\nRuntimeError: output 0 of ReluBackward1\n'
        "torch/tensor.py:7: UserWarning: w\n  warnings.warn(w)\n"
        "tensor(1., device='cuda:0', grad_fn=<AddBackward>)\n"
    )
    assert behaves.normalised(here) == behaves.normalised(there)


def test_places_inside_messages_are_cosmetic():
    here = (
        'UserWarning: Error in F. Traceback of forward call:\n  File "plot_x.py", line 3, in f\n'
        '    g()\n  File "torch/a.py", line 9, in g\n    h(\nINTERNAL ASSERT FAILED at "torch/a.cpp":4, x\n'
        "[W reducer.cpp:387] slow\n"
    )
    there = (
        'UserWarning: Error in F. Traceback of forward call:\n  File "plot_x.py", line 5, in f\n'
        '    g()\nINTERNAL ASSERT FAILED at "torch/a.cpp":77, x\n[W reducer.cpp:390] slow\n'
    )
    assert behaves.normalised(here) == behaves.normalised(there)


def test_warning_that_came_does_not_take_the_place_of_an_error():
    error, warning = ("RuntimeError", "no"), ("FutureWarning", "soon gone")
    assert behaves.paired([error], [warning, error]) == [(None, warning), (error, error)]
    reworded = ("RuntimeError", "a b c d"), ("RuntimeError", "a b c e")
    before, now = [error, reworded[0]], [reworded[1], ("ValueError", "x")]
    assert behaves.paired(before, now) == [reworded, (error, ("ValueError", "x"))]
    assert behaves.paired([error, warning], []) == [(error, None), (warning, None)]


def test_another_wording_is_not_the_same():
    assert behaves.normalised("RuntimeError: a") != behaves.normalised("RuntimeError: b")
    assert behaves.normalised("A.f.<locals>.B.g() takes 1") == behaves.normalised("g() takes 1")
    assert behaves.normalised("x.data_ptr") != behaves.normalised("x.data")


def test_environments_that_behave_alike_are_one_group():
    runs = runs_of(
        made_up("1.4.0", "", "1\n"), made_up("1.5.1", "", "1\n"), made_up("1.8.1", OLD_ERROR, "1\n"),
        made_up("2.0.1", ERROR, "1\n"), made_up("2.0.1", ERROR, "2\n", kind="cuda"),
    )  # fmt: skip
    among = [run.recording for run in runs]
    shown = runs[3].blocks[1].output
    found = behaves.groups(shown, 1, runs)
    assert [behaves.span(group.recordings, among) for group in found] == ["1.4 – 1.5", "1.8"]
    assert found[1].block.emitted == (OLD_ERROR,)
    (cuda,) = behaves.groups("1", 2, runs)
    assert behaves.span(cuda.recordings, among) == "CUDA"


def test_nothing_is_grouped_when_nothing_differs():
    assert (
        behaves.groups("1", 2, runs_of(made_up("1.4.0", "", "1\n"), made_up("2.0.1", "", "1")))
        == []
    )


def test_ranges_join_neighbours_only():
    all_of = [made_up(release, "", "") for release in ("1.4.0", "1.5.1", "1.8.0", "1.8.1", "2.0.1")]
    assert behaves.span([*all_of[:2], all_of[4]], all_of) == "1.4 – 1.5, 2.0"
    assert behaves.span(all_of[2:3], all_of) == "1.8.0"


def test_block_that_follows_from_a_failure_says_nothing():
    code = [
        CodeBlock("a = 1\nb = torch.no()\nc = 2", 1),
        CodeBlock("print(a)", 5),
        CodeBlock("d = b + 1", 7),
        CodeBlock("print(d)", 9),
        CodeBlock("d = 5\nprint(d)", 11),
        CodeBlock("def f():\n    return c", 13),
    ]
    failed = Raised("AttributeError", "module 'torch' has no attribute 'no'", 2)
    recorded = [
        RecordedBlock("", block.line, "", (), failed if number == 0 else None)
        for number, block in enumerate(code)
    ]
    assert behaves.affected(code, recorded) == {2, 3, 5}


LACKED = Raised("AttributeError", "module 'torch' has no attribute 'vmap'", 20)
VERDICTS = {
    "same": (ERROR, "1\n", behaves.SAME),
    "other words": (OLD_ERROR, "1\n", behaves.WORDING),
    "another error": (("RuntimeError", "leaf variable moved"), "1\n", behaves.OTHER),
    "no error": ("", "1\n", behaves.NONE),
    "silently wrong": ("", Raised("AssertionError", "not close", 31), behaves.WRONG),
    "not available": (LACKED, "1\n", behaves.LACKS),
}  # fmt: skip


@pytest.mark.parametrize(("mistake", "repaired", "outcome"), VERDICTS.values(), ids=VERDICTS)
def test_verdict_says_what_became_of_the_message(mistake, repaired, outcome):
    today, then = runs_of(made_up("2.0.1", ERROR, "1\n"), made_up("1.4.0", mistake, repaired))
    declared = [python_pattern(pattern_of("output 0 of <node> was changed"))]
    assert behaves.verdict(today, then, declared).counts == {outcome: 1}


@pytest.mark.parametrize(
    ("first", "again", "outcome"),
    [(ERROR, "1\n", behaves.SAME), ("", ERROR, behaves.NONE), (LACKED, ERROR, behaves.SAME)],
    ids=["first", "first without", "first not available"],
)
def test_message_that_a_page_shows_twice_counts_once(first, again, outcome):
    today, then = runs_of(made_up("2.0.1", ERROR, ERROR), made_up("1.4.0", first, again))
    declared = [python_pattern(pattern_of("output 0 of <node> was changed"))]
    assert behaves.verdict(today, then, declared).counts == {outcome: 1}
    assert behaves.verdict(today, then).counts == {outcome: 1}


SILENT_VERDICTS = {
    "same": ("1\n", "1\n", behaves.SAME),
    "raises": (ERROR, "1\n", behaves.OTHER),
    "another result": ("2\n", "1\n", behaves.RESULT),
    "check fails": ("1\n", Raised("AssertionError", "", 30), behaves.RESULT),
}


@pytest.mark.parametrize(
    ("mistake", "repaired", "outcome"), SILENT_VERDICTS.values(), ids=SILENT_VERDICTS
)
def test_verdict_on_a_silent_mistake(mistake, repaired, outcome):
    today, then = runs_of(made_up("2.0.1", "1\n", "1\n"), made_up("1.4.0", mistake, repaired))
    assert behaves.verdict(today, then).counts == {outcome: 1}


FORMER = [
    (
        "a tensor of shape <shape> is output <index> of <node>, is at version <version>",
        "a tensor of shape [2, 3] is output 0 of Relu, is at version 1",
        "a tensor of shape [2, 3] is output 0 of ReluBackward1, has version 1",
        "a tensor of shape <shape> is output <index> of <node>, has version <version>",
    ),
    ("got <count> but wants <expected>.", "got 2 but wants 3.", "got 2 wants 3!", "got <count> wants <expected>!"),
    ("nothing to fill", "nothing to fill", "nothing was filled", "nothing was filled"),
]  # fmt: skip


@pytest.mark.parametrize(("template", "now", "before", "expected"), FORMER)
def test_former_wording_gets_the_holes_of_todays(template, now, before, expected):
    found = former_template(template, now, before)
    assert found == expected
    assert python_pattern(pattern_of(found)).match(before)


def test_former_wordings_are_collected_with_ranges_of_releases():
    template = "output 0 of <node> was changed"
    declared = DeclaredError("RuntimeError", template, "x.cpp", 3)
    moved = "RuntimeError", "leaf variable has moved"
    today, *others = runs_of(
        made_up("2.1.0", ERROR, ""), made_up("1.4.0", OLD_ERROR, ""), made_up("1.5.1", OLD_ERROR, ""),
        made_up("1.6.0", moved, ""), made_up("1.8.1", OLD_ERROR, ""), made_up("2.0.1", ERROR, ""),
    )  # fmt: skip
    expected = [
        {"message": "output 0 of <node> has been changed", "releases": "1.4.0–1.5.1, 1.8.1"}
    ]
    assert former_wordings([declared], today, others, []) == {template: expected}
    known = [python_pattern(pattern_of(expected[0]["message"]))]
    assert former_wordings([declared], today, others, known) == {}


def test_only_a_word_or_two_lead_from_one_message_to_another_that_is_known():
    declared = DeclaredError(
        "RuntimeError", "the leaf <name> that needs grad is being used in place", "x.cpp", 3
    )
    today, *others = runs_of(
        made_up("2.1.0", ("RuntimeError", "the leaf w that needs grad is being used in place"), ""),
        made_up("1.4.0", ("RuntimeError", "the leaf w that needs grad has been used in place"), ""),
        made_up(
            "1.5.1",
            ("RuntimeError", "the leaf w that needs grad is moved in place while frozen"),
            "",
        ),
    )
    known = [
        re.compile("the leaf w that needs grad has been used in place"),
        re.compile(".* while frozen"),
    ]
    found = former_wordings([declared], today, others, known)[declared.message]
    assert [(f["message"], f["releases"]) for f in found] == [
        ("the leaf <name> that needs grad has been used in place", "1.4.0")
    ]


def test_warning_that_announced_an_error_is_a_former_wording():
    declared = DeclaredError("RuntimeError", "output <index> of <node> is a view", "x.cpp", 3)
    warned = "UserWarning", "output 0 of SplitBackward is a view and this will be forbidden"
    today, *others = runs_of(
        made_up("2.1.0", ("RuntimeError", "output 0 of Split is a view"), ""),
        made_up("1.5.1", warned, ""),
        made_up("1.6.0", ("UserWarning", "another thing is deprecated"), ""),
        made_up("1.7.1", ("RuntimeError", "output 0 of Split is a view (check at a/b.cpp:9)"), ""),
    )
    assert former_wordings([declared], today, others, [])[declared.message] == [
        {
            "message": "output <index> of <node> is a view and this will be forbidden",
            "releases": "1.5.1",
        }
    ]


@pytest.mark.parametrize(
    ("kind", "counts"), [("ValueError", True), ("RuntimeError", True), ("TypeError", False)]
)
def test_other_words_may_come_as_another_error_of_torch(kind, counts):
    declared = DeclaredError("RuntimeError", "inputs are empty", "x.cpp", 3, reworded=True)
    today, other = runs_of(
        made_up("2.1.0", ("RuntimeError", "inputs are empty"), ""),
        made_up("1.4.0", (kind, "grad requires something"), ""),
    )
    assert bool(former_wordings([declared], today, [other], [])) == counts


@pytest.mark.parametrize("reworded", [True, False])
def test_wholly_other_words_count_only_for_a_message_that_says_so(reworded):
    declared = DeclaredError("RuntimeError", "sizes differ", "x.cpp", 3, reworded=reworded)
    today, other, broken = runs_of(
        made_up("2.1.0", ("RuntimeError", "sizes differ"), ""),
        made_up("1.4.0", ("RuntimeError", "assigned grad is too long"), ""),
        made_up("1.5.1", ("AttributeError", "no gradient here"), ""),
    )
    found = former_wordings([declared], today, [other, broken], []).get(declared.message, [])
    assert [f["message"] for f in found] == ["assigned grad is too long"] * reworded


@pytest.mark.parametrize(
    "script", [s for s in GALLERY if "\n# reworded" in s.read_text("utf-8")], ids=lambda s: s.stem
)
def test_message_that_says_so_has_other_words_somewhere(script):
    errors = read_header(script).errors
    runs = behaves.fresh_runs(COMMITTED, script.name, code_blocks(script))
    today = next(run for run in runs if run.recording.environment == ITS_OWN)
    plain = [dataclasses.replace(error, reworded=False) for error in errors]
    found, without = (former_wordings(which, today, runs, []) for which in (errors, plain))
    for error in errors:
        assert (found.get(error.message) != without.get(error.message)) == error.reworded


def test_changes_between_releases_are_sorted_by_kind():
    lacking = Raised("AttributeError", "module 'torch' has no attribute 'vmap'", 30)
    recordings = [
        made_up("1.4.0", "", lacking),
        made_up("1.5.0", OLD_ERROR, "1\n", before="1.4.0"),
        made_up("1.8.1", ERROR, "2\n", before="1.8.0"),
        made_up("1.9.0", ERROR, "2\n", before="1.8.1"),
    ]
    newest, middle, oldest = release_changes(recordings, {"plot_x.py": CODE})
    assert newest.changes == []
    assert [(c.before, c.after) for c in oldest.of(BEHAVIOR)] == [
        ("no error", ": ".join(OLD_ERROR))
    ]
    assert [c.before for c in oldest.of(NAMES)] == [
        "``torch.vmap`` does not exist in this release."
    ]
    assert [c.after for c in middle.of(WORDING)] == [": ".join(ERROR)]
    assert [(c.before, c.after) for c in middle.of(BEHAVIOR)] == [("1", "2")]
    assert oldest.is_next
    assert not middle.is_next


def test_change_of_python_is_told_beside_the_changes_of_torch():
    older, newer = made_up("1.4.0", "", "1\n"), made_up("1.5.0", ERROR, "1\n", before="1.4.0")
    (release,) = release_changes([older, newer], {"plot_x.py": CODE})
    assert "Python" not in compared(release)
    newer.python = "3.11.7"
    assert "They ran under Python 3.8.1 and 3.11.7" in compared(release)


def test_renamed_node_is_no_other_behavior():
    recordings = [
        made_up("1.4.0", "tensor(1., grad_fn=<SWhereBackward>)\n", "1\n"),
        made_up("1.5.0", "tensor(1., grad_fn=<WhereBackward0>)\n", "1\n"),
    ]
    (release,) = release_changes(recordings, {"plot_x.py": CODE})
    assert [change.kind for change in release.changes] == [WORDING]


def test_long_texts_are_cut_to_where_they_differ():
    words = "RuntimeError: " + " ".join(f"word{number}" for number in range(40))
    change = Change(WORDING, f"{words} old end.", f"{words} new end. {words}")
    before, after = shortened(change)
    assert before.startswith("RuntimeError: word0 ")
    assert before.endswith("word39 old end.")
    assert " … " in before
    assert len(after) <= LONGEST + 2
    assert "word39 new end." in after
    assert shortened(Change(WORDING, "a b", "a c")) == ("a b", "a c")


# -- On the site -----------------------------------------------------------------------------------


@pytest.fixture
def recorded_site(site):
    """Return a small site and a function that records its page in a made-up environment."""
    script = site.script("one_example", page())
    results = record.run_scripts(sys.executable, [script], "cpu", fork=True)["scripts"]

    def add(release: str, change=lambda blocks: blocks, kind: str = "cpu") -> None:
        name = f"torch-{release}-{kind}"
        recording = Recording(
            environment=name, torch=release, python="3.8.1", device=kind, date="2026-01-02",
            installed=[], scripts={script.name: change(list(results[script.name]))},
        )  # fmt: skip
        write_recording(recording, site.docs / "_data" / "transcripts" / f"{name}.json")

    site.add = add
    return site


def without_error(blocks: list[RecordedBlock]) -> list[RecordedBlock]:
    return [
        RecordedBlock(block.code, block.line, block.output.partition("Trace")[0])
        for block in blocks
    ]


def test_page_shows_what_differs_closed_and_with_environment(recorded_site):
    recorded_site.add(torch.__version__.partition("+")[0])
    recorded_site.add("1.4.0", without_error)
    recorded_site.add("1.5.1", without_error)
    recorded_site.build()
    html = recorded_site.html()
    assert html.count("<details") == 1
    assert '<details class="recorded">\n<summary>Different in torch 1.4 – 1.5</summary>' in html
    assert "recorded with torch 1.5.1, Python 3.8.1, CPU, 2026-01-02" in html
    assert "It prints nothing there." in html
    assert "In your version: </strong>torch 1.4 – 1.5: no error; torch" in html


def test_page_shows_nothing_when_nothing_differs(recorded_site):
    recorded_site.add("1.4.0")
    recorded_site.add("2.0.1", kind="cuda")
    recorded_site.build()
    assert "<details" not in recorded_site.html()


def test_stale_recording_is_not_shown(recorded_site):
    recorded_site.add("1.4.0", without_error)
    recorded_site.script("one_example", page(emitted="4 is too many"))
    recorded_site.build()
    assert "<details" not in recorded_site.html()
    assert "1.4" not in recorded_site.text("errors/plot_one_example")


def test_new_recording_renews_the_page(recorded_site):
    recorded_site.build()
    assert "<details" not in recorded_site.html()
    recorded_site.add("1.4.0", without_error)
    recorded_site.build()
    assert "Different in torch 1.4" in recorded_site.html()


def test_script_for_cuda_is_shown_from_its_recording(recorded_site):
    script = page(keys='# needs = "cuda"\n')
    recorded_site.script("one_example", script)
    recorded_site.build()
    assert "not yet recorded on CUDA" in recorded_site.text("errors/plot_one_example")
    recorded_site.add("2.0.1", kind="cuda")
    recorded_site.build()
    text = recorded_site.text("errors/plot_one_example")
    assert "not yet recorded" not in text
    assert "Every output below is a recording: torch 2.0.1, Python 3.8.1, cuda, 2026-01-02." in text
    assert "ValueError: 3 is too many" in text
    assert "produced by this build" not in text


def test_message_that_only_an_old_release_shows_stands_open_on_its_page(recorded_site):
    gone = page(emitted="3 is too many").replace(
        "# source =", '# recorded = "torch-1.4.0-cpu"\n# source ='
    )
    quiet = gone.replace("raise ValueError", "print")
    script = recorded_site.script("one_example", quiet)
    with pytest.raises(
        SphinxError, match=r"expected 'ValueError: .*' in the recording torch-1\.4\.0"
    ):
        recorded_site.build()
    blocks = record.run_scripts(sys.executable, [script], "cpu", fork=True)["scripts"][script.name]
    said = ("ValueError", "3 is too many")
    recorded_site.add(
        "1.4.0",
        lambda _: [
            dataclasses.replace(block, emitted=(said,), output=": ".join(said))
            if number == 1
            else block
            for number, block in enumerate(blocks)
        ],
    )
    recorded_site.add("1.8.1", lambda _: blocks)
    recorded_site.build()
    assert '<details class="recorded" open="open">' in recorded_site.html()
    line = "In your version: torch 1.4: as here; torch 1.8: no error."
    assert line in recorded_site.text("errors/plot_one_example")


def test_page_keeps_the_order_of_python_and_what_is_below_it(site):
    lines = (
        "import os\nprint('one')\nos.write(2, b'two\\n')\nprint('three')\nos.write(2, b'four\\n')"
    )
    script = site.script("one_example", page(extra=lines))
    site.build()
    shown = page_outputs((site.docs / "errors" / "plot_one_example.rst").read_text("utf-8"))
    blocks = record.run_scripts(sys.executable, [script], "cpu", fork=True)["scripts"][script.name]
    assert shown[blocks[-1].line].endswith("one\ntwo\nthree\nfour")
    assert [shown[block.line] for block in blocks] == [block.output.strip("\n") for block in blocks]


def test_history_page_and_feed_name_what_changed(recorded_site):
    recorded_site.write("docs/releases.md", "# Releases\n\n```{release-history}\n```\n")
    index = recorded_site.docs / "index.md"
    index.write_text(index.read_text().replace("glossary\n", "glossary\nreleases\n"))
    recorded_site.add("1.4.0", without_error)
    recorded_site.add("1.5.1")
    out = recorded_site.build()
    text = recorded_site.text("releases")
    assert "torch 1.5.1" in text
    assert "before: no error now: ValueError: 3 is too many on Too many" in text
    feed = (out / "releases.atom").read_text("utf-8")
    assert "<updated>2026-01-02T00:00:00Z</updated>" in feed
    assert "ValueError: 3 is too many" in feed
    recorded_site.build()
    assert (out / "releases.atom").read_text("utf-8") == feed


# -- The committed recordings ----------------------------------------------------------------------


@pytest.mark.parametrize("recording", COMMITTED, ids=lambda recording: recording.environment)
def test_no_recording_is_stale(recording):
    found = stale([recording], {script.name: code_blocks(script) for script in GALLERY})
    assert not found, "\n".join(found)


def test_every_listed_release_is_recorded():
    recorded = {recording.environment for recording in COMMITTED}
    missing = [f"torch-{release}-cpu" for release in record.read_recipes()]
    assert not set(missing) - recorded, f"nox -s record -- {' '.join(set(missing) - recorded)}"


@pytest.mark.skipif(torch.cuda.is_available(), reason="the site would be built on CUDA")
def test_page_shows_what_its_script_prints_when_run_alone(built, script):
    """Promise 5: the recording of the build's own release, made in fresh processes, is the page."""
    if read_header(script).needs:
        pytest.skip("not run on the CPU")
    own = next((r for r in COMMITTED if r.environment == ITS_OWN), None)
    code = code_blocks(script)
    blocks = own.blocks(script.name, code) if own else None
    exactly = (
        own is not None and own.python.split(".")[:2] == platform.python_version().split(".")[:2]
    )
    if blocks is None:
        blocks = record.run_scripts(sys.executable, [script], "cpu", fork=False)["scripts"][
            script.name
        ]
        exactly = True
    shown = page_outputs((ROOT / "docs" / "errors" / f"{script.stem}.rst").read_text("utf-8"))
    for block in blocks:
        alone, on_page = block.output.rstrip().strip("\n"), shown[block.line].rstrip()
        if not exactly:
            alone, on_page = behaves.normalised(alone), behaves.normalised(on_page)
        assert block.exception is None
        assert on_page == alone
