"""Exercise 14.9: one loop for many dimensions."""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch_compile.course.checking.exercise import WrongAnswer
from minitorch_compile.course.checking.step import Step

from .run_groups import lowered, numbers, run_groups

OWN_FLATTENING = Step(
    "14.9",
    "one loop for many dimensions",
    file="fusion",
    minutes=15,
    hints=(
        "flat(loop): a Loop of the same buffer over one size, numel(loop.sizes), whose body splits its one index: "
        "loop.body(h,"
        " split(index[0], loop.sizes)).",
        "A group stays as it is if it has a reduction, more than one stage, or fewer than two dimensions of rows. "
        "Else all of its"
        " loops, flat, in a Group of one row dimension: good if every index that they read is_affine.",
        "If there are divisions left, rows are better: group.regrouped(group.rows[:-1]), whose inside is the last "
        "dimension; and if"
        " that can't be (None), the group itself.",
    ),
)
SECTION = "Choosing"


def group_of(mini: Any, program: Any, rows: tuple[int, ...], *sizes: tuple[int, ...]) -> tuple[Any, Any]:
    lowering = lowered(mini, program, *sizes)
    group = mini.fusion.Group(rows)
    for step in lowering.steps:
        group.add(step)
    return lowering, group


def judge(
    mini: Any, program: Any, rows: tuple[int, ...], sizes: tuple[int, ...], expected: str, said: str, why: str
) -> None:
    lowering, group = group_of(mini, program, rows, sizes)
    x = numbers(*sizes)
    try:
        got = mini.fusion.in_one_loop(group)
        outputs = run_groups(mini, lowering, [got], x)
    except ValueError as error:
        raise WrongAnswer(f"{said}, of {group}: {error}", why) from None
    (a,), b = outputs, program(mini.tensor.from_numpy(x))
    if not np.allclose(a.reshape(b.sizes), b.numpy(), rtol=1e-4):
        raise WrongAnswer(f"{said} as {got}: expected {b.tolist()}, got {a.reshape(b.sizes).tolist()}", why)
    if str(got) != expected:
        raise WrongAnswer(f"{said}, of {group}: expected {expected}, got {got}", why)


@OWN_FLATTENING.case("in the order of memory", points=1, section=SECTION)
def _(mini: Any) -> None:
    why = "It reads and writes in memory's order: one loop over all elements, whose index is split off the position."
    judge(mini, lambda x: x + 1, (2, 3, 4), (2, 3, 4), "rows (24,): buf0", "x + 1", why)
    judge(mini, lambda x: x * 2, (2, 1, 4), (2, 1, 4), "rows (8,): buf0", "x * 2", why)


@OWN_FLATTENING.case("in another order", points=2, section=SECTION)
def _(mini: Any) -> None:
    why = "Flat, it would divide for every element (an index that is not affine): rows, with the last dimension inside."
    judge(mini, lambda x: x.t() + 1, (4, 2), (2, 4), "rows (4,): buf0", "x.t() + 1", why)
    lowering, group = group_of(mini, lambda x: x.t() + 1, (4, 2), (2, 4))
    stage = mini.fusion.in_one_loop(group).stages[0]
    if stage.inner != (2,):
        raise WrongAnswer(f"x.t() + 1 by rows (4,): the inside is {stage.inner}", why)


@OWN_FLATTENING.case("what stays as it is", points=2, section=SECTION)
def _(mini: Any) -> None:
    sums = "A reduction needs its rows: nothing is gained by another order."
    judge(mini, lambda x: x.sum(2), (2, 3), (2, 3, 4), "rows (2, 3): sum buf0", "x.sum(2)", sums)
    one = "One dimension, or none, is one loop already."
    for rows, sizes in (((4,), (4,)), ((), ())):
        _, group = group_of(mini, lambda x: x + 1, rows, sizes)
        if (got := mini.fusion.in_one_loop(group)) is not group:
            raise WrongAnswer(f"{group}: expected the group itself, got {got}", one)


@OWN_FLATTENING.case("a flat loop", points=1, section=SECTION)
def _(mini: Any) -> None:
    loop = lowered(mini, lambda x: x + 1, (3, 4)).steps[0]
    got = mini.fusion.flat(loop)
    if got.sizes != (12,) or got.buffer is not loop.buffer:
        raise WrongAnswer(
            (f"flat of a loop over (3, 4): sizes {got.sizes}"), "The same buffer, over as many positions as elements."
        )
    if str(got) != "for i0 < 12: buf0[i0] = add(x0[i0], 1)":
        raise WrongAnswer(
            (f"flat of {loop}: got {got}"), "split(position, loop.sizes) is the index that the loop's body wants."
        )
