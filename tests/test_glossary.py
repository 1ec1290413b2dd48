"""The glossary: every example runs, every file is on the page, no term defines itself."""

from __future__ import annotations

import doctest
import re

import pytest
import torch
from conftest import ROOT

FILES = sorted((ROOT / "glossary").glob("*.md"))
GLOSSARY = re.compile(r"(?s):::\{glossary\}\n(.*?)\n:::")


def entries(text: str) -> list[tuple[list[str], str]]:
    """Return the terms and the body of every entry of a glossary file."""
    found: list[tuple[list[str], str]] = []
    for block in GLOSSARY.findall(text):
        terms: list[str] = []
        body: list[str] = []
        for line in [*block.splitlines(), "END"]:
            if line and not line.startswith(" "):
                if body:
                    found.append((terms, "\n".join(body)))
                    terms, body = [], []
                terms.append(line.strip())
            elif terms:
                body.append(line)
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_examples_print_what_is_written(path):
    names = {"torch": torch}
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    parser = doctest.DocTestParser()
    count = 0
    for terms, body in entries(path.read_text("utf-8")):
        test = parser.get_doctest(body.replace("```", ""), names, terms[0], str(path), 0)
        runner.run(test, clear_globs=False)
        names |= test.globs
        count += len(test.examples)
    assert runner.summarize(verbose=False).failed == 0
    assert count > 0 or path.stem == "functions"


def test_every_file_is_on_the_page():
    page = (ROOT / "docs" / "glossary.md").read_text("utf-8")
    assert sorted(re.findall(r"\.\./glossary/(\w+)\.md", page)) == [path.stem for path in FILES]


def test_no_term_is_defined_twice_or_by_itself():
    seen: set[str] = set()
    for path in FILES:
        for terms, body in entries(path.read_text("utf-8")):
            first = body.strip().split("\n")[0].lower()
            for term in terms:
                assert term.lower() not in seen, term
                seen.add(term.lower())
            assert not re.match(rf"(a |an |the )?{re.escape(terms[0].lower())}\b", first), terms[0]
