"""Turn a message with ``<placeholders>`` into a regular expression.

Standard library only.
"""

from __future__ import annotations

import re
from functools import cache

PLACEHOLDER = re.compile(r"<([a-z][a-z0-9_]*)>")
TRIGGERED = r"(?:\s+\(Triggered\s+internally\s+at\s+[^)]*\)\.?)?"
"""What C++ appends to a warning: a path on the machine that compiled torch."""


class WordingError(ValueError):
    """A message that cannot become a pattern."""


@cache
def pattern_of(message: str) -> str:
    """Return an anchored regular expression for *message*, in JavaScript's syntax.

    Each ``<name>`` becomes the group ``(?<name>...)``, a line end or a wide gap matches any white
    space, a full stop any character, and everything else matches itself. The syntax is JavaScript's
    because ``errors.json`` is read in the browser; `python_pattern` converts it.
    """
    parts: list[str] = []
    seen: set[str] = set()
    position = 0
    message = message.strip()  # PyTorch's own cut-off messages end in a space
    for hole in PLACEHOLDER.finditer(message):
        parts.append(_literal(message[position : hole.start()]))
        if hole[1] in seen:
            raise WordingError(f"<{hole[1]}> twice")
        seen.add(hole[1])
        parts.append(rf"(?<{hole[1]}>[\s\S]*?)")
        position = hole.end()
    parts.append(_literal(message[position:]))
    return f"^{''.join(parts)}{TRIGGERED}$"


@cache
def python_pattern(pattern: str) -> re.Pattern[str]:
    """Compile a pattern of ``errors.json`` for Python."""
    return re.compile(re.sub(r"\(\?<([a-z])", r"(?P<\1", pattern))


def _literal(text: str) -> str:
    """Escape *text* for both Python and JavaScript; line ends and wide gaps become elastic.

    A single space stays one, since the lookup joins wrapped lines before it matches, and a full
    stop stands for any character. The patterns, being nearly the messages again, then cost little
    in a compressed file.
    """
    words = re.split(r"(\s+)", text)
    return "".join(r"\s+" if word.isspace() and word != " " else _escape(word) for word in words)


def _escape(word: str) -> str:
    return re.sub(r"([\\^$*+?()\[\]{}|])", r"\\\1", word)
