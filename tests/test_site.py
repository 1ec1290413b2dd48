"""The built site: nothing pasted, nothing dangling, nothing of the building machine."""

from __future__ import annotations

import json
import re
import zlib
from functools import cache
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import jsonschema
import pytest
from bs4 import BeautifulSoup
from conftest import GALLERY, ROOT
from emissions import Emission, matches
from page_shape import QUESTION, sections
from script_header import read_header, script_name
from wording import python_pattern

REQUESTS = {
    ("script", "src"),
    ("img", "src"),
    ("link", "href"),
    ("iframe", "src"),
    ("source", "src"),
}
NO_REQUEST = {
    "canonical",
    "author",
    "license",
    "next",
    "prev",
    "search",
    "index",
    "edit",
    "alternate",
}


class Links(HTMLParser):
    """Collect the ids of a page, what it links to and what it requests."""

    def __init__(self) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.requests: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        if values.get("id"):
            self.ids.add(values["id"])
        if tag == "a" and values.get("href"):
            self.links.append(values["href"])
        for name, value in values.items():
            rel = set((values.get("rel") or "").split())
            if (tag, name) in REQUESTS and value and not rel & NO_REQUEST:
                self.requests.append(value)


@cache
def parsed(page: Path) -> Links:
    links = Links()
    links.feed(page.read_text("utf-8"))
    return links


@cache
def pages(built: Path) -> list[Path]:
    return sorted(built.rglob("*.html"))


def page_of(built: Path, script: Path) -> Path:
    return built / "errors" / f"{script.stem}.html"


@cache
def catalogue(built: Path) -> dict:
    return json.loads((built / "errors.json").read_text("utf-8"))


def test_every_internal_link_has_its_target(built):
    missing = []
    for page in pages(built):
        for link in parsed(page).links:
            if page.name == "404.html":  # served at any address, so its links begin at the root
                link = link.removeprefix("/")
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            if target.is_dir():
                target = target / "index.html"
            known = target.exists() and (
                not parts.fragment
                or target.suffix != ".html"
                or unquote(parts.fragment) in parsed(target).ids
            )
            if not known and parts.fragment != "furo-main-content":
                missing.append(f"{page.relative_to(built)} -> {link}")
    assert missing == []


def test_no_page_requests_anything_from_elsewhere(built):
    outside = [
        f"{page.relative_to(built)}: {request}"
        for page in pages(built)
        for request in parsed(page).requests
        if urlsplit(request).netloc
    ]
    assert outside == []


def test_no_page_names_the_building_machine(built):
    marks = re.compile(
        rf"{re.escape(str(ROOT))}|site-packages/|/tmp/|0x[0-9a-f]{{6,}}|Triggered internally"
    )
    found = [
        f"{page.relative_to(built)}: {mark[0]}"
        for page in pages(built)
        if page.parent.name == "errors"
        for mark in [marks.search(unescape(re.sub(r"<[^>]+>", "", page.read_text("utf-8"))))]
        if mark
    ]
    assert found == []


def test_page_names_its_message_to_search_engines(built, script):
    html = page_of(built, script).read_text("utf-8")
    title = unescape(re.search(r"<title>(.*?)</title>", html)[1]).replace("’", "'")
    description = unescape(re.search(r'<meta content="([^"]*)" name="description"', html)[1])
    header = read_header(script)
    assert header.title.replace("``", "") in title
    for error in header.errors[:1]:
        start = re.split(r"<[a-z_]+>", error.message)[0].split("\n")[0][:60]
        assert start in title
        assert start.rstrip() in description


def test_page_offers_the_very_script_and_a_notebook(built, script):
    page = page_of(built, script)
    targets = {Path(link).name: link for link in parsed(page).links if "_downloads" in link}
    downloaded = (page.parent / targets[script.name]).resolve()
    assert downloaded.read_bytes() == script.read_bytes()
    assert f"{script.stem}.ipynb" in targets
    assert f"uv run {script.name}" in " ".join(
        unescape(re.sub(r"<[^>]+>", "", page.read_text("utf-8"))).split()
    )


def test_page_is_edited_at_its_script(built, script):
    edit = f"/edit/main/gallery/{script.name}"
    assert any(link.endswith(edit) for link in parsed(page_of(built, script)).links)


def test_page_states_its_environment(built, script):
    import platform

    import torch

    if read_header(script).needs:
        pytest.skip(f"{script.name} does not run here; its page says so")
    text = unescape(re.sub(r"<[^>]+>", "", page_of(built, script).read_text("utf-8")))
    assert f"torch {torch.__version__}, Python {platform.python_version()}, CPU, commit" in text


def test_neighbours_are_of_the_same_family(built, script):
    html = page_of(built, script).read_text("utf-8")
    family = script.stem.split("_")[1]
    for neighbour in re.findall(r'class="(?:next|prev)-page" href="([^"]+)"', html):
        assert Path(neighbour).stem.split("_")[1] == family


def test_notebook_holds_no_raw_markup(built, script):
    links = parsed(page_of(built, script)).links
    link = next(link for link in links if link.endswith(f"{script.stem}.ipynb"))
    notebook = json.loads((built / "errors" / link).resolve().read_text("utf-8"))
    prose = "\n".join(
        "".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "markdown"
    )
    prose = re.sub(r"``[^`]+``", "", prose)
    raw = re.findall(
        r"^\.\. .*|^:::.*|:[a-z:]+:`[^`]*`|`[^`]*<[^`]*>`_+|\{[a-z]+\}`|^[-=]{4,}$", prose, re.M
    )
    assert raw == []
    code = "".join(
        "".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"
    )
    assert "# ///" not in code


def test_index_lists_every_page_and_its_causes_below_it(built):
    index = BeautifulSoup((built / "errors" / "index.html").read_text("utf-8"), "html.parser")
    entries = {
        item.find("a")["href"].removesuffix(".html"): item
        for item in index.select("article .error-list li")
    }
    assert sorted(entries) == [script.stem for script in GALLERY]
    for script in GALLERY:
        header = read_header(script)
        owner = header.cause_of and script_name(header.cause_of).removesuffix(".py")
        above = entries[script.stem].find_parent("li")
        if owner and owner.split("_")[1] == header.family:
            assert above is entries[owner]
        else:
            assert above is None
            note = entries[script.stem].select_one(".error-note").get_text().split()
            known = [header.symptom or "", header.summary, *(e.text for e in header.errors)]
            assert note in [text.split() for text in known]


def test_home_lists_each_symptom_once_and_questions_apart(built):
    home = BeautifulSoup((built / "index.html").read_text("utf-8"), "html.parser")
    listed = {
        name: [Path(link["href"]).stem for link in home.select(f"#{name} a[href^='errors/plot_']")]
        for name in ("no-message-but-something-is-wrong", "questions")
    }
    told = [s.stem for s in GALLERY if read_header(s).symptom]
    assert sorted(told) == sorted(stem for stems in listed.values() for stem in stems)
    for name, stems in listed.items():
        firsts = {sections(ROOT / "gallery" / f"{stem}.py")[0].title == QUESTION for stem in stems}
        assert firsts == {name == "questions"}


def test_catalogue_follows_its_schema(built):
    schema = json.loads((built / "_static" / "errors.schema.json").read_text("utf-8"))
    jsonschema.validate(catalogue(built), schema)
    assert [page["id"] for page in catalogue(built)["pages"]] == sorted(
        read_header(script).id for script in GALLERY
    )


def test_catalogue_finds_what_each_page_emits(built, script):
    header = read_header(script)
    if header.needs:
        pytest.skip(f"{script.name} needs {header.needs}")
    entry = next(page for page in catalogue(built)["pages"] if page["id"] == header.id)
    record = json.loads((ROOT / "docs" / "errors" / f"{script.stem}.emissions.json").read_text())
    for declared, found in zip(header.errors, entry["errors"], strict=True):
        patterns = [python_pattern(pattern) for pattern in found["patterns"]]
        for emission in map(Emission._make, record["emitted"]):
            if matches(declared, emission):
                assert any(pattern.match(emission.text.strip()) for pattern in patterns)


def test_inventory_file_names_every_error(built):
    data = (built / "objects.inv").read_bytes()
    text = zlib.decompress(data.split(b"zlib.\n", 1)[1]).decode()
    objects = {line.split()[0] for line in text.splitlines() if " autograd:error " in line}
    assert objects == {read_header(script).id for script in GALLERY}


def test_output_is_highlighted_as_a_traceback(built, script):
    html = page_of(built, script).read_text("utf-8")
    for block in re.findall(r'<div class="[^"]*sphx-glr-script-out[^"]*">.*?</pre>', html, re.S):
        if "Traceback (most recent call last)" in unescape(re.sub(r"<[^>]+>", "", block)):
            assert "highlight-pytb" in block
