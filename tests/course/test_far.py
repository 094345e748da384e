"""The conversation of the judge with the learner's process: what can't be said in it, and what may not be asked."""

from __future__ import annotations

import dataclasses
import functools
import io
import json
import operator
import os
import threading

import numpy as np
import pytest

from minitorch_compile.course.checking import warm
from minitorch_compile.course.checking.check_keeper import ON_LINUX
from minitorch_compile.course.checking.check_process import judge
from minitorch_compile.course.checking.lessons import find_exercise
from minitorch_compile.course.far.far import Far, FarCallable
from minitorch_compile.course.far.link import Link
from minitorch_compile.course.far.there import there
from minitorch_compile.course.sandbox import places


def answer_to(question: dict) -> str:
    """What the judge answers to a line of the learner's process; "" if that is no message to it."""
    written = io.BytesIO()
    line = json.dumps({**question, "changes": [], "unused": []}).encode()
    Link(io.BytesIO(line + b"\n"), written, trusted=False).serve()
    return written.getvalue().decode()


@pytest.mark.parametrize("name", ["builtins.print", "operator.setitem", "math.prod"])
def test_what_was_not_given_is_not_called(name):
    question = {"ask": "call", "args": [{"g": name.split(".")}, {"t": []}, {"new": 2, "type": "dict", "has": []}]}
    assert "only functions that were given can be called" in answer_to(question)


@pytest.mark.parametrize(
    "name",
    ["_operator.call", "operator.attrgetter", "operator.methodcaller", "builtins.eval", "builtins.__build_class__"]
    + ["builtins.type.__subclasses__", "builtins.object.__getattribute__"],
)
def test_what_could_make_anything_is_not_taken(name):
    """operator.call makes an attrgetter for `__self__.eval` of a function of the builtins', and so on."""
    assert answer_to({"ask": "op", "args": ["repr", {"g": name.split(".", 1)}]}) == ""


@pytest.fixture
def judges_end():
    """The judge's end of a conversation whose other end answers in a thread."""
    (there, of_judge), (here, of_runner) = os.pipe(), os.pipe()
    with os.fdopen(there, "rb") as asked, os.fdopen(of_runner, "wb") as answers:
        other = threading.Thread(target=Link(asked, answers, trusted=True).serve)
        other.start()
        with os.fdopen(here, "rb") as reading, os.fdopen(of_judge, "wb") as writing:
            link = Link(reading, writing, trusted=False)
            yield link
            link.writing.close()
            other.join()


IDENTICAL = ["text", "a", 2.5, 1j, b"bytes", range(2), slice(1, 2), frozenset({300}), (1, [2]), ValueError("said")]


@pytest.mark.parametrize("value", IDENTICAL, ids=repr)
def test_what_the_judge_gives_comes_back_as_itself(judges_end, value):
    for _ in range(2):
        assert judges_end.ask("call", operator.getitem, ([value], 0), {}) is value


def test_what_stays_with_the_judge_may_be_given_again(judges_end):
    """Its class had been told of, in words that were then not sent."""
    kind = type("Stays", (), {"__module__": "authoring.nowhere", "method": answer_to})
    method = type("Method", (), {"__module__": "authoring.nowhere", "m": pytest.raises})
    values = [kind(), kind(), method(), method(), (each for each in ()), test_what_was_not_given_is_not_called.__code__]
    assert all(judges_end.ask("call", operator.getitem, (values, at), {}) is each for at, each in enumerate(values))


def test_no_array_is_made_of_what_is_far(judges_end):
    """NumPy would read the judge's memory where it is told to, and let the other process subtract what is expected."""
    secret = np.array([3.0, 4.0])
    far = judges_end.ask("call", functools.partial, (operator.neg,), {})
    far.__array_interface__ = {"data": (secret.ctypes.data, False), "shape": (2,), "typestr": "<f8", "version": 3}
    number = Far(judges_end, far._number, float, ())
    for value in (far, [far, far], number, [number, number]):
        for compares in (np.asarray, lambda given: np.allclose(given, secret)):
            with pytest.raises(TypeError, match="expected an array or numbers"):
                compares(value)


@there
def its_process(answer):
    return answer(3), threading.current_thread().name


@there
def with_machinery(answer):
    return judge(answer, [])


def test_a_measurement_is_taken_where_the_answer_is(judges_end):
    answer = judges_end.ask("call", functools.partial, (operator.neg,), {})
    assert type(answer) is FarCallable
    value, thread = its_process(answer)
    assert value == -3 and thread != threading.current_thread().name == its_process(operator.neg)[1]
    with pytest.raises(TypeError, match="with_machinery uses the machinery of the checks"):
        with_machinery(answer)


UNSAYABLE = {
    "of more digits than Python writes": ("10**5000", "Exceeds the limit"),
    "nested too deeply": (
        "functools.reduce(lambda x, _: [x], range(3000), 0)",
        "is nested too deeply",
    ),
    "longer than a message": ("'x' * 2**26", "more memory than the limit"),
}


@pytest.mark.parametrize("name", UNSAYABLE)
def test_a_result_that_does_not_cross_is_told_of_case_by_case(name):
    given, said = UNSAYABLE[name]
    patient = dataclasses.replace(find_exercise("01.1"), seconds=60.0)  # 64 MB four times
    result = judge(patient, ["import functools", f"contiguous_strides = lambda sizes: {given}"])
    assert said in result.cases[0].fact
    assert [case.verdict for case in result.cases] == ["fail"] * 4


@pytest.mark.skipif(not ON_LINUX, reason="only Linux forks its checks from a process that stays")
def test_an_interrupt_while_a_check_begins_spoils_no_later_one(monkeypatch):
    cells = ["def contiguous_strides(sizes):\n    return 0"]
    judge(find_exercise("01.1"), cells)

    class Interrupted:
        def __init__(self, socket):
            self.socket = socket

        def __getattr__(self, name):
            return getattr(self.socket, name)

        def recv(self, length):
            raise KeyboardInterrupt

    monkeypatch.setattr(warm._running[0], "socket", Interrupted(warm._running[0].socket))
    with pytest.raises(KeyboardInterrupt):
        judge(find_exercise("01.1"), cells)
    for _ in range(2):
        assert "expected (2, 1), got 0" in str(judge(find_exercise("01.1"), cells))


def test_the_python_of_a_check_may_lie_where_answers_are_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    """course-check makes its environments in build/, and what was not imported yet is read there."""
    own, answers = places.course() / "build" / "python", places.course() / "solutions"
    monkeypatch.setattr("sys.prefix", str(own))
    monkeypatch.setattr("sys.path", [str(own / "lib"), str(answers)])
    found = places.readable()
    assert own in found and answers not in found and places.course() not in found


def test_what_nobody_holds_any_more_is_forgotten(judges_end):
    """Each message looks at all that is mirrored: calls that left something behind would make later ones slower."""
    for _ in range(20):
        assert judges_end.ask("call", sorted, ([3, 1, 2],), {"reverse": True}) == [3, 2, 1]
    assert len(judges_end.codec.seen) < 10  # what the last ones left is forgotten with the next


def add_twice(box):
    for _ in range(2):
        box[0] = box[0] + 1.5


def test_what_lies_where_its_forerunner_lay_is_told_of(judges_end):
    """The second sum is often at the address of what was in the list before."""
    box = [0.5]
    for wanted in (3.5, 6.5, 9.5, 12.5):
        judges_end.ask("call", add_twice, (box,), {})
        assert box == [wanted]


@pytest.mark.parametrize("is_code", [True, False])
def test_what_was_sent_as_code_is_not_called_in_the_judge(is_code):
    """It has a copy; and what runs the learner's text there must not run it here."""
    ran = []

    def told(text):
        ran.append(text)

    def runs_a_text(text):
        exec(text)

    written = io.BytesIO()
    link = Link(io.BytesIO(), written, trusted=False)
    number = next(iter(link.codec.encode(runs_a_text if is_code else judged(told)).values()))
    text = "raise KeyError('it ran')"
    question = {"ask": "call", "args": [{"#": number}, {"t": [text]}, {"new": 2, "type": "dict", "has": []}]}
    link.reading = io.BytesIO(json.dumps({**question, "changes": [], "unused": []}).encode() + b"\n")
    link.serve()
    assert ("only functions that were given" in written.getvalue().decode()) is is_code
    assert ran == ([] if is_code else [text])


def judged(function):
    """A function that is no program: it writes to a variable of the function around it."""
    calls = 0

    def counting(*args):
        nonlocal calls
        calls += 1
        return function(*args)

    return counting
