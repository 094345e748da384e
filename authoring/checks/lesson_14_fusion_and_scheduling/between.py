"""Exercise 14.1: a kernel that has to run between two others."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import minitorch_compile as torch
from minitorch_compile.course.checking.exercise import Exercise, WrongAnswer, outcome
from minitorch_compile.course.splicing.splice import splice

from .schedules import planned

BETWEEN = Exercise(
    "14.1",
    "what must run between",
    answer="between",
    minutes=15,
    place="inductor.between",
    hints=(
        "Start at b and walk backwards, along scheduler.inputs(node). Which arrival at a means that there is a third?",
        "The direct step from b to a doesn't count. Keep a stack of nodes to visit, and a set of those seen.",
        "Begin with the inputs of b other than a. Take a node off the stack; if a is among its inputs, it is the"
        " answer; otherwise push those of its inputs that you haven't seen.",
    ),
)
SECTION = "When two loops may be one"
PATIENCE = 2000


class NamedNode:
    """A node of a small graph: one object, which may be compared by `is` and by `==`."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return self.name


class Steps:
    """Stands for the scheduler: "m: a" says that m reads what a makes. Counts how often it is asked."""

    def __init__(self, text: str) -> None:
        lines = dict(line.split(":") for line in text.split(";"))
        self.nodes = {name: NamedNode(name) for name in text.replace(":", " ").replace(";", " ").split()}
        self.sources = {name.strip(): [self.nodes[each] for each in needs.split()] for name, needs in lines.items()}
        self.asked = 0

    def inputs(self, node: NamedNode) -> Iterator[NamedNode]:
        self.asked += 1
        if self.asked > PATIENCE:
            raise TimeoutError(f"inputs was asked for {PATIENCE} times")
        return iter(self.sources.get(node.name, []))


def judge(answer: Callable[..., Any], text: str, expected: set[str], why: str) -> None:
    steps = Steps(text)
    got = outcome(answer, (steps, steps.nodes["a"], steps.nodes["b"]))
    shown = text if len(text) < 60 else text[:57] + "..."
    if steps.asked > PATIENCE:
        raise WrongAnswer(
            f"{shown}: after {PATIENCE} calls of inputs there was no answer",
            "The same node is visited again and again, once for each way to it. Remember what you have seen.",
        )
    if (got is not None or expected) and getattr(got, "name", None) not in expected:
        wanted = " or ".join(sorted(expected)) or "None"
        raise WrongAnswer(f"{shown}. between(scheduler, a, b): expected {wanted}, got {got!r}", why)


def judge_small(answer: Callable[..., Any]) -> None:
    direct = "b reads a's result itself. There is nobody between them, so they may be fused."
    judge(answer, "m: a; b: m", {"m"}, "m needs a, and b needs m.")
    judge(answer, "b: a", set(), direct)
    judge(answer, "m: a; b: a m", {"m"}, "b reads a's result, and also m's. That is the trap: look at all inputs of b.")
    judge(answer, "m: a; n: m; b: a n", {"m", "n"}, "The way from a to b may lead through several.")
    judge(answer, "n: x; m: a; b: a n", set(), "m needs a, and b doesn't need m. n is needed by b, and doesn't need a.")
    judge(answer, "a: c; b: a c", set(), "c comes before both of them, not between.")


@BETWEEN.case("small graphs", points=2, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    judge_small(answer)


@BETWEEN.case("many ways to the same place", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    judge(answer, "m: a; b: m", {"m"}, "m needs a, and b needs m.")
    ladder = "; ".join(f"l{n}: l{n - 1} r{n - 1}; r{n}: l{n - 1} r{n - 1}" for n in range(1, 30))
    judge(answer, f"l0: x; r0: x; {ladder}; b: a l29 r29", set(), "No step of the ladder needs a.")


@BETWEEN.case("in the running package", points=1, section="Choosing")
def _(answer: Callable[..., Any]) -> None:
    judge_small(answer)  # a wrong answer may bring the package into a circle
    x = torch.arange(64.0).reshape(8, 8) / 64

    def trap(x: torch.Tensor) -> torch.Tensor:
        return x.exp() + x.exp().flip(0).cumsum(1).flip(0)

    with splice("inductor.between", answer):
        got, softmax = torch.compile(trap)(x), planned(lambda x: x.softmax(1), (8, 8))
    if not torch.allclose(got, trap(x)):
        raise WrongAnswer(f"the lesson's trap, with your function in the package, gives {got}", "Compare with eager.")
    if softmax.kernel_count != 1:
        raise WrongAnswer(f"softmax became {softmax.kernel_count} kernels", "Nothing is between its loops in the end.")
