"""Write a graph in the DOT language, the same graph always as the same text."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from graph_walk import Graph, Node, SavedTensor, TensorBox

FONT = "Courier New"  # the renderer measures it; readers see their own monospaced font
SIZE, SMALL = 13, 12
STALE_COLOR, MUTED_COLOR = "#c00001", "#808081"
"""Marks on texts, for which DOT knows no class; `graph_svg` turns them into classes."""

HEAD = f"""\
digraph autograd {{
  bgcolor="transparent" rankdir="TB" nodesep="0.2" ranksep="0.35"
  node [fontname="{FONT}" fontsize="{SIZE}" shape="plain"]
  edge [fontname="{FONT}" fontsize="{SMALL}" arrowsize="0.8"]
"""


def dot(graph: Graph) -> str:
    """Return *graph* as DOT: results on top, arrows the way backward walks."""
    lines = []
    for tensor in graph.tensors:
        classes = ["tensor"]
        classes += ["leaf"] if tensor.is_leaf else []
        classes += ["target"] if tensor.is_target else []
        classes += [] if tensor.requires_grad else ["constant"]
        lines.append(node_line(tensor.key, classes, tensor_label(tensor, graph)))
    for node in graph.nodes:
        lines.append(node_line(node.key, node_classes(node), node_label(node, graph)))
    for tensor in graph.tensors:
        if tensor.node:
            lines.append(edge_line(tensor.key, tensor.node, "grad-fn"))
        if tensor.base:
            lines.append(edge_line(tensor.key, tensor.base, "base", constraint=False))
    for node in graph.nodes:
        lines += [edge_line(node.key, other, "next", word) for other, word in node.next]
        if node.variable:
            lines.append(edge_line(node.key, node.variable, "accumulate"))
        for saved in node.saved:
            if owner := saved.tensor or saved.part_of:
                kind = "saved stale" if saved.state == "stale" else "saved"
                lines.append(edge_line(node.key, owner, kind, constraint=False))
    for place in shared_places(graph):
        lines.append(f"  {{ rank=same; {'; '.join(place)} }}")
    return HEAD + "".join(f"{line}\n" for line in lines) + "}\n"


def shared_places(graph: Graph) -> list[list[str]]:
    """Return views together with their bases where no arrow tells their order."""
    return [
        [tensor.key, tensor.base] for tensor in graph.tensors if tensor.base and not tensor.node
    ]


def node_classes(node: Node) -> list[str]:
    """Return the CSS classes of a node of the graph."""
    special = {"AccumulateGrad": ["accumulator"], "CopySlices": ["copy-slices"]}
    stale = any(saved.state == "stale" for saved in node.saved)
    return ["function", *special.get(node.name, []), *(["stale"] if stale else [])]


def tensor_label(tensor: TensorBox, graph: Graph) -> list[str]:
    """Return the rows of a tensor's box."""
    return [bold(called(tensor)), *map(muted, tensor_facts(tensor, graph))]


def called(tensor: TensorBox) -> str:
    """Return what the script calls a tensor."""
    return " = ".join(tensor.names) or "no name"


def tensor_facts(tensor: TensorBox, graph: Graph) -> list[str]:
    """Return what the box says below the name."""
    kind = "leaf" if tensor.is_leaf else "not a leaf"
    facts = [f"shape {tensor.shape}", kind if tensor.requires_grad else f"{kind}, no grad"]
    facts += [
        f"view of {called(box)}" if box.names else "a view"
        for box in graph.tensors
        if box.key == tensor.base
    ]
    if tensor.has_grad is not None:
        facts.append(".grad filled" if tensor.has_grad else ".grad None")
    facts.append("inference" if tensor.version is None else f"version {tensor.version}")
    if tensor.memory:
        facts.append(f"memory {tensor.memory}")
    return facts


def node_label(node: Node, graph: Graph) -> list[str]:
    """Return the rows of a node's box."""
    rows = [bold(node.name)]
    if node.inner:
        rows.append(muted(f"runs {node.inner}"))
    if node.shape:
        rows.append(muted(f"base {node.shape}"))
    for saved in node.saved:
        color = stale if saved.state == "stale" else muted
        rows += [color(text) for text in saved_texts(saved, graph)]
    return rows


def saved_texts(saved: SavedTensor, graph: Graph) -> list[str]:
    """Return what a node's box says about a saved tensor."""
    key = saved.tensor or saved.part_of
    names = next((box.names for box in graph.tensors if box.key == key), [])
    owner = f": {'view of ' if saved.part_of else ''}{names[0]}" if names else ""
    if saved.state in ("freed", "hooked"):
        word = "freed" if saved.state == "freed" else "packed by a hook"
        return [f"saved {saved.name}: {word}"]
    if saved.state == "stale":
        return [f"saved {saved.name}{owner}", f"at version {saved.then}, now {saved.now}"]
    if saved.number is not None:
        return [f"saved {saved.name}: {saved.number}"]
    at = "" if saved.then is None else f" at version {saved.then}"
    return [f"saved {saved.name}{owner}", at.strip()] if at else [f"saved {saved.name}{owner}"]


def bold(text: str) -> str:
    return f"<B>{escape(text, quote=False)}</B>"


def muted(text: str) -> str:
    return colored(text, MUTED_COLOR)


def stale(text: str) -> str:
    return colored(text, STALE_COLOR)


def colored(text: str, color: str) -> str:
    return f'<FONT COLOR="{color}" POINT-SIZE="{SMALL}">{escape(text, quote=False)}</FONT>'


def node_line(key: str, classes: list[str], rows: list[str]) -> str:
    cells = "".join(f'<TR><TD ALIGN="LEFT">{row}</TD></TR>' for row in rows)
    text = f'<TABLE BORDER="0" CELLSPACING="0" CELLPADDING="1">{cells}</TABLE>'
    style = "" if "tensor" in classes else ' STYLE="ROUNDED"'
    table = (
        '<TABLE BORDER="1" CELLBORDER="0" CELLSPACING="0" '
        f'CELLPADDING="3"{style}><TR><TD>{text}</TD></TR></TABLE>'
    )
    return f'  {key} [class="{" ".join(classes)}" label=<{table}>]'


def edge_line(tail: str, head: str, kind: str, label: str = "", *, constraint: bool = True) -> str:
    """Return an arrow; the spaces around its label keep the text off the line."""
    looks = {"grad-fn": 'style="dashed"', "base": 'style="dotted"', "saved": 'style="dotted"'}
    parts = [f'class="{kind}"', looks.get(kind.partition(" ")[0], "")]
    parts += [f'label=" {label} "'] if label else []
    parts += [] if constraint else ['constraint="false"']
    return f"  {tail} -> {head} [{' '.join(filter(None, parts))}]"
