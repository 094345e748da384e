"""Exercise 10.3: the sizes of nested transforms, before they are run."""

from __future__ import annotations

from typing import Any

import minitorch_compile as torch
from minitorch_compile.course.checking.exercise import Exercise, NotWritten, WrongAnswer
from minitorch_compile.func import grad, hessian, jacfwd, jacrev, vmap

SHAPES = Exercise(
    "10.3",
    "which sizes: predict",
    answer="sizes",
    minutes=10,
    hints=(
        "vmap adds its batch dimension at out_dims, 0 if nothing is said. It takes away the one at in_dims.",
        "A Jacobian has the sizes of the result, followed by those of the argument.",
        "Read from the outside in: in jacrev(vmap(f)) the function is vmap(f), with an argument of (4, 5).",
    ),
)
SECTION = "Whole matrices"
EXPLAINED = {
    "vmap(f)(xs)": "Four examples, a result of (3,) for each.",
    "vmap(f, out_dims=1)(xs)": "out_dims says where the batch goes in the result.",
    "vmap(f, in_dims=1)(xs.t())": "The batch was taken out of dimension 1; it comes back at out_dims, which is 0.",
    "vmap(f)(x)": "The examples of a vector are numbers, and f wants a vector.",
    "vmap(lambda a: vmap(lambda b: a @ b)(xs))(xs)": "Each with each: the outer batch first, then the inner one.",
    "jacrev(f)(x)": "The sizes of the result, then those of the argument.",
    "grad(f)(x)": "f has three results. A gradient is for functions with one.",
    "vmap(jacrev(f))(xs)": "A Jacobian for each example.",
    "jacrev(vmap(f))(xs)": "How all results depend on all arguments, also on those of other examples: mostly zeros.",
    "jacfwd(jacrev(f))(x)": "The Jacobian of a function whose result is a (3, 5).",
    "vmap(hessian(g))(xs)": "A Hessian for each example: once the sizes of the argument, and once more.",
}


def f(x: Any) -> Any:
    return torch.ones(3, 5) @ x


def g(x: Any) -> Any:
    return (x**3).sum()


def what_happens(program: str) -> Any:
    names: dict[str, Any] = {
        **{"f": f, "g": g, "x": torch.ones(5), "xs": torch.ones(4, 5)},
        **{"vmap": vmap, "grad": grad, "jacrev": jacrev, "jacfwd": jacfwd, "hessian": hessian},
    }
    try:
        return tuple(eval(program, names).shape)
    except (RuntimeError, ValueError, IndexError):
        return "raises"


def judge(answer: Any, programs: list[str]) -> None:
    if not isinstance(answer, dict):
        raise WrongAnswer(f"sizes: expected a dict of the programs, got {type(answer).__name__}")
    for program in programs:
        predicted = answer.get(program, ...)
        if predicted is ...:
            raise NotWritten(f"{program} is still `...`")
        happens = what_happens(program)
        if predicted != happens:
            raise WrongAnswer(f"{program}: you predicted {predicted!r}, it is {happens!r}", EXPLAINED[program])


PROGRAMS = list(EXPLAINED)


@SHAPES.case("batches", points=2, section="Batches of batches")
def _(answer: Any) -> None:
    judge(answer, PROGRAMS[:5])


@SHAPES.case("derivatives", points=2, section=SECTION)
def _(answer: Any) -> None:
    judge(answer, PROGRAMS[5:])
