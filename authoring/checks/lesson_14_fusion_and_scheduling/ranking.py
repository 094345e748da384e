"""Exercise 14.4: which pair of kernels to try first."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any

import minitorch_compile as torch
from minitorch_compile.course.checking.exercise import Exercise, WrongAnswer, outcome
from minitorch_compile.course.splicing.splice import splice
from minitorch_compile.inductor.schedule.group import Group
from minitorch_compile.inductor.schedule.scheduler import Scheduler

from .schedules import Program, loops_of, planned

RANKING = Exercise(
    "14.4",
    "which pair first",
    answer="candidates",
    minutes=15,
    place="inductor.candidates",
    hints=(
        "A node touches the buffers node.reads and node.step.outputs. Two nodes save what both of them touch.",
        "Take the nodes whose step is a Group, sorted by node.first, and look at each with each of those after it.",
        "Keep a dict from a pair to the sum of nbytes of the buffers in both sets, without the pairs where it is empty;"
        " sort its keys by minus that sum.",
    ),
)
SECTION = "Choosing"
SIZES = (64, 64)
MOST_FIRST = "Sort by bytes, the most first: one large buffer counts more than two small ones."


def sides(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Two loops that share x, and two that share both of their small results."""
    total, largest = x.sum(1), x.amax(1)
    return total * largest, total - largest


def touched(node: Any) -> set[Any]:
    return {*node.reads, *node.step.outputs}


def saved(pair: tuple[Any, Any]) -> int:
    """Bytes of the buffers that both nodes touch."""
    return sum(buffer.nbytes for buffer in touched(pair[0]) & touched(pair[1]))


def judge(answer: Callable[..., Any], program: Program, text: str) -> list[tuple[Any, Any]]:
    """The learner's pairs, if they are the right ones in any order."""
    scheduler = Scheduler(loops_of(program, SIZES))
    got = outcome(answer, (scheduler,))
    if not isinstance(got, list) or not all(isinstance(pair, tuple) and len(pair) == 2 for pair in got):
        fact = f"{text}: expected a list of pairs of nodes, got {got!r}"
        raise WrongAnswer(fact, "A pair is a tuple: (first, second).")
    groups = sorted((node for node in scheduler.nodes if isinstance(node.step, Group)), key=lambda node: node.first)
    expected = {pair for pair in combinations(groups, 2) if saved(pair)}
    for pair in got:
        if pair not in expected:
            raise WrongAnswer(f"{text}: the pair {names(pair)} shouldn't be there", about_extra(pair, groups))
    missing = expected.difference(got)
    if missing:
        pair = min(missing, key=lambda pair: (pair[0].first, pair[1].first))
        raise WrongAnswer(f"{text}: the pair {names(pair)} is missing", about_missing(pair))
    return got


def names(pair: tuple[Any, Any]) -> str:
    return f"({', '.join(getattr(node, 'name', repr(node)) for node in pair)})"


def about_extra(pair: tuple[Any, Any], groups: list[Any]) -> str:
    if pair[0] is pair[1]:
        return "A node is no pair with itself."
    if not all(node in groups for node in pair):
        return "An extern kernel can't be fused with anything: only nodes whose step is a Group."
    if pair[0].first > pair[1].first:
        return "The earlier one comes first, and each pair once."
    return "The two touch nothing in common, so there is nothing to save."


def about_missing(pair: tuple[Any, Any]) -> str:
    if set(pair[0].step.outputs) & set(pair[1].reads):
        return "The second reads what the first writes."
    return "Both read the same buffer. They stand side by side, and save as much as if one needed the other."


def judge_pairs(answer: Callable[..., Any]) -> None:
    judge(answer, lambda x: x.softmax(1), "x.softmax(1)")
    judge(answer, sides, "a sum and a maximum, both used twice")
    judge(answer, lambda x: ((x.exp() + x.exp().flip(0)) @ x).relu(), "exp(x) and its mirror image, a product, relu")


@RANKING.case("the right pairs", points=2, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    judge_pairs(answer)


@RANKING.case("most bytes first", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    for program, text in ((sides, "a sum and a maximum, both used twice"), (lambda x: x.softmax(1), "x.softmax(1)")):
        got = judge(answer, program, text)
        for before, after in zip(got, got[1:]):
            if saved(before) < saved(after):
                fact = f"{text}: {names(before)} saves {saved(before)} bytes and comes before {names(after)} with"
                raise WrongAnswer(f"{fact} {saved(after)}", MOST_FIRST)


@RANKING.case("in the running package", points=1, section="The package's own")
def _(answer: Callable[..., Any]) -> None:
    judge_pairs(answer)  # a wrong answer may keep the package busy
    x = torch.arange(64.0).reshape(8, 8) / 64
    with splice("inductor.candidates", answer):
        got, kernels = torch.compile(lambda x: x.softmax(1))(x), planned(sides, SIZES).kernel_count
    if not torch.allclose(got, x.softmax(1)):
        raise WrongAnswer(f"softmax, with your function in the package, gives {got}", "Compare with eager.")
    expected = planned(sides, SIZES).kernel_count
    if kernels > expected:
        raise WrongAnswer(f"a sum and a maximum take {kernels} kernels, and {expected} are enough", "Which came first?")
