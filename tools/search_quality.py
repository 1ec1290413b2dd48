"""Ask the site's search, in a browser, what readers ask: ``python -m tools.search_quality``.

Prints, for each kind of query, how often the right page comes first. The queries are those of
tests/search_queries.tsv and, from the headers, every message and symptom of every eighth page.
"""

from __future__ import annotations

import argparse
import csv
import json
import re
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, unquote

from tools.bench import SITE, browser, served

QUERIES = Path(__file__).parents[1] / "tests" / "search_queries.tsv"
EVERY = 8
VALUE = "3"
WAIT = 2_000
FINISHED = (
    "document.querySelector('#search-results[data-done]') || "
    "/[0-9]|not match/.test(document.querySelector('#search-results .search-summary')"
    "?.textContent ?? '') || document.querySelector('#search-results ul.search li a')"
)
FIRST = "document.querySelector('#search-results li a')?.getAttribute('href') ?? ''"


@dataclass(frozen=True)
class Query:
    """What is typed, and the pages or terms any of which may come first."""

    kind: str
    text: str
    expected: frozenset[str]


def written(path: Path = QUERIES) -> list[Query]:
    """Return the queries written by hand."""
    with path.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t"))
    return [Query(row["kind"], row["query"], frozenset(split(row["expected"]))) for row in rows]


def split(expected: str) -> list[str]:
    """Return the ids of *expected*; ``term:`` and the words of a term belong together."""
    head, *pages = re.split(r" (?=[a-z0-9]+-[a-z0-9-]+$)", expected)
    if head.startswith("term:"):
        return [head, *pages]
    return expected.split()


def generated(pages: list[dict], every: int = EVERY) -> list[Query]:
    """Return queries from the entries of errors.json, with values for placeholders."""
    queries = []
    for page in pages[::every]:
        for error in page["errors"][:1]:
            text = re.sub(r"<[a-z_]+>", VALUE, error["message"])
            queries.append(Query("message", text, frozenset([page["id"]])))
    for page in pages:
        for key in ("symptom", "symptom_zh"):
            if page.get(key):
                kind = key.replace("_", "-")
                queries.append(Query(f"{kind}, whole", page[key], frozenset([page["id"]])))
    return queries


def target(href: str) -> str:
    """Return the page id or term that a result leads to."""
    address, _, anchor = unquote(href).partition("#")
    name = address.partition("?")[0].removesuffix(".html").rpartition("/")[2]
    if name == "glossary":
        return f"term:{anchor.removeprefix('term-')}"
    return name.removeprefix("plot_").replace("_", "-")


def right(query: Query, href: str) -> bool:
    """Say whether *href* is what *query* is after."""
    return anchored(target(href)) in map(anchored, query.expected)


def anchored(name: str) -> str:
    return re.sub(r"[ _.]", "-", name).lower()


def ask(site: Path, queries: list[Query]) -> dict[Query, str]:
    """Return the first result for each query, as the search page of *site* shows it."""
    answers = {}
    with browser() as chromium, served(site) as address:
        tab = chromium.new_page()
        for query in queries:
            tab.goto(f"{address}search.html?q={quote(query.text)}")
            try:
                tab.wait_for_function(FINISHED, timeout=WAIT)
            except Exception as problem:
                if "Timeout" not in type(problem).__name__:
                    raise
            answers[query] = tab.evaluate(FIRST)
    return answers


def main() -> int:
    """Print the table and what went wrong; 1 under 95 %."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("site", nargs="?", type=Path, default=SITE)
    parser.add_argument("--written", action="store_true", help="only the queries written by hand")
    options = parser.parse_args()
    queries = written()
    if not options.written:
        queries += generated(json.loads((options.site / "errors.json").read_text("utf-8"))["pages"])
    answers = ask(options.site, queries)
    kinds = defaultdict(list)
    for query, href in answers.items():
        kinds[query.kind].append(right(query, href))
        if not right(query, href):
            expected = ", ".join(sorted(query.expected))
            print(f"{query.text[:70]!r}: found {target(href) or 'nothing'}, expected {expected}")
    kinds["all"] = [hit for hits in list(kinds.values()) for hit in hits]
    for kind, hits in kinds.items():
        print(f"{kind:20} {sum(hits):4} of {len(hits):4}  {sum(hits) / len(hits):6.1%}")
    return int(sum(kinds["all"]) < 0.95 * len(kinds["all"]))


if __name__ == "__main__":
    raise SystemExit(main())
