"""The code blocks of a gallery script, as sphinx-gallery splits them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sphinx_gallery.py_source_parser import split_code_and_text_blocks

if TYPE_CHECKING:
    from pathlib import Path


class CodeBlock(NamedTuple):
    """One block of code and the line that it begins on."""

    code: str
    line: int


def code_blocks(script: Path) -> list[CodeBlock]:
    """Return the code blocks of *script* in order."""
    _, blocks = split_code_and_text_blocks(str(script))
    return [CodeBlock(block.content, block.lineno) for block in blocks if block.type == "code"]
