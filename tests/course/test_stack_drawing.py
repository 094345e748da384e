"""The drawing of a run shows each step's stack, slots, jumps and accidents, and says the same in text."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import pytest

from minitorch_compile.course.drawings.stack import draw_run, recorded_steps
from minitorch_compile.dynamo.bytecode.decode import decode
from minitorch_compile.dynamo.execution.concrete import ConcreteInterpreter, function_frame
from minitorch_compile.dynamo.execution.interpreter import BytecodeInterpreter


def frame_of(function, **slots) -> ConcreteInterpreter:
    return function_frame(function, slots)


def labels(drawing) -> list[str]:
    tree = ElementTree.fromstring(drawing.svg())
    return [node.text for node in tree.iter("{http://www.w3.org/2000/svg}text")]


def difference(a, b):
    return a - b


def count_down(n):
    while n > 0:
        n -= 1
    return n


def ratio(a, b):
    try:
        return a // b
    except ZeroDivisionError:
        return None


def pair(x):
    yield x


def test_each_value_on_the_stack_is_in_the_picture():
    shown = labels(draw_run(frame_of(difference, a=7, b=2)))
    assert {"7", "2", "5"} <= set(shown) | {"5" for text in shown if text == "returns 5"}
    assert "a = 7, b = 2" in shown and "returns 5" in shown


def test_a_value_keeps_the_step_that_pushed_it():
    third = recorded_steps(frame_of(difference, a=7, b=2))[2]
    assert third.cells == (("7", 1), ("2", 2))


def test_a_jump_tells_where_it_goes_on():
    notes = [step.note for step in recorded_steps(frame_of(count_down, n=2))]
    assert any(note.startswith("on to ") for note in notes)


def test_an_accident_is_marked_and_the_exception_lies_on_the_stack():
    (accident,) = [step for step in recorded_steps(frame_of(ratio, a=1, b=0)) if step.raised]
    assert accident.instruction.startswith("BINARY_OP") and "ZeroDivisionError" in accident.cells[-1][0]


def test_an_exception_that_leaves_the_frame_is_the_last_row():
    assert recorded_steps(frame_of(difference, a=1, b="2"))[-1].note == "TypeError leaves the frame"


def test_a_changed_slot_and_an_emptied_one():
    def f(x):
        y = x
        del x
        return y

    slots = [step.slots for step in recorded_steps(frame_of(f, x=3)) if step.slots]
    assert slots == ["x = 3", "y = 3", "x is empty"]


def test_a_generators_frame_is_drawn_up_to_where_it_waits():
    assert recorded_steps(frame_of(pair, x=1))[-1].note.startswith("returns <")


def test_symbols_are_drawn_as_values_are():
    class Words(BytecodeInterpreter):
        def binary(self, op, a, b):
            return f"({a} {op} {b})"

    frame = Words(decode(difference.__code__), {"a": "a", "b": "b"})
    assert recorded_steps(frame)[-1].note == "returns '(a - b)'"


def test_what_is_too_long_is_refused():
    with pytest.raises(ValueError, match="more than 60 steps"):
        draw_run(frame_of(count_down, n=100))
    assert recorded_steps(frame_of(count_down, n=100), most=1000)
