"""Exercise 15.3: an exponential in single precision, made of what vectorizes."""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch_compile.course.checking.exercise import WrongAnswer
from minitorch_compile.course.checking.step import Step

OWN_EXPONENTIAL = Step(
    "15.3",
    "an exponential that vectorizes",
    file="emit",
    minutes=20,
    hints=(
        "Three moves: put x between -104 and 88.8; write x as n * log(2) + r with n whole and r near 0; then e^x is"
        " 2^n times"
        " e^r, and e^r is a polynomial.",
        "n = floor(x / log(2) + 0.5). log(2) in two parts, 0.693359375 and -2.12194440e-4, keeps the last digits of"
        " r. Horner:"
        " p = p * r + c for each c; at the end p * r * r + r + 1.",
        "2^n is the number whose bits are n + 127, shifted by 23. For n = 128 that is no number any more, so multiply"
        " by"
        " 2^(n >> 1) and then by 2^(n - (n >> 1)).",
    ),
)
SECTION = "An exponential without branches"
CLAMP = "Far out n leaves the eight bits of an exponent, and the bits wrap round: put x between -104 and 88.8 first."
HALVES = "2^128 is no float32, but e^88.5 is one: multiply by 2^n in two steps, n >> 1 and the rest."
DIGITS = (
    "The rest r has lost digits. log(2) does not fit into one float32: subtract it in two parts, n * 0.693359375"
    " exactly."
)
NEAREST = "The polynomial is good for r between -0.35 and 0.35: take n nearest to x / log(2), so add 0.5 before floor."


def judge(mini: Any, points: list[float], why: str, most: float = 1.5e-7) -> None:
    for x in points:
        with np.errstate(all="ignore"):
            got = mini.emit.exp32(np.float32(x))
            expected = float(np.exp(np.float64(np.float32(x))))
        if abs(float(got) - expected) > most * expected:
            raise WrongAnswer(f"exp32({x}): expected {expected:.9g}, got {float(got):.9g}", why)


@OWN_EXPONENTIAL.case("near zero", points=1, section=SECTION)
def _(mini: Any) -> None:
    judge(mini, [0.0, 0.1, -0.1, 0.3, 1.0, -1.0], "Is the polynomial complete: p * r * r + r + 1, times 2^n?")
    judge(mini, [0.5, 0.67, 0.69, 1.38, -0.01], NEAREST)


@OWN_EXPONENTIAL.case("the last digits, far from zero", points=1, section=SECTION)
def _(mini: Any) -> None:
    judge(mini, [20.3, 55.7, 80.1, -80.2], DIGITS)


@OWN_EXPONENTIAL.case("the ends", points=2, section=SECTION)
def _(mini: Any) -> None:
    judge(mini, [88.0, 88.5, 88.7], HALVES)
    for x, expected in ((89.0, np.inf), (1000.0, np.inf), (np.inf, np.inf), (-1000.0, 0.0), (-np.inf, 0.0)):
        got = float(mini.emit.exp32(np.float32(x)))
        if not (got == expected or abs(got - expected) < 1e-37):
            raise WrongAnswer(f"exp32({x}): expected {expected}, got {got}", CLAMP)
    if not np.isnan(mini.emit.exp32(np.float32(np.nan))):
        raise WrongAnswer(
            "exp32(nan): expected nan", "min and max keep a NaN that comes first: max(x, low), min(x, high)."
        )
