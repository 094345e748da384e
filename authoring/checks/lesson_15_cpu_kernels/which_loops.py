"""Exercise 15.1: which loops become vector code, before it is read."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

from numba import types

from minitorch_compile.course.checking.exercise import Exercise, NotWritten, WrongAnswer
from minitorch_compile.inductor.runtime.native import accumulate_sum

from .vector_code import compiled, optimised, vector_operations

WHICH_LOOPS = Exercise(
    "15.1",
    "which loops become vector code: predict",
    answer="vectorised",
    minutes=10,
    hints=(
        "Ask of each loop: may iteration 5 be done before iteration 4, with the same result to the last bit?",
        "A choice between two values is no obstacle. A call of a library is, and so is a way out of the loop.",
        "Whole numbers may be added in any order, since nothing is rounded. Floats only with a promise.",
    ),
    seconds=60,
    megabytes=2048,
)
EXPLAINED = {
    "out[i] = x[i] * y[i] + x[i]": "Nothing depends on another position.",
    "out[i] = x[i] if x[i] > y[i] else y[i]": "Both values are at hand, so the branch becomes a select.",
    "out[i] = x[i] / y[i]": "Processors have an instruction for quotients, a packed one, too.",
    "out[i] = math.sin(x[i])": "A sine is a call of the C library, one number at a time.",
    "out[i + 1] = out[i] * x[i]": "Each product needs the one before.",
    "if x[i] > y[i]: break": "Whether position 5 is read at all depends on position 4.",
    "total += x[i]": "Adding floats in another order rounds otherwise, and nobody has promised that it doesn't matter.",
    "total = accumulate_sum(total, x[i])": "This addition carries the promise that any order will do.",
    "count += x[i] > y[i]": "Whole numbers aren't rounded, so their sum may be taken in any order.",
}
BODY = """
def loop(lo, hi, x, y, out):
    total, count = float32(0), 0
    for i in range(lo, hi):
        {line}{more}
    out[0] = {result}
"""


@cache
def is_vector_code(line: str) -> bool:
    """Whether a kernel with this line in its loop has vector instructions."""
    more = "\n        out[i] = x[i] * x[i]" if line.startswith("if") else ""
    result = "total" if line.startswith("total") else "float32(count)" if line.startswith("count") else "out[1]"
    scope = {"__name__": "loops_to_predict", "math": math, "float32": types.float32, "accumulate_sum": accumulate_sum}
    exec(BODY.format(line=line, more=more, result=result), scope)
    loop: Any = scope["loop"]
    return vector_operations(optimised(compiled(loop, *[types.float32] * 3))) > 0


def judge(answer: Any, lines: list[str]) -> None:
    if not isinstance(answer, dict):
        raise WrongAnswer(f"vectorised: expected a dict of lines and True or False, got {type(answer).__name__}")
    for line in lines:
        given = answer.get(line, ...)
        if given is ...:
            raise NotWritten(f"{line} is still `...`")
        if given is not is_vector_code(line):
            raise WrongAnswer(f"{line}: you say {given!r}, and it is {is_vector_code(line)}", EXPLAINED[line])


@WHICH_LOOPS.case("one position at a time", points=1, section="Is it vector code?")
def _(answer: Any) -> None:
    judge(answer, list(EXPLAINED)[:4])


@WHICH_LOOPS.case("positions that wait for others", points=1, section="What stops the compiler")
def _(answer: Any) -> None:
    judge(answer, list(EXPLAINED)[4:6])


@WHICH_LOOPS.case("sums", points=1, section="Sums")
def _(answer: Any) -> None:
    judge(answer, list(EXPLAINED)[6:])
