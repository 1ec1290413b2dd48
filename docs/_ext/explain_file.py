"""Write what the lookup needs beside errors.json: explain.py, errors.js and one classic script.

``explain.py`` is tools/explain_template.py with the catalogue inside. ``errors.js`` holds the same
catalogue for pages opened from a folder, where browsers refuse ``fetch``; for them, modules are
refused too, so lookup.mjs and lookup-box.mjs also become one ordinary script.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

    from sphinx.application import Sphinx
    from sphinx.util.typing import ExtensionMetadata

AFTER_CATALOGUE = 900
ROOT = Path(__file__).parents[2]
STATIC = ROOT / "docs" / "_static"
LOOKUP = STATIC / "lookup.mjs"
MODULES = (LOOKUP, STATIC / "lookup-box.mjs")
TEMPLATE = ROOT / "tools" / "explain_template.py"
TABLES = re.compile(r"^export const TABLES = (\{\n.*?\n\});$", re.MULTILINE | re.DOTALL)
IMPORT = re.compile(r"^import [^;]*;\n", re.MULTILINE)
EXPORT = re.compile(r"^export (?=const |function |class )", re.MULTILINE)


def tables() -> dict[str, Any]:
    """Return the lists and numbers of lookup.mjs, which Python uses as well."""
    found = TABLES.search(LOOKUP.read_text(encoding="utf-8"))
    assert found is not None, "lookup.mjs holds no TABLES"
    return json.loads(found[1])


def explain_script(catalogue: dict[str, Any], site: str) -> str:
    """Return explain.py with *catalogue* inside, for the pages of *site*."""
    script = TEMPLATE.read_text(encoding="utf-8")
    values = {"TABLES": json.dumps(tables()), "CATALOGUE": json.dumps(catalogue), "SITE": site}
    for name, value in values.items():
        script = script.replace(f'"@{name}@"', ascii(value))
    return script


def classic_script() -> str:
    """Return the modules of the paste box as one script that needs no module loader."""
    parts = [EXPORT.sub("", IMPORT.sub("", path.read_text(encoding="utf-8"))) for path in MODULES]
    return '(() => {\n"use strict";\n' + "\n".join(parts) + "\n})();\n"


def write_files(app: Sphinx, exception: Exception | None) -> None:
    """Write the files that are made from errors.json."""
    source = Path(app.outdir, "errors.json")
    if exception is not None or app.builder.format != "html" or not source.exists():
        return
    catalogue = json.loads(source.read_text(encoding="utf-8"))
    fixes = json.loads(Path(app.outdir, "fixes.json").read_text(encoding="utf-8"))
    for page in catalogue["pages"]:
        page["fixes"] = fixes[page["id"]]
    data = json.dumps(catalogue, ensure_ascii=True, separators=(",", ":"))
    site = app.config.html_baseurl or "."
    files = {
        "explain.py": explain_script(catalogue, site),
        "errors.js": f"window.autogradErrors = {data};\n",
    }
    for name, text in files.items():
        Path(app.outdir, name).write_text(text, encoding="utf-8")


def write_script(app: Sphinx) -> None:
    """Write the box's script before the pages, which name its checksum."""
    if app.builder.format == "html":
        target = Path(app.outdir, "_static", "lookup-box.js")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(classic_script(), encoding="utf-8")


def setup(app: Sphinx) -> ExtensionMetadata:
    app.connect("builder-inited", write_script)
    app.connect("build-finished", write_files, priority=AFTER_CATALOGUE)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
