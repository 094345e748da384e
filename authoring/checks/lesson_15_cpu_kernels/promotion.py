"""Exercise 15.1: the float64s in a kernel of float32."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from minitorch_compile.course.checking.exercise import Exercise, WrongAnswer

from .vector_code import learners_kernel, optimised

PROMOTION = Exercise(
    "15.1",
    "find the float64",
    answer="warped",
    minutes=10,
    hints=(
        "Name the type of every part of every line: what is i, what is hi - lo, what is 0.1?",
        "A float64 draws everything that it meets into float64. So no single one may be left.",
        "float32(i) / float32(hi - lo), and float32(...) around each number that has a point.",
    ),
    seconds=60,
    megabytes=2048,
)
SECTION = "What stops the compiler"
COUNT = 1000


@PROMOTION.case("the same values as before", points=0, section=SECTION)
def _(answer: Any) -> None:
    kernel = learners_kernel("warped", answer)
    x = np.random.default_rng(0).normal(size=COUNT).astype(np.float32)
    out, wide = np.zeros(COUNT, np.float32), x.astype(np.float64)
    kernel(0, COUNT, x, out)
    wanted = np.arange(COUNT) / COUNT * (wide * (1.0 + 0.1 * wide))
    off = np.abs(out - wanted)
    if not off.max() < 1e-5:
        worst = int(np.nan_to_num(off, nan=np.inf).argmax())
        raise WrongAnswer(
            f"out[{worst}] of {COUNT}: expected {np.float32(wanted[worst])}, got {out[worst]}",
            "The kernel computed something else before. Change the types of its numbers, and nothing else.",
        )


@PROMOTION.case("no float64 in the machine code", points=2, section=SECTION)
def _(answer: Any) -> None:
    code = optimised(learners_kernel("warped", answer))
    if "double" not in code:
        return
    constants = re.search(r"fadd [^\n]*double", code)
    index = re.search(r"sitofp [^\n]*double", code)
    if constants and index:
        why = "Everything is computed in float64, and converting the result comes too late. Begin where numbers begin."
    elif index:
        why = "A whole number divided by a whole number is a float64, for Numba as for Python. Which are they here?"
    else:
        why = "A number with a point is a float64. Say float32(...) of each."
    doubles = len(re.findall(r"= f(?:add|sub|mul|div) [^\n]*double", code))
    raise WrongAnswer(f"the machine code has {doubles} instructions on float64", why)
