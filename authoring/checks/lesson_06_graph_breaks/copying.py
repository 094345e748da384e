"""Step 06.5: the values of a trace, as a later call has them."""

from __future__ import annotations

from typing import Any

from minitorch_compile.course.checking.exercise import WrongAnswer, outcome
from minitorch_compile.course.checking.step import Step

from ..comparing import expect
from ..lesson_05_guards_and_the_cache.own_frames import frame_of
from .traced_frames import copy_of, guards_of

COPYING = Step(
    "06.5",
    "what a trace made, made again",
    file="breaks",
    minutes=15,
    hints=(
        "Two kinds of values: what has a source lies in this call's frame; anything else the trace made, and it must be"
        " made anew.",
        "Keep the answer in self.memo by id(value), and look there before anything else.",
        "source.find(self.frame), self.new(value). alike: remade(value, lambda step, key, part: self(part),"
        " remember), and a"
        " dictionary's keys are parts as well.",
    ),
)
SECTION = "What is carried over"


@COPYING.case("what has a source is found in this call", points=2, section=SECTION)
def _(mini: Any) -> None:
    first, later = [1], [1]
    guards, used = guards_of(mini, items=first)
    copy = copy_of(mini, guards, frame_of(mini, items=later))
    got = outcome(copy, (used["items"],))
    if got is not later:
        what = "that of the call that was traced" if got is first else repr(got)
        raise WrongAnswer(
            f"items was read from a variable; a later call has another list: the copy is {what}",
            "What came from outside is the program's own object, and in each call it may be another one: its source"
            " finds it.",
        )
    x, y = mini.tensor.tensor([1.0]), mini.tensor.tensor([2.0])
    guards, used = guards_of(mini, x=x)
    got = outcome(copy_of(mini, guards, frame_of(mini, x=y)), (used["x"],))
    if got is not y:
        raise WrongAnswer(
            f"the copy of an input of the graph is {got!r}, expected the tensor of this call",
            "An input is a tensor, and no result: ask for the source first.",
        )


@COPYING.case("a tensor that the graph made is its result", points=1, section=SECTION)
def _(mini: Any) -> None:
    guards, _ = guards_of(mini)
    copy, fakes = copy_of(mini, guards, frame_of(mini)), [mini.tensor.fake((2,)) for _ in range(2)]
    why = "A fake without a source is what the graph computes: result_of(value) gives the tensor of this call."
    expect("the copies of two fakes", ["result 0", "result 1"], [outcome(copy, (fake,)) for fake in fakes], why)


@COPYING.case("one object stays one", points=2, section=SECTION)
def _(mini: Any) -> None:
    guards, _ = guards_of(mini)
    copy, fake, inner = copy_of(mini, guards, frame_of(mini)), mini.tensor.fake((2,)), [0]
    why = "memo keeps, by id, what each value became: the program can see whether two are one."
    expect("a fake, copied twice", ["result 0"] * 2, [outcome(copy, (fake,)) for _ in range(2)], why)
    pair = outcome(copy, ([inner, inner],))
    if not isinstance(pair, list) or len(pair) != 2 or pair[0] is not pair[1]:
        raise WrongAnswer("a = [0]; [a, a] was copied, and has two different lists now", why)
    if pair[0] is inner:
        raise WrongAnswer("a list that the trace made was not copied", "Each call makes a list of its own: new(value).")


@COPYING.case("of the same kind, of copies", points=1, section=SECTION)
def _(mini: Any) -> None:
    guards, _ = guards_of(mini)
    key, value = mini.tensor.fake((1,)), mini.tensor.fake((1,))
    copy = copy_of(mini, guards, frame_of(mini))
    why = "alike gives an object of the same kind, of copies. What can be a value can be a key."
    expect("alike of (1, fake)", (1, "result 0"), outcome(copy.alike, ((1, value),)), why)
    expect(
        "alike of {fake: 2, 'k': fake}",
        {"result 1": 2, "k": "result 0"},
        outcome(copy.alike, ({key: 2, "k": value},)),
        why,
    )
