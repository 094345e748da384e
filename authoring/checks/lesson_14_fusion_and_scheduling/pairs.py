"""Exercise 14.2: whether two pointwise loops can be one kernel."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from minitorch_compile.course.checking.exercise import Exercise, WrongAnswer, outcome
from minitorch_compile.inductor.ir.buffer import Buffer
from minitorch_compile.inductor.ir.dependencies import accesses_of
from minitorch_compile.inductor.ir.handler import Handler
from minitorch_compile.inductor.ir.index import Index
from minitorch_compile.inductor.ir.loops import Loop
from minitorch_compile.tensor.numerics.dtype import float32

PAIRS = Exercise(
    "14.2",
    "two loops in one kernel",
    answer="can_fuse",
    minutes=12,
    hints=(
        "accesses_of(loop).reads is a list of accesses; each has a .buffer and an .address, and they can be compared.",
        "Take the second loop's reads of the first one's buffer: each of them must have the address of the write.",
        "At last compare pairs (buffer, address): reads and writes of the first on one side, reads of the second on the"
        " other. If none is on both sides, nothing is saved.",
    ),
)
SECTION = "When two loops may be one"
Place = Callable[[Sequence[Index]], Sequence[Index]]
SIZES = (4, 4)
X, W, Y, Z = (Buffer.contiguous(name, SIZES, float32) for name in "xwyz")


def here(at: Sequence[Index]) -> Sequence[Index]:
    return at


def mirrored(at: Sequence[Index]) -> Sequence[Index]:
    return [3 - at[0], at[1]]


def transposed(at: Sequence[Index]) -> Sequence[Index]:
    return [at[1], at[0]]


def rows(at: Sequence[Index]) -> Sequence[Index]:
    return at[:1]


def loop(buffer: Buffer, *sources: tuple[Buffer, Place]) -> Loop:
    """The loop that adds up what it reads from the sources, each at a place."""

    def body(ops: Handler, at: Sequence[Index]) -> Any:
        first, *others = (ops.load(source, source.address(place(at))) for source, place in sources)
        for other in others:
            first = ops.apply("add", first, other)
        return first

    return Loop(buffer, buffer.sizes, body)


def judge(answer: Callable[..., Any], first: Loop, second: Loop, expected: bool, why: str) -> None:
    got = outcome(answer, (first, second))
    if got is not expected:
        text = f"first: {accesses_of(first)}. Second: {accesses_of(second)}. Expected {expected}, got {got!r}"
        raise WrongAnswer(text, why)


MAKES_Y = loop(Y, (X, here))
CHAIN = loop(Z, (Y, here))


@PAIRS.case("every value is read where it was written", points=2, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    judge(answer, MAKES_Y, CHAIN, True, "Here each value is read at the place where it was written just before.")
    why = "At that position the value isn't written yet. Compare the addresses, not only the buffers."
    judge(answer, MAKES_Y, loop(Z, (Y, mirrored)), False, why)
    judge(answer, MAKES_Y, loop(Z, (Y, transposed)), False, why)
    both = loop(Z, (Y, here), (Y, mirrored))
    judge(answer, MAKES_Y, both, False, "One of the two reads is at the right place. The rule is for every read.")
    inputs = loop(Z, (Y, here), (X, mirrored))
    judge(answer, MAKES_Y, inputs, True, "x is read elsewhere, too, but it was there all along: nobody writes it here.")


@PAIRS.case("the same sizes", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    judge(answer, MAKES_Y, CHAIN, True, "Both have sizes (4, 4).")
    column, short, wide = (Buffer.contiguous(n, s, float32) for n, s in (("x", (4,)), ("y", (4,)), ("z", (4, 3))))
    why = "The first has sizes (4,), the second (4, 3), so the two don't go the same way."
    judge(answer, loop(short, (column, here)), loop(wide, (column, rows)), False, why)


@PAIRS.case("something is saved", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    judge(answer, MAKES_Y, loop(Z, (X, here)), True, "They stand side by side, and x need be fetched only once.")
    why = "They touch nothing in common, so no byte is saved, and the kernel only gets larger."
    judge(answer, MAKES_Y, loop(Z, (W, here)), False, why)
    why = "Both read x, but each at another place: what one has fetched isn't what the other needs."
    judge(answer, MAKES_Y, loop(Z, (X, transposed)), False, why)
