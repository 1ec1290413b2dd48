"""Promise 2: a page proves its title. Each way to break a page ends the build in one sentence."""

from __future__ import annotations

import re

import pytest
from minisite import page
from sphinx.errors import ExtensionError, SphinxError

HEAD, _, REST = page().partition("# ///\n")

BROKEN_HEADERS = {
    "no header": ('"""\nTitle\n=====\n\nLead.\n"""\n', r"plot_two_pages\.py:1: expected '# /// script'"),
    "no end": (HEAD + 'x = 1\n' + REST, r"plot_two_pages\.py:\d+: expected a comment line or '# ///'"),
    "bad toml": (page().replace("causes = [", "causes = "), r"plot_two_pages\.py:6: expected a TOML table"),
    "no table": (page().replace("tool.autograd-errors", "tool.other"), r"expected a table \[tool\.autograd-errors\]"),
    "unknown key": (page(keys='color = "red"\n').replace("color", "# color", 1), r"plot_two_pages\.py:7: expected one of .* found 'color'"),
    "no causes": (page().replace('["nowhere/too-many"]', "[]"), r":6: expected a non-empty list 'causes'"),
    "unknown cause": (page(cause="nowhere/else"), r"expected a cause listed in catalogue/causes\.tsv"),
    "no message": (page(declare=False), r"'cause-of', or 'symptom', found none"),
    "cut message": (page(message="too many…"), r":8: expected the whole message, found one that is cut"),
    "placeholder twice": (page(message="<n> and <n>"), r":8: expected a message with distinct"),
    "no lead": (page().replace("You wrote too much. See `leaf tensor`.", ""), r"expected a docstring with a title"),
    "long title": (page(title="T" * 61), r"expected a title of at most 60 characters, found 61"),
    "unknown owner": (page(keys='# cause-of = "nobody"\n', declare=False), r"expected the id of a page in 'cause-of', found 'nobody'"),
    "unknown shown page": (page(keys='# shows = ["nobody"]\n'), r"expected the id of a page in 'shows', found 'nobody'"),
    "when alone": (page(keys='# when = { node = "A" }\n'), r"expected 'cause-of' beside 'when'"),
    "syntax error": (page(extra="def :"), r"plot_two_pages\.py:\d+: expected Python"),
}  # fmt: skip

BROKEN_PAGES = {
    "first section": (
        page(message="<n> pages").replace("The error\n# -----", "Hello\n# -----"),
        r":\d+: expected a first section named one of .*found 'Hello'",
    ),
    "no checked fix": (
        page(message="<n> pages").replace("assert total == 1 + 1", ""),
        r"expected a section with a fix that ends in a check",
    ),
    "advice not run": (
        page(message="<n> pages", cause="nowhere/advised"),
        r"expected a section 'What only hides the error'.*nowhere/advised is wrong",
    ),
}

BROKEN_RUNS = {
    "message not emitted": (
        page(message="<n> pages", raises="KeyError", emitted="3 is too many"),
        r"plot_two_pages\.py:8: expected the script to emit 'KeyError: <n> pages', found",
    ),
    "message emitted in part": (
        page(message="<n> pages are too many", emitted="3 pages are too"),
        r"expected the script to emit",
    ),
    "message with more text": (
        page(message="<n> pages", emitted="3 pages and more"),
        r"found 'ValueError: 3 pages and more'",
    ),
    "undeclared warning": (
        page(message="<n> pages", emitted="3 pages", extra="import warnings\nwarnings.warn('odd')"),
        r"expected only declared errors .* found 'UserWarning: odd'",
    ),
    "failing check": (
        page(message="<n> pages", emitted="3 pages", total="3"),
        r"plot_two_pages\.py:1: expected a script that runs to its end, but it fails:(?s:.*)AssertionError",
    ),
    "hang": (
        page(message="<n> pages", emitted="3 pages", extra="import time\ntime.sleep(60)"),
        r"but it ran longer than its limit of 2 seconds",
    ),
    "hang in C": (
        page(
            message="<n> pages", emitted="3 pages",
            extra="import signal, time\nsignal.pthread_sigmask(signal.SIG_BLOCK, range(1, 30))\ntime.sleep(60)",
        ),
        r"but it ran longer than its limit of 2 seconds",
    ),
    "sys.exit": (
        page(message="<n> pages", emitted="3 pages", extra="import sys\nsys.exit(3)"),
        r"but it ended the interpreter with sys\.exit\(3\)",
    ),
    "os._exit": (
        page(message="<n> pages", emitted="3 pages", extra="import os\nos._exit(7)"),
        r"but it ended the interpreter with exit status 7",
    ),
    "crash": (
        page(
            message="<n> pages", emitted="3 pages",
            extra="import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)",
        ),
        r"but it was ended by signal SIGSEGV",
    ),
}  # fmt: skip


def refusal(site, text: str, **settings: object) -> str:
    """Return the words with which the build of a site with page *text* ends."""
    site.script("two_pages", text)
    with pytest.raises(ExtensionError) as caught:
        site.build(**settings)
    return str(caught.value)


@pytest.mark.parametrize("text, sentence", BROKEN_HEADERS.values(), ids=BROKEN_HEADERS)
def test_broken_header_ends_the_build(site, text, sentence):
    assert re.search(sentence, refusal(site, text))


@pytest.mark.parametrize("text, sentence", BROKEN_PAGES.values(), ids=BROKEN_PAGES)
def test_page_without_its_parts_ends_the_build(site, text, sentence):
    assert re.search(sentence, refusal(site, text))


@pytest.mark.parametrize("parallel", [0, 2])
@pytest.mark.parametrize("text, sentence", BROKEN_RUNS.values(), ids=BROKEN_RUNS)
def test_script_that_does_not_prove_its_page_ends_the_build(site, text, sentence, parallel):
    told = refusal(site, text, autograd_errors_time_limit=2, parallel=parallel)
    assert re.search(sentence, told)


def test_problem_is_found_again_by_the_next_build(site):
    text = page(message="<n> pages", emitted="3 pages", total="3")
    first = refusal(site, text)
    assert refusal(site, text) == first


def test_message_with_two_owners_ends_the_build(site):
    assert re.search(
        r"plot_two_pages\.py:8: expected a message that no other page owns .*"
        r"found one that plot_one_example\.py owns",
        refusal(site, page()),
    )


def test_all_problems_are_told_at_once(site):
    site.script("other", page(cause="nowhere/else"))
    told = refusal(site, page(title="T" * 61))
    assert "plot_other.py" in told
    assert "plot_two_pages.py" in told


def test_unknown_family_ends_the_build(site):
    site.script("strange_page", page(message="<n> pages", emitted="3 pages"))
    with pytest.raises(ExtensionError, match="a family of autograd_errors_families"):
        site.build()


@pytest.mark.parametrize("reference", ["svaed tensor", "one-exampel"])
def test_unknown_reference_ends_the_build(site, reference):
    site.script("one_example", page().replace("`leaf tensor`", f"`{reference}`"))
    with pytest.raises(SphinxError, match=f"reference target not found: {reference}"):
        site.build()


def test_page_may_show_what_another_page_owns(site):
    site.script("two_pages", page(keys='# cause-of = "one-example"\n', declare=False))
    site.script("other", page(keys='# shows = ["one-example"]\n# symptom = "odd"\n', declare=False))
    site.build()
