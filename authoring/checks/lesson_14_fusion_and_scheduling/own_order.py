"""Exercise 14.6: the first stage where a loop may run."""

from __future__ import annotations

from typing import Any

from minitorch_compile.course.checking.exercise import WrongAnswer
from minitorch_compile.course.checking.step import Step

from .run_groups import loop_of

OWN_ORDER = Step(
    "14.6",
    "how early a loop may run",
    file="fusion",
    minutes=20,
    hints=(
        "A row has numel(made.sizes) // numel(rows) elements of what a loop makes, and row number r begins at r "
        "times that many."
        " r is flatten of the row's variables.",
        "read - r * size says which of the row's elements is read: it has to be within(size), or another row makes it.",
        "If the loop reads exactly what the other makes in the same turn, read == flatten(made.index(self.rows), "
        "made.sizes), it may run"
        " in the same stage; not if that one is a reduction, or has another inside. Else in the next stage.",
    ),
)
SECTION = "When two loops may be one"


def group_of(mini: Any, *loops: Any) -> Any:
    """One stage a loop, by rows of (4,)."""
    group = mini.fusion.Group((4,))
    group.stages = [mini.fusion.Stage((loop.sizes + loop.reduced)[1:], [loop]) for loop in loops]
    return group


@OWN_ORDER.case("another row", points=2, section=SECTION)
def _(mini: Any) -> None:
    made = loop_of(mini, "buf0", (4, 8), None)
    group = group_of(mini, made)
    i, j = made.index(group.rows)
    why = "Rows run in any order, and side by side: what another row makes may not be there yet."
    for read, said in (
        (i * -8 + j + 24, ("the mirrored row")),
        (i * 8 + j + 1, "the next element"),
        (j * 4 + i, "the transposed one"),
    ):
        got = group.stage_after(read, 0, made, (8,))
        if got is not None:
            raise WrongAnswer(f"buf0 of (4, 8), read at {read}, {said}: expected None, got {got}", why)
    for read in (i * 8 + j, i * 8 + j * -1 + 7, i * 8):
        if group.stage_after(read, 0, made, (8,)) is None:
            why = "All elements of the own row are there once the stage is over: compare with where the row begins."
            raise WrongAnswer(f"buf0 of (4, 8), read at {read}: expected a stage, got None", why)


@OWN_ORDER.case("the same turn, or the next stage", points=2, section=SECTION)
def _(mini: Any) -> None:
    made, total = loop_of(mini, "buf0", (4, 8), None), loop_of(mini, "buf1", (4,), None, (8,))
    group = group_of(mini, made, total)
    i, j = made.index(group.rows)
    itself = "The element that has just been made is there: the loop may run side by side with its maker."
    complete = "Another element of the row is there only after the whole stage, and so is a sum: the next stage."
    inner = "Side by side run loops of the same inside only: another one needs a stage of its own."
    for read, at, loop, inside, expected, why in (
        (i * 8 + j, 0, made, (8,), 0, itself),
        (i * 8 + j * -1 + 7, 0, made, (8,), 1, complete),
        (i * 8, 0, made, (8,), 1, complete),
        (i, 1, total, (8,), 2, complete),
        (i * 8 + j, 0, made, (8, 1), 1, inner),
    ):
        got = group.stage_after(read, at, loop, inside)
        if got != expected:
            said = f"{loop.buffer.name} of stage {at}, read at {read} by a loop over {inside} inside"
            raise WrongAnswer(f"{said}: expected stage {expected}, got {got}", why)


@OWN_ORDER.case("all that it reads", points=2, section=SECTION)
def _(mini: Any) -> None:
    made, total = loop_of(mini, "buf0", (4, 8), None), loop_of(mini, "buf1", (4,), None, (8,))
    group = group_of(mini, made, total)
    x = loop_of(mini, "x0", (4, 8), None)

    def reader(*reads: Any) -> Any:
        def body(h: Any, index: Any) -> str:
            i, j = index
            for loop, where in reads:
                h.load(loop.buffer, where(i, j))
            return ""

        return loop_of(mini, "buf2", (4, 8), body)

    here, row, mirrored = (lambda i, j: i * 8 + j), (lambda i, j: i), (lambda i, j: i * -8 + j + 24)
    for reads, expected, why in (
        ([(x, mirrored)], 0, "What the group doesn't make is there from the beginning: stage 0."),
        ([(made, here)], 0, "It may run side by side with buf0."),
        ([(total, row), (made, here)], 2, "All that it reads has to be there: the last of these stages."),
        ([(made, here), (made, mirrored)], None, "If one of its reads can't be here, the loop can't."),
    ):
        got = group.first_stage(reader(*reads), (8,))
        if got != expected:
            said = ", ".join(loop.buffer.name for loop, _ in reads)
            raise WrongAnswer(f"a loop that reads {said}: expected {expected}, got {got}", why)
