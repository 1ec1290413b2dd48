"""Run a function in a forked child with a time limit.

A gallery script may hang, end the interpreter, replace parts of torch or leave torch in another
mode. In a child of its own it can do none of this to the build or to the next script, and since
the parent has imported torch already, the child starts in milliseconds.
"""

from __future__ import annotations

import gc
import os
import pickle
import select
import signal
import struct
import sys
import time
import traceback
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

POLL = 0.2  # seconds between looks at a silent child
LENGTH = struct.Struct("!Q")


class ScriptFailure(Exception):
    """A child that did not return: its text says what it did instead."""


def run_isolated(function: Callable[[], Any], limit: float) -> Any:
    """Return what *function* returns, computed in a forked child within *limit* seconds.

    The result travels by pickle. Raises `ScriptFailure` when the child raises, takes longer than
    *limit*, ends by itself or is ended by a signal. Whatever processes it started are ended too.
    """
    if not hasattr(os, "fork"):
        return function()
    sys.stdout.flush()
    sys.stderr.flush()
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        _run_child(function, writer)
    os.close(writer)
    try:
        data, status = _await(child, reader, time.monotonic() + limit)
    finally:
        os.close(reader)
        _kill_group(child)
    if data is not None:
        succeeded, value = pickle.loads(data)
        if succeeded:
            return value
        raise ScriptFailure(value)
    if status is None:
        raise ScriptFailure(f"it ran longer than its limit of {limit:g} seconds")
    raise ScriptFailure(_ending(status))


def _run_child(function: Callable[[], Any], writer: int) -> None:
    os.setsid()  # a group of its own, so that what it starts ends with it
    gc.freeze()
    try:
        payload = pickle.dumps((True, function()))
    except SystemExit as end:
        payload = pickle.dumps((False, f"it ended the interpreter with sys.exit({end.code!r})"))
    except BaseException:
        payload = pickle.dumps((False, f"it failed:\n{traceback.format_exc()}"))
    with os.fdopen(writer, "wb") as stream:
        stream.write(LENGTH.pack(len(payload)) + payload)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def _await(child: int, reader: int, deadline: float) -> tuple[bytes | None, int | None]:
    """Return the child's payload and exit status, each `None` if it did not come in time.

    The end of the stream alone would not do: a process that the script left running holds the
    pipe open.
    """
    data = b""
    while time.monotonic() < deadline:
        ready, _, _ = select.select([reader], [], [], POLL)
        if ready:
            data += os.read(reader, 1 << 16)
        if len(data) >= LENGTH.size:
            end = LENGTH.size + LENGTH.unpack_from(data)[0]
            if len(data) >= end:
                return data[LENGTH.size : end], None
        elif not ready or not data:
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                return None, status
    return None, None


def _kill_group(child: int) -> None:
    """End the child and whatever it started, and collect the child if nobody has."""
    for kill in (os.killpg, os.kill):
        with suppress(ProcessLookupError, PermissionError):
            kill(child, signal.SIGKILL)
    with suppress(ChildProcessError):
        os.waitpid(child, 0)


def _ending(status: int) -> str:
    if os.WIFSIGNALED(status):
        return f"it was ended by signal {signal.Signals(os.WTERMSIG(status)).name}"
    return f"it ended the interpreter with exit status {os.WEXITSTATUS(status)}"
