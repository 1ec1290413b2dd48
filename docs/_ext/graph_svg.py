"""Render a graph to inline SVG that follows the page's theme, can be selected and read aloud."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import TYPE_CHECKING

from graph_dot import MUTED_COLOR, STALE_COLOR, called, dot, saved_texts, tensor_facts

if TYPE_CHECKING:
    from graph_walk import Graph

SVG = "http://www.w3.org/2000/svg"
TIME_LIMIT = 30
POINT = re.compile(r"^([\d.]+)pt$")
TEXT_CLASSES = {MUTED_COLOR: "muted", STALE_COLOR: "stale"}
PRESENTATION = (
    "fill", "stroke", "font-family", "font-size", "font-weight",
    "{http://www.w3.org/XML/1998/namespace}space",
)  # fmt: skip


class RenderError(Exception):
    """A renderer that is missing or failed; its text says what to do."""


def svg(graph: Graph, *, prefix: str, title: str, renderer: str = "") -> str:
    """Return *graph* as an SVG element; ids inside it begin with *prefix*."""
    ET.register_namespace("", SVG)
    root = ET.fromstring(render(dot(graph), renderer))
    return ET.tostring(dress(root, prefix, title, description(graph)), encoding="unicode")


def render(text: str, renderer: str = "") -> str:
    """Return what *renderer*, or the installed one, makes of DOT *text*."""
    command = renderer or find_renderer()
    try:
        done = subprocess.run(
            [command, "-Tsvg"], input=text, capture_output=True, text=True, encoding="utf-8",
            timeout=TIME_LIMIT, check=True,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError) as problem:
        said = getattr(problem, "stderr", None) or problem
        raise RenderError(f"{command} could not draw a graph: {said}") from None
    return re.sub(r"(?s)<!DOCTYPE.*?>|<\?xml.*?\?>|<!--.*?-->", "", done.stdout).strip()


def find_renderer() -> str:
    """Return the command of the package graphviz-pure, or Graphviz's own."""
    beside = Path(sys.executable).parent
    for name in ("graphviz-pure", "dot"):
        found = shutil.which(name, path=str(beside)) or shutil.which(name)
        if found:
            return found
    raise RenderError("no renderer for graphs: install graphviz-pure (pip) or Graphviz (dot)")


def renderer_version(renderer: str = "") -> str:
    """Return what *renderer*, or the installed one, says of itself; nothing if there is none."""
    try:
        command = [renderer or find_renderer(), "-V"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIME_LIMIT)
    except (RenderError, OSError, subprocess.SubprocessError):
        return ""
    return done.stdout + done.stderr  # Graphviz's own dot answers on the second


def dress(root: ET.Element, prefix: str, title: str, text: str) -> ET.Element:
    """Take colors and fonts out of *root*, so that the style sheet rules, and name its parts."""
    plain = ET.Element(f"{{{SVG}}}svg", viewBox=root.attrib["viewBox"].replace(".00", ""))
    for side in ("width", "height"):
        points = POINT.match(root.attrib[side])
        plain.set(side, points[1] if points else root.attrib[side])
    plain.attrib |= {
        "class": "autograd-graph",
        "role": "img",
        "aria-labelledby": f"{prefix}-title {prefix}-desc",
    }
    ET.SubElement(plain, f"{{{SVG}}}title", id=f"{prefix}-title").text = title
    ET.SubElement(plain, f"{{{SVG}}}desc", id=f"{prefix}-desc").text = text
    drawing = root.find(f"{{{SVG}}}g")
    moved = re.search(r"translate\([^)]*\)", drawing.attrib["transform"])[0]
    group = ET.SubElement(plain, f"{{{SVG}}}g", transform=moved)
    for part in drawing.iter(f"{{{SVG}}}g"):
        if part is not drawing:
            group.append(dress_part(part))
    return plain


def dress_part(part: ET.Element) -> ET.Element:
    """Return a node or an edge with classes in place of colors, without its tooltip."""
    dressed = ET.Element(f"{{{SVG}}}g", {"class": part.attrib["class"]})
    for shape in part.iter():
        kind = shape.tag.partition("}")[2]
        if kind not in ("polygon", "path", "text", "polyline", "ellipse"):
            continue
        style = text_class(shape) if kind == "text" else "arrow" if is_arrow(part, kind) else None
        for name in PRESENTATION:
            shape.attrib.pop(name, None)
        if style:
            shape.set("class", style)
        shape.tail = None
        dressed.append(shape)
    return dressed


def text_class(text: ET.Element) -> str | None:
    """Return the class that says what the marks on a text said."""
    if text.get("font-weight") == "bold":
        return "name"
    return TEXT_CLASSES.get(text.get("fill", ""))


def is_arrow(part: ET.Element, kind: str) -> bool:
    return part.attrib["class"].startswith("edge") and kind == "polygon"


# -- In words ----------------------------------------------------------------------------------------


def description(graph: Graph) -> str:
    """Return the graph as sentences, for those who cannot see it."""
    tensors = {tensor.key: tensor for tensor in graph.tensors}
    nodes = {node.key: node.name for node in graph.nodes}
    said = []
    for tensor in graph.tensors:
        facts = tensor_facts(tensor, graph)
        if tensor.node:
            facts.append(f"made by {nodes[tensor.node]}")
        said.append(f"{called(tensor)}: {', '.join(facts)}.")
    for node in graph.nodes:
        facts = [f"runs {node.inner} on a part of its base"] if node.inner else []
        facts += [" ".join(saved_texts(saved, graph)) for saved in node.saved]
        if node.variable:
            facts.append(f"adds into .grad of {called(tensors[node.variable])}")
        if node.next:
            facts.append(f"leads to {', '.join(nodes[key] for key, _ in node.next)}")
        said.append(f"{node.name} {'; '.join(facts) or 'ends here'}.")
    return " ".join(said)
