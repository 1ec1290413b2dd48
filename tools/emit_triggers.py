"""Run every trigger and write what it reports to tests/lookup/emitted.jsonl.

The lookup's tests dress these texts up as pastes; run this again when torch or a trigger changes.
Each trigger runs in a fork of a process that has torch imported, so the whole takes minutes.
"""

from __future__ import annotations

import json
import os
import re
import runpy
import select
import signal
import sys
import tempfile
import traceback
import warnings
from pathlib import Path

ROOT = Path(__file__).parents[1]
TRIGGERS = ROOT / "catalogue" / "triggers"
TARGET = ROOT / "tests" / "lookup" / "emitted.jsonl"
LONGEST = 90
INTERNAL = re.compile(r"\s+\(Triggered internally at [^)]*\)\.?$|\nException raised from[\s\S]*")
FRAMES = re.compile(r'  File "[\s\S]*(?:\n|$)')


def main() -> None:
    """Run all triggers, or those named on the command line, and write the texts sorted."""
    import torch  # noqa: F401  # imported once, inherited by every fork

    rows = sys.argv[1:] or sorted(path.stem for path in TRIGGERS.glob("*.py"))
    found = {}
    for row in rows:
        for kind, text in emitted(TRIGGERS / f"{row}.py"):
            found.setdefault((kind, neutral(text)), row)
    lines = [
        json.dumps({"row": row, "type": kind, "text": text}, ensure_ascii=False)
        for (kind, text), row in sorted(found.items(), key=lambda item: (item[1], item[0]))
    ]
    TARGET.parent.mkdir(exist_ok=True)
    TARGET.write_text("\n".join(lines) + "\n", encoding="utf-8")


def neutral(text: str) -> str:
    """Return *text* without what differs from run to run and machine to machine."""
    text = INTERNAL.sub("", text)
    text = FRAMES.sub('  File "train.py", line 12, in forward\\n    return x.sqrt()\\n', text)
    text = re.sub(r"0x[0-9a-f]{6,}", "0x7f0000000000", text)
    text = re.sub(r"(?:/[\w.+-]+)+/(?=(?:torch|lib|catalogue)/)", "/usr/lib/python3/", text)
    return text.strip()


def emitted(script: Path) -> list[tuple[str, str]]:
    """Return type and text of the warnings and the last exception of *script*."""
    readable, writable = os.pipe()
    child = os.fork()
    if child == 0:
        os.setsid()
        os.close(readable)
        report(script, writable)
    os.close(writable)
    data = b""
    while select.select([readable], [], [], LONGEST)[0]:
        part = os.read(readable, 65536)
        if not part:
            break
        data += part
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    os.close(readable)
    try:
        return [tuple(pair) for pair in json.loads(data)]
    except ValueError:
        print(f"{script.stem}: nothing reported", file=sys.stderr)
        return []


def report(script: Path, target: int) -> None:
    """Run *script* in this process and write what it reports; never returns."""
    seen = []
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    os.dup2(silence, 2)
    print_exception = traceback.print_exception

    def note(*arguments: object, **options: object) -> None:
        error = next((a for a in arguments if isinstance(a, BaseException)), sys.exc_info()[1])
        if error is not None:
            seen.append([type(error).__name__, str(error)])

    traceback.print_exception = note
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        os.chdir(folder)
        try:
            runpy.run_path(str(script), run_name="__main__")
        except BaseException as error:
            seen.append([type(error).__name__, str(error)])
    traceback.print_exception = print_exception
    seen = [[w.category.__name__, str(w.message)] for w in caught] + seen
    os.write(target, json.dumps(seen).encode())
    os._exit(0)


if __name__ == "__main__":
    main()
