"""Exercise 14.7: a loop joins a group."""

from __future__ import annotations

from typing import Any

from minitorch_compile.course.checking.exercise import WrongAnswer
from minitorch_compile.course.checking.step import Step

from .run_groups import lowered

OWN_JOINING = Step(
    "14.7",
    "a loop joins",
    file="fusion",
    minutes=20,
    hints=(
        "First what can't be: a loop whose sizes don't begin with the rows; a reduction whose sizes are not exactly "
        "the rows, as its"
        " result is known once for each row; and a loop for which first_stage gives None.",
        "inner is the rest of loop.sizes + loop.reduced. From the first possible stage on, the first with the same "
        "inner takes the"
        " loop; if there is none, a new Stage(inner, [loop]) at the end.",
        "regrouped(rows): a new Group, to which all of self.loops are added in order; the group if all add gave "
        "True, else None.",
    ),
)
SECTION = "When two loops may be one"


def loops(mini: Any, program: Any, *sizes: tuple[int, ...]) -> list[Any]:
    return [step for step in lowered(mini, program, *sizes).steps if not hasattr(step, "arguments")]


def joined(
    mini: Any, rows: tuple[int, ...], steps: list[Any], expected: list[Any], text: str, said: str, why: str
) -> Any:
    group = mini.fusion.Group(rows)
    got = [group.add(step) for step in steps]
    if got != expected:
        raise WrongAnswer(f"{said}, added to rows {rows}: expected {expected}, got {got}", why)
    if str(group) != text:
        raise WrongAnswer(f"{said}, added to rows {rows}: expected {text}, got {group}", why)
    return group


@OWN_JOINING.case("stages", points=2, section=SECTION)
def _(mini: Any) -> None:
    steps = loops(mini, lambda x: x.softmax(1), (4, 8))
    why = "A sum is complete after its stage: who reads it comes in a later one."
    text = "rows (4,): amax buf0 | sum buf1 | buf2"
    joined(mini, (4,), steps, [True] * 3, text, "x.softmax(1)", why)
    why = "What needs nothing of the group runs side by side with others of the same inside, from the first stage on."
    steps = loops(mini, lambda x: (x.sum(1), x.amax(1), x + 1), (4, 8))
    joined(mini, (4,), steps, [True] * 3, "rows (4,): sum buf0, amax buf1, buf2", "(x.sum(1), x.amax(1), x + 1)", why)
    why = "If the first stage that it may be in has another inside, a later one may do: all from there on are asked."
    steps = loops(mini, lambda x, v: (x.sum(1) + 1, v * 2), (4, 8), (4,))
    joined(mini, (4,), steps, [True] * 3, "rows (4,): sum buf0 | buf1, buf2", "(x.sum(1) + 1, v * 2)", why)
    why = "Side by side run loops of the same inside only."
    steps = loops(mini, lambda x, y: (x + 1, y + 1), (4, 8), (4, 3))
    joined(mini, (4,), steps, [True] * 2, "rows (4,): buf0 | buf1", "x + 1 of (4, 8) and y + 1 of (4, 3)", why)


@OWN_JOINING.case("what can't be here", points=2, section=SECTION)
def _(mini: Any) -> None:
    steps = loops(mini, lambda x, y: (x + 1, y + 1), (4, 8), (5, 8))
    text, why = (
        "rows (4,): buf0",
        ("A loop over other rows goes another way: its sizes have to begin with the group's rows."),
    )
    joined(mini, (4,), steps, [True, False], text, "x of (4, 8) and y of (5, 8)", why)
    steps = loops(mini, lambda x: (x + 1, x.sum(2)), (4, 3, 8))
    why = "A reduction gives one number a row: its sizes have to be the rows, all of them."
    joined(mini, (4,), steps, [False, True], "rows (4,): buf1", "x.sum(2) of (4, 3, 8), x + 1", why)

    def needs_all(x: Any) -> Any:
        y = x.exp().exp().exp().exp().exp()
        return y + y.t()

    steps = loops(mini, needs_all, (4, 4))
    why = "It reads what other rows make (first_stage gives None)."
    joined(mini, (4,), steps, [True, False], text, "y + y.t(), y stored", why)


@OWN_JOINING.case("by other rows", points=1, section=SECTION)
def _(mini: Any) -> None:
    group = mini.fusion.Group((4, 8))
    for step in loops(mini, lambda x: (x + 1, x * 2), (4, 8)):
        group.add(step)
    wider = group.regrouped((4,))
    if wider is None or str(wider) != "rows (4,): buf0, buf1":
        why = "The same loops, added to a new group in order: the rest of their sizes is inside of the row now."
        raise WrongAnswer(f"{group}, regrouped by (4,): expected rows (4,): buf0, buf1, got {wider}", why)
    if str(group) != "rows (4, 8): buf0, buf1":
        raise WrongAnswer(
            (f"after regrouped the group itself is {group}"), "It gives a new group, and leaves this one as it was."
        )
    if (other := group.regrouped((8,))) is not None:
        raise WrongAnswer(
            (f"{group}, regrouped by (8,): expected None, got {other}"), "If one loop can't join, it can't be."
        )
