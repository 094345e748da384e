"""Exercise 10.8: Jacobians and Hessians."""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch_compile.course.checking.exercise import WrongAnswer
from minitorch_compile.course.checking.step import Step

from ..comparing import expect, tried
from ..lesson_08_autograd.nudging import doubles

JACOBIANS = Step(
    "10.8",
    "whole matrices",
    file="transforms",
    minutes=20,
    hints=(
        "A jvp along a unit vector is one column of the Jacobian: how all results move with one element of x.",
        "The unit vectors are eq(n as a column, n) for n = 0, 1, ... (ops.iota), cast to x's dtype, each"
        " with the sizes of x. vmap one jvp"
        " over them.",
        "vmap puts its results in front: dimension 0 of `columns` counts the elements of x. In a Jacobian"
        " they come last: permute, then"
        " reshape to (*sizes of the result, *sizes of x). hessian is jacfwd(grad(function)).",
    ),
)


@JACOBIANS.case("jacfwd", points=2, section="Whole matrices")
def _(mini: Any) -> None:
    jacfwd = mini.transforms.jacfwd
    x = doubles(mini, [1.0, 2.0])
    why = "Element (i, j) is how result i moves with x[j]: not transposed."
    f = lambda x: x * doubles(mini, [5.0, 7.0]) + x.sum() * doubles(mini, [0.0, 1.0])
    got = tried("of a square matrix", "", jacfwd(f), x)
    expect("jacfwd(lambda x: [5 x0, 7 x1 + x0 + x1])([1, 2]): its sizes", 2, got.dim(), "The result's sizes, then x's.")
    expect("jacfwd(lambda x: [5 x0, 7 x1 + x0 + x1])([1, 2])", [[5.0, 0.0], [1.0, 8.0]], got.tolist(), why)
    expect("x is left as it was", [1.0, 2.0], x.tolist(), "")
    a = np.arange(6.0).reshape(3, 2)
    for values in ([1.0, 2.0], [[1.0], [2.0]]):
        text = f"jacfwd(lambda x: A @ x), x of {np.shape(values)}, A of (3, 2)"
        f = lambda x: doubles(mini, a) @ x.reshape(2, 1)
        got = tried(text, "", jacfwd(f), doubles(mini, values))
        wanted = a.reshape(3, 1, *np.shape(values))
        why = "A row for each result, a column for each element of x: the result's sizes, then x's."
        expect(f"{text}: its sizes", wanted.shape, got.sizes, why)
        expect(text, wanted.tolist(), got.tolist(), why)


@JACOBIANS.case("hessian", points=2, section="Whole matrices")
def _(mini: Any) -> None:
    x = doubles(mini, [1.0, 2.0])
    got = tried("hessian", "", mini.transforms.hessian(lambda v: (v**3).sum() + v[0] * v[1]), x)
    why = "The Jacobian of the gradient: 6 v on the diagonal, and 1 where v[0] meets v[1]."
    expect("hessian(lambda v: (v**3).sum() + v[0] * v[1])([1, 2])", [[6.0, 1.0], [1.0, 12.0]], got.tolist(), why)
    both = mini.transforms.vmap(mini.transforms.hessian(lambda v: (v**3).sum()))
    got = tried("vmap(hessian(f))", "", both, doubles(mini, [[1.0, 2.0], [3.0, 4.0]]))
    wanted = [[[6.0, 0.0], [0.0, 12.0]], [[18.0, 0.0], [0.0, 24.0]]]
    if got.tolist() != wanted:
        raise WrongAnswer(
            f"vmap(hessian(f)): expected {wanted}, got {got.tolist()}", "Transforms nest: each example its own."
        )
