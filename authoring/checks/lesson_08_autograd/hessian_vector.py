"""Exercise 08.6: second derivatives times a vector, in two walks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import minitorch_compile as torch
from minitorch_compile.course.checking.exercise import Exercise, WrongAnswer, outcome
from minitorch_compile.tensor import Tensor

HESSIAN_VECTOR = Exercise(
    "08.6",
    "a second derivative without the matrix",
    answer="hessian_vector_product",
    minutes=12,
    hints=(
        "The i-th entry of H @ v is the slope in x[i] of something. Of what?",
        "Of slope(x) * v, added up: v is a constant, and the slope of slope[j] in x[i] is H[i, j].",
        "grad(f(x), x, create_graph=True) gives a slope that can be walked back through; then grad((slope *"
        " v).sum(), x).",
    ),
)
SECTION = "Slopes of slopes"
PROGRAMS: list[tuple[str, Callable[..., Any], list[float], list[float]]] = [
    ("x[0] * x[1], v = [1, 0]", lambda x: x[0] * x[1], [2.0, 3.0], [1.0, 0.0]),
    ("sum of x**3, v = [1, -1]", lambda x: (x**3).sum(), [1.0, 2.0], [1.0, -1.0]),
    (
        "exp(x[0]) * sin(x[1]) + x[2]**2",
        lambda x: x[0].exp() * x[1].sin() + x[2] ** 2,
        [0.5, 1.0, 2.0],
        [1.0, 2.0, 3.0],
    ),
]


def hessian(f: Callable[..., Any], x: Tensor) -> Tensor:
    x = x.detach().requires_grad_()
    (slope,) = torch.autograd.grad(f(x), x, create_graph=True)
    rows = [torch.autograd.grad(part, x, retain_graph=True, allow_unused=True)[0] for part in slope]
    return torch.stack([torch.zeros_like(x) if row is None else row for row in rows])


@HESSIAN_VECTOR.case("the product is right", points=2, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    for text, f, values, vector in PROGRAMS:
        x, v = torch.tensor(values, dtype=torch.float64), torch.tensor(vector, dtype=torch.float64)
        got = outcome(answer, (f, x, v))
        expected = hessian(f, x) @ v
        if not isinstance(got, Tensor) or got.shape != v.shape:
            raise WrongAnswer(f"{text}: expected a tensor of {v.numel()} numbers, got {got!r}")
        if not torch.allclose(got, expected):
            raise WrongAnswer(f"{text}: expected {expected.tolist()}, got {got.tolist()}", idea(f, x, v, got))


def idea(f: Callable[..., Any], x: Tensor, v: Tensor, got: Tensor) -> str:
    leaf = x.detach().requires_grad_()
    (slope,) = torch.autograd.grad(f(leaf), leaf)
    if torch.allclose(got, slope * v):
        return "That is the slope times v: first derivatives. Walk back through that slope once more."
    if torch.allclose(got, hessian(f, x).sum(0) * v):
        return "That is all rows of H, added up, and then times v. Multiply the slope by v before you add it up."
    return "Compute H for this small one by hand, and multiply."


@HESSIAN_VECTOR.case("par: two walks back, however long x is", points=2, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    size, walks = 50, [0]
    x, v = torch.linspace(0.1, 1.0, size, dtype=torch.float64), torch.ones(size, dtype=torch.float64)

    class Counted(torch.autograd.Function):
        """x, counting how often a slope comes back through it."""

        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x.clone()

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            walks[0] += 1
            return grad

    got = outcome(answer, (lambda x: (Counted.apply(x) ** 4).sum(), x, v))
    if not isinstance(got, Tensor):
        raise WrongAnswer(f"a function of {size} numbers: got {got!r}")
    if walks[0] > 2:
        raise WrongAnswer(
            f"a function of {size} numbers: you walked back through it {walks[0]} times, par is 2",
            "You made H after all, one for each row. Multiply the slope by v first: that leaves one number to walk back"
            " from.",
        )
