"""How a message read in other releases, from recordings of the page that owns it.

Standard library only.
"""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from recorded_behavior import are_alike, emissions, normalised, paired, words_in_common
from wording import pattern_of, python_pattern

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from recorded_behavior import Emission, Run
    from recordings import Recording
    from script_header import DeclaredError


NEARLY = 0.8
CPP_PLACE = re.compile(r" \(\w+ at [^()\s]+:\d+\)$")
"""How torch 1.4 ends the warnings of C++; later releases write what `wording.TRIGGERED` matches."""


def former_wordings(
    errors: Sequence[DeclaredError],
    today: Run,
    others: Iterable[Run],
    known: Sequence[re.Pattern[str]],
) -> dict[str, list[dict[str, str]]]:
    """Return for each message its wordings in *others*, with the releases that have them.

    A text that one of the *known* patterns describes is today's message of some page, and counts
    only when it differs from this page's message by a word or two.
    """
    found: dict[str, dict[str, list[Recording]]] = {}
    among = [run.recording for run in others]
    for run in others:
        for message, before in replaced(errors, today, run):
            is_known = any(pattern.match(before[1]) for pattern in known)
            if is_known and (is_declared(errors, before[1]) or not nearly_equal(*before)):
                continue
            templates = found.setdefault(message.message, {})
            fitting = (t for t in templates if python_pattern(pattern_of(t)).match(before[1]))
            template = next(fitting, None) or former_template(message.message, *before)
            if template is not None:
                releases = templates.setdefault(template, [])
                if run.recording not in releases:
                    releases.append(run.recording)
    return {
        message: [
            {"message": template, "releases": whole_range(releases, among)}
            for template, releases in templates.items()
        ]
        for message, templates in found.items()
    }


def replaced(
    errors: Sequence[DeclaredError], today: Run, then: Run
) -> Iterable[tuple[DeclaredError, tuple[str, str]]]:
    """Yield each declared error with its text today and the like text in its place *then*.

    A text in the place of nothing announced an error that came later: a warning, mostly.
    """
    for number, block in enumerate(today.blocks):
        if number in then.affected:
            continue
        now = emissions(block)
        for old, emission in paired(emissions(then.blocks[number]), now):
            if old is None:
                continue
            emission = emission or announced_by(old, [e for e in now if declared(errors, e)])
            error = declared(errors, emission) if emission else None
            before = CPP_PLACE.sub("", old[1])
            if emission is None or error is None or fits(error, before):
                continue
            if say_alike(emission, old) or (error.reworded and may_be(error, old[0])):
                yield error, (emission[1], before)


def announced_by(old: Emission, now: Iterable[Emission]) -> Emission | None:
    """Return the error of today that an old warning announced."""
    alike = [emission for emission in now if say_alike(emission, old)]
    return max(alike, key=lambda e: words_in_common(e[1], old[1]), default=None)


def say_alike(one: Emission, other: Emission) -> bool:
    """Return whether two emissions are one message, whatever the numbers of their nodes."""
    return are_alike(normalised(one[1]), normalised(other[1]))


def declared(errors: Iterable[DeclaredError], emission: Emission) -> DeclaredError | None:
    """Return which of a page's errors an emission is."""
    return next((e for e in errors if e.raises == emission[0] and fits(e, emission[1])), None)


def may_be(error: DeclaredError, kind: str) -> bool:
    """Return whether *error* may have been a *kind*, unlike what Python raises for lack of an API."""
    return kind in (error.raises, "RuntimeError", "ValueError")


def is_declared(errors: Iterable[DeclaredError], text: str) -> bool:
    """Return whether *text* is a message of the same page."""
    return any(fits(error, text) for error in errors)


def nearly_equal(one: str, other: str) -> bool:
    """Return whether two texts differ by few words."""
    longer = max(len(one.split()), len(other.split()))
    return words_in_common(one, other) >= NEARLY * longer


def fits(error: DeclaredError, text: str) -> bool:
    """Return whether *text* is the declared message."""
    return bool(python_pattern(pattern_of(error.message)).match(text))


def whole_range(chosen: Sequence[Recording], among: Sequence[Recording]) -> str:
    """Return *chosen* as whole release numbers, neighbours among all joined: ``1.0.1–1.7.1``."""
    parts, run = [], []
    for recording in [*among, None]:
        if recording is not None and recording in chosen:
            run.append(recording.release)
        elif run:
            parts.append(run[0] if len(run) == 1 else f"{run[0]}–{run[-1]}")
            run = []
    return ", ".join(parts)


TOKEN = re.compile(r"<[a-z_0-9]+>|\w+|\s+|[^\w\s]")


def former_template(template: str, now: str, before: str) -> str | None:
    """Return *before*, an older text of the message *now*, with the holes of *template*.

    Words of *before* that stand where *now* has a hole belong to that hole.
    """
    match = python_pattern(pattern_of(template)).match(now)
    if match is None:
        return None
    owner = _owners(match, now)
    tokens, hole_of = _tokens(now, owner)
    old = TOKEN.findall(before)
    matcher = SequenceMatcher(None, tokens, old, autojunk=False)
    holes: list[str | None] = [None] * len(old)
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        if tag == "equal":
            holes[j1:j2] = hole_of[i1:i2]
        elif tag == "replace":
            names = set(hole_of[i1:i2])
            if len(names) == 1 and None not in names:
                holes[j1:j2] = [names.pop()] * (j2 - j1)
    return _with_holes(old, holes)


def _owners(match: re.Match[str], text: str) -> list[str | None]:
    owner: list[str | None] = [None] * len(text)
    for name in match.groupdict():
        start, end = match.span(name)
        owner[start:end] = [name] * (end - start)
    return owner


def _tokens(text: str, owner: list[str | None]) -> tuple[list[str], list[str | None]]:
    tokens, holes = [], []
    for token in TOKEN.finditer(text):
        tokens.append(token[0])
        holes.append(owner[token.start()])
    return tokens, holes


def _with_holes(tokens: list[str], holes: list[str | None]) -> str:
    parts: list[str] = []
    used: dict[str, int] = {}
    previous = None
    for token, hole in zip(tokens, holes, strict=True):
        if hole is None:
            parts.append(token)
        elif hole != previous:
            used[hole] = used.get(hole, 0) + 1
            parts.append(f"<{hole}>" if used[hole] == 1 else f"<{hole}_{used[hole]}>")
        previous = hole
    return "".join(parts)
