"""Exercise 14.8: the greedy loop."""

from __future__ import annotations

from typing import Any

from minitorch_compile.course.checking.step import Step

from .run_groups import fused

OWN_FUSION = Step(
    "14.8",
    "the greedy loop",
    file="fusion",
    minutes=25,
    hints=(
        "fuse walks over lowering.steps: a Call stands alone; a loop that no group takes (joined) begins one of its "
        "own, by its own"
        " sizes. At the end in_one_loop(group) for each Group.",
        "joined tries the groups from the last to the first. Whoever makes something that the loop needs has to "
        "stay before it: after"
        " trying such a group or call, give up.",
        "A group takes a loop by its own rows, or by the loop's sizes: wider = group.regrouped(rows), and if wider and"
        " wider.add(loop), put wider at the group's place. A failed add may not change the group itself.",
    ),
)
SECTION = "Choosing"


@OWN_FUSION.case("one kernel", points=2, section=SECTION)
def _(mini: Any) -> None:
    why = "Each loop joins the last group that can take it."
    softmax = "rows (4,): amax buf0 | sum buf1 | buf2"
    fused(mini, lambda x: x.softmax(1), [(4, 8)], softmax, "x.softmax(1)", why)

    def stored_first(x: Any) -> Any:
        y = x.exp() * x.sin() * x.cos() + 1
        return y - y.sum(1, True)

    rows = "A group may be cut by other rows: (4, 8) has rows of (4,). Try the group's rows, and the loop's sizes."
    fused(mini, stored_first, [(4, 8)], "rows (4,): buf0, sum buf1 | buf2", "y - y.sum(1, True), y stored", rows)
    flat = "At the end each group goes through in_one_loop."
    fused(mini, lambda x: (x + 1, x * 2), [(4, 8)], "rows (32,): buf0, buf1", "(x + 1, x * 2)", flat)


@OWN_FUSION.case("what lies between", points=2, section=SECTION)
def _(mini: Any) -> None:
    before = "A loop may join a group only if nothing made after that group is needed: then it would run too early."
    text = "rows (16,): buf0; buf1 = matmul(buf0, x0); rows (16,): buf2"
    fused(mini, lambda x: ((x + 1) @ x) * 2, [(4, 4)], text, "((x + 1) @ x) * 2", before)
    passes = "A product that it doesn't need is no obstacle: the loop may run before it."

    def independent(x: Any) -> Any:
        return (x + 1) @ x, x * 3

    text = "rows (16,): buf0, buf2; buf1 = matmul(buf0, x0)"
    fused(mini, independent, [(4, 4)], text, "((x + 1) @ x, x * 3)", passes)


@OWN_FUSION.case("the last one that can", points=1, section=SECTION)
def _(mini: Any) -> None:
    def program(x: Any) -> Any:
        return (x + 1) @ x + 5, x * 3

    text = "rows (16,): buf0; buf1 = matmul(buf0, x0); rows (16,): buf2, buf3"
    why = "From the last group on: what has just been made is still in the cache."
    fused(mini, program, [(4, 4)], text, "((x + 1) @ x + 5, x * 3)", why)


@OWN_FUSION.case("other rows stay apart", points=1, section=SECTION)
def _(mini: Any) -> None:
    def program(x: Any) -> Any:
        y = x.exp().exp().exp().exp().exp()
        return y + y.t()

    why = "What needs other rows' elements begins after all of them: a group of its own."
    fused(mini, program, [(4, 4)], "rows (16,): buf0; rows (4,): buf1", "y + y.t(), y stored", why)
