"""Write the skeleton of a page: ``python -m tools.new_page``, or with all answers as options.

The skeleton fails the checks until every TODO in it is replaced.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
NAME = re.compile(r"[a-z]+(_[a-z0-9]+)+")
LONGEST_NAME = 40

SKELETON = '''\
# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.autograd-errors]
# causes = ["TODO/a-name-from-catalogue-causes.tsv"]
{error}# ///
"""
TODO: what you did, in plain words
==================================

TODO: one sentence that says what happened. Then why autograd minds, linking
each term once, such as `leaf tensor`.
"""

import traceback

import torch

# %%
# {opening}
# {underline}
#
# TODO: the situation in which a reader meets it.

weight = torch.ones(2, requires_grad=True)

{trigger}

# %%
# TODO: when to choose this fix
# -----------------------------
#
# TODO: why it is right.

weight = torch.ones(2, requires_grad=True)

torch.testing.assert_close(weight.grad, torch.tensor([0.0, 0.0]))  # TODO: known another way

# %%
# What only hides the error
# -------------------------
#
# TODO: run the popular advice that is wrong, or delete this section.
'''
ERROR = """\
#
# [[tool.autograd-errors.error]]
# raises = "{raises}"
# message = {message}
# source = "TODO: the file in PyTorch's tree that raises it"
"""
FAILING = """\
try:
    pass  # TODO: the one statement that fails
except {raises}:
    traceback.print_exc()"""


def skeleton(raises: str, message: str) -> str:
    """Return the text of a page that documents *message*, or a silent mistake without one."""
    if not message:
        return SKELETON.format(
            error='# symptom = "TODO: what the reader sees, in their words"\n',
            opening="The mistake",
            underline="-----------",
            trigger="# TODO: the mistake",
        )
    quoted = '"' + message.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
    warns = raises.endswith("Warning")
    return SKELETON.format(
        error=ERROR.format(raises=raises, message=quoted),
        opening="The warning" if warns else "The error",
        underline="-----------" if warns else "---------",
        trigger="# TODO: the statement that warns" if warns else FAILING.format(raises=raises),
    )


def families() -> dict[str, str]:
    """Return the families of docs/conf.py, read without running it."""
    tree = ast.parse((ROOT / "docs" / "conf.py").read_text("utf-8"))
    for node in tree.body:
        if isinstance(node, ast.Assign) and node.targets[0].id == "autograd_errors_families":
            return ast.literal_eval(node.value)
    raise LookupError("docs/conf.py has no autograd_errors_families")


def main(arguments: list[str]) -> int:
    """Ask for what *arguments* does not give, and write the page."""
    parser = argparse.ArgumentParser(prog="nox -s new-page --", description=__doc__.splitlines()[0])
    parser.add_argument("--raises", help="the exception or warning, such as RuntimeError")
    parser.add_argument("--message", help="its whole text; empty for a silent mistake")
    parser.add_argument("--name", help="<family>_<what>, such as view_of_leaf; it is the address")
    parser.add_argument("--gallery", type=Path, default=ROOT / "gallery", help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    known = families()
    message = ask(given.message, "Message, whole, as PyTorch prints it (empty: a silent mistake)")
    raises = given.raises or (ask(None, "Type (RuntimeError, UserWarning ...)") if message else "")
    name = ask(given.name, f"Name, <family>_<what>; families: {', '.join(known)}\nName")
    problem = check_name(name, known, given.gallery)
    if problem:
        print(problem, file=sys.stderr)
        return 1
    page = given.gallery / f"plot_{name}.py"
    page.write_text(skeleton(raises, message), encoding="utf-8")
    print(f"Wrote {page}. Replace every TODO, then: nox -s check -- {page}")
    return 0


def ask(given: str | None, question: str) -> str:
    return given if given is not None else input(f"{question}: ").strip()


def check_name(name: str, known: dict[str, str], gallery: Path) -> str | None:
    """Return what is wrong with *name*, in one sentence, or nothing."""
    if not NAME.fullmatch(name) or len(f"plot_{name}.py") > LONGEST_NAME:
        return (
            f"Expected a name such as view_of_leaf (lower case, underscores, at most "
            f"{LONGEST_NAME} characters with plot_ and .py), found {name!r}."
        )
    if name.partition("_")[0] not in known:
        return f"Expected a name that begins with one of {', '.join(known)}, found {name!r}."
    if (gallery / f"plot_{name}.py").exists():
        return f"Expected a new name, found {name!r}, whose page exists already."
    return None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
