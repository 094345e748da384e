"""Exercise 10.7: a tangent beside each value."""

from __future__ import annotations

from typing import Any

from minitorch_compile.course.checking.exercise import WrongAnswer
from minitorch_compile.course.checking.step import Step

from ..comparing import expect, tried
from ..lesson_08_autograd.nudging import doubles

TANGENTS = Step(
    "10.7",
    "a tangent beside each value",
    file="transforms",
    minutes=25,
    hints=(
        "out = op(*values) is the value. If it is no float it does not move: return it as it is, unboxed.",
        "self.tangent(op, tangents, out, values) gives the tangent, with arg.tangent for each argument of ours and None"
        " for the others. A View is simpler: the tangent's view, by the same op.",
        "A tangent lives like its value: views share memory, all else has its own, so apply no other op to it."
        " Then a write is two writes: copy_ into the value, copy_ into the tangent (of zero, if what is written"
        " does not move).",
    ),
)
SECTION = "Forwards, by two passes backwards"


def boxed(mini: Any, layer: Any, value: list[float], tangent: list[float]) -> Any:
    return layer.box(doubles(mini, value), doubles(mini, tangent))


def judge_pair(text: str, wanted: tuple[Any, Any], out: Any, why: str) -> None:
    if not hasattr(out, "tangent"):
        raise WrongAnswer(f"{text}: got {out!r}", "The result is a box, of its value and its tangent.")
    expect(f"{text}: value and tangent", wanted, (out.value.tolist(), out.tangent.tolist()), why)


@TANGENTS.case("value and tangent", points=2, section=SECTION)
def _(mini: Any) -> None:
    ops = mini.ops
    with mini.transforms.Forward() as layer:
        x, y = boxed(mini, layer, [3.0, 4.0], [1.0, 10.0]), boxed(mini, layer, [5.0, 6.0], [100.0, 1000.0])
        expect("a box shows sizes", (2,), x.sizes, "Those of its value.")
        judge_pair("-x", ([-3.0, -4.0], [-1.0, -10.0]), tried("-x", "", ops.neg, x), "It moves the other way.")
        still = "A number does not move: its tangent is None."
        judge_pair("x * 2", ([6.0, 8.0], [2.0, 20.0]), tried("x * 2", still, ops.mul, x, 2), still)
        both = "Both arguments move: their contributions are added up, y dx + x dy."
        judge_pair("x * y", ([15.0, 24.0], [305.0, 4060.0]), tried("x * y", both, ops.mul, x, y), both)
        judge_pair("x * x", ([9.0, 16.0], [6.0, 80.0]), tried("x * x", both, ops.mul, x, x), both)
        narrow = "y moves all elements of the result: the tangent has the result's sizes."
        one = boxed(mini, layer, [7.0], [1.0])
        fixed = doubles(mini, [1.0, 2.0])
        judge_pair(
            "a of (1,) + b of (2,)", ([8.0, 9.0], [1.0, 1.0]), tried("a + b", narrow, ops.add, one, fixed), narrow
        )


@TANGENTS.case("what does not move", points=1, section=SECTION)
def _(mini: Any) -> None:
    ops = mini.ops
    why = "Whole numbers and truth values do not move: there is no rule for them, and no box."
    with mini.transforms.Forward() as layer:
        x = boxed(mini, layer, [3.0, 4.0], [1.0, 10.0])
        got = tried("x < 3.5", why, ops.lt, x, 3.5)
        if isinstance(got, mini.transforms.Box):
            raise WrongAnswer("x < 3.5: got a box", why)
        expect("x < 3.5", [True, False], got.tolist(), why)
        judge_pair("where(x < 3.5, x, 0)", ([3.0, 0.0], [1.0, 0.0]), tried("where", why, ops.where, got, x, 0), why)
        expect("x.to('int64')", [3, 4], tried("x.to('int64')", why, ops.to_, x, "int64").tolist(), why)
        single = tried("x.to('float32')", "", ops.to_, x, "float32")
        expect(
            "x.to('float32').tangent.dtype", "float32", single.tangent.dtype.name, "A tangent has its value's dtype."
        )


@TANGENTS.case("views and writes", points=2, section="What a rule must not forget")
def _(mini: Any) -> None:
    ops = mini.ops
    alone = "x + 0 is a new tensor: value and tangent have memory of their own."
    shared = (
        "A view shares its base's memory, and so does its tangent with the base's tangent: apply the view to"
        " it, and do not copy."
    )
    moves = "A write moves the tangent, too: what was there before does not count, for neither."
    with mini.transforms.Forward() as layer:
        x = boxed(mini, layer, [3.0, 4.0], [1.0, 10.0])
        y = tried("y = x + 0", "", ops.add, x, 0)
        new = boxed(mini, layer, [7.0], [100.0])
        returned = tried("y[:1].copy_(new)", shared, lambda: ops.copy_(ops.slice_(y, 0, 0, 1, 1), new))
        judge_pair("y = x + 0; y[:1].copy_(new): what copy_ gives", ([7.0], [100.0]), returned, moves)
        judge_pair("y = x + 0; y[:1].copy_(new): y", ([7.0, 4.0], [100.0, 10.0]), y, shared)
        judge_pair("y = x + 0; y[:1].copy_(new): x", ([3.0, 4.0], [1.0, 10.0]), x, alone)
        tried("y.copy_(a constant)", moves, ops.copy_, y, doubles(mini, [5.0, 6.0]))
        judge_pair("y.copy_(a constant): y", ([5.0, 6.0], [0.0, 0.0]), y, "A constant does not move: the tangent is 0.")
