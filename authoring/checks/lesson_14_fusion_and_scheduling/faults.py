"""Exercise 14.3: three rules for fusing that look right; find a program that breaks each of them."""

from __future__ import annotations

from itertools import combinations
from typing import Any

from minitorch_compile.course.checking.exercise import Exercise, NotWritten, WrongAnswer
from minitorch_compile.inductor.ir.loops import Loop

from . import faulty_rules
from .schedules import loops_of

FAULTS = Exercise(
    "14.3",
    "find the bug: three rules that look right",
    answer="programs",
    minutes=15,
    hints=(
        "A value that is used twice, and isn't cheap, gets a loop of its own: exp will do. Read it elsewhere.",
        "by_size: mirror it. by_value: two loops that both read x and want nothing of each other. by_pair: the lesson's"
        " trap.",
        "x.exp() + x.exp().flip(0), a sum along each dimension, and x.exp() + x.exp().flip(0).cumsum(1).flip(0).",
    ),
)
SIZES = (8, 8)
SECTION = "When two loops may be one"
TRUTH = {"by_size": faulty_rules.by_pair, "by_value": faulty_rules.by_pair, "by_pair": faulty_rules.may_be_one}
ABOUT = {
    "by_size": "Two loops of one size need not go well together. Read a value where it isn't written yet.",
    "by_value": "It does look where values go from one loop to the other. What if none goes, and they reduce?",
    "by_pair": "For two loops it has everything right. So the trouble must come from a third one.",
}


def judge(answer: Any, name: str) -> None:
    if not isinstance(answer, dict):
        raise WrongAnswer(f"programs: expected a dict of three functions of x, got {type(answer).__name__}")
    program = answer.get(name, ...)
    if program is ...:
        raise NotWritten(f"{name} is still `...`")
    if not callable(program):
        raise WrongAnswer(f"{name}: expected a function of x, got {program!r}", "A program such as lambda x: x.exp().")
    operations = loops_of(program, SIZES).operations
    loops = [each for each in operations if isinstance(each, Loop)]
    if len(loops) < len(operations):
        raise WrongAnswer(f"{name}: the program has an extern kernel", "Matrix products aren't loops: leave them out.")
    if len(loops) < 2:
        why = "A value that is cheap, or used once, is computed where it is read: there is no pair of loops to fuse."
        raise WrongAnswer(f"{name}: the program is {len(loops)} loop", why)
    rule, truth = getattr(faulty_rules, name), TRUTH[name]
    fused = [pair for pair in combinations(loops, 2) if rule(loops, *pair)]
    if all(truth(loops, *pair) for pair in fused):
        text = f"{name}: of the pairs of loops of this program it fuses {len(fused)}, and it is right about those"
        raise WrongAnswer(text if fused else f"{name}: it fuses no pair of loops of this program", ABOUT[name])


@FAULTS.case("by_size", points=1, section=SECTION)
def _(answer: Any) -> None:
    judge(answer, "by_size")


@FAULTS.case("by_value", points=1, section=SECTION)
def _(answer: Any) -> None:
    judge(answer, "by_value")


@FAULTS.case("by_pair", points=1, section=SECTION)
def _(answer: Any) -> None:
    judge(answer, "by_pair")
