"""Exercise 14.5: a group, and the names of its variables."""

from __future__ import annotations

from typing import Any

from minitorch_compile.course.checking.exercise import WrongAnswer
from minitorch_compile.course.checking.step import Step

from .run_groups import loop_of

OWN_GROUPS = Step(
    "14.5",
    "a group, and the names of its variables",
    file="fusion",
    minutes=15,
    hints=(
        "All loops of a group share the variables of the row: the first len(self.rows) of a loop's dimensions are "
        "i0, i1, ...",
        "The others, of loop.sizes + loop.reduced, are j0, j1, ..., counted from the end of the row. A size of 1 "
        "gives Index().",
        "reads: like Loop.reads, but with self.index(loop): Text(loop.body, self.index(loop)).found.",
    ),
)
SECTION = "When two loops may be one"
NAMES = "i0, i1, ... for the row's dimensions; then j0, j1, ..., counted anew inside of the row; 0 where the size is 1."


def summing(mini: Any, rows: tuple[int, ...], sizes: tuple[int, ...], reduced: tuple[int, ...] = ()) -> tuple[Any, Any]:
    x = mini.loops.Buffer("x0", (), "float32", None)

    def body(h: Any, index: Any) -> Any:
        return h.load(x, mini.index.flatten(index, sizes + reduced))

    return mini.fusion.Group(rows), loop_of(mini, "buf0", sizes, body, reduced)


@OWN_GROUPS.case("variables", points=2, section=SECTION)
def _(mini: Any) -> None:
    for rows, sizes, reduced, expected in (
        ((4,), (4, 8), (), "(i0, j0)"),
        ((4,), (4,), (8, 2), "(i0, j0, j1)"),
        ((4, 8), (4, 8), (), "(i0, i1)"),
        ((), (4, 8), (), "(j0, j1)"),
        ((1, 4), (1, 4, 1, 8), (), "(0, i1, 0, j1)"),
    ):
        group, loop = summing(mini, rows, sizes, reduced)
        got = str(group.index(loop))
        if got != expected:
            raise WrongAnswer(
                (f"rows {rows}, a loop over {sizes} and {reduced} inside: expected {expected}, got {got}"), NAMES
            )


@OWN_GROUPS.case("what a loop reads, in these variables", points=1, section="What a loop touches")
def _(mini: Any) -> None:
    group, loop = summing(mini, (4,), (4, 8))
    got = [str(index) for _, index in group.reads(loop)]
    if got != ["i0 * 8 + j0"]:
        why = "Run the body for the group's variables: in the loop's own ones the second would be i1."
        raise WrongAnswer(f"rows (4,), a loop over (4, 8): expected a read at i0 * 8 + j0, got {got}", why)


@OWN_GROUPS.case("its loops, and its text", points=1, section=SECTION)
def _(mini: Any) -> None:
    group, loop = summing(mini, (4,), (4, 8))
    _, other = summing(mini, (4,), (4,), (8,))
    if mini.fusion.Group([4]).rows != (4,) or group.stages != []:
        raise WrongAnswer("Group([4]) has to have rows (4,) and no stages", "rows is a tuple, and stages come by add.")
    group.stages = [mini.fusion.Stage((8,), [other]), mini.fusion.Stage((8,), [loop])]
    if list(group.loops) != [other, loop]:
        raise WrongAnswer(
            (f"loops: expected those of all stages in order, got {group.loops}"), "A flat list, stage after stage."
        )
    if str(group) != "rows (4,): sum buf0 | buf0":
        raise WrongAnswer(
            (f"expected the text rows (4,): sum buf0 | buf0, got {group}"), "The stages stand between bars."
        )
