"""The tables of operations: spot checks by trials of another kind, and how they are shown."""

from __future__ import annotations

import json
import re

import pytest
import torch
from conftest import ROOT
from operation_tables import TABLES, html_of, provenance

DATA = json.loads((ROOT / "docs" / "_data" / "operations.json").read_text("utf-8"))
SAVES = {row["operation"]: row for row in DATA["saves"]}
VIEWS = {row["operation"]: row for row in DATA["views"]}
SHARING = {row["expression"]: row for row in DATA["sharing"]}

UNARY = {
    "exp": torch.exp,
    "sigmoid": torch.sigmoid,
    "tanh": torch.tanh,
    "sqrt": torch.sqrt,
    "sin": torch.sin,
    "log": torch.log,
    "abs": torch.abs,
    "neg": torch.neg,
    "reciprocal": torch.reciprocal,
    "nn.functional.relu": torch.relu,
    "nn.functional.gelu": torch.nn.functional.gelu,
    "nn.functional.softplus": torch.nn.functional.softplus,
    "square": torch.square,
    "sum": torch.sum,
    "cumsum": lambda x: torch.cumsum(x, 0),
    "trace": torch.trace,
    "kron": lambda x: torch.kron(x, x * 2),
}


PAIRS = {
    "add": torch.add,
    "mul": torch.mul,
    "div (no_rounding_mode)": torch.div,
    "pow": torch.pow,
    "matmul": torch.matmul,
    "maximum": torch.maximum,
    "atan2": torch.atan2,
    "nn.functional.mse_loss": torch.nn.functional.mse_loss,
}


def values() -> torch.Tensor:
    """Return a matrix of positive numbers, away from every kink."""
    return torch.linspace(0.3, 1.4, 9, dtype=torch.float64).reshape(3, 3).requires_grad_()


def verdict(function) -> str:
    """Return what backward makes of *function*, judged by finite differences."""
    try:
        right = torch.autograd.gradcheck(function, values(), raise_exception=False)
        function(values()).sum().backward()
    except RuntimeError:
        return "no, backward raises"
    return "yes" if right else "no, the gradient is silently wrong"


def write_into_input(operation):
    def function(x):
        argument = x * 1.0
        result = operation(argument)
        argument.mul_(3.0)
        return result

    return function


def write_into_output(operation):
    def function(x):
        result = operation(x * 1.0)
        result.mul_(3.0)
        return result

    return function


@pytest.mark.parametrize("name", UNARY)
def test_overwriting_the_input_does_what_the_table_says(name):
    assert verdict(write_into_input(UNARY[name])) == SAVES[name]["inputs"][0]["overwrite"]


@pytest.mark.parametrize("name", UNARY)
def test_overwriting_the_output_does_what_the_table_says(name):
    assert verdict(write_into_output(UNARY[name])) == SAVES[name]["outputs"][0]["overwrite"]


def write_into_second(operation):
    def function(x):
        second = x * 0.5 + 1.0
        result = operation(x * 1.0, second)
        second.mul_(3.0)
        return result

    return function


@pytest.mark.parametrize("name", PAIRS)
def test_overwriting_the_second_argument_does_what_the_table_says(name):
    assert verdict(write_into_second(PAIRS[name])) == SAVES[name]["inputs"][1]["overwrite"]


def test_what_raises_is_what_is_saved():
    """A copy whose input may not be overwritten keeps that input."""
    for row in DATA["saves"]:
        if VIEWS[row["operation"]]["kind"] != "copy":
            continue
        for part in [*row["inputs"], *row["outputs"]]:
            if part["overwrite"] != "no, the write raises":
                assert part["saved"] == (part["overwrite"] != "yes"), (row["operation"], part)


CALLS = {
    "transpose": lambda x: x.transpose(0, 1),
    "unsqueeze": lambda x: x.unsqueeze(0),
    "diagonal": lambda x: x.diagonal(),
    "exp": torch.exp,
    "cat": lambda x: torch.cat([x]),
    "clone": torch.clone,
    "expand": lambda x: x.expand(2, 3, 3),
    "repeat": lambda x: x.repeat(1, 1),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_view_is_what_changes_with_its_input(name):
    x = values().detach()
    result = CALLS[name](x)
    before = result.clone()
    x.add_(1)
    assert VIEWS[name]["kind"] == ("copy" if torch.equal(before, result) else "view")


def test_contiguous_is_a_view_or_a_copy():
    x = values().detach()
    assert x.contiguous() is x
    assert x.t().contiguous().data_ptr() != x.data_ptr()
    assert VIEWS["contiguous"]["kind"] == "maybe"


@pytest.mark.parametrize("expression", ["x.clone()", "x.detach()", "x.data", "x[0]", "x[[0, 1]]"])
def test_sharing_is_what_a_write_shows(expression):
    leaf = torch.ones(2, 3, requires_grad=True)
    x = leaf * 2
    result = eval(expression)
    version = x._version
    with torch.no_grad():
        result.fill_(7.0)
    row = SHARING[expression]
    assert row["shares_memory"] == bool((x == 7).any())
    assert row["keeps_history"] == (result.grad_fn is not None)
    if row["shares_memory"]:
        assert (row["counts_writes"] == "yes") == (x._version > version)


def test_recording_belongs_to_the_torch_that_is_built():
    assert DATA["torch"] == torch.__version__.partition("+")[0]


def test_every_operation_of_the_recording_is_shown():
    for kind, key in (("saves", "saves"), ("views", "views"), ("sharing", "sharing")):
        head, rows = TABLES[kind](DATA)
        assert len(rows) == len(DATA[key])
        html = html_of(kind, head, rows)
        names = re.findall(r'<th scope="row"><code>', html) or re.findall(r'<th scope="row">', html)
        assert len(names) == len(rows)


def test_each_argument_has_news_of_its_own():
    head, rows = TABLES["saves"](DATA)
    number = next(number for number, row in enumerate(rows) if row[0].text == "addmm")
    html = html_of("saves", head, rows[number : number + 1])
    assert '<span class="good">input: yes</span>' in html
    assert '<span class="bad">argument 2: no, backward raises</span>' in html


def test_page_tells_how_many_expressions_were_executed():
    assert f" {len(SHARING)} expressions were executed" in provenance(DATA, "sharing")
    assert f" {len(SAVES)} operations were called" in provenance(DATA, "saves")


EXPRESSIONS = [
    "x.clone()", "x.detach()", "x.data", "x.contiguous()", "x.reshape(-1)", "x.to(x.dtype)",
    "x.numpy()", "x.sum().item()", "torch.empty_like(x).copy_(x)", "x[0]", "x[[0, 1]]",
]  # fmt: skip


def test_what_readers_ask_about_is_executed_in_every_mode():
    assert set(EXPRESSIONS) <= SHARING.keys()
    assert all(row["under_no_grad"] and row["in_inference_mode"] for row in DATA["sharing"])
    assert SHARING["x.clone()"]["in_inference_mode"].endswith("inference tensor")
    assert SHARING["x.numpy()"]["raises"] == "RuntimeError"


def test_every_untried_operation_says_why():
    assert all(row["why"] for row in DATA["untried"])
    tried = SAVES.keys() & {row["operation"] for row in DATA["untried"]}
    assert not tried


@pytest.fixture
def table_page(tmp_path):
    """Return a page with the table of views, opened in a browser."""
    from playwright.sync_api import sync_playwright

    from tools.require_browser import find_browser

    script = (ROOT / "docs" / "_static" / "tables.js").read_text("utf-8")
    style = (ROOT / "docs" / "_static" / "pictures.css").read_text("utf-8")
    table = html_of("views", *TABLES["views"](DATA))
    path = tmp_path / "table.html"
    path.write_text(
        f"<!doctype html><style>{style}</style><body>{table}<script>{script}</script>", "utf-8"
    )
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_browser(), args=["--no-sandbox"])
        page = browser.new_page()
        page.goto(f"{path.as_uri()}?q=reshape")
        yield page
        browser.close()


def visible_operations(page) -> list[str]:
    return page.locator("tbody tr:not([hidden]) th").all_text_contents()


def test_table_is_searched_by_all_words_and_from_the_address(table_page):
    assert set(visible_operations(table_page)) == {"reshape", "reshape_as"}
    table_page.get_by_label("Search").fill("view unbind several")
    assert visible_operations(table_page) == ["unbind"]
    assert table_page.get_by_role("status").text_content() == f"1 of {len(VIEWS)}"


def test_table_is_sorted_by_a_column_both_ways(table_page):
    table_page.get_by_label("Search").fill("")
    for direction in ("ascending", "descending"):
        table_page.get_by_role("button", name="returns").click()
        texts = table_page.locator("tbody tr td:nth-child(2)").all_text_contents()
        assert texts == sorted(texts, reverse=direction == "descending")
        heading = table_page.locator("th[aria-sort]")
        assert heading.get_attribute("aria-sort") == direction


def test_keyboard_sorts_and_the_order_is_read_aloud(table_page):
    table_page.get_by_label("Search").press("Tab")
    table_page.keyboard.press("Tab")
    table_page.keyboard.press("Enter")
    assert table_page.locator("th[aria-sort]").text_content() == "returns"
    status = table_page.get_by_role("status").text_content()
    assert status == f'2 of {len(VIEWS)}, sorted by "returns", ascending'


def test_narrow_page_shows_every_column_of_a_table_that_is_still_one(table_page):
    table_page.set_viewport_size({"width": 400, "height": 800})
    assert table_page.evaluate("document.documentElement.scrollWidth") <= 400
    assert table_page.get_by_role("columnheader").count() == len(TABLES["views"](DATA)[0])
    row = table_page.get_by_role("row").nth(1)
    assert row.get_by_role("cell").count() == len(TABLES["views"](DATA)[0]) - 1
