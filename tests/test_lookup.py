"""A paste leads to its page: in the browser's module and in explain.py, which must agree."""

from __future__ import annotations

import ast
import json
import random
import re
import shutil
import signal
import subprocess
import sys
import types
from functools import cache
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

import jsonschema
import lookup_cases
import pytest
from explain_file import LOOKUP, TABLES, TEMPLATE, explain_script, tables
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lookup_cases import ROOT, Text, development_catalogue, texts
from wording import PLACEHOLDER, pattern_of, python_pattern

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

SITE = "https://example.org/"
RUNNER = ROOT / "tests" / "lookup_runner.mjs"
BYTES = 100_000
LIMIT = 50
"""Milliseconds of processor time for a paste of 100 KB, where the runner's loop takes LOOP."""
LOOP = 5
TRIES = 5
PROCESSES = 5


def node() -> str:
    """Return a Node.js: the machine's own, or the one that Playwright brings along."""
    found = shutil.which("node")
    if found is None:
        from playwright._impl._driver import compute_driver_executable

        found = str(compute_driver_executable()[0])
    return found


@pytest.fixture(scope="session")
def catalogue() -> dict[str, Any]:
    return development_catalogue()


@pytest.fixture(scope="session")
def run_lookup(catalogue, tmp_path_factory):
    """Return a function that looks pastes up with lookup.mjs in Node."""
    folder = tmp_path_factory.mktemp("lookup")
    (folder / "errors.json").write_text(json.dumps(catalogue))

    def run(
        pastes: Sequence[str], errors: dict[str, Any] | None = None, tries: int = 1
    ) -> list[dict[str, Any]]:
        source = folder / "errors.json"
        if errors is not None:
            source = folder / "other.json"
            source.write_text(json.dumps(errors))
        (folder / "pastes.json").write_text(json.dumps(list(pastes)))
        command = [node(), str(RUNNER), str(source), str(folder / "pastes.json"), str(tries)]
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, encoding="utf-8"
        )
        assert done.returncode == 0, done.stderr[-4000:]
        return json.loads(done.stdout)

    return run


@pytest.fixture(scope="session")
def explain(catalogue) -> types.ModuleType:
    """Return explain.py as the build writes it, imported."""
    module = types.ModuleType("explain")
    exec(compile(explain_script(catalogue, SITE), "explain.py", "exec"), module.__dict__)
    return module


@pytest.fixture(scope="session")
def explain_path(catalogue, tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("explain") / "explain.py"
    path.write_text(explain_script(catalogue, SITE), encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def generated(run_lookup):
    """Return the generated cases with their answers."""
    cases = list(lookup_cases.generated())
    return list(zip(cases, run_lookup([case.paste for case in cases]), strict=True))


def first(answer: dict[str, Any]) -> str | None:
    return answer["results"][0]["id"] if answer["results"] else None


# -- The catalogue --------------------------------------------------------------------------------


def test_catalogue_keeps_its_schema(catalogue):
    schema = json.loads((ROOT / "docs" / "_static" / "errors.schema.json").read_text("utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(catalogue, schema)


def test_nothing_is_told_twice(catalogue):
    for page in catalogue["pages"]:
        told = [former["message"] for error in page["errors"] for former in error["formerly"]]
        assert len(told) == len(set(told)), page["id"]
        assert all(page[key] for key in ("symptom_zh", "reports") if key in page), page["id"]


def test_schema_refuses_an_unanchored_pattern(catalogue):
    schema = json.loads((ROOT / "docs" / "_static" / "errors.schema.json").read_text("utf-8"))
    broken = json.loads(json.dumps(catalogue))
    error = next(page for page in broken["pages"] if page["errors"])["errors"][0]
    error["patterns"] = ["no anchors"]
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(broken, schema)


# -- The right page -------------------------------------------------------------------------------


def test_generated_pastes_lead_to_their_page(generated):
    wrong = [case.name for case, answer in generated if first(answer) != case.page]
    assert len(wrong) <= 0.01 * len(generated), wrong


def test_whole_messages_lead_to_their_page(generated):
    """Noise alone, with nothing of the message lost, may hide next to nothing."""
    whole = [(case, answer) for case, answer in generated if case.whole]
    wrong = [case.name for case, answer in whole if first(answer) != case.page]
    assert len(wrong) <= 0.002 * len(whole), wrong


def test_whole_messages_are_matches(generated, catalogue):
    """Only messages that ordinary code prints too may need more than their own text."""
    common = re.compile(tables()["common"])
    messages = {
        page["id"]: any(common.search(error["message"]) for error in page["errors"])
        for page in catalogue["pages"]
    }
    whole = [(c, a) for c, a in generated if c.whole and not messages[c.page]]
    unsure = [case.name for case, answer in whole if answer["kind"] != "match"]
    assert len(unsure) <= 0.01 * len(whole), unsure


def test_every_message_has_three_noisy_variants():
    count: dict[str, int] = {}
    for case in lookup_cases.generated():
        count[case.name.rpartition("/")[0]] = count.get(case.name.rpartition("/")[0], 0) + 1
    assert len(count) == len(texts())
    assert min(count.values()) > 3


def test_pastes_written_by_hand_lead_to_page_and_cause(run_lookup, catalogue):
    pages = {page["id"] for page in catalogue["pages"]}
    cases = list(lookup_cases.handwritten())
    assert {case.page for case in cases} | {c.cause for c in cases if c.cause} <= pages
    wrong = []
    for case, answer in zip(cases, run_lookup([case.paste for case in cases]), strict=True):
        causes = (
            [cause["id"] for cause in answer["results"][0]["causes"][:3]] if first(answer) else []
        )
        right = first(answer) == case.page and (case.cause is None or case.cause in causes)
        if not right or (case.whole and answer["kind"] != "match"):
            wrong.append((case.name, answer["kind"], first(answer), causes))
    assert not wrong


def test_reproduced_reports_lead_to_their_cause(run_lookup, catalogue):
    """The page that names the report's cause is the first, or one of the first three causes."""
    explained = {cause for page in catalogue["pages"] for cause in page["causes"]}
    runs = [run for run in lookup_cases.reproduced() if run[0] in explained]
    wrong = []
    for (cause, _), answer in zip(runs, run_lookup([paste for _, paste in runs]), strict=True):
        found = answer["results"][:1] + (
            answer["results"][0]["causes"][:3] if first(answer) else []
        )
        ids = {entry["id"] for entry in found}
        if not any(cause in page["causes"] for page in catalogue["pages"] if page["id"] in ids):
            wrong.append((cause, ids))
    assert len(runs) > 30
    assert len(wrong) <= 0.05 * len(runs), wrong


@pytest.mark.parametrize("page", ["version-modified"])
def test_versions_and_shape_are_put_into_words(run_lookup, page):
    message = next(text.text for text in texts() if text.page == page)
    paste = PLACEHOLDER.sub("", message)
    paste = re.sub(r"version \d+; expected version \d+", "version 4; expected version 2", paste)
    paste = re.sub(r"\[torch\.\w+ \[[\d, ]*\]\]", "[torch.cuda.HalfTensor [64, 10]]", paste)
    paste = re.sub(r"output 0 of \w+", "output 0 of AsStridedBackward0", paste)
    [answer] = run_lookup([f"RuntimeError: {paste}"])
    words = " ".join(answer["results"][0]["explanation"])
    assert "written 2 times" in words
    assert "float16 on a CUDA device" in words
    assert "64" in words


# -- Which message --------------------------------------------------------------------------------


def test_part_of_a_longer_message_is_not_its_page(run_lookup):
    """A message that is contained in another one never answers for it."""
    every = texts()
    pairs = [
        (short, long)
        for short in every
        for long in every
        if short.page != long.page and len(short.text) < len(long.text) and short.text in long.text
    ]
    assert pairs
    for (short, long), answer in zip(pairs, run_lookup([p[1].line for p in pairs]), strict=True):
        assert first(answer) == long.page, (short.text, long.text)


def test_message_inside_an_unknown_sentence_is_not_a_match(run_lookup):
    message = next(text.text for text in texts() if text.page == "leaf-inplace")
    answers = run_lookup(
        [
            f"RuntimeError: This is not {message}",
            f"RuntimeError: {message.rstrip('.')} of another kind",
            f"RuntimeError: nobody said that {message.rstrip('.')} twice",
        ]
    )
    assert [answer["kind"] for answer in answers] == ["near"] * 3


def test_words_of_two_pages_lead_to_both(run_lookup):
    """The owner's page first, unless the frames point at the page about one cause."""
    message = (
        "RuntimeError: a leaf Variable that requires grad has been used in an in-place operation."
    )
    frame = (
        'Traceback (most recent call last):\n  File "a.py", line 3, in f\n    y = Scale.apply(w)\n'
    )
    plain, applied = run_lookup([message, frame + message])
    assert plain["kind"] == applied["kind"] == "match"
    pages = ["leaf-inplace", "leaf-mark-dirty"]
    assert [r["id"] for r in plain["results"][:2]] == pages
    assert [r["id"] for r in applied["results"][:2]] == pages[::-1]
    assert [r["exact"] for r in plain["results"][:2]] == [True, True]


def test_words_of_other_code_are_near_and_say_so(run_lookup):
    words = "TypeError: 'float' object is not iterable"
    frame = (
        'Traceback (most recent call last):\n  File "a.py", line 3, in f\n    loss.backward(2.0)\n'
    )
    alone, called = run_lookup([words, frame + words])
    assert (alone["kind"], called["kind"]) == ("near", "match")
    assert alone["hint"] == tables()["shared"]


def test_last_raised_error_comes_first(run_lookup):
    """Of two chained errors the later one is what the reader met."""
    pages = {text.page: text for text in texts() if text.raises == "RuntimeError"}
    one, two = pages["view-of-leaf"], pages["backward-twice"]
    chain = "\n\nDuring handling of the above exception, another exception occurred:\n\n"
    pastes = [
        lookup_cases.traceback(a) + chain + lookup_cases.traceback(b)
        for a, b in [(one, two), (two, one)]
    ]
    answers = run_lookup(pastes)
    assert [[r["id"] for r in answer["results"][:2]] for answer in answers] == [
        [two.page, one.page],
        [one.page, two.page],
    ]


def test_error_comes_before_a_later_warning(run_lookup):
    error = next(text for text in texts() if text.page == "leaf-inplace")
    warning = next(text for text in texts() if text.raises == "UserWarning")
    [answer] = run_lookup([f"{error.line}\n\n/a.py:3: {warning.line}\n  x()\n"])
    assert first(answer) == error.page


def test_former_wording_matches(run_lookup):
    errors = {"schema": 1, "torch": "2.13.0", "device": "cpu", "pages": [made_up_page()]}
    answers = run_lookup(["RuntimeError: the moon was blue, not green (3 times)"], errors)
    assert answers[0]["kind"] == "match"
    assert answers[0]["results"][0]["releases"] == "1.0–1.7"
    assert answers[0]["results"][0]["fields"] == {"color": "blue", "count": "3"}


def made_up_page(**keys: Any) -> dict[str, Any]:
    message = "a moon that is <color> was seen where green was expected."
    former = "the moon was <color>, not green (<count> times)"
    return {
        "id": "moon",
        "title": "Moon",
        "url": "errors/plot_moon.html",
        "family": "moon",
        "summary": "A moon.",
        "causes": ["moon/blue"],
        "cause_of": None,
        "when": {},
        "terms": [],
        "symptom": None,
        "errors": [
            {
                "raises": "RuntimeError",
                "message": message,
                "patterns": [pattern_of(message)],
                "formerly": [
                    {"message": former, "patterns": [pattern_of(former)], "releases": "1.0–1.7"}
                ],
            }
        ],
        **keys,
    }


def test_causes_are_ranked_by_hole_and_frame(run_lookup):
    def cause(name, when):
        return made_up_page(id=name, title=name, cause_of="moon", when=when, errors=[])

    pages = [
        made_up_page(),
        cause("against", {"color": "^red$"}),
        cause("unknown", {}),
        cause("unseen", {"frame": "telescope"}),
        cause("seen", {"frame": "observatory"}),
        cause("both", {"color": "^blue$", "frame": "(?i)OBSERVATORY"}),
    ]
    errors = {"schema": 1, "torch": "2.13.0", "device": "cpu", "pages": pages}
    paste = 'File "observatory.py", line 1, in look\nRuntimeError: a moon that is blue was seen where green was expected.'
    [answer] = run_lookup([paste], errors)
    causes = answer["results"][0]["causes"]
    assert [c["id"] for c in causes] == ["both", "seen", "unknown", "unseen", "against"]
    assert [c["likely"] for c in causes] == [True, True, False, False, False]
    assert [r["id"] for r in answer["results"]] == ["moon", "both", "seen"]


# -- Not ours, and not even an error --------------------------------------------------------------

PROMISED_NONE = re.compile(
    r"out of memory|device-side assert|CUDA error|KeyError|mat1 and mat2|size mismatch|must match the size"
)


def test_unrelated_errors_never_match(run_lookup):
    pastes = list(lookup_cases.unrelated())
    answers = run_lookup(pastes)
    assert len(pastes) >= 200
    matches = [p for p, answer in zip(pastes, answers, strict=True) if answer["kind"] == "match"]
    assert not matches
    promised = [(p, a) for p, a in zip(pastes, answers, strict=True) if PROMISED_NONE.search(p)]
    assert len(promised) > 20
    assert [p for p, answer in promised if answer["kind"] != "none"] == []
    assert all(answer["hint"].endswith(".") for _, answer in promised)


def test_symptoms_lead_to_their_page(run_lookup, catalogue):
    cases = list(lookup_cases.symptoms())
    wrong = []
    for case, answer in zip(cases, run_lookup([case.paste for case in cases]), strict=True):
        ids = [result["id"] for result in answer["results"][:3]]
        if case.page not in ids or answer["kind"] != "near":
            wrong.append((case.name, ids))
    assert not wrong


def test_every_symptom_finds_its_own_page(run_lookup, catalogue):
    asked = [
        (page["id"], page[key])
        for page in catalogue["pages"]
        for key in ("symptom", "symptom_zh")
        if page.get(key)
    ]
    answers = run_lookup([text for _, text in asked])
    wrong = [
        (name, [result["id"] for result in answer["results"]])
        for (name, _), answer in zip(asked, answers, strict=True)
        if name not in [result["id"] for result in answer["results"][:3]]
    ]
    assert len(wrong) <= 0.05 * len(asked), wrong


def test_empty_text_gets_an_empty_answer(run_lookup):
    for answer in run_lookup(["", " \n\t ", "\u200b"]):
        assert (answer["kind"], answer["results"], answer["hint"]) == ("none", [], "")


# -- Any text -------------------------------------------------------------------------------------


def hostile() -> dict[str, str]:
    """Return texts of 100 KB made to be slow, by what they attack."""
    every = "\n".join(text.line for text in texts())
    words = "\n".join(dict.fromkeys(re.findall(r"[a-z]{3,}", every.lower())))
    leaf = "a leaf Variable that requires grad is being used in an in-place operation"
    made = {
        "letters": "a",
        "spaces": " ",
        "newlines": "\n",
        "angles": "<",
        "tags": "<a ",
        "backslashes": "\\",
        "newline escapes": "\\n",
        "entities": "&lt",
        "escapes": "\x1b[",
        "colors": "[0;",
        "quotes": "> ",
        "quotation marks": "'",
        "underscores": "._",
        "types": "Error: ",
        "long types": "A" * 80 + "Error",
        "dashes": f"gradient leaf variable inplace {'-' * 1400}\n",
        "one message": f"{leaf} ",
        "beginnings": leaf[:40],
        "holes": "Output 0 of ",
        "halves of characters": "\ud800",
        "Chinese": "梯度",
        "markup": '<div class="x"><script>alert(1)</script>',
        "all messages": every + "\n",
        "all messages in one line": every.replace("\n", " ") + " ",
        "all messages word by word": every.replace(" ", "\n") + "\n",
        "all words": words + "\n",
        "words in disorder": " ".join(random.Random(1).choices(words.split(), k=15000)),
        "beginnings of errors": "".join(
            f"RuntimeError: {text.line[: len(text.line) * 4 // 5]}\n" for text in texts()
        ),
        "openings that differ": "".join(
            f"RuntimeError: one of the variables needed for gradient computation [{n:x}]\n"
            for n in range(2000)
        ),
        "one long traceback": "".join(
            f'  File "/opt/torch/nn/modules/module.py", line {n}, in _call_impl\n'
            f"    x = self.layer_{n}(x) + residual.requires_grad_()\n"
            for n in range(1000)
        ),
        "ranks": "".join(f"[{rank}]: a\n" for rank in range(12000)),
        "brackets": "[" * 50 + "(" * 50,
    }
    return {name: (text * (BYTES // len(text) + 1))[:BYTES] for name, text in made.items()}


@pytest.mark.parametrize("moment", ["milliseconds", "first"])
def test_hostile_text_is_answered_in_time(timed, moment):
    """A machine whose loop is slower may take longer in the same measure."""
    limit = LIMIT * max(1, median(answer["loop"] for answer in timed.values()) / LOOP)
    slow = {name: answer[moment] for name, answer in timed.items() if answer[moment] > limit}
    assert slow == {}


@pytest.fixture(scope="module")
def timed(run_lookup) -> dict[str, dict[str, Any]]:
    """Return the times of each hostile text: the best of five processes, as noise only adds."""
    made = hostile()
    runs = [run_lookup(list(made.values()), tries=TRIES) for _ in range(PROCESSES)]
    return {
        name: {
            **{key: min(answer[key] for answer in answers) for key in ("milliseconds", "first")},
            "loop": median(answer["loop"] for answer in answers),
        }
        for name, answers in zip(made, zip(*runs, strict=True), strict=True)
    }


def test_catalogue_patterns_are_fast_on_what_they_nearly_fit():
    """The patterns are tried on one rebuilt message only, and even so must not blow up."""
    import time

    for text in texts():
        almost = f"{text.text} {text.text} !"[:4000]
        start = time.process_time()
        python_pattern(pattern_of(text.text.replace("<", "").replace(">", ""))).match(almost)
        assert time.process_time() - start < 1


def test_message_is_found_in_five_megabytes_of_log(run_lookup):
    line = "2024-03-09 14:02:11,{0} - trainer - INFO - epoch {0} loss 0.{0} grad norm 1.{0} checkpoint saved"
    log = "\n".join(line.format(number) for number in range(52_000))
    message = next(text for text in texts() if text.page == "view-of-leaf")
    pastes = [f"{log}\n{message.line}", f"{message.line}\n{log}"]
    answers = run_lookup(pastes)
    assert [first(answer) for answer in answers] == [message.page] * 2
    for paste, answer in zip(pastes, answers, strict=True):
        assert len(paste) > 4_900_000
        assert answer["milliseconds"] < LIMIT * len(paste) / BYTES


ALPHABET = [
    *"abeE01 \t\n\r\\/'\"`<>&;:.,()[]{}|*_-+=#@!?~^$%", "\x1b[31m", "\u200b", "\ufeff", "…", "’",
    "\ud83d", "\udd25", "梯", "é", "\u2028", "Error: ", "Warning: ", "RuntimeError: ", "File \"", "grad",
    "backward", "leaf Variable", "in-place operation", "\\n", "&lt;", "&#x27;", "</b>", "[rank0]: ",
]  # fmt: skip


def test_any_text_is_answered(run_lookup):
    """Random mixtures of whole messages, pieces of them and every kind of special character."""
    generator = random.Random(20)
    lines = [text.line for text in texts()]
    pastes = []
    for _ in range(3000):
        parts = generator.choices(ALPHABET, k=generator.randrange(40))
        for _ in range(generator.randrange(3)):
            line = generator.choice(lines)
            start = generator.randrange(len(line))
            parts.insert(generator.randrange(len(parts) + 1), line[start : start + 200])
        pastes.append("".join(parts))
    for answer in run_lookup(pastes):
        assert_well_formed(answer)


def assert_well_formed(answer: dict[str, Any]) -> None:
    assert answer["kind"] in {"match", "near", "none"}
    assert (answer["kind"] == "none") == (answer["results"] == [])
    assert len(answer["results"]) <= 5
    scores = [result["score"] for result in answer["results"]]
    assert scores == sorted(scores, reverse=True)
    assert all(0 < score <= 1 for score in scores)
    if answer["kind"] == "match":
        assert answer["results"][0]["exact"]
    for result in answer["results"]:
        assert {"id", "url", "title", "line", "fields", "exact", "score", "causes"} <= result.keys()


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.lists(st.one_of(st.sampled_from(ALPHABET), st.text(max_size=20)), max_size=30).map("".join)
)
def test_explain_answers_any_text(explain, text):
    assert_well_formed(explain.lookup(text))


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_damaged_message_never_becomes_another_page(explain, data):
    """Whatever one edit does to a message, no other page claims to match it."""
    text: Text = data.draw(st.sampled_from(texts()))
    at = data.draw(st.integers(0, len(text.text)))
    length = data.draw(st.integers(0, 5))
    damaged = text.text[:at] + data.draw(st.text(max_size=3)) + text.text[at + length :]
    answer = explain.lookup(f"{text.raises}: {damaged}")
    if answer["kind"] == "match" and "" not in answer["results"][0]["fields"].values():
        owners = {
            page["id"]
            for page in development_catalogue()["pages"]
            for error in page["errors"]
            for wording in (error, *error["formerly"])
            if python_pattern(wording["patterns"][0]).match(answer["results"][0]["line"])
        }
        assert answer["results"][0]["id"] in owners


# -- The two implementations ----------------------------------------------------------------------


@cache
def all_pastes() -> list[str]:
    return [
        *(case.paste for case in lookup_cases.generated()),
        *(case.paste for case in lookup_cases.handwritten()),
        *(case.paste for case in lookup_cases.symptoms()),
        *(paste for _, paste in lookup_cases.reproduced()),
        *lookup_cases.unrelated(),
    ]


def test_browser_and_terminal_agree(run_lookup, explain):
    pastes = all_pastes()
    different = []
    for paste, answer in zip(pastes, run_lookup(pastes), strict=True):
        del answer["milliseconds"]
        if explain.lookup(paste, explain.CATALOGUE) != answer:
            different.append(paste[-300:])
    assert not different, (len(different), different[:3])


def test_tables_of_the_module_are_json():
    assert tables()["wantedResults"] == 5


def test_module_touches_no_document():
    code = TABLES.sub("", LOOKUP.read_text("utf-8"))
    code = re.sub(r"/\*.*?\*/|//[^\n]*", "", code, flags=re.DOTALL)
    assert not re.search(r"\b(?:document|window|fetch|localStorage|eval|import)\b *[.(]", code)


def test_explain_needs_only_python_three_eight():
    tree = ast.parse(TEMPLATE.read_text("utf-8"), feature_version=(3, 8))
    names = {
        name.partition(".")[0]
        for part in ast.walk(tree)
        if isinstance(part, (ast.Import, ast.ImportFrom))
        for name in (
            [part.module] if isinstance(part, ast.ImportFrom) else [a.name for a in part.names]
        )
    }
    assert names <= sys.stdlib_module_names
    assert not names & {"urllib", "http", "socket", "subprocess", "tomllib"}


# -- explain.py as a command ----------------------------------------------------------------------


def run_explain(script: Path, *arguments: str, text: str = "", **options: Any):
    return subprocess.run(
        [sys.executable, str(script), *arguments],
        input=text.encode(), capture_output=True, check=False, **options,
    )  # fmt: skip


MESSAGE = "a view of a leaf Variable that requires grad is being used in an in-place operation."


def test_explain_reads_a_traceback(explain_path, catalogue, tmp_path):
    page = next(page for page in catalogue["pages"] if page["id"] == "view-of-leaf")
    paste = lookup_cases.traceback(Text("", "RuntimeError", MESSAGE))
    (tmp_path / "log.txt").write_text(paste)
    for done in (
        run_explain(explain_path, text=paste),
        run_explain(explain_path, "-", text=paste),
        run_explain(explain_path, str(tmp_path / "log.txt")),
    ):
        shown = done.stdout.decode()
        assert done.returncode == 0
        assert shown.startswith(page["title"])
        assert SITE + page["url"] in shown
    answer = json.loads(run_explain(explain_path, "--json", text=paste).stdout)
    assert (answer["kind"], first(answer)) == ("match", page["id"])


def test_explain_reads_what_powershell_writes(explain_path):
    paste = f"RuntimeError: {MESSAGE}".encode("utf-16")
    done = subprocess.run(
        [sys.executable, str(explain_path)], input=paste, capture_output=True, check=True
    )
    assert b"plot_view_of_leaf" in done.stdout


def test_explain_survives_a_narrow_terminal_encoding(explain_path):
    done = run_explain(
        explain_path, text="梯度为 None，loss 不下降", env={"PYTHONIOENCODING": "ascii"}
    )
    assert done.returncode == 0, done.stderr


SCRIPTS = {
    f"raise RuntimeError({MESSAGE!r})": 1,
    "raise ValueError('no idea')": 1,
    "x = (": 1,
    "import sys; sys.exit(7)": 7,
    "import sys; sys.exit('stop')": 1,
    "raise SystemExit": 0,
    "import os; os._exit(3)": 3,
    "print('done')": 0,
    "raise KeyboardInterrupt": -signal.SIGINT,
}


@pytest.mark.parametrize("code", SCRIPTS)
def test_explain_keeps_status_and_output_of_a_script(explain_path, tmp_path, code):
    script = tmp_path / "train.py"
    script.write_text(f"import sys\nprint(sys.argv[1:], __name__, sys.path[0])\n{code}\n")
    plain = subprocess.run(
        [sys.executable, "train.py", "--lr", "1"], cwd=tmp_path, capture_output=True, check=False
    )
    done = run_explain(explain_path, "train.py", "--lr", "1", cwd=tmp_path)
    assert done.returncode == plain.returncode
    assert plain.returncode == SCRIPTS[code]
    assert done.stdout == plain.stdout
    assert done.stderr.startswith(plain.stderr)


def test_explain_follows_the_traceback_of_a_script(explain_path, tmp_path):
    (tmp_path / "train.py").write_text(
        f"def step():\n    raise RuntimeError({MESSAGE!r})\n\nstep()\n"
    )
    shown = run_explain(explain_path, "train.py", cwd=tmp_path).stderr.decode()
    assert "explain.py" not in shown.partition(MESSAGE)[0]
    assert shown.index(MESSAGE) < shown.index("errors/plot_view_of_leaf.html")


def test_explain_runs_a_module(explain_path, tmp_path):
    package = tmp_path / "package"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "train.py").write_text(
        f"import sys\nprint(sys.argv[1:])\nraise RuntimeError({MESSAGE!r})\n"
    )
    done = run_explain(explain_path, "-m", "package.train", "--fast", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, b"['--fast']\n")
    assert b"plot_view_of_leaf" in done.stderr


def test_explain_says_what_is_wrong_with_its_arguments(explain_path):
    missing = run_explain(explain_path, "no-such-file.txt")
    assert (missing.returncode, missing.stdout) == (2, b"")
    assert b"no-such-file.txt" in missing.stderr
    script = run_explain(explain_path, "no-such-script.py")
    assert (script.returncode, script.stdout) == (2, b"")
    assert b"Traceback" not in script.stderr
    assert run_explain(explain_path, "-m").returncode == 2
    assert b"traceback" in run_explain(explain_path, "--help").stdout


@pytest.mark.parametrize("redirection", [">&-", "<&-", "--json | true"])
def test_explain_has_no_traceback_of_its_own(explain_path, redirection):
    """Also where its input or output is closed, or nobody reads it to the end."""
    command = f'printf %s "$0" | "{sys.executable}" "{explain_path}" {redirection}'
    done = subprocess.run(
        ["sh", "-c", command, f"RuntimeError: {MESSAGE}"], capture_output=True, check=False
    )
    assert b"Traceback" not in done.stderr
    assert b"Exception ignored" not in done.stderr
