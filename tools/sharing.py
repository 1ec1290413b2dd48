"""Try what copies, cuts and shares: each expression with a tensor, in each grad mode."""

from __future__ import annotations

import copy
import warnings
from dataclasses import dataclass

import numpy as np
import torch

EXPRESSIONS = (
    "x.clone()",
    "x.detach()",
    "x.detach().clone()",
    "x.data",
    "x.view(-1)",
    "x.reshape(-1)",
    "x.t().reshape(-1)",
    "x.flatten()",
    "x.unflatten(1, (1, 3))",
    "x.contiguous()",
    "x.t().contiguous()",
    "x.t()",
    "x.transpose(0, 1)",
    "x.permute(1, 0)",
    "x.unsqueeze(0)",
    "x.squeeze()",
    "x.expand(4, 2, 3)",
    "x.repeat(1, 1)",
    "x.narrow(1, 0, 2)",
    "x.diagonal()",
    "x.unbind()[0]",
    "x.chunk(2)[0]",
    "x.split(1)[0]",
    "x[0]",
    "x[:, 1:]",
    "x[..., None]",
    "x[[0, 1]]",
    "x[torch.tensor([0, 1])]",
    "x[x > 0]",
    "x.masked_select(x > 0)",
    "x.index_select(0, torch.tensor([0]))",
    "x.gather(0, torch.zeros(1, 3, dtype=torch.long))",
    "x.to(x.dtype)",
    "x.to(x.device)",
    "x.to(x.dtype, copy=True)",
    "x.to(torch.float64)",
    "x.float()",
    "x.double()",
    "x.cpu()",
    "x.type_as(x)",
    "x + 0",
    "x * 1",
    "torch.cat([x])",
    "torch.stack([x])",
    "torch.empty_like(x).copy_(x)",
    "torch.nn.Parameter(x)",
    "torch.tensor(x)",
    "torch.as_tensor(x)",
    "x.new_tensor(x)",
    "copy.copy(x)",
    "copy.deepcopy(x)",
    "x.numpy()",
    "x.detach().numpy()",
    "torch.from_numpy(x.detach().numpy())",
    "x.tolist()",
    "x.sum().item()",
    "float(x.sum())",
    "x.detach_()",
    "x.requires_grad_()",
)
NAMES = {"torch": torch, "copy": copy}


@dataclass
class Sharing:
    """What became of memory, history and version counter."""

    expression: str
    raises: str | None = None
    """Type of the exception where the expression fails with a tensor that requires grad."""
    itself: bool | None = None
    shares_memory: bool | None = None
    keeps_history: bool | None = None
    counts_writes: str | None = None
    """Whether the counter of ``x`` notices a write into the result; None if nothing is shared."""
    under_no_grad: str | None = None
    in_inference_mode: str | None = None


def make() -> tuple[torch.Tensor, torch.Tensor]:
    """Return a leaf and a tensor computed from it."""
    leaf = torch.arange(1.0, 7.0).reshape(2, 3).requires_grad_()
    return leaf, leaf * 2


def try_expression(expression: str) -> Sharing:
    """Return what *expression* does with a tensor ``x`` that has a history."""
    warnings.simplefilter("ignore")
    found = Sharing(expression)
    leaf, x = make()
    try:
        result = evaluate(expression, x)
    except RuntimeError as error:
        found.raises = type(error).__name__
    else:
        found.itself = result is x
        found.shares_memory = shares(x, result)
        found.keeps_history = reaches(result, leaf)
        if found.shares_memory:
            found.counts_writes = counts(x, result)
    found.under_no_grad = in_mode(expression, torch.no_grad)
    found.in_inference_mode = in_mode(expression, torch.inference_mode)
    return found


def evaluate(expression: str, x: torch.Tensor) -> object:
    return eval(expression, {**NAMES, "x": x})


def array_of(value: object) -> np.ndarray | None:
    """Return the memory of a tensor or an array; numbers and lists have none to share."""
    if isinstance(value, torch.Tensor):
        return value.detach().numpy() if not value.is_inference() else numpy_of_inference(value)
    return value if isinstance(value, np.ndarray) else None


def numpy_of_inference(value: torch.Tensor) -> np.ndarray:
    with torch.inference_mode():
        return value.numpy()


def shares(x: torch.Tensor, result: object) -> bool:
    """Return whether a write into *result* would change *x*."""
    array = array_of(result)
    return array is not None and np.shares_memory(array_of(x), array)


def reaches(result: object, leaf: torch.Tensor) -> bool:
    """Return whether backward from *result* arrives at *leaf*."""
    if not isinstance(result, torch.Tensor) or not result.requires_grad:
        return False
    (gradient,) = torch.autograd.grad(result.sum(), leaf, allow_unused=True)
    return gradient is not None


def counts(x: torch.Tensor, result: object) -> str:
    """Return whether the version of *x* notices a write into *result*."""
    before = x._version
    try:
        with torch.no_grad():
            result.__iadd__(1)
    except RuntimeError:
        return "the write raises"
    return "yes" if x._version > before else "no"


def in_mode(expression: str, mode: type) -> str:
    """Return in words what *expression* gives when it runs inside a mode."""
    leaf, x = make()
    try:
        with mode():
            result = evaluate(expression, x)
    except RuntimeError as error:
        return type(error).__name__
    if not isinstance(result, torch.Tensor):
        return f"{'shares memory' if shares(x, result) else 'copies'}, not a tensor"
    words = [
        "the same tensor" if result is x else "shares memory" if shares(x, result) else "copies",
        "keeps history" if reaches_safely(result, leaf) else "no history",
    ]
    if result.is_inference():
        words.append("inference tensor")
    return ", ".join(words)


def reaches_safely(result: torch.Tensor, leaf: torch.Tensor) -> bool:
    return not result.is_inference() and reaches(result, leaf)
