"""Output shows what any machine prints, not the building one."""

from __future__ import annotations

import textwrap
import warnings

import pytest
from clean_output import clean

ANOMALY = """\
import torch

with torch.autograd.set_detect_anomaly(True):
    x = torch.zeros(1, requires_grad=True)
    y = x.sqrt() * 0
    y.backward()
"""


def test_forward_traceback_begins_in_the_script(tmp_path):
    script = tmp_path / "plot_anomaly.py"
    script.write_text(ANOMALY, "utf-8")
    with warnings.catch_warnings(record=True) as shown, pytest.raises(RuntimeError):
        warnings.simplefilter("always")
        exec(compile(ANOMALY, str(script), "exec"), {"__name__": "__main__"})
    text = clean(str(shown[0].message), script)
    assert text.splitlines()[:3] == [
        "Error detected in SqrtBackward0. Traceback of forward call that caused the error:",
        '  File "plot_anomaly.py", line 5, in <module>',
        "    y = x.sqrt() * 0",
    ]
    assert "test_clean_output" in str(shown[0].message)
    assert "test_clean_output" not in text


def test_indented_output_is_cleaned_as_well(tmp_path):
    stack = (
        "Traceback of forward call that caused the error:\n"
        '  File "builder.py", line 1, in build\n    run()\n'
        '  File "plot_anomaly.py", line 5, in <module>\n    y = x.sqrt() * 0\n'
        "  return engine.run()\n"
    )
    indented = textwrap.indent(clean(stack, tmp_path / "plot_anomaly.py"), "    ")
    assert clean(textwrap.indent(stack, "    "), tmp_path / "plot_anomaly.py") == indented
    assert "builder.py" not in indented
    assert indented.endswith("  return engine.run()\n")


def test_forward_traceback_of_another_file_stays_whole(tmp_path):
    stack = 'Traceback of forward call that caused the error:\n  File "other.py", line 1, in f\n'
    assert clean(stack, tmp_path / "plot_anomaly.py") == stack
