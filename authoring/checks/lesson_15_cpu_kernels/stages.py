"""Exercise 15.7: a stage of a row."""

from __future__ import annotations

from typing import Any

from minitorch_compile.course.checking.step import Step

from .kernel_texts import judge_program

STAGES = Step(
    "15.7",
    "a stage",
    file="emit",
    minutes=20,
    hints=(
        "In order: a variable for each reduction, with what it begins with; a for loop for each inner dimension, one"
        " inside the"
        " other; the loops' own lines; and then back out, where the reductions are known.",
        "What was computed for one j must not be used after its loop: keep depth, a copy of w.memo and a copy of"
        " self.made from"
        " before, and put them back. A size of 1 needs no loop: its index is 0.",
        "At the end: self.end_stage(w, ...) for those who share a row, then self.store(w, loop, index, name) for each"
        " reduction,"
        " where the index is that of the row: flatten(loop.index()[: len(loop.sizes)], loop.sizes).",
    ),
)
SECTION = "Rows and columns"
START = (
    "Each row begins anew: set the variable before the row's inner loop, to 0 for sums and to the least value for amax."
)
STALE = "A name from inside the loop was used after it: it is the last element's. Put memo and made back as they were."
AFTER = "A reduction is known after its loop: only then may it be stored, or read by a later stage."


@STAGES.case("sums of rows", points=1, section=SECTION)
def _(mini: Any) -> None:
    judge_program(mini, lambda x: x.sum(1), [(3, 4)], START)
    judge_program(mini, lambda x: x.sum(), [(2, 3)], AFTER)
    judge_program(mini, lambda x: (x - 2).amax(1), [(3, 4)], START)
    judge_program(mini, lambda x: x.sum(1), [(3, 1)], "A size of 1 needs no loop, but its element counts.")


@STAGES.case("several dimensions inside", points=1, section=SECTION)
def _(mini: Any) -> None:
    judge_program(
        mini, lambda x: x.sum((1, 2)), [(2, 3, 4)], "One for loop for each inner dimension, one inside the other."
    )
    judge_program(
        mini, lambda x: x.sum((0, 2)), [(2, 3, 4)], "One for loop for each inner dimension, one inside the other."
    )


@STAGES.case("stage after stage", points=2, section=SECTION)
def _(mini: Any) -> None:
    judge_program(mini, lambda x: x / x.sum(1, True), [(3, 4)], STALE)
    judge_program(mini, lambda x: x.softmax(1), [(3, 5)], STALE)
    judge_program(mini, lambda x: (x - x.mean(1, True)) * (x * 2).amax(1, True), [(2, 3)], STALE)
