"""Exercise 17.2: whether a kernel may write a buffer over one that it reads for the last time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import minitorch_compile as torch
from minitorch_compile.course.checking.exercise import Exercise, WrongAnswer, outcome
from minitorch_compile.course.splicing.splice import splice
from minitorch_compile.inductor.ir.buffer import Buffer
from minitorch_compile.inductor.ir.handler import Handler
from minitorch_compile.inductor.ir.index import Index
from minitorch_compile.inductor.ir.loops import Loop
from minitorch_compile.inductor.schedule.group import Group
from minitorch_compile.tensor.numerics.dtype import float32

IN_PLACE = Exercise(
    "17.2",
    "over the dead",
    answer="overwrites_safely",
    minutes=20,
    place="inductor.overwrites_safely",
    hints=(
        "Find the writer first, group.writer(output). Then look at every read of source, by every member.",
        "stage = dict(zip(group.members, group.stages())) gives the stage of a member. Which reads come too late?",
        "A read is harmless if it isn't masked, has the writer's address, is by a member with the writer's `inner`,"
        " and of a stage not after the writer's.",
    ),
    seconds=60,
    megabytes=2048,
)
SECTION = "Many lives in one block"
ROWS, COLUMNS = 4, 8
At = Callable[[Any, Sequence[Index]], Index]


class Puzzle(NamedTuple):
    """A group in which `output` might take the memory of y."""

    text: str
    group: Group
    output: Buffer
    source: Buffer
    safe: bool
    why: str


def buffer(name: str, *sizes: int) -> Buffer:
    return Buffer.contiguous(name, sizes or (ROWS, COLUMNS), float32)


def read(ops: Handler, source: Buffer, *at: Index) -> Any:
    return ops.load(source, source.address(at))


def loop(out: Buffer, body: Callable[[Handler, Sequence[Index]], Any], **more: Any) -> Loop:
    return Loop(out, (ROWS, COLUMNS), body, **more)


def fused(*loops: Loop) -> Group:
    group = Group.of(loops[0])
    for each in loops[1:]:
        result = group.fuse(Group.of(each))
        assert isinstance(result, Group), result
        group = result
    return group


def mirrored() -> Group:
    """A group that reads y at the place of each position, and at the mirrored one."""
    y, z = buffer("y"), buffer("z")

    def body(ops: Handler, at: Sequence[Index]) -> Any:
        return ops.apply("add", read(ops, y, *at), read(ops, y, at[0], COLUMNS - 1 - at[1]))

    return Group.of(loop(z, body))


def share_of_row() -> Group:
    """e = exp(y), its sum along each row, and z = y / sum: y is read in both stages."""
    y, e, total, z = buffer("y"), buffer("e"), buffer("total", ROWS), buffer("z")
    return fused(
        loop(e, lambda ops, at: ops.apply("exp", read(ops, y, *at))),
        loop(total, lambda ops, at: read(ops, e, *at), reduced=(1,), kind="sum"),
        loop(z, lambda ops, at: ops.apply("div", read(ops, y, *at), read(ops, total, at[0]))),
    )


def row_and_points() -> Group:
    """t = x minus the row's y, its sum along each row, and z = -y, once a row."""
    x, y = buffer("x"), buffer("y", ROWS)
    t, total, z = buffer("t"), buffer("total", ROWS), buffer("z", ROWS)
    row = Loop(z, (ROWS,), lambda ops, at: ops.apply("neg", read(ops, y, at[0])))
    return fused(
        loop(t, lambda ops, at: ops.apply("sub", read(ops, x, *at), read(ops, y, at[0]))),
        loop(total, lambda ops, at: read(ops, t, *at), reduced=(1,), kind="sum"),
        row,
    )


def named(group: Group, name: str) -> Buffer:
    return next(each for each in [*group.inputs, *group.outputs] if each.name == name)


def puzzle(text: str, group: Group, output: str, safe: bool, why: str) -> Puzzle:
    return Puzzle(text, group, named(group, output), named(group, "y"), safe, why)


def easy() -> list[Puzzle]:
    y, z = buffer("y"), buffer("z")
    sine = Group.of(loop(z, lambda ops, at: ops.apply("sin", read(ops, y, *at))))
    turned = Group.of(loop(z, lambda ops, at: ops.load(y, ROWS * at[1] + at[0])))
    return [
        puzzle("z = sin(y)", sine, "z", True, "Each number is read, and then written to the same place."),
        puzzle("z = y.t()", turned, "z", False, "Where z is written lies a number of y that is read later."),
        puzzle("z = y + y.flip(1)", mirrored(), "z", False, "All reads of y count, not only the first one."),
    ]


def staged() -> list[Puzzle]:
    text = "e = y.exp(); z = y / e.sum(1, keepdim=True)"
    return [
        puzzle(
            f"{text}, z over y", share_of_row(), "z", True, "y is read in stages 0 and 1, and z written in stage 1."
        ),
        puzzle(
            f"{text}, e over y",
            share_of_row(),
            "e",
            False,
            "e is written in stage 0, and in stage 1 the same row of y is read once more.",
        ),
    ]


def of_rows() -> list[Puzzle]:
    x, y, total = buffer("x"), buffer("y", ROWS), buffer("total", ROWS)
    weighed = lambda ops, at: ops.apply("mul", read(ops, x, *at), read(ops, y, at[0]))
    weighted = Group.of(loop(total, weighed, reduced=(1,), kind="sum"))
    why = "z is written once a row, before the inner loop of its stage. That loop still wants y."
    whys = "A reduction may use its place from the beginning, to add up in it. So it can't be one that is still read."
    return [
        puzzle("total = (x - y[:, None]).sum(1); z = -y, z over y", row_and_points(), "z", False, why),
        puzzle("total = (x * y[:, None]).sum(1), total over y", weighted, "total", False, whys),
    ]


def guarded() -> list[Puzzle]:
    y, z = buffer("y"), buffer("z")

    def body(ops: Handler, at: Sequence[Index]) -> Any:
        condition = ops.apply("lt", ops.index_value(at[1], float32), ops.constant(4, float32))
        return ops.masked(condition, lambda: read(ops, y, *at), 0, float32)

    why = "A masked read may look at another place than the address says, where the mask is false."
    return [puzzle("z = y in columns 0 to 3, else 0", Group.of(loop(z, body)), "z", False, why)]


def judge(answer: Callable[..., Any], puzzles: Sequence[Puzzle]) -> None:
    for each in puzzles:
        got = outcome(answer, (each.group, each.output, each.source))
        if not isinstance(got, bool):
            raise WrongAnswer(f"{each.text}: expected True or False, got {got!r}", "Answer with True or False.")
        if got is not each.safe:
            raise WrongAnswer(f"{each.text}: you say {got}, and it is {each.safe}", each.why)


@IN_PLACE.case("where it is written", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    judge(answer, easy())


@IN_PLACE.case("stages", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    judge(answer, [easy()[0], *staged()])


@IN_PLACE.case("rows and points", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    judge(answer, [easy()[0], *of_rows()])


@IN_PLACE.case("masks", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    judge(answer, [easy()[0], *guarded()])


@IN_PLACE.case("in the running package", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    judge(answer, easy())

    def program(x: torch.Tensor) -> torch.Tensor:
        sums = x.cumsum(0).cumsum(1)
        return (sums + sums.flip(0)).softmax(1).cumsum(0).sin()

    x = torch.arange(48.0).reshape(6, 8) / 480
    with splice("inductor.overwrites_safely", answer):
        got = torch.compile(program)(x)
    if not torch.allclose(got, program(x), atol=1e-5):
        raise WrongAnswer(
            f"with your rule, running sums and a softmax of {x.tolist()} give {got.tolist()}", "Who is late?"
        )
