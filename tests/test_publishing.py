"""What search engines, other programs and old links find."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html import unescape
from html.parser import HTMLParser
from urllib.parse import urljoin, urlsplit

import pytest
from minisite import MiniSite, page
from sphinx.errors import ExtensionError

from tools.published_urls import LIST, addresses, unanswered

BASE = "https://example.org/docs/"
TWO = page(title="Two & more", message="<n> pages < all", emitted="3 pages < all")
PAGES = ("plot_one_example", "plot_two_pages")
INLINE = {"application/json", "application/ld+json"}


class Head(HTMLParser):
    """Collect a page's metadata, its scripts and what it loads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.meta: dict[str, str] = {}
        self.links: dict[str, str] = {}
        self.scripts: list[tuple[str, str]] = []
        self.handlers: list[str] = []
        self.loaded: list[str] = []
        self.open: str | None = None
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.handlers += [name for name in values if name.startswith("on")]
        if tag == "meta":
            key = values.get("name") or values.get("property") or values.get("http-equiv")
            self.meta[key] = values.get("content", "")
        elif tag == "link":
            self.links[values.get("rel", "")] = values.get("href", "")
            if "stylesheet" in values.get("rel", ""):
                self.loaded.append(values["href"])
        elif values.get("src"):
            self.loaded.append(values["src"])
        elif tag == "script":
            self.open = values.get("type", "")

    def handle_data(self, data: str) -> None:
        if self.open is not None:
            self.scripts.append((self.open, data))

    def handle_endtag(self, tag: str) -> None:
        self.open = None


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    """Build a small site with the published settings."""
    site = MiniSite(tmp_path_factory.mktemp("published") / "site")
    site.script("two_pages", TWO)
    site.write("docs/lookup.md", "# Paste\n\n```{paste-box}\n```\n\n```{error-index}\n```\n")
    site.write("docs/404.md", "---\norphan: true\n---\n\n# Gone\n\n[Paste](lookup.md) it.\n")
    site.write("docs/index.md", "# Home\n\n```{toctree}\nerrors/index\nglossary\nlookup\n```\n")
    site.write("redirects.txt", "# a former name\nold/plot_first.html errors/plot_two_pages.html\n")
    return site.build(**settings(site))


def settings(site: MiniSite) -> dict[str, object]:
    return {
        "html_baseurl": BASE,
        "notfound_urls_prefix": urlsplit(BASE).path,
        "autograd_errors_redirects": str(site.root / "redirects.txt"),
    }


def head(path) -> Head:
    return Head(path.read_text("utf-8"))


def documents(out) -> list:
    """Return the pages that a reader is meant to find."""
    made = {"404.html", "search.html", "genindex.html", "old/plot_first.html"}
    return [p for p in sorted(out.rglob("*.html")) if p.relative_to(out).as_posix() not in made]


def test_every_page_names_its_own_address(out):
    for path in documents(out):
        address = urljoin(BASE, path.relative_to(out).as_posix())
        assert head(path).links["canonical"] == address
        assert head(path).meta["og:url"] == address


def test_site_map_lists_every_page_and_no_other(out):
    assert addresses(out) == {path.relative_to(out).as_posix() for path in documents(out)}


def test_site_map_stays_whole_when_one_page_changes(site):
    site.script("two_pages", TWO)
    before = (site.build() / "sitemap.xml").read_bytes()
    site.script("two_pages", TWO.replace("A line that works.", "A line that always works."))
    assert (site.build() / "sitemap.xml").read_bytes() == before
    assert b"plot_one_example" in before


def test_robots_are_told_the_site_map(out):
    lines = (out / "robots.txt").read_text().splitlines()
    assert f"Sitemap: {BASE}sitemap.xml" in lines
    assert not any(line.startswith("Disallow") for line in lines)


def test_every_download_has_its_checksum(out):
    lines = (out / "SHA256SUMS").read_text("utf-8").splitlines()
    listed = {name: digest for digest, name in (line.split("  ") for line in lines)}
    offered = [path for path in out.rglob("*") if path.suffix in {".py", ".ipynb", ".zip"}]
    assert sorted(listed) == sorted(path.relative_to(out).as_posix() for path in offered)
    for path in offered:
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        assert listed[path.relative_to(out).as_posix()] == digest
    page = (out / "errors" / "plot_two_pages.html").read_text("utf-8")
    assert 'href="../SHA256SUMS"' in page


def test_llms_lists_every_page_with_its_message(out):
    lines = (out / "llms.txt").read_text("utf-8").splitlines()
    catalogue = json.loads((out / "errors.json").read_text("utf-8"))["pages"]
    assert len(catalogue) == len(PAGES)
    for name, message in zip(PAGES, ("<count> is too many", "<n> pages < all"), strict=True):
        (line,) = [line for line in lines if f"({BASE}errors/{name}.html)" in line]
        assert line.endswith(f": ValueError: {message}")


def test_every_page_can_be_shared(out):
    for path in documents(out):
        meta = head(path).meta
        kind = "article" if path.stem in PAGES else "website"
        assert meta["og:type"] == kind
        assert meta["og:title"]
        assert meta["og:description"]
    assert "… pages < all" in head(out / "errors" / "plot_two_pages.html").meta["og:title"]


def test_structured_data_holds_the_message(out):
    for name, message in zip(PAGES, ("<count> is too many", "<n> pages < all"), strict=True):
        scripts = head(out / "errors" / f"{name}.html").scripts
        (data,) = [json.loads(text) for kind, text in scripts if kind == "application/ld+json"]
        assert data["@type"] == "TechArticle"
        assert data["url"] == f"{BASE}errors/{name}.html"
        assert [question["name"] for question in data["about"]] == [f"ValueError: {message}"]
        assert "To be right" in data["about"][0]["acceptedAnswer"]["text"]


def test_missing_page_offers_the_lookup(out):
    html = (out / "404.html").read_text("utf-8")
    prefix = urlsplit(BASE).path
    article = re.search(r"(?s)<article.*?</article>", html)[0]
    assert f'href="{prefix}lookup.html"' in article
    for address in head(out / "404.html").loaded:  # it is served at any depth
        assert address.startswith((prefix, "data:"))


def check_policy(path) -> None:
    """Fail unless *path* has a policy that allows exactly its own inline scripts."""
    found = head(path)
    policy = dict(
        part.strip().split(" ", 1)
        for part in unescape(found.meta["Content-Security-Policy"]).split(";")
    )
    wanted = {
        "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"
        for kind, text in found.scripts
        if kind not in INLINE
    }
    allowed = set(policy["script-src"].split())
    assert {source for source in allowed if source.startswith("'sha256-")} == wanted, path
    assert allowed - wanted == {"'self'", "'wasm-unsafe-eval'"}, path
    assert policy["default-src"] == "'none'"
    assert policy["base-uri"] == "'none'"
    assert "http" not in found.meta["Content-Security-Policy"].replace("http-equiv", "")
    assert found.handlers == [], path


def check_origin(path) -> None:
    """Fail if *path* loads anything from another origin."""
    outside = [url for url in head(path).loaded if urlsplit(url).netloc]
    assert outside == [], path


def test_every_page_has_a_strict_policy(out):
    for path in out.rglob("*.html"):
        check_policy(path)


def test_no_page_loads_from_elsewhere(out):
    for path in out.rglob("*.html"):
        check_origin(path)
    for path in (out / "_static").rglob("*.css"):
        assert not re.search(r"url\(['\"]?(?:https?:)?//|@import\s+['\"]?http", path.read_text())


def test_former_address_leads_to_the_present_one(out):
    found = head(out / "old" / "plot_first.html")
    assert found.meta["refresh"] == "0; url=../errors/plot_two_pages.html"
    assert found.links["canonical"] == f"{BASE}errors/plot_two_pages.html"


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("old.html errors/plot_nowhere.html", "expected a page at 'errors/plot_nowhere.html'"),
        ("old.html", "redirects.txt:2: expected an old and a new address, found 'old.html'."),
        ("index.html glossary.html", "'index.html' is a page of the site: remove the line."),
    ],
)
def test_wrong_redirect_ends_the_build(site, line, sentence):
    site.write("redirects.txt", "# table\n")
    site.build(**settings(site))  # a second build meets pages that have a policy already
    site.write("redirects.txt", f"# table\n{line}\n")
    with pytest.raises(ExtensionError, match=re.escape(sentence)):
        site.build(**settings(site))


def test_lost_address_is_noticed(out):
    assert unanswered(addresses(out) | {"errors/plot_lost.html"}, out) == ["errors/plot_lost.html"]
    assert unanswered({"old/plot_first.html"}, out) == []


def test_every_published_address_still_answers(built):
    published = set(LIST.read_text("utf-8").split())
    assert published
    assert unanswered(published, built) == []


def test_pages_of_the_site_keep_the_promises(built):
    listed = addresses(built)
    for path in built.rglob("*.html"):
        check_policy(path)
        check_origin(path)
        name = path.relative_to(built).as_posix()
        if name not in {"404.html", "search.html", "genindex.html"}:
            assert name in listed or 'http-equiv="refresh"' in path.read_text("utf-8"), name
