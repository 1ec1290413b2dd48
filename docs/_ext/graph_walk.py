"""Walk the graph that autograd recorded and describe it with plain data.

Nothing here changes what a script does next: no hook is set and no backward is run. Asking a node
for a saved tensor can raise the very error that a page is about, so each such question is guarded
and asked only where no hook of the script's own would answer it. `walk` still belongs into a
forked child: asking a view for its ``grad_fn`` makes autograd renew that node.
"""

from __future__ import annotations

import re
import warnings
from collections import Counter
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

import torch
from torch.autograd.function import FunctionCtx

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from typing import Any

MOST_NODES = 60
RAW = "_raw_saved_"
VERSIONS = re.compile(r"is at version (?P<now>\d+); expected version (?P<saved>\d+) instead")
COPY_SLICES = "CopySlices"
ACCUMULATE = "AccumulateGrad"


class GraphError(Exception):
    """A picture that cannot be drawn; its text is one sentence."""


@dataclass
class SavedTensor:
    """A tensor that a node keeps for backward."""

    name: str
    tensor: str | None
    """The key of the drawn tensor whose memory it is."""
    then: int | None
    """The version when it was saved, None where it cannot be known."""
    now: int | None
    state: str
    """"kept", "stale", "freed", or "hooked" when a hook of the script packed it."""
    part_of: str | None = None
    """The key of the drawn tensor that it is another view of."""
    number: str | None = None
    """The value of a tensor that the script does not know: the 2 of ``x * 2``."""


@dataclass
class Node:
    """A node of the graph: what backward runs."""

    key: str
    name: str
    next: list[tuple[str, str]] = field(default_factory=list)
    """The nodes that backward goes on with, each with what leads there."""
    saved: list[SavedTensor] = field(default_factory=list)
    inner: str | None = None
    shape: str | None = None
    variable: str | None = None
    """The key of the leaf tensor into whose ``.grad`` the node adds."""


@dataclass
class TensorBox:
    """A tensor of the script, with the facts that autograd decides by."""

    key: str
    names: list[str]
    shape: str
    is_leaf: bool
    requires_grad: bool
    version: int | None
    has_grad: bool | None
    """None where autograd never fills ``.grad``."""
    node: str | None = None
    """The key of its ``grad_fn``."""
    grad_fn: str | None = None
    base: str | None = None
    memory: str | None = None
    """A letter that the drawn tensors with the same storage share."""
    is_target: bool = False


@dataclass
class Graph:
    """What was reachable from the drawn tensors."""

    tensors: list[TensorBox] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)

    def data(self) -> dict[str, Any]:
        """Return the graph as JSON can hold it."""
        return asdict(self)


def walk(targets: Mapping[str, Any], namespace: Mapping[str, Any]) -> Graph:
    """Return the graph behind *targets*, with names from *namespace*."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _Walk(targets, namespace).graph


class _Walk:
    def __init__(self, targets: Mapping[str, Any], namespace: Mapping[str, Any]) -> None:
        self.graph = Graph()
        self.boxes: dict[int, TensorBox] = {}
        self.tensors: dict[str, torch.Tensor] = {}
        self.nodes: dict[int, Node] = {}
        self.kept: list[Any] = []  # a node must outlive the saved tensors read from it
        self.linked = 0
        self.named: dict[int, tuple[torch.Tensor, list[str]]] = {}
        for name, tensor in [*named_tensors(namespace), *targets.items()]:
            if not isinstance(tensor, torch.Tensor):
                raise GraphError(f"{name!r} is a {type(tensor).__name__}, not a tensor")
            names = self.named.setdefault(id(tensor), (tensor, []))[1]
            if name not in names:
                names.append(name)
        for tensor in targets.values():
            self.box(tensor).is_target = True
        self.follow(tensor for tensor in targets.values())
        self.add_bases()
        self.add_producers()
        self.describe_saved()
        self.letter_memory()

    # -- Nodes -------------------------------------------------------------------------------------

    def follow(self, tensors: Iterable[torch.Tensor]) -> None:
        """Walk breadth first, in the order of the inputs, so that two runs agree."""
        queue = [node for tensor in tensors if (node := grad_fn(tensor)) is not None]
        for node in queue:
            if id(node) in self.nodes:
                continue
            if len(self.nodes) == MOST_NODES:
                raise GraphError(f"the graph has more than {MOST_NODES} nodes")
            self.nodes[id(node)] = self.node(node)
            queue += [follower for follower, _ in node.next_functions if follower is not None]
        for original in self.kept[self.linked :]:
            node = self.nodes[id(original)]
            node.next = [
                (self.nodes[id(follower)].key, role(node, number))
                for number, (follower, _) in enumerate(original.next_functions)
                if follower is not None
            ]
        self.linked = len(self.kept)

    def node(self, original: Any) -> Node:
        self.kept.append(original)
        node = Node(f"n{len(self.nodes)}", node_name(original))
        self.graph.nodes.append(node)
        if node.name == ACCUMULATE:
            node.variable = self.box(original.variable).key
        if node.name == COPY_SLICES:
            node.inner = inner_function(original)
            node.shape = shape_of(original._input_metadata[0].shape)
        return node

    # -- Tensors -----------------------------------------------------------------------------------

    def box(self, tensor: torch.Tensor) -> TensorBox:
        if id(tensor) in self.boxes:
            return self.boxes[id(tensor)]
        names = self.named.get(id(tensor), (tensor, []))[1]
        fills_grad = tensor.requires_grad and (tensor.is_leaf or tensor.retains_grad)
        box = TensorBox(
            key=f"t{len(self.boxes)}",
            names=names,
            shape=shape_of(tensor.shape),
            is_leaf=tensor.is_leaf,
            requires_grad=tensor.requires_grad,
            version=version_of(tensor),
            has_grad=(tensor.grad is not None) if fills_grad else None,
        )
        self.boxes[id(tensor)] = box
        self.tensors[box.key] = tensor
        self.graph.tensors.append(box)
        return box

    def add_bases(self) -> None:
        for tensor in list(self.tensors.values()):
            if tensor._base is not None:
                base = self.box(tensor._base)
                self.boxes[id(tensor)].base = base.key
                self.follow([tensor._base])

    def add_producers(self) -> None:
        """Show named results inside the graph, and which node made each shown tensor."""
        for tensor, _ in self.named.values():
            if tensor._base is None and id(grad_fn(tensor)) in self.nodes:
                self.box(tensor)
        for key, tensor in self.tensors.items():
            node = grad_fn(tensor)
            if node is not None:
                box = self.boxes[id(self.tensors[key])]
                box.grad_fn = node_name(node)
                box.node = self.nodes[id(node)].key if id(node) in self.nodes else None

    def describe_saved(self) -> None:
        for original in self.kept:
            for saved, data in saved_tensors(original):
                if data is not None:
                    owner = self.owner(data, same_memory)
                    saved.tensor = self.box(owner).key if owner is not None else None
                    whole = self.owner(data, shares_memory) if owner is None else None
                    saved.part_of = self.box(whole).key if whole is not None else None
                    if owner is None and whole is None and saved.state == "kept":
                        saved.number = number(data)
                self.nodes[id(original)].saved.append(saved)

    def owner(
        self, data: torch.Tensor, fits: Callable[[torch.Tensor, torch.Tensor], bool]
    ) -> torch.Tensor | None:
        """Return the tensor of the script that *fits* data, preferring one already drawn."""
        drawn = list(self.tensors.values())
        for tensor in [*drawn, *(tensor for tensor, _ in self.named.values())]:
            if fits(tensor, data):
                return tensor
        return None

    def letter_memory(self) -> None:
        keys = {box.key: memory(self.tensors[box.key]) for box in self.graph.tensors}
        shared = {key for key, count in Counter(keys.values()).items() if count > 1 and key}
        letters: dict[int, str] = {}
        for box in self.graph.tensors:
            place = keys[box.key]
            if place in shared:
                box.memory = letters.setdefault(place, chr(ord("A") + len(letters)))


# -- Questions to torch ------------------------------------------------------------------------------


def named_tensors(namespace: Mapping[str, Any]) -> Iterator[tuple[str, torch.Tensor]]:
    """Yield the tensors that a script can name: variables, items of lists, parameters."""
    for name, value in list(namespace.items()):
        if name.startswith("_"):
            continue
        if isinstance(value, torch.Tensor):
            yield name, value
        elif isinstance(value, torch.nn.Module):
            for inner, tensor in [*value.named_parameters(), *value.named_buffers()]:
                yield f"{name}.{inner}", tensor
        elif isinstance(value, (list, tuple)):
            for number, item in enumerate(value):
                if isinstance(item, torch.Tensor):
                    yield f"{name}[{number}]", item


def grad_fn(tensor: torch.Tensor) -> Any:
    """Return the tensor's node, or None where there is none or autograd refuses to tell."""
    try:
        return tensor.grad_fn
    except RuntimeError:
        return None


def node_name(node: Any) -> str:
    """Return the name that ``print(tensor.grad_fn)`` shows."""
    return type(node).__name__


def shape_of(shape: Iterable[int]) -> str:
    """Return a shape as Python writes a tuple."""
    return str(tuple(int(size) for size in shape))


def version_of(tensor: torch.Tensor) -> int | None:
    """Return the version counter, None for an inference tensor, which has none."""
    return None if tensor.is_inference() else tensor._version


def number(tensor: torch.Tensor) -> str | None:
    """Return the value of a tensor that wraps a number of Python, None for any other."""
    if tensor.dim() or tensor.requires_grad or tensor.device.type != "cpu":
        return None
    try:
        return f"{tensor.item():g}"
    except (RuntimeError, TypeError, ValueError):  # of a transform, or a bool or complex number
        return None


def memory(tensor: torch.Tensor) -> int | None:
    """Return what tells apart the storages of a run, None for a tensor without one."""
    try:
        return tensor.untyped_storage()._cdata if tensor.numel() else None
    except (NotImplementedError, RuntimeError):
        return None


def shares_memory(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Return whether both tensors have one storage."""
    return memory(one) is not None and memory(one) == memory(other)


def same_memory(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Return whether both tensors are the same window on the same storage."""
    return (
        shares_memory(one, other)
        and one.storage_offset() == other.storage_offset()
        and one.shape == other.shape
        and one.stride() == other.stride()
    )


def role(node: Node, number: int) -> str:
    """Return what an edge of ``CopySlices`` leads to; other nodes' edges need no word."""
    if node.name != COPY_SLICES:
        return ""
    return "base" if number == 0 else "value"


def saved_tensors(node: Any) -> Iterator[tuple[SavedTensor, torch.Tensor | None]]:
    """Yield what *node* saved, with the data where they are still there."""
    for attribute in dir(node):
        if not attribute.startswith(RAW):
            continue
        name = attribute.removeprefix(RAW)
        try:
            raw = getattr(node, attribute)
        except RuntimeError:  # freed as a whole
            if not isinstance(node, FunctionCtx):  # which may have saved nothing
                yield SavedTensor(name, None, None, None, "freed"), None
            continue
        several = isinstance(raw, tuple)
        items = raw if several else (raw,)
        versions = [saved_version(node, name, items, number) for number in range(len(items))]
        for number, (item, then) in enumerate(zip(items, versions, strict=True)):
            label = f"{name}[{number}]" if several and len(items) > 1 else name
            if item.unpack_hook is not None:
                yield SavedTensor(label, None, None, None, "hooked"), None
            elif item.data is not None:
                now = version_of(item.data)
                state = "stale" if then is not None and then != now else "kept"
                yield SavedTensor(label, None, then, now, state), item.data
            elif was_freed(node, name):
                yield SavedTensor(label, None, None, None, "freed"), None


def was_freed(node: Any, name: str) -> bool:
    """Return whether a saved tensor without data was freed; an optional one was never there."""
    try:
        return getattr(node, f"_saved_{name}", None) is not None
    except RuntimeError:
        return True


def saved_version(node: Any, name: str, items: tuple[Any, ...], number: int) -> int | None:
    """Return the version at which *items[number]* was saved.

    torch tells it only in the message of the failed comparison, so the comparison that backward
    would make is made here; where it holds, the version saved is the version now.
    """
    item = items[number]
    if item.unpack_hook is not None or item.data is None:
        return None
    now = version_of(item.data)
    try:
        item.unpack()
    except RuntimeError as error:
        if found := VERSIONS.search(str(error)):
            return int(found["saved"])
    else:
        return now
    # An output knows the node that made it, so only the node can unpack it.
    if any(other.unpack_hook is not None for other in items):
        return None
    getter = "saved_tensors" if hasattr(node, "saved_tensors") else f"_saved_{name}"
    try:
        getattr(node, getter)
    except RuntimeError as error:
        found = VERSIONS.search(str(error))
        return int(found["saved"]) if found and int(found["now"]) == now else None
    return now


def inner_function(node: Any) -> str | None:
    """Return the name of the function that ``CopySlices`` runs on the written part.

    Python cannot see it, so the node alone is called and the profiler asked what it ran. Inside a
    forked child only; the gradients that come back are dropped.
    """
    kind = node._input_metadata[0]
    shape = tuple(int(size) for size in kind.shape)
    gradient = torch.ones(shape, dtype=kind.dtype, device="cpu")  # no CUDA in a forked child
    with torch.autograd.profiler.profile(use_kineto=False) as profile, suppress(RuntimeError):
        node(gradient)  # raises for a stale saved tensor, but notes the function's name before
    for event in profile.function_events:
        above = event.cpu_parent
        if event.scope == 1 and above is not None and above.name.endswith(COPY_SLICES):
            return event.name.rpartition("::")[2]
    return None
