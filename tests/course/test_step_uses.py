"""The box "What you use of earlier steps" of a sheet: made from the reference, short, and of what is earlier only."""

from __future__ import annotations

import re

import pytest

from minitorch_compile.course.mini.reference import all_steps, file_of, place

from .notebooks import tool

step_uses = tool("step_uses")


@pytest.mark.parametrize(
    ("number", "said"),
    [
        ("05.3", "`Frame` (03.5), one call: code, local variables, a stack, and where it is; its `.locals`, `.stack`"),
        ("08.3", "`reshape(x, *sizes)` (02.7), a view where strides allow it"),
        ("08.4", "`Layer` (ops.py), its `call(op, args)` sees each call of an op"),
        ("08.9", "`full(sizes, value, dtype)`"),
        ("13.10", "`promote(*values)` (02.3), the dtype of a result"),
        ("13.10", "its `.floats`"),
        ("13.10", "`where` (as `np.where`)"),
        ("15.7", "`.index(rows=None)`"),
    ],
)
def test_what_a_step_uses_is_told_with_its_signature(number, said):
    assert said in step_uses.box(number)


def test_what_another_library_has_is_nothing_of_ours():
    assert "Region" not in step_uses.box("15.9")  # its `.cache` is functools'
    assert "Source" not in step_uses.box("13.10")  # its `.kind` is a dtype's


@pytest.mark.parametrize("number", all_steps())
def test_a_box_is_short_and_names_earlier_steps_only(number):
    _, _, *lines = step_uses.box(number).split("\n") if step_uses.box(number) else ("", "")
    assert len(lines) <= step_uses.MOST_LINES and all(line.startswith("- ") for line in lines)
    assert all(place(other) < place(number) for line in lines for other in re.findall(r"\((\d\d\.\d+)\)", line))
    assert not any(f"({file_of(number)}.py)" in line for line in lines)
