"""Write ``docs/_data/torch.inv``, the names of torch that pages may link to.

``python -m tools.torch_inventory`` downloads the inventory of PyTorch's documentation; without
network it keeps to the names of the installed torch whose pages follow the documentation's rule,
one page a name under ``generated/``.
"""

from __future__ import annotations

import inspect
import sys
import urllib.error
import urllib.request
import zlib
from pathlib import Path

import torch

INVENTORY = Path(__file__).parents[1] / "docs" / "_data" / "torch.inv"
RELEASE = "2.13"
URL = f"https://docs.pytorch.org/docs/{RELEASE}/objects.inv"
MODULES = {
    "torch": torch,
    "torch.Tensor": torch.Tensor,
    "torch.nn": torch.nn,
    "torch.nn.functional": torch.nn.functional,
    "torch.nn.utils": torch.nn.utils,
    "torch.autograd": torch.autograd,
    "torch.autograd.functional": torch.autograd.functional,
    "torch.func": torch.func,
    "torch.optim": torch.optim,
    "torch.linalg": torch.linalg,
}
ON_ONE_PAGE = {
    "torch.amp": "amp.html",
    "torch.autocast": "amp.html",
    "torch.autograd": "autograd.html",
    "torch.autograd.Function": "autograd.html",
    "torch.autograd.forward_ad": "autograd.html",
    "torch.autograd.set_detect_anomaly": "autograd.html",
    "torch.autograd.graph": "autograd.html",
    "torch.distributed": "distributed.html",
    "torch.func": "func.html",
    "torch.library.custom_op": "library.html",
    "torch.linalg": "linalg.html",
    "torch.nn.attention.sdpa_kernel": "generated/torch.nn.attention.sdpa_kernel.html",
    "torch.autograd.graph.get_gradient_edge": "autograd.html",
    "torch.nn.init": "nn.init.html",
    "torch.nn.parallel.DistributedDataParallel": (
        "generated/torch.nn.parallel.DistributedDataParallel.html"
    ),
    "torch.nn.utils.parametrizations.weight_norm": (
        "generated/torch.nn.utils.parametrizations.weight_norm.html"
    ),
    "torch.testing.assert_close": "testing.html",
    "torch.nn.parameter.Parameter": "generated/torch.nn.parameter.Parameter.html",
    "torch.optim": "optim.html",
    "torch.special": "special.html",
    "torch.utils.checkpoint": "checkpoint.html",
}
SAME_AS = {
    "torch.nn.Parameter": "torch.nn.parameter.Parameter",
    "torch.no_grad": "torch.no_grad",
    "torch.inference_mode": "torch.autograd.grad_mode.inference_mode",
    "torch.enable_grad": "torch.enable_grad",
    "torch.autograd.gradcheck": "torch.autograd.gradcheck.gradcheck",
    "torch.autograd.gradgradcheck": "torch.autograd.gradcheck.gradgradcheck",
}


def main() -> int:
    """Write the inventory from the network, or else from the installed torch."""
    try:
        with urllib.request.urlopen(URL, timeout=20) as answer:
            INVENTORY.write_bytes(answer.read())
        print(f"{INVENTORY.name}: downloaded from {URL}")
    except (urllib.error.URLError, OSError) as problem:
        names = rule_based_names()
        INVENTORY.write_bytes(encode(names))
        print(f"{INVENTORY.name}: {len(names)} names by rule, since {URL} gave {problem}")
    return 0


def rule_based_names() -> dict[str, tuple[str, str]]:
    """Return name -> (kind, address) for what the documentation gives a page of its own."""
    found: dict[str, tuple[str, str]] = {}
    for prefix, owner in MODULES.items():
        for name, value in inspect.getmembers(owner):
            if name.startswith("_") or not callable(value):
                continue
            full = f"{prefix}.{name}"
            kind = "py:class" if inspect.isclass(value) else "py:function"
            kind = "py:method" if prefix == "torch.Tensor" else kind
            found[full] = (kind, f"generated/{full}.html#{full}")
    for name in ("grad", "requires_grad", "is_leaf"):
        full = f"torch.Tensor.{name}"
        found[full] = ("py:attribute", f"generated/{full}.html#{full}")
    for name, page in ON_ONE_PAGE.items():
        found[name] = ("py:function", f"{page}#{name}")
    for name, documented in SAME_AS.items():
        found[name] = ("py:function", f"generated/{documented}.html#{documented}")
    return found


def encode(names: dict[str, tuple[str, str]]) -> bytes:
    """Return an inventory in Sphinx's format, version 2."""
    head = (
        "# Sphinx inventory version 2\n"
        "# Project: PyTorch\n"
        f"# Version: {RELEASE}\n"
        "# The remainder of this file is compressed using zlib.\n"
    )
    lines = [f"{name} {kind} 1 {address} -\n" for name, (kind, address) in sorted(names.items())]
    return head.encode() + zlib.compress("".join(lines).encode(), 9)


if __name__ == "__main__":
    sys.exit(main())
