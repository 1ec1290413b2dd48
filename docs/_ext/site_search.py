"""Write what the search page loads beside errors.js: its script and the terms of the glossary."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from explain_file import AFTER_CATALOGUE, EXPORT, IMPORT, LOOKUP, STATIC
from glossary_backlinks import terms
from sphinx.errors import ExtensionError

if TYPE_CHECKING:
    from typing import Any

    from sphinx.application import Sphinx
    from sphinx.util.typing import ExtensionMetadata

MODULES = ((LOOKUP, "lookup"), (STATIC / "search.mjs", "search"))
PAGE = STATIC / "search-page.mjs"


def read_chinese(path: Path, known: set[str]) -> dict[str, list[str]]:
    """Return term -> its Chinese words; each must belong to a *known* term."""
    words: dict[str, list[str]] = {}
    if not path.exists():
        return words
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        word, _, term = line.partition("\t")
        if term.lower() not in known:
            raise ExtensionError(f"{path.name}:{number}: {term!r} is no term of the glossary.")
        words.setdefault(term.lower(), []).append(word)
    return words


def search_data(app: Sphinx) -> dict[str, Any]:
    """Return the glossary's terms and the pages that errors.json does not hold."""
    known = terms(app.env)
    chinese = read_chinese(Path(app.srcdir, app.config.autograd_errors_chinese), set(known))
    found: dict[str, dict[str, Any]] = {}
    for word, term in sorted(known.items()):
        url = f"{app.builder.get_target_uri(term.docname)}#{known[term.name.lower()].anchor}"
        fresh = {"name": term.name, "names": [], "zh": [], "url": url, "text": term.definition}
        entry = found.setdefault(term.name, fresh)
        entry["names"] += [word] if word != term.name.lower() else []
        entry["zh"] += chinese.get(word, [])
    errors = app.env.get_domain("autograd").pages
    pages = [
        {"title": title.astext(), "url": app.builder.get_target_uri(docname)}
        for docname, title in sorted(app.env.titles.items())
        if docname not in errors and docname != "404"
    ]
    return {"terms": list(found.values()), "pages": pages}


def write_data(app: Sphinx, exception: Exception | None) -> None:
    """Write the terms as a script, which pages opened from a folder may load too."""
    if exception is None and app.builder.format == "html":
        data = json.dumps(search_data(app), ensure_ascii=True, separators=(",", ":"))
        text = f"window.autogradSearch = {data};\n"
        Path(app.outdir, "search-terms.js").write_text(text, encoding="utf-8")


def write_script(app: Sphinx) -> None:
    """Write the search and the lookup as one ordinary script."""
    if app.builder.format == "html":
        parts = [
            f"const {name} = (() => {{\n{_plain(path)}\nreturn {name};\n}})();"
            for path, name in MODULES
        ]
        parts.append(_plain(PAGE))
        target = Path(app.outdir, "_static", "search-page.js")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text('(() => {\n"use strict";\n' + "\n".join(parts) + "\n})();\n", "utf-8")


def _plain(path: Path) -> str:
    return EXPORT.sub("", IMPORT.sub("", path.read_text("utf-8")))


def setup(app: Sphinx) -> ExtensionMetadata:
    app.add_config_value("autograd_errors_chinese", "../glossary/zh.tsv", "html", str)
    app.connect("builder-inited", write_script)
    app.connect("build-finished", write_data, priority=AFTER_CATALOGUE)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
