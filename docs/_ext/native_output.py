"""Catch what C++ writes to standard error, past Python's ``sys.stderr``.

Standard library only.
"""

from __future__ import annotations

import os
import tempfile
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@contextmanager
def native_errors() -> Iterator[Callable[[], str]]:
    """Redirect file descriptor 2; yield a function that returns what has come since last asked."""
    with tempfile.TemporaryFile() as caught:
        kept = os.dup(2)
        os.dup2(caught.fileno(), 2)
        position = 0

        def take() -> str:
            nonlocal position
            text = os.pread(caught.fileno(), os.fstat(caught.fileno()).st_size - position, position)
            position += len(text)
            return text.decode("utf-8", "replace")

        try:
            yield take
        finally:
            os.dup2(kept, 2)
            os.close(kept)
