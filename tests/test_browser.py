"""The built site in a browser: accessible, quiet, narrow enough, and of use without JavaScript."""

from __future__ import annotations

import functools
import threading
from http.server import ThreadingHTTPServer

import pytest
from axe_playwright_python.sync_playwright import Axe
from conftest import ROOT
from script_header import read_header
from test_paste_box import Quiet, eventually

from tools.require_browser import find_browser

ERROR_PAGE = "errors/plot_view_of_leaf.html"
KINDS = {
    "home": "index.html",
    "error with recordings": ERROR_PAGE,
    "error with pictures": "errors/plot_version_modified.html",
    "silent mistake": "errors/plot_silent_data_edit.html",
    "concepts": "errors/plot_guide_assignment.html",
    "table of fixes": "errors/plot_guide_what_fixes_do.html",
    "case with a curve": "errors/plot_case_linear_regression.html",
    "not run here": "errors/plot_device_cuda.html",
    "list of errors": "errors/index.html",
    "glossary": "glossary.html",
    "lookup": "lookup.html",
    "coverage": "coverage.html",
    "operations": "operations-saved.html",
    "views": "operations-views.html",
    "copies": "operations-copies.html",
    "releases": "releases.html",
    "contributing": "contributing.html",
    "index": "genindex.html",
    "search": "search.html?q=inplace",
    "not found": "404.html",
}
ROWS = 5  # of a long table or list: axe needs minutes for thousands of equal ones
SHORTEN = """rows => {
    document.querySelectorAll("details").forEach(part => { part.open = true; });
    document.querySelectorAll("tbody, article ul, article dl").forEach(list =>
        [...list.children].slice(rows).forEach(row => row.remove()));
}"""
TOO_WIDE = """() => [...document.querySelectorAll("article *")]
    .filter(part => part.getBoundingClientRect().right > innerWidth + 1).slice(0, 3)
    .map(part => part.outerHTML.slice(0, 120))"""


@pytest.fixture(scope="module")
def served(built):
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(built)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def browser(built):
    """Start a browser, after the build: it forks, which a process with threads must not."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=find_browser(), args=["--no-sandbox"])
        yield found
        found.close()


@pytest.fixture
def visit(browser, built, served):
    """Return a function that opens a page in a context of its own."""
    contexts = []

    def open_page(name: str, *, folder: bool = False, **options: object):
        context = browser.new_context(**options)
        contexts.append(context)
        page = context.new_page()
        page.problems, page.requests = [], []
        page.on("pageerror", lambda error: page.problems.append(str(error)))
        page.on("console", lambda line: line.type == "error" and page.problems.append(line.text))
        page.on("request", lambda sent: page.requests.append(sent.url))
        page.base = built.resolve().as_uri() if folder else served
        page.goto(f"{page.base}/{name}")
        return page

    yield open_page
    for context in contexts:
        context.close()


def every_page(built) -> list[str]:
    return sorted(page.relative_to(built).as_posix() for page in built.rglob("*.html"))


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", KINDS.values(), ids=KINDS)
def test_axe_finds_nothing(visit, name, scheme):
    page = visit(name, color_scheme=scheme)
    page.evaluate(SHORTEN, ROWS)
    faults = [
        f"{fault['id']}: {node['target']} {node['html'][:150]} {node['failureSummary'][:300]}"
        for fault in Axe().run(page).response["violations"]
        for node in fault["nodes"][:3]
    ]
    assert faults == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_in_an_answer(visit, scheme):
    page = visit("lookup.html", color_scheme=scheme)
    page.locator("textarea").fill(
        "RuntimeError: leaf variable has been moved into the graph interior"
    )
    page.wait_for_selector("[role=status], [aria-live]", state="attached")
    page.get_by_role("link", name="A leaf that became a result").first.wait_for()
    page.evaluate(SHORTEN, ROWS)
    assert [fault["id"] for fault in Axe().run(page).response["violations"]] == []


def test_no_page_complains_or_asks_anybody_else(visit, built):
    """One tab opens them all: no error in the console, which tells of the policy's refusals too."""
    page = visit("index.html")
    for name in every_page(built):
        page.goto(f"{page.base}/{name}")
    page.wait_for_load_state("networkidle")
    assert page.problems == []
    assert len(page.requests) > len(every_page(built))
    assert [url for url in page.requests if not url.startswith((page.base, "data:"))] == []


@pytest.mark.parametrize("name", KINDS.values(), ids=KINDS)
def test_page_opens_from_a_folder(visit, name):
    if name == "404.html":
        pytest.skip("a folder has no page for missing addresses: only a server shows it")
    page = visit(name, folder=True)
    page.wait_for_timeout(500)
    assert page.problems == []
    assert page.locator("h1").first.is_visible()


def test_no_page_scrolls_sideways_on_a_phone(visit, built):
    page = visit("index.html", viewport={"width": 360, "height": 740})
    wide = {}
    for name in every_page(built):
        page.goto(f"{page.base}/{name}")
        if page.evaluate("document.documentElement.scrollWidth") > 360:
            wide[name] = page.evaluate(TOO_WIDE)
    assert wide == {}


def test_nothing_moves_for_readers_who_ask_for_it(visit):
    page = visit(ERROR_PAGE, reduced_motion="reduce")
    moving = page.evaluate("""() => [...document.querySelectorAll("*")].filter(part => {
        const style = getComputedStyle(part);
        const times = `${style.transitionDuration},${style.animationDuration}`.split(",");
        return times.some(time => parseFloat(time) > 0.01);
    }).map(part => part.className).slice(0, 5)""")
    assert moving == []


def test_print_shows_the_page_and_nothing_else(visit):
    page = visit(ERROR_PAGE)
    page.emulate_media(media="print")
    for hidden in (".sidebar-drawer", ".toc-drawer", ".mobile-header", ".content-icon-container"):
        assert not page.locator(hidden).first.is_visible(), hidden
    assert page.locator(".autograd-error .message").first.is_visible()
    code = page.locator("article div.highlight pre").first
    assert code.evaluate("e => getComputedStyle(e).whiteSpace") == "pre-wrap"


def test_site_is_of_use_without_javascript(visit):
    header = read_header(ROOT / "gallery" / "plot_view_of_leaf.py")
    page = visit("errors/index.html", java_script_enabled=False)
    assert page.locator(f"article a[href*='{ERROR_PAGE.split('/')[1]}']").first.is_visible()
    assert page.get_by_text(header.title).first.is_visible()
    page = visit(ERROR_PAGE, java_script_enabled=False)
    assert page.locator(".autograd-error .message").first.is_visible()
    assert page.locator(".sphx-glr-script-out pre").first.is_visible()
    assert page.locator("a.download").count() == 2 or page.locator("a[download]").count() == 2


def test_keyboard_reaches_the_content_and_the_copy_buttons(visit):
    page = visit(ERROR_PAGE)
    page.wait_for_selector("button.copybtn", state="attached")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.getAttribute('href')") == "#furo-main-content"
    skip = page.locator(".skip-to-content")
    assert eventually(page, lambda: skip.evaluate("e => e.getBoundingClientRect().top >= 0"))
    page.keyboard.press("Enter")
    reached = set()
    for _ in range(40):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.className"))
        if any("copybtn" in str(name) for name in reached):
            break
    assert any("copybtn" in str(name) for name in reached)
    button = page.locator("button.copybtn:focus")
    assert eventually(page, lambda: button.evaluate("e => getComputedStyle(e).opacity") == "1")
