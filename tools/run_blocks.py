"""Run the blocks of gallery scripts, and note what each block prints and raises.

    python run_blocks.py JOBS.json RESULTS.json

One plain file: it runs under Python 3.7 and later with torch 1.0 and later, and needs nothing
else, because the environments that it runs in hold nothing else. `tools/record.py` writes the
jobs and reads the results.

Every script runs in a process of its own with a time limit. The blocks of a script run one after
another in one namespace. What a block writes goes to one stream, in order: print, warnings,
tracebacks, and what C++ and child processes write to the file descriptors. An exception that a
block does not catch is noted, and the next block runs.
"""

from __future__ import annotations

import contextlib
import importlib.util
import inspect
import io
import json
import linecache
import os
import platform
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import time
import traceback
import warnings

POLL = 0.02  # seconds between looks at a running script


def main(jobs_file, results_file):
    """Run every script of *jobs_file* and write what happened to *results_file*."""
    with io.open(jobs_file, encoding="utf-8") as stream:
        jobs = json.load(stream)
    folder = tempfile.mkdtemp(prefix="run-blocks-")
    try:
        if jobs["fork"]:
            prepare(jobs["device"])
            import_early()
            start = fork_script
        else:
            start = start_script
        scripts = [run_script(start, jobs["device"], script, folder) for script in jobs["scripts"]]
        results = {"about": about_here(jobs["device"], folder), "scripts": scripts}
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    with io.open(results_file, "w", encoding="utf-8") as stream:
        stream.write(json.dumps(results))


def run_script(start, device, script, folder):
    """Run one script in a process that *start* starts; return one record a block."""
    paths = {name: os.path.join(folder, name) for name in ("job", "output", "records")}
    for name in ("output", "records"):
        io.open(paths[name], "w").close()
    job = {"device": device, "script": script, "paths": paths}
    process = start(job)
    deadline = time.time() + script["limit"]
    ending = None
    while ending is None and time.time() < deadline:
        time.sleep(POLL)
        ending = ending_of(process)
    stop_group(process)
    return complete(script, paths, ending)


def complete(script, paths, ending):
    """Return the records that a process left, with those of blocks that it did not finish."""
    with io.open(paths["records"], encoding="utf-8") as stream:
        lines = [line for line in stream if line.endswith("\n")]
    records = [json.loads(line) for line in lines]
    if len(records) < len(script["blocks"]):
        if ending is None:
            exception = (
                "TimeLimit",
                "the script ran longer than its limit of %g s" % script["limit"],
            )
        else:
            exception = "ProcessEnd", ending
        with io.open(paths["output"], "rb") as stream:
            stream.seek(records[-1]["end"] if records else 0)
            output = stream.read().decode("utf-8", "backslashreplace")
        records.append(record(output, [], exception))
    while len(records) < len(script["blocks"]):
        records.append(record("", [], ("NotRun", "the process ended in an earlier block")))
    for noted in records:
        noted.pop("end", None)
    return records


def record(output, emitted, exception, line=None):
    """Return what is kept of one block."""
    noted = {"output": output, "emitted": emitted, "exception": None}
    if exception is not None:
        noted["exception"] = {"type": exception[0], "text": exception[1], "line": line}
    return noted


# -- Processes -------------------------------------------------------------------------------------


def fork_script(job):
    """Start *job* in a fork of this process, which has torch already; return its id."""
    process = os.fork()
    if process == 0:
        os.setsid()
        run_job(job)
    return process


def start_script(job):
    """Start *job* in a fresh interpreter; return its process id."""
    with io.open(job["paths"]["job"], "w", encoding="utf-8") as stream:
        stream.write(json.dumps(job))
    process = os.fork()
    if process == 0:
        os.setsid()
        here = os.path.abspath(__file__)
        os.execv(sys.executable, [sys.executable, here, "--job", job["paths"]["job"]])
    return process


def ending_of(process):
    """Return how *process* ended, in words, or None if it has not ended."""
    ended, status = os.waitpid(process, os.WNOHANG)
    if not ended:
        return None
    if os.WIFSIGNALED(status):
        return "the process was ended by %s" % signal.Signals(os.WTERMSIG(status)).name
    return "the process ended with exit status %d" % os.WEXITSTATUS(status)


def stop_group(process):
    """End *process* and whatever it started."""
    for kill in (os.killpg, os.kill):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            kill(process, signal.SIGKILL)
    with contextlib.suppress(ChildProcessError):
        os.waitpid(process, 0)


# -- Inside a script's process ---------------------------------------------------------------------


def run_job(job):
    """Run the blocks of one script, write one record a line, and end the process."""
    script = job["script"]
    with io.open(job["paths"]["records"], "w", encoding="utf-8") as records:
        capture = capture_output(job["paths"]["output"])
        prepare(job["device"])
        seen = observe()
        namespace = main_module(script)
        position = os.fstat(capture).st_size
        for block in script["blocks"]:
            del seen[:]
            exception, line = run_block(block, script["file"], namespace)
            sys.stdout.flush()
            end = os.fstat(capture).st_size
            output = os.pread(capture, end - position, position).decode("utf-8", "backslashreplace")
            noted = record(output, list(seen), exception, line)
            noted["end"] = position = end
            records.write(json.dumps(noted) + "\n")
            records.flush()
    os._exit(0)


def capture_output(path):
    """Send everything that this process writes to *path*, in order; return its descriptor."""
    capture = os.open(path, os.O_RDWR | os.O_APPEND)
    for descriptor in (1, 2):
        os.dup2(capture, descriptor)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    raw = io.open(capture, "wb", 0, closefd=False)
    stream = io.TextIOWrapper(raw, "utf-8", "backslashreplace", write_through=True)
    sys.stdout = sys.stderr = stream
    return capture


def prepare(device):
    """Import torch, let new tensors lie on *device*, and supply what checks need."""
    import torch

    if device != "cpu":
        torch.set_default_device(device)
    if lacks_assert_close(torch):
        supply_assert_close(torch)


def import_early():
    """Import what many scripts make torch import, once for all forks: it takes seconds."""
    with contextlib.suppress(ImportError):
        import torch._dynamo  # noqa: F401  # every optimizer step asks for it


def main_module(script):
    """Return the namespace of a new `__main__` that looks like the script run alone."""
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("__main__", None))
    sys.modules["__main__"] = module
    sys.argv[:] = [script["file"]]
    sys.path.append(os.path.dirname(script["file"]))
    os.chdir(os.path.dirname(script["file"]))
    source = script["source"]
    linecache.cache[script["file"]] = (len(source), None, source.splitlines(True), script["file"])
    return module.__dict__


def run_block(block, filename, namespace):
    """Run one block; return the type and text of what it raised, and the line, or None twice."""
    try:
        source = "\n" * (block["line"] - 1) + block["code"]
        exec(compile(source, filename, "exec", dont_inherit=True), namespace)
    except BaseException as error:  # SystemExit too: the next block runs all the same
        frames = traceback.extract_tb(error.__traceback__)
        lines = [frame[1] for frame in frames if frame[0] == filename]
        line = lines[0] if lines else getattr(error, "lineno", None)
        return (type(error).__name__, str(error)), line
    return None, None


def observe():
    """Return a list that gathers every exception printed with `traceback` and every warning."""
    seen = []
    print_exception, showwarning = traceback.print_exception, warnings.showwarning

    def note(error):
        while error is not None:
            seen.append([type(error).__name__, str(error)])
            error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)

    def noting_print_exception(*args, **kwargs):  # traceback.print_exc calls it too
        note(next((arg for arg in args if isinstance(arg, BaseException)), None))
        return print_exception(*args, **kwargs)

    def noting_showwarning(message, category, *args, **kwargs):
        seen.append([category.__name__, str(message)])
        return showwarning(message, category, *args, **kwargs)

    traceback.print_exception = noting_print_exception
    warnings.showwarning = noting_showwarning
    return seen


# -- What checks need in old releases --------------------------------------------------------------

TOLERANCE = {  # dtype -> (rtol, atol), as torch.testing.assert_close has them
    "torch.float16": (1e-3, 1e-5),
    "torch.bfloat16": (1.6e-2, 1e-5),
    "torch.float32": (1.3e-6, 1e-5),
    "torch.complex64": (1.3e-6, 1e-5),
    "torch.float64": (1e-7, 1e-7),
    "torch.complex128": (1e-7, 1e-7),
}


def lacks_assert_close(torch):
    """Return whether a release has no such check, or 1.9's, which compares strides as well."""
    check = getattr(getattr(torch, "testing", None), "assert_close", None)
    if check is None:
        return True
    stride = inspect.signature(check).parameters.get("check_stride")
    return stride is not None and stride.default is True


def supply_assert_close(torch):
    """Give a release without `torch.testing.assert_close` one, or no fix could be checked there."""

    def assert_close(
        actual, expected, rtol=None, atol=None, equal_nan=False, check_dtype=True, **others
    ):
        if isinstance(expected, (list, tuple)):
            if len(actual) != len(expected):
                raise AssertionError("The length of the sequences mismatch.")
            for one, other in zip(actual, expected):  # noqa: B905  # not in Python 3.7
                assert_close(one, other, rtol, atol, equal_nan, check_dtype)
            return
        if not isinstance(actual, torch.Tensor):
            actual = torch.tensor(actual)
        if not isinstance(expected, torch.Tensor):
            expected = torch.tensor(expected)
        if actual.shape != expected.shape:
            raise AssertionError("The values for attribute 'shape' do not match.")
        if check_dtype and actual.dtype != expected.dtype:
            raise AssertionError("The values for attribute 'dtype' do not match.")
        default = TOLERANCE.get(str(actual.dtype), (0.0, 0.0))
        rtol = default[0] if rtol is None else rtol
        atol = default[1] if atol is None else atol
        wide = torch.complex128 if "complex" in str(actual.dtype) else torch.double
        actual, expected = actual.detach().to(wide), expected.detach().to(wide)
        if not torch.allclose(actual, expected, rtol, atol, equal_nan):
            raise AssertionError("Tensor-likes are not close!")

    import torch.testing

    torch.testing.assert_close = assert_close


# -- Where this ran --------------------------------------------------------------------------------


def about_here(device, folder):
    """Return facts about interpreter, torch and device, from an interpreter of their own."""
    path = os.path.join(folder, "about")
    subprocess.check_call([sys.executable, os.path.abspath(__file__), "--about", device, path])
    with io.open(path, encoding="utf-8") as stream:
        return json.load(stream)


def write_about(device, path):
    """Write the facts that `about_here` returns."""
    import torch

    about = {
        "torch": str(torch.__version__),
        "python": platform.python_version(),
        "device": torch.cuda.get_device_name(0) if device.startswith("cuda") else device,
        "supplied": ["torch.testing.assert_close"] if lacks_assert_close(torch) else [],
        "stdlib": sysconfig.get_paths()["stdlib"],
    }
    with io.open(path, "w", encoding="utf-8") as stream:
        stream.write(json.dumps(about))


if __name__ == "__main__":
    if sys.argv[1] == "--job":
        with io.open(sys.argv[2], encoding="utf-8") as job_stream:
            run_job(json.load(job_stream))
    elif sys.argv[1] == "--about":
        write_about(sys.argv[2], sys.argv[3])
    else:
        main(sys.argv[1], sys.argv[2])
