"""Check gallery scripts without building the site: ``python -m tools.check_page gallery/plot_x.py``.

Runs each script as the build does, compares what it emits with its header, checks its shape and
its references, and prints its output as the page will show it. Without arguments it checks all.
"""

from __future__ import annotations

import contextlib
import io
import re
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "docs" / "_ext"))

from clean_output import clean  # noqa: E402
from emissions import missing, observed, undeclared  # noqa: E402
from isolated_run import ScriptFailure, run_isolated  # noqa: E402
from native_output import native_errors  # noqa: E402
from page_shape import check_shape  # noqa: E402
from registry import read_registry, wrong_advice  # noqa: E402
from script_header import page_id  # noqa: E402
from sphinx_gallery.py_source_parser import split_code_and_text_blocks  # noqa: E402

GALLERY = ROOT / "gallery"
CAUSES = ROOT / "catalogue" / "causes.tsv"
INVENTORY = ROOT / "catalogue" / "inventory.tsv"
TIME_LIMIT = 60
REFERENCE = re.compile(r"(?<![`:\w])`(?P<target>[^`<>]+)`(?![`_\w])")
TERM = re.compile(r"(?m)^(?P<term>[^\s:#`(\[\]{}][^\n]*)$")


def run(script: Path) -> tuple[str, list]:
    """Run *script* and return its output and its emissions."""
    output = io.StringIO()
    source = script.read_text(encoding="utf-8")
    sys.argv = [str(script)]
    with (
        contextlib.redirect_stdout(output),
        contextlib.redirect_stderr(output),
        observed() as seen,
        native_errors() as native,
    ):
        exec(compile(source, str(script), "exec"), {"__name__": "__main__"})
        output.write(native())
    return clean(output.getvalue(), script), list(seen)


def glossary_terms() -> set[str]:
    """Return all terms of `glossary/`, in lower case."""
    terms = set()
    for path in (ROOT / "glossary").glob("*.md"):
        for body in re.findall(r"(?s):::\{glossary\}\n(.*?)\n:::", path.read_text("utf-8")):
            terms |= {found["term"].strip().lower() for found in TERM.finditer(body)}
    return terms


def check_references(script: Path, known: set[str]) -> list[str]:
    """Return a sentence for each single-backtick reference that nothing answers."""
    problems = []
    _, blocks = split_code_and_text_blocks(str(script))
    for block in blocks:
        if block.type != "text":
            continue
        for found in REFERENCE.finditer(block.content):
            target = " ".join(found["target"].split())
            if target.lower() not in known and not target.startswith("torch."):
                line = block.lineno + block.content[: found.start()].count("\n")
                problems.append(
                    f"{script.name}:{line}: expected a glossary term, a page id or a torch name, "
                    f"found {target!r}."
                )
    return problems


def main(arguments: list[str]) -> int:
    """Check the scripts named in *arguments*, or all; return the number of problems."""
    import torch  # noqa: F401  # once, before the first fork

    registry = read_registry(GALLERY.glob("plot_*.py"), CAUSES, INVENTORY)
    advice = wrong_advice(CAUSES)
    known = glossary_terms() | set(registry.headers)
    chosen = [Path(argument).resolve() for argument in arguments]
    problems = [
        str(problem)
        for problem in registry.problems
        if not chosen or problem.script.resolve() in chosen
    ]
    for script in chosen or sorted(GALLERY.glob("plot_*.py")):
        header = registry.headers.get(page_id(script))
        if header is None:
            continue
        problems += map(str, check_shape(script, header, advice))
        problems += check_references(script, known)
        if header.needs:
            print(f"{script.name}: not run here, it needs {header.needs}")
            continue
        start = time.monotonic()
        try:
            output, seen = run_isolated(lambda s=script: run(s), header.timeout or TIME_LIMIT)
        except ScriptFailure as failure:
            problems.append(f"{script.name}: expected a script that runs to its end, but {failure}")
            continue
        if chosen:
            print(output)
        print(f"--- {script.name}: {time.monotonic() - start:.1f} s, {len(output)} characters")
        for error in missing(header.errors, seen, output):
            problems.append(f"{script.name}:{error.line}: declared but not emitted: {error.text}")
        for emission in undeclared(registry.allowed(header), seen):
            problems.append(
                f"{script.name}: emitted but not declared: {emission.raises}: {emission.text}"
            )
    for problem in problems:
        print(f"PROBLEM {problem}", file=sys.stderr)
    return len(problems)


if __name__ == "__main__":
    sys.exit(min(main(sys.argv[1:]), 1))
