"""Exercise 15.7: a stage of a row."""

from __future__ import annotations

from typing import Any

from minitorch_compile.course.checking.exercise import WrongAnswer
from minitorch_compile.course.checking.step import Step

from .kernel_texts import groups_of, judge_program, wanted_by

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


@STAGES.case("where threads would meet", points=1, section=SECTION)
def _(mini: Any) -> None:
    class Meeting(mini.emit.Kernel):
        innermost = "inside({})"

        def end_stage(self, w: Any, reductions: Any) -> None:
            names = [loop.buffer.name for loop in reductions]
            ended.append((w.depth, names, sum("_row" in line and " = " in line for line in w.lines)))

    for program, shape, inner, reduced in (
        (lambda x: x.sum(1), (3, 4), 1, 1),
        (lambda x: x.sum((1, 2)), (3, 4, 2), 1, 1),
        (lambda x: x.sum(1), (3, 1), 0, 0),
        (lambda x: x + 1, (4,), 0, 0),
    ):
        ended: list[Any] = []
        lowering, groups = groups_of(mini, program, [shape])
        kernel = Meeting(groups[0], wanted_by(groups[0], lowering, groups))
        if kernel.source.count("inside(") != inner:
            why = "The loop inside all others has the range self.innermost.format(n), those around it range(n)."
            raise WrongAnswer(f"innermost is 'inside({{}})':\n{kernel.source}", why)
        if len(ended) != 1:
            raise WrongAnswer(f"one stage of {shape}: end_stage was called {len(ended)} times", "Once for each stage.")
        depth, names, _ = ended[0]
        if len(names) != reduced:
            why = "It gets the loops with a reduction; none where there was no loop, for then no thread has a part."
            raise WrongAnswer(f"a stage of {shape}: end_stage was given the reductions {names}", why)
        if depth != 2:
            why = "It comes after the loops over the inside: go back to the depth from before first."
            raise WrongAnswer(f"a stage of {shape}: end_stage was called at depth {depth}", why)
        stored = [line for line in kernel.source.splitlines() if "] = " in line and "_row" in line]
        if reduced and not stored:
            raise WrongAnswer(f"{kernel.source}\nstores no sum", AFTER)


@STAGES.case("stage after stage", points=2, section=SECTION)
def _(mini: Any) -> None:
    judge_program(mini, lambda x: x / x.sum(1, True), [(3, 4)], STALE)
    judge_program(mini, lambda x: x.softmax(1), [(3, 5)], STALE)
    judge_program(mini, lambda x: (x - x.mean(1, True)) * (x * 2).amax(1, True), [(2, 3)], STALE)
