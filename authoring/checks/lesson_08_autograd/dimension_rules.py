"""Exercise 08.6: derivatives over dimensions."""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch_compile.course.checking.exercise import WrongAnswer
from minitorch_compile.course.checking.step import Step

from ..comparing import tried
from .nudging import by_nudging, close, doubles, rounded

DIMENSION_RULES = Step(
    "08.6",
    "derivatives over dimensions",
    file="tape",
    minutes=30,
    hints=(
        "kept(x, g, dims) is g with the sizes of x, but 1 in dims: so it broadcasts against x, whether"
        " keepdim was given or not. The"
        " gradient of a sum is that, expanded.",
        "A view's gradient is the way back: permute by the inverse permutation, which is dims.index(d)"
        " for each d; view by reshape to"
        " x's sizes; slice by slice_backward, which puts the part among zeros; expand by nothing at all,"
        " since the note sums.",
        "amax: a mask of x's dtype, 1 where x is the largest of its row; the gradient, with its dimensions back, over"
        " how many these are, times the mask. matmul: [g @ y^T, x^T @ g], the last"
        " two dimensions transposed. slice_backward's own gradient is the slice at, at + step * size, step.",
    ),
)
SECTION = "How do you know that a formula is right?"
CALLS: list[tuple[str, list[tuple[int, ...]], tuple[Any, ...], str]] = [
    ("sum_", [(2,)], ((0,), True), "Each element moves the sum as much."),
    ("sum_", [(2, 2)], ((1,), False), "Give g its dimensions back first: from the right it broadcasts along another."),
    ("sum_", [(2, 3, 2)], ((0, 2), False), "kept takes all of dims."),
    ("sum_", [()], ((), False), "No dimension at all: the gradient passes."),
    ("amax", [(3,)], ((0,), True), "Only the largest element gets the gradient."),
    ("amax", [(2, 3)], ((1,), False), "Only the largest element of each row gets its gradient."),
    ("matmul", [(2, 3), (3, 4)], (), "The product with the other one, transposed: g @ y^T, and x^T @ g."),
    ("matmul", [(2, 2, 3), (3, 2)], (), "Only the last two dimensions are transposed."),
    ("view", [(2, 3)], ((3, 2),), "Back to the sizes of x."),
    ("expand", [(3, 1)], ((2, 3, 2),), "Each element is read several times; the note adds it up."),
    ("permute", [(2, 3, 4)], ((1, 2, 0),), "Back again: that is the inverse permutation. (1, 2, 0) is not its own."),
    ("slice_", [(5,)], (0, 1, 4, 1), "The elements go back where they were taken from, among zeros."),
    ("slice_", [(2, 7)], (1, 1, 7, 3), "With a step: elements 1 and 4."),
    ("slice_backward", [(3,)], (0, 7, 1, 2), "What was put at 1, 3, 5 is taken from there."),
    ("slice_backward", [(2, 2)], (1, 4, 1, 1), "Along dim, from where it was put."),
]  # fmt: skip


@DIMENSION_RULES.case("slopes, by nudging", points=4, section=SECTION)
def _(mini: Any) -> None:
    rng = np.random.default_rng(0)
    for name, shapes, rest, why in CALLS:
        op = getattr(mini.ops, name)
        args = (*[doubles(mini, rng.uniform(-1, 1, sizes)) for sizes in shapes], *rest)
        asked = f"{name} of {' and '.join(map(str, shapes))}{', ' if rest else ''}{', '.join(map(str, rest))}"
        if op not in mini.tape.DERIVATIVES:
            raise WrongAnswer(f"DERIVATIVES has no rule for {name}", "It gets a line, as the others.")
        out = op.run(*args)
        parents = [arg if at < len(shapes) else None for at, arg in enumerate(args)]
        g = rng.uniform(0.5, 2, out.sizes)
        got = tried(f"the gradient of {asked}", why, mini.tape.Note(op, args, out, parents).backward, doubles(mini, g))
        for at in range(len(shapes)):
            wanted = by_nudging(op, args, at, g)
            if not close(wanted, got[at]):
                fact = f"{asked}, argument {at}: nudging gives {rounded(wanted)}, the rule {rounded(got[at].numpy())}"
                raise WrongAnswer(fact, why)


@DIMENSION_RULES.case("several are the largest", points=1, section=SECTION)
def _(mini: Any) -> None:
    x = doubles(mini, [[3.0, 1.0, 3.0], [0.0, 5.0, 1.0]])
    args = (x, (1,), False)
    note = mini.tape.Note(mini.ops.amax, args, mini.ops.amax.run(*args), [x, None, None])
    got = tried("amax", "", note.backward, doubles(mini, [1.0, 1.0]))[0].tolist()
    if got != [[0.5, 0, 0.5], [0, 1, 0]]:
        why = "Elements that are equally large share the gradient: divide by how many they are."
        raise WrongAnswer(
            f"amax of [[3, 1, 3], [0, 5, 1]], gradient 1: expected [[0.5, 0, 0.5], [0, 1, 0]], got {got}", why
        )
