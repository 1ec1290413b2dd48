"""Comments in a script that ask for a picture; they do nothing when the script runs alone.

Standard library only.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

KINDS = ("draw", "timeline", "facts", "table")
COMMENT = re.compile(
    rf"(?m)^[ \t]*#[ \t]*(?P<kind>{'|'.join(KINDS)}):[ \t]*(?P<wanted>\S.*?)[ \t]*(?:\n|\Z)"
)
TITLED = re.compile(r'(?P<names>.*?)\s+as\s+"(?P<title>[^"]+)"')


@dataclass(frozen=True)
class PictureComment:
    """``# draw: loss, x as "before"``: what to show, of what, under which title."""

    kind: str
    names: tuple[str, ...]
    title: str | None
    line: int
    """The line within its block, from 1."""


def picture_comments(code: str) -> list[PictureComment]:
    """Return the comments of a block that ask for pictures, in order."""
    found = []
    for match in COMMENT.finditer(code):
        titled = TITLED.fullmatch(match["wanted"])
        names = titled["names"] if titled else match["wanted"]
        found.append(
            PictureComment(
                match["kind"],
                tuple(filter(None, map(str.strip, names.split(",")))),
                titled["title"] if titled else None,
                code[: match.start()].count("\n") + 1,
            )
        )
    return found


def without_picture_comments(code: str) -> str:
    """Return a block as its page shows it: without the comments, nor the gap they leave."""
    cut = COMMENT.sub("", code)
    if cut == code:
        return code
    return re.sub(r"\n{3,}", "\n\n", cut).rstrip("\n") + "\n" * (len(code) - len(code.rstrip("\n")))
