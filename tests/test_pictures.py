"""Pictures show what really happened: walking, drawing, and what the site contains."""

from __future__ import annotations

import io
import re
import runpy
import sys
from contextlib import redirect_stderr, redirect_stdout

import pytest
import torch
from block_tracer import Step, look
from conftest import GALLERY, ROOT
from gallery_build import enter, fingerprint
from graph_dot import dot
from graph_pictures import breakable, data_of, facts, pictures_of, timeline
from graph_svg import renderer_version, svg
from graph_walk import GraphError, walk
from isolated_run import run_isolated
from minisite import page
from picture_comments import PictureComment, picture_comments, without_picture_comments
from script_header import read_header, script_name

TIME_LIMIT = 180
PICTURED = [path for path in GALLERY if picture_comments(path.read_text("utf-8"))]


def modified() -> dict[str, torch.Tensor]:
    """Return tensors of which one was overwritten after it was saved."""
    x = torch.ones(3, requires_grad=True)
    y = x.exp()
    y += 1
    return {"x": x, "y": y}


def only(found, name):
    (node,) = (node for node in found.nodes if node.name == name)
    return node


# -- Walking -------------------------------------------------------------------------------------------


def test_walk_reports_the_versions_that_backward_would_compare():
    names = modified()
    (saved,) = only(walk({"y": names["y"]}, names), "ExpBackward0").saved
    with pytest.raises(RuntimeError) as caught:
        names["y"].sum().backward()
    assert f"is at version {saved.now}; expected version {saved.then}" in str(caught.value)
    assert saved.state == "stale"


def test_walk_leaves_everything_as_it_was():
    x = torch.ones(3, requires_grad=True)
    y = x.exp()
    graph = walk({"y": y}, {"x": x, "y": y})
    assert only(graph, "ExpBackward0").saved[0].state == "kept"
    y.sum().backward()
    torch.testing.assert_close(x.grad, x.detach().exp())
    assert y._version == 0


def test_walk_calls_no_hook_of_the_script():
    calls = []
    x = torch.ones(3, requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: calls.append(t) or t):
        y = x.exp()
    (saved,) = only(walk({"y": y}, {}), "ExpBackward0").saved
    assert (saved.state, calls) == ("hooked", [])


def test_walk_sees_what_was_freed():
    x = torch.ones(3, requires_grad=True)
    y = x.exp()
    y.sum().backward()
    assert only(walk({"y": y}, {}), "ExpBackward0").saved[0].state == "freed"


def test_walk_names_the_function_inside_copy_slices():
    x = torch.ones(2, requires_grad=True)
    table = torch.zeros(2, 2)
    table[0] = x
    graph = look(lambda: walk({"table": table}, {"x": x}))
    node = only(graph, "CopySlices")
    assert (node.inner, node.shape) == ("CopyBackwards", "(2, 2)")
    assert [word for _, word in node.next] == ["value"]


def test_walk_finds_base_and_shared_memory_of_a_view():
    table = torch.zeros(2, 2)
    row = table[0]
    boxes = {box.names[0]: box for box in walk({"row": row}, {"table": table, "row": row}).tensors}
    assert boxes["row"].base == boxes["table"].key
    assert boxes["row"].memory == boxes["table"].memory == "A"


def test_walk_tells_whose_view_was_saved():
    weight = torch.ones(2, 3, requires_grad=True)
    x = torch.ones(1, 3, requires_grad=True)
    graph = walk({"y": x @ weight.t()}, {"weight": weight, "x": x})
    key = next(box.key for box in graph.tensors if box.names == ["weight"])
    assert {(s.name, s.part_of) for s in only(graph, "MmBackward0").saved} == {
        ("mat2", key),
        ("self", None),
    }


def test_walk_tells_the_number_that_was_saved():
    x = torch.ones(2, requires_grad=True)
    factor = torch.tensor(3.0)
    y = x * 2 * factor
    outer, inner = (
        node.saved[0] for node in walk({"y": y}, {"factor": factor}).nodes if node.saved
    )
    assert (inner.number, inner.tensor) == ("2", None)
    assert (outer.number, outer.tensor is None) == (None, False)


def test_walk_tells_apart_kinds_of_tensors():
    weight = torch.ones(2, requires_grad=True)
    loss = (weight * 3).sum()
    loss.backward()
    boxes = {box.names[0]: box for box in walk({"loss": loss}, {"weight": weight}).tensors}
    assert (boxes["weight"].is_leaf, boxes["weight"].has_grad) == (True, True)
    assert (boxes["loss"].is_leaf, boxes["loss"].has_grad) == (False, None)
    assert boxes["loss"].grad_fn == type(loss.grad_fn).__name__


def test_what_is_not_a_tensor_is_refused_in_one_sentence():
    with pytest.raises(GraphError, match="'loss' is a float, not a tensor"):
        walk({"loss": 1.0}, {})


# -- Drawing -------------------------------------------------------------------------------------------


def test_same_graph_gives_same_text_and_same_drawing():
    first, second = (walk({"y": names["y"]}, names) for names in (modified(), modified()))
    assert dot(first) == dot(second)
    assert svg(first, prefix="p", title="t") == svg(second, prefix="p", title="t")


def test_drawing_leaves_colors_and_fonts_to_the_style_sheet():
    names = modified()
    drawing = svg(walk({"y": names["y"]}, names), prefix="p", title="t")
    assert not re.search(r'\b(fill|stroke|font-family|font-size|style)="', drawing)
    used = set(re.findall(r'class="([^"]*)"', drawing))
    sheet = (ROOT / "docs" / "_static" / "pictures.css").read_text("utf-8")
    named = {name for group in used for name in group.split()}
    structural = {"node", "edge", "function", "next", "grad-fn", "accumulate", "saved"}
    assert {name for name in named if f".{name}" not in sheet} <= structural


def test_drawing_can_be_read_aloud():
    names = modified()
    drawing = svg(walk({"y": names["y"]}, names), prefix="p", title="Graph of y")
    assert 'role="img"' in drawing
    assert '<title id="p-title">Graph of y</title>' in drawing
    assert "ExpBackward0 saved result: y at version 0, now 1" in drawing


def test_box_of_a_view_names_its_base():
    table = torch.zeros(2, 2)
    row = table[0]
    drawing = svg(walk({"row": row}, {"row": row, "table": table}), prefix="p", title="t")
    assert ">view of table</text>" in drawing
    unnamed = svg(walk({"row": row}, {"row": row}), prefix="p", title="t")
    assert ">a view</text>" in unnamed
    assert ">no name</text>" in unnamed


def test_renderer_tells_its_version():
    assert "graphviz" in renderer_version().lower()
    assert renderer_version("no-such-renderer") == ""
    assert fingerprint("cpu", "") != fingerprint("cpu", "no-such-renderer")


# -- Comments ------------------------------------------------------------------------------------------

BLOCK = """\
y = x.exp()
# draw: y, x as "before"
y += 1  # draw: not a comment of its own

# timeline: y
"""


def test_comments_name_what_they_want():
    first, second = picture_comments(BLOCK)
    assert (first.kind, first.names, first.title, first.line) == ("draw", ("y", "x"), "before", 2)
    assert (second.kind, second.names, second.line) == ("timeline", ("y",), 5)


def test_page_shows_no_comment_and_no_gap():
    shown = without_picture_comments(BLOCK)
    assert shown == "y = x.exp()\ny += 1  # draw: not a comment of its own\n"
    assert without_picture_comments("x = 1\n\n\n\ny = 2\n") == "x = 1\n\n\n\ny = 2\n"


# -- Blocks --------------------------------------------------------------------------------------------

SCRIPT = '''\
"""
T
=
"""
# %%
import torch
x = torch.ones(3, requires_grad=True)
y = x.exp()
# draw: y as "before"
y += 1
try:
    y.sum().backward()
except RuntimeError as error:
    message = str(error)
# draw: y as "after"
# timeline: x, y
# facts: x, y as "In the end"
# %%
rows = [("kind", "is_leaf"), ("x", x.is_leaf)]
# table: rows
'''


@pytest.fixture
def pictures(tmp_path):
    script = tmp_path / "plot_one.py"
    script.write_text(SCRIPT, "utf-8")
    return run_isolated(lambda: list(pictures_of(script)), TIME_LIMIT)


def test_a_comment_between_statements_draws_that_moment(pictures):
    (before, after) = (data for kind, data in pictures if kind == "graph")
    versions = [
        next(box["version"] for box in data["tensors"] if box["names"] == ["y"])
        for data in (before, after)
    ]
    assert versions == [0, 1]


def test_timeline_tells_who_saved_who_wrote_and_what_was_compared(pictures):
    (steps,) = (data for kind, data in pictures if kind == "timeline")
    by_code = {step["code"]: step for step in steps}
    assert list(by_code)[1:4] == ["y = x.exp()", "y += 1", "y.sum().backward()"]
    (save,) = by_code["y = x.exp()"]["saved"]
    assert (save["name"], save["node"], save["then"]) == ("y", "ExpBackward0", 0)
    assert by_code["y += 1"]["wrote"] == ["y"]
    (compared,) = by_code["y.sum().backward()"]["compared"]
    assert (compared["then"], compared["now"]) == (0, 1)
    assert "is at version 1; expected version 0" in by_code["y.sum().backward()"]["error"]


def test_timeline_begins_where_its_tensor_does():
    steps = [
        Step(1, "scale = 2"),
        Step(2, "y = x * scale", {"y": 0}, ["y"]),
        Step(3, "y += 1", {"y": 1}, [], ["y"]),
    ]
    html = timeline(PictureComment("timeline", ("y",), None, 1), steps)
    assert re.findall(r'<th scope="col".*?<code>(.*?)</code>', html) == ["y = x * scale", "y += 1"]
    assert "--lines: 2" in html
    assert html.count('role="cell"') == 2
    ((_, data),) = data_of(html)
    assert [step["line"] for step in data] == [1, 2, 3]


def test_code_breaks_after_a_bracket_or_a_dot_but_not_in_a_number():
    assert breakable("y.sum(1.0)") == "y.<wbr>sum(<wbr>1.0)"
    assert breakable("y.sum()") == "y.<wbr>sum()"


def test_facts_and_rows_are_those_of_the_run(pictures):
    found = dict(pictures)
    assert found["facts"][1:] == [
        ["x", True, True, None, 0, None],
        ["y", False, True, "AddBackward0", 1, None],
    ]
    assert found["rows"] == [["kind", "is_leaf"], ["x", "True"]]


def test_titles_stand_in_the_captions():
    comment = PictureComment("facts", ("x",), "In the end", 1)
    html = facts(comment, {"x": torch.ones(2)}, "p")
    assert "<figcaption><strong>In the end</strong>: what autograd knows" in html
    assert 'aria-label="In the end"' in html


def test_tracing_ends_with_the_block(pictures):
    assert sys.gettrace() is None or "block_tracer" not in repr(sys.gettrace())


# -- The site ------------------------------------------------------------------------------------------

DRAWN = """\

# %%
# A picture
# ---------
#
# Of a sum.

import torch

x = torch.ones(2, requires_grad=True)
total = x.sum()

# draw: total
# draw: x as "A leaf"
# timeline: x
"""


def test_comment_becomes_a_picture_on_page_and_nothing_in_notebook(site):
    site.script("one_example", page(extra=DRAWN))
    site.build()
    html = site.html()
    assert [kind for kind, _ in data_of(html)] == ["graph", "graph", "timeline"]
    notebook = (site.docs / "errors" / "plot_one_example.ipynb").read_text("utf-8")
    assert "# draw:" not in html
    assert "# draw:" not in notebook
    assert "# draw:" in (site.docs / "errors" / "plot_one_example.py").read_text("utf-8")
    ids = re.findall(r'\bid="([^"]+)"', html)
    assert len(ids) == len(set(ids))


def test_pictures_stand_below_the_output(site):
    site.script("one_example", page(extra=DRAWN + "print('the total is', total.item())\n"))
    site.build()
    html = site.html()
    assert 0 < html.index("the total is 2.0") < html.index("<figure")


def test_picture_that_cannot_be_drawn_ends_the_build(site):
    site.script("one_example", page(extra=DRAWN.replace("draw: total", "draw: missing")))
    with pytest.raises(Exception, match=r"plot_one_example.py:\d+: NameError: .*'missing'"):
        site.build()


def test_picture_of_a_page_can_be_shown_elsewhere(site):
    site.script("one_example", page(extra=DRAWN))
    site.write(
        "docs/index.md",
        "# Home\n\n```{picture-of} one-example\n```\n\n"
        "```{picture-of} one-example\n:title: A leaf\n```\n\n"
        "```{toctree}\nerrors/index\nglossary\n```\n",
    )
    site.build()
    home = (site.root / "out" / "index.html").read_text("utf-8")
    assert list(data_of(home)) == list(data_of(site.html()))[:2]


def test_picture_stands_for_a_family_in_the_index(site):
    site.script("one_example", page(extra=DRAWN))
    site.build(autograd_errors_family_pictures={"one": ("one-example", "A leaf")})
    index = (site.root / "out" / "errors" / "index.html").read_text("utf-8")
    assert list(data_of(index)) == list(data_of(site.html()))[1:2]
    with pytest.raises(Exception, match="expected the title of a picture of 'one-example'"):
        site.build(autograd_errors_family_pictures={"one": ("one-example", "A twig")})


def test_many_pages_have_a_graph():
    kinds = [{c.kind for c in picture_comments(path.read_text("utf-8"))} for path in PICTURED]
    assert sum("draw" in kind for kind in kinds) >= 25


def test_every_family_picture_is_one_of_its_family():
    conf = runpy.run_path(str(ROOT / "docs" / "conf.py"))
    for family, (name, title) in conf["autograd_errors_family_pictures"].items():
        script = ROOT / "gallery" / script_name(name)
        comments = picture_comments(script.read_text("utf-8"))
        assert read_header(script).family == family
        assert title is None or title in {comment.title for comment in comments}


@pytest.mark.parametrize("script", PICTURED, ids=lambda path: path.stem)
def test_site_shows_the_pictures_of_a_fresh_run(built, script):
    """Nodes, edges, tensors and steps are equal, whatever the drawing looks like."""
    if read_header(script).needs:
        pytest.skip(f"{script.name} needs {read_header(script).needs}")

    def fresh():
        enter("cpu")  # the warnings of a plain interpreter, not pytest's
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            return list(pictures_of(script))

    html = (built / "errors" / f"{script.stem}.html").read_text("utf-8")
    shown = list(data_of(html))
    assert shown
    assert shown == run_isolated(fresh, TIME_LIMIT)
