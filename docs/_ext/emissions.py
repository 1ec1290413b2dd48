"""Observe what a running script reports, and compare it with what its header declares.

Standard library only.
"""

from __future__ import annotations

import re
import traceback
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from wording import pattern_of, python_pattern

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from script_header import DeclaredError


class Emission(NamedTuple):
    """One exception or warning as the reader sees it."""

    raises: str
    text: str


@contextmanager
def observed() -> Iterator[list[Emission]]:
    """Collect every exception printed with `traceback` and every warning shown."""
    seen: list[Emission] = []
    print_exception, print_exc = traceback.print_exception, traceback.print_exc
    showwarning = warnings.showwarning

    def note_exception(exception: BaseException | None) -> None:
        while exception is not None:
            seen.append(Emission(type(exception).__name__, str(exception)))
            exception = exception.__cause__ or (
                None if exception.__suppress_context__ else exception.__context__
            )

    def recording_print_exc(*args, **kwargs):
        import sys

        note_exception(sys.exc_info()[1])
        return print_exc(*args, **kwargs)

    def recording_print_exception(exception, *args, **kwargs):
        found = exception if isinstance(exception, BaseException) else (args or (None,))[0]
        note_exception(found)
        return print_exception(exception, *args, **kwargs)

    def recording_showwarning(message, category, *args, **kwargs):
        seen.append(Emission(category.__name__, str(message)))
        return showwarning(message, category, *args, **kwargs)

    traceback.print_exc = recording_print_exc
    traceback.print_exception = recording_print_exception
    warnings.showwarning = recording_showwarning
    try:
        yield seen
    finally:
        traceback.print_exc, traceback.print_exception = print_exc, print_exception
        warnings.showwarning = showwarning


def matches(declared: DeclaredError, emission: Emission) -> bool:
    """Return whether *emission* is *declared*: the same type and the whole text."""
    pattern = python_pattern(pattern_of(declared.message))
    return declared.raises == emission.raises and bool(pattern.match(emission.text.strip()))


def is_shown(declared: DeclaredError, output: str) -> bool:
    """Return whether *output* shows the message on lines of its own.

    Exceptions of child processes and messages that C++ writes to standard error never pass
    through Python's `traceback` or `warnings`; only their text can be seen.
    """
    core = pattern_of(declared.message)[1:-1]
    pattern = rf"(?m)^.*?\b{re.escape(declared.raises)}: {core}$"
    return bool(python_pattern(pattern).search(output))


def missing(
    declared: Iterable[DeclaredError], seen: Iterable[Emission], output: str
) -> list[DeclaredError]:
    """Return the declared errors that were neither observed nor shown in full."""
    seen = list(seen)
    return [
        error
        for error in declared
        if error.recorded is None
        and not any(matches(error, emission) for emission in seen)
        and not is_shown(error, output)
    ]


def undeclared(allowed: Iterable[DeclaredError], seen: Iterable[Emission]) -> list[Emission]:
    """Return the emissions that no allowed error accounts for."""
    allowed = list(allowed)
    return [
        emission for emission in seen if not any(matches(error, emission) for error in allowed)
    ]
