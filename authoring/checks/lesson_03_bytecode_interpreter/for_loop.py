"""Exercise 03.2: the handler of FOR_ITER, which asks the domain for the next item."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minitorch_compile.course.checking.exercise import Exercise, WrongAnswer, outcome
from minitorch_compile.course.splicing.splice import splice
from minitorch_compile.dynamo.execution.concrete import interpret
from minitorch_compile.dynamo.execution.interpreter import BytecodeInterpreter

from .listing import frame_of, read_listing

FOR_LOOP = Exercise(
    "03.2",
    "the handler of the for loop",
    answer="FOR_ITER",
    minutes=10,
    hints=(
        "Two cases: there is an item, or there is none. What is on the stack afterwards in each, and what runs next?",
        "The iterator stays where it is, on top, for the next round: look at it with self.stack[-1], don't pop it.",
        "more, item = self.next_item(self.stack[-1]); if more, push the item; else pop the iterator and"
        " self.goto(inst).",
    ),
    place="dynamo.for_iter",
)
SECTION, HOOKS = "Jumps", "The package's interpreter"

LOOP = """
    0 LOAD_FAST            'items'
    1 GET_ITER
    2 FOR_ITER             to 5
    3 POP_TOP
    4 JUMP                 to 2
    5 LOAD_CONST           0
    6 RETURN_VALUE
"""


def one_step(answer: Callable[..., Any], items: list[Any]) -> tuple[list[str], int]:
    """The stack and the next instruction after one FOR_ITER over what is left of `items`, above a waiting value."""
    frame = frame_of(read_listing(LOOP), items=items)
    iterator = iter(items)
    frame.stack, frame.current, frame.index = ["waiting", iterator], 2, 3
    raised = outcome(answer, (frame, frame.instructions[2]))
    if raised is not None:
        fact = f"FOR_ITER with the items {items} left: expected no result, got {raised!r}"
        raise WrongAnswer(fact, "A handler changes the frame, and gives nothing back.") from getattr(
            raised, "error", None
        )
    return ["the iterator" if value is iterator else repr(value) for value in frame.stack], frame.index


def explain(items: list[Any], stack: list[str], index: int) -> str:
    if items and "the iterator" not in stack:
        return "The iterator is gone, but the next round needs it. Look at it without popping it."
    if items and index != 3:
        return "There was an item, so the body of the loop comes next. Jump only at the end."
    if items and stack[-1] == "the iterator":
        return "The item belongs on top of the iterator: the next instruction stores it."
    if not items and "the iterator" in stack:
        return "At the end nobody needs the iterator any more. If it stays, whatever comes next finds it on top."
    if not items and index != 5:
        return "There was no item, so the loop is over: go to the target of the instruction."
    return "What is on the stack, and what runs next?"


@FOR_LOOP.case("there is an item", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    expect(answer, [10, 20], ["'waiting'", "the iterator", "10"], 3)
    expect(answer, [None], ["'waiting'", "the iterator", "None"], 3)
    expect(answer, [0], ["'waiting'", "the iterator", "0"], 3)


@FOR_LOOP.case("there is none", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    expect(answer, [], ["'waiting'"], 5)
    expect(answer, [7], ["'waiting'", "the iterator", "7"], 3)  # so that doing the end's work always earns nothing


def expect(answer: Callable[..., Any], items: list[Any], stack: list[str], index: int) -> None:
    got, next_index = one_step(answer, items)
    if (got, next_index) != (stack, index):
        fact = (
            f"FOR_ITER with the items {items} left: expected [{', '.join(stack)}] and on to {index},"
            f" got [{', '.join(got)}] and on to {next_index}"
        )
        raise WrongAnswer(fact, explain(items, got, next_index))


class Thread:
    """What a loop of this domain goes over: beads that only the domain knows how to take off."""

    def __init__(self, beads: str) -> None:
        self.beads = beads

    def __repr__(self) -> str:
        return f"<thread {self.beads!r}>"


class Beads(BytecodeInterpreter):
    """A domain whose iterators are no Python iterators."""

    def load_const(self, value: object) -> Any:
        return value

    def get_iter(self, iterable: str) -> Thread:
        return Thread(iterable)

    def next_item(self, iterator: Thread) -> tuple[bool, str]:
        bead, iterator.beads = iterator.beads[:1], iterator.beads[1:]
        return bool(bead), bead


@FOR_LOOP.case("values that are not Python's", points=1, section=HOOKS)
def _(answer: Callable[..., Any]) -> None:
    ask = "Whether there is a next item, only the domain can say: `self.next_item(iterator)` gives (more, item)."
    with splice("dynamo.for_iter", answer):
        got = outcome(Beads(read_listing(LOOP), {"items": "ab"}).run, ())
    if got != 0:
        fact = "a domain in which a loop takes beads off a thread, which is no Python iterator: expected 0, got"
        raise WrongAnswer(f"{fact} {got!r}", ask) from getattr(got, "error", None)


def nested(rows: list[list[int]]) -> list[int]:
    """Sums of rows, leaving a row at a negative number."""
    sums = []
    for row in rows:
        total = 0
        for number in row:
            if number < 0:
                break
            total += number
        sums.append(total)
    return sums


@FOR_LOOP.case("whole programs, in the package", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    trials: list[tuple[list[list[int]], list[int]]] = [
        (rows, nested(rows)) for rows in ([], [[1, 2], []], [[1, -1, 5], [3]], [[0], [0, 0]])
    ]
    with splice("dynamo.for_iter", answer):
        for rows, expected in trials:
            got = outcome(interpret, (nested, rows))
            if got != expected:
                fact = f"sums of the rows {rows}, interpreted with your handler: expected {expected}, got {got!r}"
                why = "Try it with draw_run, and watch the iterator."
                raise WrongAnswer(fact, why) from getattr(got, "error", None)
