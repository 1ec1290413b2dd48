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
    """Collect every exception printed with `traceback` and every warning shown.

    `traceback.print_exc` calls ``print_exception``, and whoever shows a warning (Python,
    sphinx-gallery) formats it with ``formatwarning``: these two see everything once.
    """
    seen: list[Emission] = []
    print_exception, formatwarning = traceback.print_exception, warnings.formatwarning

    def recording_print_exception(exception, *args, **kwargs):
        found = exception if isinstance(exception, BaseException) else (args or (None,))[0]
        while found is not None:
            seen.append(Emission(type(found).__name__, str(found)))
            context = None if found.__suppress_context__ else found.__context__
            found = found.__cause__ or context
        return print_exception(exception, *args, **kwargs)

    def recording_formatwarning(message, category, *args, **kwargs):
        seen.append(Emission(category.__name__, str(message)))
        return formatwarning(message, category, *args, **kwargs)

    traceback.print_exception = recording_print_exception
    warnings.formatwarning = recording_formatwarning
    try:
        yield seen
    finally:
        traceback.print_exception, warnings.formatwarning = print_exception, formatwarning


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
    log_line = r"|\] " if declared.raises == "Warning" else ""
    pattern = rf"(?m)^.*?(?:\b{re.escape(declared.raises)}: {log_line}){core}$"
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
    return [emission for emission in seen if not any(matches(error, emission) for error in allowed)]
