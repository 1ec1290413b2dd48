"""Take out of captured output what belongs to the building machine.

Standard library only. What a reader's own run would print differently (folders, memory
addresses, the paths of PyTorch's build farm) is neutralised; message texts are not touched.
"""

from __future__ import annotations

import re
import sysconfig
from pathlib import Path

SITE_PACKAGES = re.compile(r"[^\s\"'(]*/(?:site|dist)-packages/")
ADDRESS = re.compile(r"\b0x[0-9a-f]{6,}\b")
TRIGGERED = re.compile(r"\s*\(Triggered internally at [^)]*\)")
BUILD_FARM = re.compile(r"(?:/__w)?/pytorch(?:/pytorch)?/(?=(?:torch|aten|c10|build)/)")
LOG_TIME = re.compile(r"\[([EIW])\d{4} [\d:.]+ (?=\w+\.\w+:\d+\])")
LOG_FUNCTION = re.compile(r" \(function operator\(\)\)(?=\n|$)")
STACK = re.compile(
    r"(?m)(?<=Traceback of forward call that )(.+:\n)"
    r"((?:(?P<indent>^ +)File \"[^\"]+\", .*\n(?:(?P=indent)  .*\n)*)+)"
)
STDLIB = sysconfig.get_paths()["stdlib"] + "/"


def clean(text: str, script: Path) -> str:
    """Return *text*, the output of *script*, as any machine would print it."""
    text = text.replace(f"{script.parent}/", "")
    text = SITE_PACKAGES.sub("", text).replace(STDLIB, "")
    text = BUILD_FARM.sub("", TRIGGERED.sub("", text))
    text = LOG_FUNCTION.sub("", LOG_TIME.sub(r"[\1 ", text))
    text = STACK.sub(lambda found: found[1] + own_frames(found[2], script.name), text)
    return ADDRESS.sub("0x…", text)


def own_frames(stack: str, name: str) -> str:
    """Return *stack* from the first frame of the script *name* on.

    Anomaly mode lists the whole stack of a forward call, with the frames of whatever runs the
    script above its own.
    """
    start = stack.find(f'File "{name}", ')
    return stack[stack.rfind("\n", 0, max(start, 0)) + 1 :]
