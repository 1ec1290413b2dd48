"""A site of a few made-up pages, built with the real extensions and configuration."""

from __future__ import annotations

import io
import re
import shutil
from html import unescape
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.errors import SphinxError
from sphinx.util.docutils import docutils_namespace, patch_docutils

ROOT = Path(__file__).parents[1]

HEADER = """\
# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = ["{cause}"]
{keys}{errors}# ///
"""
ERROR = """\
#
# [[tool.autograd-errors.error]]
# raises = "{raises}"
# message = "{message}"
# source = "torch/csrc/nowhere.cpp"
"""
BODY = '''\
"""
{title}
{underline}

You wrote {message}. See `leaf tensor`.
"""

import traceback

# %%
# The error
# ---------
#
# A line that fails.

try:
    raise {raises}("{emitted}")
except {raises}:
    traceback.print_exc()

# %%
# To be right
# -----------
#
# A line that works.

total = {total}
print(total)
assert total == 1 + 1

{extra}
'''


def page(
    *,
    title: str = "Too many",
    raises: str = "ValueError",
    message: str = "<count> is too many",
    emitted: str = "3 is too many",
    total: str = "2",
    extra: str = "",
    keys: str = "",
    cause: str = "nowhere/too-many",
    declare: bool = True,
) -> str:
    """Return a gallery script that keeps every rule unless an argument breaks one."""
    errors = ERROR.format(raises=raises, message=message) if declare else ""
    head = HEADER.format(cause=cause, keys=keys, errors=errors)
    body = BODY.format(
        title=title,
        underline="=" * len(title),
        message="too much",
        raises=raises,
        emitted=emitted,
        total=total,
        extra=extra,
    )
    return head + body


class MiniSite:
    """Sources in a folder, and builds of them."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.docs = root / "docs"
        self.gallery = root / "gallery"
        for folder in (self.docs, self.gallery, root / "catalogue"):
            folder.mkdir(parents=True)
        self.write("docs/index.md", "# Home\n\n```{toctree}\nerrors/index\nglossary\n```\n")
        self.write(
            "docs/glossary.md", "# Glossary\n\n:::{glossary}\nleaf tensor\n  A start.\n:::\n"
        )
        shutil.copy(ROOT / "gallery" / "index.rst", self.gallery)
        causes = "cause\tpopular_advice\nnowhere/too-many\t\nnowhere/advised\twrong\n"
        self.write("catalogue/causes.tsv", causes)
        self.write("catalogue/inventory.tsv", "id\nrow-1\n")
        self.write("catalogue/reports.tsv", "id\tcause\n")
        self.script("one_example", page())

    def write(self, name: str, text: str) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def script(self, name: str, text: str) -> Path:
        return self.write(f"gallery/plot_{name}.py", text)

    def build(self, *, builder: str = "html", parallel: int = 0, **settings: object) -> Path:
        """Build with the real conf.py; return the output folder."""
        overrides = {
            "autograd_errors_families": {"one": "One", "two": "Two", "other": "Other"},
            "autograd_errors_time_limit": 10,
            "autograd_errors_commit": "c0ffee",
            "intersphinx_mapping": {},
            **settings,
        }
        warnings = io.StringIO()
        with patch_docutils(ROOT / "docs"), docutils_namespace():
            app = Sphinx(
                self.docs, ROOT / "docs", self.root / "out", self.root / "doctrees", builder,
                confoverrides=overrides, warningiserror=True, status=None, warning=warnings,
                parallel=parallel,
            )  # fmt: skip
            app.build()
        if app.statuscode:
            raise SphinxError(warnings.getvalue())
        return self.root / "out"

    def html(self, page: str = "one_example") -> str:
        return (self.root / "out" / "errors" / f"plot_{page}.html").read_text("utf-8")

    def text(self, page: str) -> str:
        """Return what a reader sees of a page of the built site."""
        html = (self.root / "out" / f"{page}.html").read_text("utf-8")
        article = re.search(r"(?s)<article.*?</article>", html)[0]
        return " ".join(unescape(re.sub(r"<[^>]+>", "", article)).split())
