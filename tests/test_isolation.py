"""Promise 5: no state leaks from one script into the next, or into the build."""

from __future__ import annotations

import sys

import pytest
from isolated_run import ScriptFailure, run_isolated
from minisite import page

LEAKS = {
    "grad mode": ("torch.set_grad_enabled(False)", "torch.is_grad_enabled()"),
    "default dtype": ("torch.set_default_dtype(torch.float64)", "torch.get_default_dtype()"),
    "default device": ("torch.set_default_device('meta')", "torch.empty(1).device"),
    "anomaly mode": (
        "torch.autograd.set_detect_anomaly(True, check_nan=False)",
        "torch.is_anomaly_enabled()",
    ),
    "seed": ("torch.manual_seed(7)", "torch.initial_seed() == 7"),
    "print options": ("torch.set_printoptions(precision=1)", "torch.tensor(0.123456)"),
    "deterministic flag": (
        "torch.use_deterministic_algorithms(True)",
        "torch.are_deterministic_algorithms_enabled()",
    ),
    "warn-always flag": ("torch.set_warn_always(True)", "torch.is_warn_always_enabled()"),
    "threads": ("torch.set_num_threads(1)", "torch.get_num_threads() == 1"),
    "saved-tensor hooks": (
        "torch.autograd.graph.saved_tensors_hooks(lambda t: t * 0, lambda t: t).__enter__()",
        "(lambda x: (x.exp().backward(), x.grad))(torch.zeros((), requires_grad=True))",
    ),
    "patched torch": ("torch.ones = torch.zeros", "torch.ones(1)"),
    "warnings filter": (
        "import warnings\nwarnings.simplefilter('error')",
        "__import__('warnings').filters[0][0]",
    ),
    "working folder": ("import os\nos.chdir('/')", "__import__('os').getcwd() == '/'"),
    "environment": ("import os\nos.environ['LEAK'] = '1'", "__import__('os').environ.get('LEAK')"),
}


def printed(site) -> str:
    return (site.docs / "errors" / "plot_two_second.rst").read_text("utf-8").split("ANSWER")[-1]


def test_no_global_state_reaches_the_next_script(site):
    asks = "\n".join(f"print({expression})" for _, expression in LEAKS.values())
    second = page(
        title="Second", message="<n> pages", emitted="3 pages",
        extra=f"import torch\nprint('ANSWER')\n{asks}",
    )  # fmt: skip
    site.script("two_second", second)
    site.build()
    alone = printed(site)
    first = "import torch\n" + "\n".join(change for change, _ in LEAKS.values())
    site.script("one_example", page(extra=first))
    site.script("two_second", second + "\n")
    site.build()
    assert printed(site) == alone


@pytest.mark.skipif(
    sys.platform == "win32", reason="Windows has no fork; the build needs WSL there"
)
def test_what_a_script_starts_ends_with_it(tmp_path):
    import os
    import subprocess

    def start() -> int:
        return subprocess.Popen(["sleep", "600"]).pid

    child = run_isolated(start, 10)
    for _ in range(100):
        try:
            os.kill(child, 0)
        except ProcessLookupError:
            return
        if state(child) in "ZX":
            return
        import time

        time.sleep(0.05)
    pytest.fail("the process outlived its script")


def state(process: int) -> str:
    """Return the state letter of a process; a zombie (Z) has ended."""
    from pathlib import Path

    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return "X"


def test_result_survives_a_process_that_holds_the_pipe_open():
    import os

    def fork_and_return() -> str:
        if os.fork() == 0:
            import time

            time.sleep(600)
        return "done"

    assert run_isolated(fork_and_return, 10) == "done"


def test_failure_is_told_with_its_traceback():
    def fail() -> None:
        raise LookupError("no such thing")

    with pytest.raises(ScriptFailure, match="LookupError: no such thing"):
        run_isolated(fail, 10)
