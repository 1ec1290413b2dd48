"""Pastes for the lookup: true texts of every page, dressed up the way people paste them.

`texts` gives the messages, `NOISES` the layouts. Everything follows from what gallery/ holds, so a
new page has its pastes at once. What cannot be generated is written by hand in tests/lookup/.
"""

from __future__ import annotations

import html
import json
import re
import textwrap
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from former_wordings import former_wordings
from recorded_behavior import fresh_runs
from recordings import read_recordings
from registry import read_registry
from script_blocks import code_blocks
from wording import PLACEHOLDER, pattern_of, python_pattern

from catalogue import catalogue, count_reports, page_entry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from registry import Registry

ROOT = Path(__file__).parents[1]
CORPUS = ROOT / "tests" / "lookup"
ESC = "\x1b"
TORCH = "2.13.0"


class Text(NamedTuple):
    """One message as PyTorch writes it, and the page that owns it."""

    page: str
    raises: str
    text: str

    @property
    def line(self) -> str:
        return f"{self.raises}: {self.text}"


class Case(NamedTuple):
    """A paste, the page that must come first, and the cause that must be among three."""

    name: str
    paste: str
    page: str
    cause: str | None = None
    whole: bool = True
    """Whether all of the message is there, so that the lookup can be sure."""


@cache
def development_catalogue() -> dict[str, Any]:
    """Return errors.json as far as the headers of gallery/ make it; no page is built."""
    folder = ROOT / "catalogue"
    scripts = (ROOT / "gallery").glob("plot_*.py")
    registry = read_registry(scripts, folder / "causes.tsv", folder / "inventory.tsv")
    reports = count_reports(folder / "reports.tsv")
    former = recorded_wordings(registry)
    entries = [
        page_entry(
            header,
            url=f"errors/{registry.scripts[name].stem}.html",
            formerly=former,
            reports=reports,
        )
        for name, header in registry.headers.items()
    ]
    return catalogue(entries, TORCH, "cpu")


def recorded_wordings(registry: Registry) -> dict[str, list[dict[str, str]]]:
    """Return how messages read in other releases, from the recordings, as the build does."""
    recordings = read_recordings(ROOT / "docs" / "_data" / "transcripts")
    known = [
        python_pattern(pattern_of(error.message))
        for header in registry.headers.values()
        for error in header.errors
    ]
    found: dict[str, list[dict[str, str]]] = {}
    for name, header in registry.headers.items():
        script = registry.scripts[name]
        runs = fresh_runs(recordings, script.name, code_blocks(script)) if header.errors else []
        for run in runs:
            if run.recording.environment == f"torch-{TORCH}-cpu":
                cpu = [other for other in runs if other.recording.kind == "cpu"]
                found.update(former_wordings(header.errors, run, cpu, known))
    return found


EXAMPLES = {
    "shape": "64, 10", "node": "MulBackward0", "index": "0", "version": "3", "expected": "2",
    "count": "3", "tensor_type": "torch.FloatTensor", "dtype": "Float", "device": "cuda:0",
    "name": "weight", "operation": "mul", "type": "<class 'int'>", "position": "1",
    "function": "Scale", "names": "['gamma', 'beta']",
}  # fmt: skip


def filled(message: str) -> str:
    """Return *message* with a likely value in each hole."""
    return PLACEHOLDER.sub(lambda hole: EXAMPLES.get(hole[1], "0"), message)


@cache
def emitted() -> list[tuple[str, str]]:
    """Return type and text of what the triggers really reported."""
    lines = (CORPUS / "emitted.jsonl").read_text(encoding="utf-8").splitlines()
    return [(row["type"], row["text"]) for row in map(json.loads, lines)]


@cache
def texts() -> list[Text]:
    """Return every declared message as emitted by a trigger; filled in where no trigger emits it."""
    declared = [
        (page["id"], error, python_pattern(error["patterns"][0]))
        for page in development_catalogue()["pages"]
        for error in page["errors"]
    ]
    true: dict[int, list[str]] = {number: [] for number in range(len(declared))}
    for kind, text in emitted():
        fitting = [
            number
            for number, (_, error, pattern) in enumerate(declared)
            if error["raises"] == kind and pattern.match(text)
        ]
        if fitting:
            best = max(fitting, key=lambda number: literal_length(declared[number][1]["message"]))
            true[best].append(text)
    owner = {former["message"]: page for page, error, _ in declared for former in error["formerly"]}
    found = []
    for number, (page, error, _) in enumerate(declared):
        for text in true[number][:3] or [filled(error["message"])]:
            # Words that another page's message had once: without frames that page is likelier.
            found.append(Text(owner.get(error["message"], page), error["raises"], text))
        for former in error["formerly"]:
            found.append(Text(page, error["raises"], filled(former["message"])))
    return found


def literal_length(message: str) -> int:
    """Return how much of *message* is no hole: where two pages fit, the longer wording wins."""
    return len(PLACEHOLDER.sub("", message))


# -- Layouts: each turns a message into a paste ---------------------------------------------------

FRAMES = """\
Traceback (most recent call last):
  File "/home/me/project/train.py", line 87, in <module>
    main()
  File "/home/me/project/train.py", line 61, in main
    loss.backward()
  File "/home/me/.venv/lib/python3.11/site-packages/torch/_tensor.py", line 648, in backward
    torch.autograd.backward(
"""
CARETS = """\
Traceback (most recent call last):
  File "/workspace/run.py", line 12, in <module>
    trainer.fit(model, loader)
    ^^^^^^^^^^^^^^^^^^^^^^^^^^
  File "/opt/conda/lib/python3.12/site-packages/torch/autograd/graph.py", line 829, in _engine_run_backward
    return Variable._execution_engine.run_backward(  # Calls into the C++ engine to run the backward pass
           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
"""
WINDOWS = """\
Traceback (most recent call last):
  File "C:\\Users\\me\\Desktop\\new\\train.py", line 40, in <module>
    loss.backward()
  File "D:\\Anaconda3\\lib\\site-packages\\torch\\nn\\modules\\module.py", line 1130, in _call_impl
    return forward_call(*input, **kwargs)
"""


def alone(text: Text) -> str:
    return text.line


def only_the_text(text: Text) -> str:
    return text.text


def traceback(text: Text) -> str:
    return FRAMES + text.line + "\n"


def carets(text: Text) -> str:
    return CARETS + text.line + "\n\nProcess finished with exit code 1\n"


def windows(text: Text) -> str:
    return (WINDOWS + text.line).replace("\n", "\r\n")


def rank_prefix(text: Text) -> str:
    return "\n".join(f"[rank0]: {line}" for line in (FRAMES + text.line).splitlines())


def interleaved_ranks(text: Text) -> str:
    lines = (FRAMES + text.line).splitlines()
    return "\n".join(f"[rank{rank}]: {line}" for line in lines for rank in (0, 1, 3))


def log_stamps(text: Text) -> str:
    lines = ("Training failed\n" + FRAMES + text.line).splitlines()
    return "\n".join(
        f"2024-03-09 14:02:{i:02d},{i:03d} - trainer - ERROR - {line}"
        for i, line in enumerate(lines)
    )


def container_log(text: Text) -> str:
    return "\n".join(f"trainer-1  | {line}" for line in (FRAMES + text.line).splitlines())


def progress_bar(text: Text) -> str:
    bar = "Epoch 3:  12%|█▏        | 25/211 [00:12<01:30,  2.05it/s, loss=0.71]"
    return f"{bar}\r{bar}{FRAMES}{text.line}\n{bar}"


def bar_before_message(text: Text) -> str:
    return f" 40%|████      | 2/5 [00:01<00:02,  1.33it/s]{text.line}"


def jupyter(text: Text) -> str:
    return (
        "---------------------------------------------------------------------------\n"
        f"{text.raises}                              Traceback (most recent call last)\n"
        "<ipython-input-14-2f1a3b4c5d6e> in <module>\n"
        "      3 out = model(x)\n"
        "      4 loss = criterion(out, y)\n"
        "----> 5 loss.backward()\n"
        "      6 optimizer.step()\n\n"
        "~/anaconda3/lib/python3.8/site-packages/torch/tensor.py in backward(self, gradient, retain_graph)\n"
        "    243                 create_graph=create_graph)\n"
        "--> 245         torch.autograd.backward(self, gradient, retain_graph, create_graph)\n\n"
        f"{text.line}"
    )


def colors(text: Text) -> str:
    return (
        f"{ESC}[0;31m---------------------------------------------------------------------------{ESC}[0m\n"
        f"{ESC}[0;31m{text.raises}{ESC}[0m                              Traceback (most recent call last)\n"
        f"Cell {ESC}[0;32mIn[7], line 4{ESC}[0m\n{ESC}[0;32m----> 4{ESC}[0m loss{ESC}[38;5;241m.{ESC}[39mbackward()\n"
        f"{ESC}[0;31m{text.raises}{ESC}[0m: {text.text}"
    )


def colors_without_escape(text: Text) -> str:
    return colors(text).replace(ESC, "")


def colab(text: Text) -> str:
    return (
        f"{text.raises}                              Traceback (most recent call last)\n"
        "[<ipython-input-9-8a1f>](https://localhost:8080/#) in <cell line: 1>()\n"
        "----> 1 train(model)\n\n2 frames\n"
        "[/usr/local/lib/python3.10/dist-packages/torch/autograd/__init__.py](https://localhost:8080/#) in backward(tensors)\n"
        "    265     Variable._execution_engine.run_backward(  # Calls into the C++ engine\n\n"
        f"{text.line}\n\n"
        "---------------------------------------------------------------------------\n"
        "NOTE: If your import is failing due to a missing package, you can\nmanually install dependencies using either !pip or !apt.\n"
    )


def pytest_output(text: Text) -> str:
    message = "\n".join(f"E       {line}" for line in text.line.split("\n"))
    return (
        "    def test_step():\n        loss = model(x).sum()\n>       loss.backward()\n\n"
        "tests/test_model.py:31: \n_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _\n"
        f"{message}\n\nvenv/lib/python3.11/site-packages/torch/autograd/graph.py:829: {text.raises}\n"
    )


def quoted(text: Text) -> str:
    return "\n".join(f"> {line}" for line in (FRAMES + text.line).splitlines()) + "\n\nSame here!"


def fenced(text: Text) -> str:
    return f"### Bug\nI ran the example and got\n```python-traceback\n{FRAMES}{text.line}\n```\nAny idea?"


def inline_code(text: Text) -> str:
    return f"When I call backward I see: `{text.line}`. What does it mean?"


def bold(text: Text) -> str:
    return f"**{text.line}**"


def debugger(text: Text) -> str:
    return (
        '  File "C:/Program Files/JetBrains/PyCharm/plugins/python/helpers/pydev/pydevd.py", line 1483, in _exec\n'
        "    pydev_imports.execfile(file, globals, locals)  # execute the script\n"
        '  File "C:/Program Files/JetBrains/PyCharm/plugins/python/helpers/pydev/_pydev_imps/_pydev_execfile.py", line 18, in execfile\n'
        "    exec(compile(contents+\"\\n\", file, 'exec'), glob, loc)\n"
        f"{text.line}\npython-BaseException\n\n进程已结束,退出代码1"
    )


def chinese(text: Text) -> str:
    return f"运行的时候报错{text.line}，请问这个怎么解决？我用的是pytorch"


def chinese_quotes(text: Text) -> str:
    return f"训练时出现“{text.line}”这个错误。"


def japanese(text: Text) -> str:
    return f"学習中に次のエラーが出ます。{text.line}　どうすればよいですか。"


def korean(text: Text) -> str:
    return f"학습을 돌리면 아래 에러가 발생합니다:{text.line}\n해결 방법이 있을까요?"


def wrapped_words(text: Text) -> str:
    return FRAMES + "\n".join(textwrap.wrap(text.line, 72, break_on_hyphens=False))


def wrapped_anywhere(text: Text) -> str:
    return FRAMES + "\n".join(re.findall(r"(?s).{1,61}", text.line))


def wrapped_and_quoted(text: Text) -> str:
    return "\n".join(f"> {part}" for part in re.findall(r"(?s).{1,70}", text.line))


def wrapped_in_a_box(text: Text) -> str:
    lines = textwrap.wrap(text.line, 68, break_on_hyphens=False)
    return (
        "╭─ Traceback (most recent call last) ─╮\n"
        + "\n".join(f"│ {line:<68} │" for line in lines)
        + "\n╰──╯"
    )


def one_line(text: Text) -> str:
    return " ".join((FRAMES + text.line).split())


def representation(text: Text) -> str:
    quote = '"' if "'" in text.text else "'"
    inside = text.text.replace("\n", "\\n").replace(quote, f"\\{quote}")
    return f"failed with {text.raises}({quote}{inside}{quote})"


def raise_statement(text: Text) -> str:
    return f'    raise {text.raises}("{text.text}")\n'


def terminated(text: Text) -> str:
    return (
        f"terminate called after throwing an instance of 'c10::Error'\n  what():  {text.text}\n"
        "Exception raised from unpack at ../torch/csrc/autograd/saved_variable.cpp:193 (most recent call first):\n"
        "frame #0: c10::Error::Error(c10::SourceLocation, std::string) + 0x42 (0x7f8b2c in /usr/lib/libc10.so)\n"
        "frame #1: c10::detail::torchCheckFail(char const*, char const*, unsigned int, std::string const&) + 0xd3\n"
    )


def entities(text: Text) -> str:
    return f"<pre><code>{html.escape(FRAMES + text.line)}</code></pre>"


def markup(text: Text) -> str:
    lines = (FRAMES + text.line).splitlines()
    return "".join(f'<span class="line">{html.escape(line)}</span><br/>' for line in lines)


def typographic(text: Text) -> str:
    curly = re.sub(r"(^|[\s(\[=])'", "\\1‘", text.line).replace("'", "’")
    curly = re.sub(r'(^|[\s(\[=])"', "\\1“", curly).replace('"', "”")
    return curly.replace(" - ", " – ").replace("...", "…").replace(" ", "\u00a0", 3)


def lower_case(text: Text) -> str:
    return text.line.lower()


def message_first(text: Text) -> str:
    return f"{text.line}\n\nfull stack trace:\n{FRAMES}"


def library_hint(text: Text) -> str:
    return f"{FRAMES}{text.line}\n\nIf you use Lightning, see https://lightning.ai/docs for help.\nSet LOG_LEVEL=debug for more."


def sentry(text: Text) -> str:
    return json.dumps({"level": "error", "exception": FRAMES + text.line, "step": 120})


def warning_line(text: Text) -> str:
    return f"/usr/lib/python3/dist-packages/torch/autograd/__init__.py:251: {text.line} (Triggered internally at ../torch/csrc/autograd/engine.cpp:1000.)\n  loss.backward()"


def summary_line(text: Text) -> str:
    return f"FAILED tests/test_train.py::test_one_step[adam] - {text.line}"


def shouting(text: Text) -> str:
    return f"Help!!! {text.line}!!!"


def cuda_types(text: Text) -> str:
    return FRAMES + text.line.replace("torch.FloatTensor", "torch.cuda.HalfTensor")


def zero_width(text: Text) -> str:
    return "\ufeff" + text.line.replace(" ", " \u200b")


def docker_and_stamp(text: Text) -> str:
    lines = (FRAMES + text.line).splitlines()
    return "\n".join(f"2025-01-02T03:04:05.678901Z [stderr] {line}" for line in lines)


def ray(text: Text) -> str:
    return "\n".join(
        f"(TrainWorker pid=4711, ip=10.0.0.3) {line}" for line in (FRAMES + text.line).splitlines()
    )


def absl(text: Text) -> str:
    return f"E0309 14:02:11.123456 140213 train.py:88] {text.line}"


NOISES: list[Callable[[Text], str]] = [
    alone, only_the_text, traceback, carets, windows, rank_prefix, interleaved_ranks, log_stamps,
    container_log, progress_bar, bar_before_message, jupyter, colors, colors_without_escape, colab,
    pytest_output, quoted, fenced, inline_code, bold, debugger, chinese, chinese_quotes, japanese,
    korean, wrapped_words, wrapped_anywhere, wrapped_and_quoted, wrapped_in_a_box, one_line,
    representation, raise_statement, terminated, entities, markup, typographic, lower_case,
    message_first, library_hint, sentry, warning_line, summary_line, shouting, cuda_types,
    zero_width, docker_and_stamp, ray, absl,
]  # fmt: skip


# -- Layouts that lose a part of the message ------------------------------------------------------


def cut_at_the_end(text: Text) -> str:
    return FRAMES + text.line[: len(text.raises) + 2 + max(len(text.text) * 3 // 5, 30)]


def cut_in_an_issue_title(text: Text) -> str:
    kept = text.text[: max(len(text.text) // 2, 40)].rstrip()
    return f"{text.raises}: {kept}… #1234"


def cut_at_the_start(text: Text) -> str:
    return text.text[min(len(text.text) // 4, 30) :] + "\n"


def swapped_letters(text: Text) -> str:
    """Swap two letters in the middle of every fifth long word."""
    words = re.split(r"(\W+)", text.text)
    long = [i for i, word in enumerate(words) if len(word) > 5 and word.isalpha()]
    for i in long[1::5]:
        middle = len(words[i]) // 2
        word = words[i]
        words[i] = word[: middle - 1] + word[middle] + word[middle - 1] + word[middle + 1 :]
    return f"{text.raises}: {''.join(words)}"


def retyped(text: Text) -> str:
    line = text.line.rstrip(".").replace("'", "").replace("has been", "was")
    return line.replace("does not", "doesn't").replace("in-place", "inplace").lower()


def missing_letters(text: Text) -> str:
    words = text.text.split(" ")
    return " ".join(
        word[:-1] if i % 7 == 3 and len(word) > 4 else word for i, word in enumerate(words)
    )


def in_prose(text: Text) -> str:
    return (
        f"Hi all, my script stops and says that {text.text} and I do not know what to do about it"
    )


def interrupted(text: Text) -> str:
    """Put another process's line into the middle of the message."""
    middle = text.text.find(" ", len(text.text) // 2)
    first, second = (text.text[:middle], text.text[middle:]) if middle > 0 else (text.text, "")
    return f"{FRAMES}{text.raises}: {first}\nwandb: Waiting for W&B process to finish... (failed 1)\n{second}"


LOSSY: list[Callable[[Text], str]] = [
    cut_at_the_end, cut_in_an_issue_title, cut_at_the_start, swapped_letters, retyped,
    missing_letters, in_prose, interrupted,
]  # fmt: skip


def generated() -> Iterator[Case]:
    """Yield every message alone, in a quarter of the layouts and in half of the lossy ones."""
    for number, text in enumerate(texts()):
        chosen = [alone, *NOISES[1 + number % 4 :: 4], *LOSSY[number % 2 :: 2]]
        for noise in chosen:
            name = f"{text.page}/{number}/{noise.__name__}"
            yield Case(name, noise(text), text.page, whole=noise in NOISES)


# -- Pastes written by hand -----------------------------------------------------------------------

HEAD = re.compile(r"^=== (?P<head>.+)$", re.MULTILINE)


def sections(name: str) -> Iterator[tuple[str, str]]:
    """Yield head line and text of each section of a file of pastes."""
    parts = HEAD.split((CORPUS / name).read_text(encoding="utf-8"))
    for head, body in zip(parts[1::2], parts[2::2], strict=True):
        yield head.strip(), body.strip("\n") + "\n"


def handwritten() -> Iterator[Case]:
    """Yield the pastes of pastes.txt: ``=== page [cause]``; a head may say ``near``."""
    for number, (head, body) in enumerate(sections("pastes.txt")):
        page, *more = head.split()
        cause = next((word for word in more if word != "near"), None)
        yield Case(f"pastes.txt/{number}/{page}", body, page, cause, whole="near" not in more)


def reproduced() -> Iterator[tuple[str, str]]:
    """Yield cause and output of runs of small scripts, each with the mistake of a public report."""
    for line in (CORPUS / "reports.jsonl").read_text(encoding="utf-8").splitlines():
        run = json.loads(line)
        yield run["cause"], run["paste"]


def symptoms() -> Iterator[Case]:
    """Yield the questions of symptoms.txt: words without a message."""
    for number, (page, body) in enumerate(sections("symptoms.txt")):
        yield Case(f"symptoms.txt/{number}/{page}", body, page, whole=False)


def unrelated() -> Iterator[str]:
    """Yield errors that autograd did not raise."""
    for _, body in sections("unrelated.txt"):
        yield body
