"""Exercise 10.2: second derivatives in many directions at once, without the matrix of all of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import minitorch_compile as torch
from minitorch_compile.course.checking.exercise import Exercise, WrongAnswer, outcome
from minitorch_compile.tensor import Tensor

from .counting import measured

HESSIAN_PRODUCTS = Exercise(
    "10.2",
    "many directions, no matrix",
    answer="hessian_products",
    minutes=12,
    hints=(
        "H is the Jacobian of which function? And what is a Jacobian times a vector called?",
        "H is the Jacobian of grad(f). One direction: torch.func.jvp(torch.func.grad(f), (x,), (v,)), a pair.",
        "That is a function of v; make it one of many with vmap. Take entry 1 of the pair.",
    ),
)
SECTION = "Forwards, by two passes backwards"
PAR = 60
PROGRAMS: list[tuple[str, Callable[..., Any], list[float]]] = [
    ("x[0] * x[1]", lambda x: x[0] * x[1], [2.0, 3.0]),
    ("the sum of cubes", lambda x: (x**3).sum(), [1.0, 2.0, -1.0]),
    ("exp(x[0]) * sin(x[1]) + x[2]**2", lambda x: x[0].exp() * x[1].sin() + x[2] ** 2, [0.5, 1.0, 2.0]),
]


def slope(f: Callable[..., Any], x: Tensor) -> tuple[Tensor, Tensor]:
    leaf = x.detach().requires_grad_()
    return leaf, torch.autograd.grad(f(leaf), leaf, create_graph=True)[0]


def hessian(f: Callable[..., Any], x: Tensor) -> Tensor:
    leaf, first = slope(f, x)
    rows = [torch.autograd.grad(part, leaf, retain_graph=True, allow_unused=True)[0] for part in first]
    return torch.stack([torch.zeros_like(x) if row is None else row for row in rows])


def directions(number: int, size: int) -> Tensor:
    return torch.linspace(-1, 2, number * size, dtype=torch.float64).reshape(number, size)


@HESSIAN_PRODUCTS.case("the products are right", points=2, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    for text, f, values in PROGRAMS:
        x = torch.tensor(values, dtype=torch.float64)
        vs = directions(4, len(values))
        got = outcome(answer, (f, x, vs))
        expected = vs @ hessian(f, x)
        if not isinstance(got, Tensor):
            raise WrongAnswer(f"{text}: expected a tensor of sizes {list(vs.shape)}, got {got!r}")
        if got.shape != vs.shape:
            raise WrongAnswer(f"{text}: expected sizes {list(vs.shape)}, got {list(got.shape)}", shape_idea(got, vs))
        if not torch.allclose(got, expected):
            raise WrongAnswer(f"{text}: expected {expected.tolist()}, got {got.tolist()}", idea(f, x, vs, got))


def shape_idea(got: Tensor, vs: Tensor) -> str:
    if got.shape == vs.shape[:1]:
        return "One number a direction: that is how f itself moves. The question is how its gradient does."
    if got.shape == vs.shape[1:]:
        return "One product for all directions together. Each row of vs is a direction of its own."
    return "A row for each direction, and in it a number for each entry of x."


def idea(f: Callable[..., Any], x: Tensor, vs: Tensor, got: Tensor) -> str:
    if torch.allclose(got, slope(f, x)[1].detach() * vs):
        return "That is the slope times v: first derivatives. Move x along v, and see how the slope moves."
    return "Compute H for this small one by hand, and multiply."


@HESSIAN_PRODUCTS.case("without the matrix", points=2, section="Whole matrices")
def _(answer: Callable[..., Any]) -> None:
    size, number = 200, 3
    x, vs = torch.linspace(0.1, 1.0, size, dtype=torch.float64), directions(number, size)
    got, work = measured(answer, lambda x: (x**4).sum(), x, vs)
    if not isinstance(got, Tensor) or got.shape != vs.shape:
        raise WrongAnswer(f"{size} numbers, {number} directions: got {got!r}")
    if work.largest > 4 * number * size:
        raise WrongAnswer(
            f"{size} numbers, {number} directions: the largest tensor that you made has {work.largest:,} elements",
            f"That is the whole matrix, {size} by {size}. Three directions need no more than three of its products.",
        )


@HESSIAN_PRODUCTS.case(f"par: {PAR} operations, for any number of directions", points=1, section="Whole matrices")
def _(answer: Callable[..., Any]) -> None:
    rows = "H, one row after the other, is H as well. The product is a function of v, and needs no row of it."
    judge_operations(answer, 40, 2, rows)
    one_by_one = "One direction after the other. The product is a function of v, and vmap makes it one of many."
    judge_operations(answer, 5, 50, one_by_one)


def judge_operations(answer: Callable[..., Any], size: int, number: int, why: str) -> None:
    x, vs = torch.linspace(0.1, 1.0, size, dtype=torch.float64), directions(number, size)
    got, work = measured(answer, lambda x: (x**4).sum(), x, vs)
    text = f"{size} numbers, {number} directions"
    if not isinstance(got, Tensor) or got.shape != vs.shape:
        raise WrongAnswer(f"{text}: got {got!r}")
    if len(work.names) > PAR:
        raise WrongAnswer(f"{text}: {len(work.names)} operations, par is {PAR}", why)
