"""The paste box in a browser: from a site that is served, and from one opened in a folder."""

from __future__ import annotations

import functools
import http.server
import threading
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, quote, unquote, urlsplit

import pytest
from minisite import ROOT, MiniSite
from playwright.sync_api import expect

if TYPE_CHECKING:
    from collections.abc import Callable

PASTE = 'Traceback (most recent call last):\n  File "a.py", line 3\nValueError: 3 is too many'
PAGE = "errors/plot_one_example.html"
REPOSITORY = "https://github.com/owner/name"


class Quiet(http.server.SimpleHTTPRequestHandler):
    def do_GET(self) -> None:
        """Serve a file; a browser asks for an icon by itself, and none is not an error."""
        if self.path == "/favicon.ico":
            self.send_response(204)
            self.end_headers()
        else:
            super().do_GET()

    def log_message(self, *arguments: object) -> None:
        pass


def eventually(page, condition: Callable[[], bool]) -> bool:
    """Wait up to five seconds for *condition*: the pages' policy forbids the browser's own way."""
    for _ in range(50):
        if condition():
            return True
        page.wait_for_timeout(100)
    return False


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    """Build a small site with a box on a page of its own."""
    site = MiniSite(tmp_path_factory.mktemp("box") / "site")
    site.write("docs/lookup.md", "# Paste\n\n```{paste-box}\n```\n\n```{error-index}\n```\n")
    site.write("docs/index.md", "# Home\n\n```{toctree}\nerrors/index\nglossary\nlookup\n```\n")
    static = [str(ROOT / "docs" / "_static")]
    return site.build(autograd_errors_repository=REPOSITORY, html_static_path=static)


@pytest.fixture(scope="module")
def served(out):
    handler = functools.partial(Quiet, directory=str(out))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def browser(out):
    """Start a browser, after the build: it forks, which a process with threads must not."""
    from playwright.sync_api import sync_playwright

    from tools.require_browser import find_browser

    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=find_browser(), args=["--no-sandbox"])
        yield found
        found.close()


@pytest.fixture(params=["served", "folder"])
def page(request, browser, out):
    """Return the page with the box; it must cause no error and no request to another origin."""
    folder = request.param == "folder"
    base = out.as_uri() if folder else request.getfixturevalue("served")
    page = browser.new_page()
    problems, requests = [], []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("console", lambda line: problems.append(line.text) if line.type == "error" else None)
    page.on("request", lambda sent: requests.append(sent.url))
    page.goto(f"{base}/lookup.html")
    page.requests = requests
    yield page
    page.close()
    assert problems == []
    assert [url for url in requests if not url.startswith((base, "data:"))] == []


def box(page):
    return page.get_by_label("Paste the traceback")


def answer(page):
    return page.locator(".lookup-results")


def test_typing_finds_the_page_and_announces_it(page):
    box(page).fill(PASTE)
    page.locator(".lookup-best").wait_for()
    assert page.get_by_role("status").text_content().endswith("explains it: Too many.")
    link = answer(page).get_by_role("link", name="Too many", exact=True).first
    assert link.get_attribute("href").endswith(f"/{PAGE}")
    assert "3 is too many" in answer(page).locator("pre").text_content()
    fixes = answer(page).get_by_role("link", name="To be right")
    assert fixes.get_attribute("href").endswith(f"/{PAGE}#to-be-right")


def test_catalogue_is_read_when_the_box_is_used(page):
    assert not [url for url in page.requests if "/errors.js" in url]
    box(page).focus()
    assert box(page).evaluate("box => box === document.activeElement")
    box(page).fill("x")
    page.get_by_role("status").filter(has_text="autograd").wait_for()
    assert len([url for url in page.requests if "/errors.js" in url]) == 1


def test_keyboard_alone_reaches_the_answer(page):
    box(page).focus()
    page.keyboard.insert_text(PASTE)
    page.keyboard.press("Control+Enter")
    assert eventually(page, lambda: page.evaluate("document.activeElement.tagName") == "A")
    assert page.evaluate("document.activeElement.textContent") == "Too many"
    box(page).focus()
    page.keyboard.press("Escape")
    assert box(page).input_value() == ""
    assert answer(page).text_content() == ""


def test_link_carries_the_message(page, browser):
    box(page).fill(PASTE)
    href = page.get_by_role("link", name="Link to this answer").get_attribute("href")
    assert unquote(urlsplit(href).fragment) == "m=3 is too many"
    other = browser.new_page()
    other.goto(href)
    other.locator(".lookup-best").wait_for()
    assert box(other).input_value() == "3 is too many"
    other.close()


def test_report_takes_the_text_along_only_if_agreed(page):
    page.evaluate("window.open = (url) => { window.opened = url; }")
    secret = "SecretError: nothing like it"
    box(page).fill(secret)
    page.get_by_role("status").filter(has_text="autograd").wait_for()
    report = page.get_by_role("button", name="Report it")
    assert page.evaluate("window.opened") is None
    report.click()
    opened = page.evaluate("window.opened")
    assert opened.startswith(f"{REPOSITORY}/issues/new?")
    assert "Secret" not in opened
    page.get_by_role("checkbox").check()
    report.click()
    assert parse_qs(urlsplit(page.evaluate("window.opened")).query)["message"] == [secret]


def test_markup_in_a_paste_stays_text(page):
    box(page).fill(
        "<img src=x onerror='window.hit=1'> ValueError: <b>9</b> is too many <script>window.hit=1</script>"
    )
    page.locator(".lookup-box article").first.wait_for()
    assert page.locator(".lookup-box img, .lookup-box script, .lookup-box b").count() == 0
    assert page.evaluate("window.hit") is None


def test_markup_in_a_link_stays_text(page):
    hostile = "<img src=x onerror='window.hit=1'> ValueError: 9 is too many"
    page.goto(f"{page.url}#m={quote(hostile)}")
    page.reload()
    page.locator(".lookup-box article").first.wait_for()
    assert box(page).input_value() == hostile
    assert page.locator(".lookup-box img").count() == 0
    assert page.evaluate("window.hit") is None


def test_answer_follows_what_is_typed(page):
    box(page).press_sequentially("ValueError: 4 is too many", delay=1)
    page.locator(".lookup-best").wait_for()
    assert page.get_by_role("status").get_attribute("aria-live") != "off"
    box(page).press("Control+a")
    box(page).press_sequentially("KeyError: 'x'", delay=1)
    page.locator(".lookup-best").wait_for(state="detached")
    assert "missing dictionary key" in page.locator(".lookup-box").text_content()
    box(page).press("Control+a")
    box(page).press("Delete")
    expect(answer(page)).to_be_empty()
    assert page.get_by_role("status").text_content() == ""


def test_without_javascript_there_is_a_list(browser, served):
    page = browser.new_page(java_script_enabled=False)
    page.goto(f"{served}/lookup.html")
    assert page.get_by_role("link", name="Too many").first.is_visible()
    assert "JavaScript" in page.locator(".lookup-box").text_content()
    page.close()


def test_other_pages_do_not_load_the_box(out):
    assert "lookup-box" not in (out / "index.html").read_text("utf-8")
    assert "lookup-box" in (out / "lookup.html").read_text("utf-8")


def test_explain_file_is_written_with_the_site(out):
    script = (out / "explain.py").read_text("utf-8")
    assert "is too many" in script
    assert "@CATALOGUE@" not in script
