"""Exercise 16.4: whether a loop reads only the piece of a product that has just been made."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import minitorch_compile as torch
from minitorch_compile.course.checking.exercise import Exercise, WrongAnswer, outcome
from minitorch_compile.course.splicing.splice import splice
from minitorch_compile.inductor.ir.buffer import Buffer
from minitorch_compile.inductor.ir.dependencies import Access
from minitorch_compile.inductor.ir.index import Index, symbol
from minitorch_compile.inductor.ir.iteration import Axis
from minitorch_compile.tensor.numerics.dtype import float32

PIECES = Exercise(
    "16.4",
    "the piece that was just made",
    answer="stays_in_piece",
    minutes=15,
    place="inductor.stays_in_piece",
    hints=(
        "Subtract where the piece begins from the address. What must hold for what is left?",
        "index.bounds() gives the least and the greatest value that an index expression can have.",
        "inside = access.address - axis.variable * piece; its least must be 0 or more, its greatest below piece.",
    ),
    seconds=60,
    megabytes=2048,
)
SECTION = "While it's hot"
ROWS, COLUMNS = 8, 16
ROW, COLUMN = symbol("i0", ROWS), symbol("i1", COLUMNS)
PRODUCT = Buffer.contiguous("product", (ROWS, COLUMNS), float32)


class Puzzle(NamedTuple):
    """A read of the product in step i0, whose piece is a row."""

    address: Index
    stays: bool
    why: str
    masked: bool = False


INSIDE = (
    Puzzle(COLUMNS * ROW + COLUMN, True, "Step i0 reads row i0, from its beginning to its end."),
    Puzzle(COLUMNS * ROW + COLUMNS - 1 - COLUMN, True, "Row i0 is read from the right. All of it has been made."),
    Puzzle(ROWS * COLUMN + ROW, False, "Step i0 goes down a column here. Most rows are still to be made."),
    Puzzle(COLUMN, False, "Row 0 is wanted in each step. It was there in the first one, and then overwritten."),
)
EDGES = (
    INSIDE[0],
    Puzzle(COLUMNS * ROW + COLUMN + COLUMNS, False, "The addresses go along with i0, and are a row too far."),
    Puzzle(COLUMNS * ROW + COLUMN + 1, False, "The last address is the first one of the next piece."),
    Puzzle(COLUMNS * ROW + COLUMN - 1, False, "The first address is the last one of the piece before. It may be gone."),
)
UNKNOWN = (
    INSIDE[0],
    Puzzle(COLUMNS * ROW + COLUMN, False, "A masked read may look at another place, where the mask is false.", True),
    Puzzle(
        COLUMNS * ROW + symbol("found", COLUMNS, indirect=True),
        False,
        "This address depends on a number in memory. Nobody knows it in advance, so don't vouch for it.",
    ),
)
PROGRAMS: dict[str, Callable[[torch.Tensor, torch.Tensor], torch.Tensor]] = {
    "(x @ w).relu()": lambda x, w: (x @ w).relu(),
    "(x @ w).softmax(1)": lambda x, w: (x @ w).softmax(1),
    "(x @ w).flip(0).exp()": lambda x, w: (x @ w).flip(0).exp(),
}


def judge(answer: Callable[..., Any], puzzles: Sequence[Puzzle]) -> None:
    axis = Axis(ROW, ROWS, reduced=False)
    for puzzle in puzzles:
        text = f"product[{puzzle.address}]{', masked' if puzzle.masked else ''}, in pieces of {COLUMNS}"
        got = outcome(answer, (Access(PRODUCT, puzzle.address, puzzle.masked), axis, COLUMNS))
        if not isinstance(got, bool):
            raise WrongAnswer(f"{text}: expected True or False, got {got!r}", "Answer with True or False.")
        if got is not puzzle.stays:
            raise WrongAnswer(f"{text}: you say {got}, and it is {puzzle.stays}", puzzle.why)


@PIECES.case("rows and columns", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    judge(answer, INSIDE)


@PIECES.case("the edges of a piece", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    judge(answer, EDGES)


@PIECES.case("addresses that aren't known", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    judge(answer, UNKNOWN)


@PIECES.case("in the running package", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    judge(answer, INSIDE)
    x, w = torch.arange(128.0 * 128).reshape(128, 128) / 128**2, torch.eye(128)
    for text, program in PROGRAMS.items():
        with splice("inductor.stays_in_piece", answer):
            got = torch.compile(program)(x, w)
        if not torch.allclose(got, program(x, w), atol=1e-4):
            raise WrongAnswer(f"with your rule, {text} of (128, 128) is wrong", "Which row was read too early?")
