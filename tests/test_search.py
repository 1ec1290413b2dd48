"""The site's search: what readers ask finds the right page first."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from site_search import read_chinese
from sphinx.errors import ExtensionError

from tools.search_quality import Query, ask, generated, right, split, target, written

if TYPE_CHECKING:
    from pathlib import Path

    from minisite import MiniSite

SHARE = 0.95


def test_address_of_a_result_names_its_page_or_term() -> None:
    assert target("errors/plot_view_of_leaf.html#the-error") == "view-of-leaf"
    assert target("glossary.html#term-leaf-tensor") == "term:leaf-tensor"
    assert split("term:in-place operation leaf-inplace") == [
        "term:in-place operation",
        "leaf-inplace",
    ]
    query = Query("term", "leaf", frozenset(["term:leaf tensor"]))
    assert right(query, "glossary.html#term-leaf-tensor")
    assert not right(query, "glossary.html#term-view")


def test_chinese_word_must_belong_to_a_term(tmp_path: Path) -> None:
    table = tmp_path / "zh.tsv"
    table.write_text("# words\n视图\tView\n看\tsight\n", encoding="utf-8")
    assert read_chinese(table, {"view", "sight"}) == {"view": ["视图"], "sight": ["看"]}
    with pytest.raises(ExtensionError, match=r"zh\.tsv:3: 'sight' is no term"):
        read_chinese(table, {"view"})


def test_search_page_finds_messages_terms_and_chinese(site: MiniSite) -> None:
    site.write("glossary/zh.tsv", "叶子张量\tleaf tensor\n")
    page, term = frozenset(["one-example"]), frozenset(["term:leaf tensor"])
    queries = [
        Query("message", "ValueError: 7 is too many", page),
        Query("word", "many", page),
        Query("term", "leaf tensors", term),
        Query("term-zh", "叶子张量", term),
    ]
    found = ask(site.build(), queries)
    assert [query.text for query in queries if not right(query, found[query])] == []


def test_search_finds_nothing_for_what_is_not_there(site: MiniSite) -> None:
    query = Query("none", "zebra", frozenset())
    assert ask(site.build(), [query]) == {query: ""}


def test_right_page_comes_first(built: Path) -> None:
    pages = json.loads((built / "errors.json").read_text("utf-8"))["pages"]
    queries = written() + generated(pages)
    found = ask(built, queries)
    wrong = [query.text for query in queries if not right(query, found[query])]
    assert len(wrong) <= (1 - SHARE) * len(queries), wrong
    by_hand = [query.text for query in written() if query.text in wrong]
    assert len(by_hand) <= (1 - SHARE) * len(written()), by_hand
