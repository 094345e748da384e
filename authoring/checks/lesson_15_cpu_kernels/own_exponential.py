"""Exercise 15.3: an exponential in single precision, made of what vectorizes."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numba import types

from minitorch_compile.course.checking.exercise import WrongAnswer
from minitorch_compile.course.checking.step import Step
from minitorch_compile.course.far.there import there
from minitorch_compile.inductor.runtime.kernel_function import NativeFunction

from .vector_code import numbas_reason, optimised

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
SINGLE = (
    "A number with a point is a float64, and so is all that it meets. Say np.float32(...) of each constant, and"
    " np.int32(...) of n before it is shifted."
)
CALL = "A call takes one number at a time, and the loop is no vector code: use sums, products and bits only."
INSIDE = "It is called from kernels: both functions keep their line @numba.njit(nogil=True)."
NEARER = "It is wrong for smaller x already, where n is no great number: mend that first."
NEAREST = "The polynomial is good for r between -0.35 and 0.35: take n nearest to x / log(2), so add 0.5 before floor."


def judge(mini: Any, points: list[float], why: str, most: float = 1.5e-7) -> None:
    for x in points:
        with np.errstate(all="ignore"):
            got = mini.emit.exp32(np.float32(x))
            expected = float(np.exp(np.float64(np.float32(x))))
        if abs(float(got) - expected) > most * expected:
            raise WrongAnswer(f"exp32({x}): expected {expected:.9g}, got {float(got):.9g}", why)


@there
def looped(exp32: Any) -> NativeFunction:
    """A loop of float32 with the function in it, as a kernel."""

    def filled(lo: Any, hi: Any, x: Any, out: Any) -> None:
        for i in range(lo, hi):
            out[i] = exp32(x[i])

    elements = types.CPointer(types.float32)
    return NativeFunction("answer", types.void(types.int64, types.int64, elements, elements), filled)


@OWN_EXPONENTIAL.case("in single precision", points=1, section="What stops the compiler")
def _(mini: Any) -> None:
    try:
        code = optimised(looped(mini.emit.exp32))
    except Exception as error:
        raise WrongAnswer(f"Numba can't compile a loop with exp32 in it: {numbas_reason(error)}", INSIDE) from error
    if re.search(r"call [^\n]*@(?:expf|exp|llvm\.exp|llvm\.pow|powf|pow)\b", code):
        raise WrongAnswer("a loop with exp32 in it calls a library's function", CALL)
    if "double" in code:
        raise WrongAnswer("a loop with exp32 in it computes in float64", SINGLE)


@OWN_EXPONENTIAL.case("near zero", points=1, section=SECTION)
def _(mini: Any) -> None:
    judge(mini, [0.0, 0.1, -0.1, 0.3, 1.0, -1.0], "Is the polynomial complete: p * r * r + r + 1, times 2^n?")
    judge(mini, [0.5, 0.67, 0.69, 1.38, -0.01], NEAREST)


@OWN_EXPONENTIAL.case("the last digits, far from zero", points=1, section=SECTION)
def _(mini: Any) -> None:
    judge(mini, [0.0, 0.1, -0.1, 0.3], NEARER)
    judge(mini, [20.3, 55.7, 80.1, -80.2], DIGITS)


@OWN_EXPONENTIAL.case("the ends", points=2, section=SECTION)
def _(mini: Any) -> None:
    judge(mini, [0.1, 0.69, 55.7, 80.1, -80.2, 88.0], NEARER)
    judge(mini, [88.5, 88.7], HALVES)
    for x, expected in ((89.0, np.inf), (1000.0, np.inf), (np.inf, np.inf), (-1000.0, 0.0), (-np.inf, 0.0)):
        got = float(mini.emit.exp32(np.float32(x)))
        if not (got == expected or abs(got - expected) < 1e-37):
            beyond = np.isfinite(got) and got > float(np.finfo(np.float32).max)
            raise WrongAnswer(f"exp32({x}): expected {expected}, got {got}", SINGLE if beyond else CLAMP)
    if not np.isnan(mini.emit.exp32(np.float32(np.nan))):
        raise WrongAnswer(
            "exp32(nan): expected nan", "min and max keep a NaN that comes first: max(x, low), min(x, high)."
        )
