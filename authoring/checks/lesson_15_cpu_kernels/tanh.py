"""Exercise 15.3: tanh in float32, without branches and calls."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numba import njit, types

from minitorch_compile.course.checking.exercise import Exercise, NotWritten, WrongAnswer

from .vector_code import compiled, mixed_types, numbas_reason, optimised, vector_operations

TANH = Exercise(
    "15.3",
    "a tanh without branches",
    answer="tanh_float32",
    minutes=20,
    hints=(
        "Compute both: the polynomial, and the formula with the exponential. Then select. Which suits small numbers?",
        "With a = absolute(x), 1 - 2 / (exp(2a) + 1) can't overflow into NaN. Far out it is 1, as it should be.",
        "near = a + a * z * polynomial(z, TANH) with z = a * a; copy_sign(select(a < 0.625, near, far), x) at the end.",
    ),
    seconds=60,
    megabytes=2048,
)
SECTION = "An exponential without branches"
ULPS = 3.0
# As a text it belongs to no file, beside which its machine code could be kept: that isn't another learner's.
LOOP = """
def loop(lo, hi, x, out):
    for i in range(lo, hi):
        out[i] = function(x[i])
"""


def learners_loop(answer: Any) -> Any:
    """The kernel that applies the learner's function to each number."""
    if not callable(answer):
        raise WrongAnswer(f"tanh_float32: expected a function, got {type(answer).__name__}")
    function = answer if hasattr(answer, "py_func") else njit(answer)
    try:
        function(np.float32(0.5))
    except NotImplementedError as error:
        raise NotWritten(str(error)) from error
    except Exception as error:
        why = "Say F(...) of every number: 2.0 and 0.625 are float64." if mixed_types(error) else ""
        raise WrongAnswer(f"tanh_float32(0.5): Numba says: {numbas_reason(error)}", why) from error

    scope = {"function": function, "__name__": "loop_of_the_learner"}
    exec(LOOP, scope)
    loop: Any = scope["loop"]
    try:
        return compiled(loop, types.float32, types.float32)
    except Exception as error:
        raise WrongAnswer("tanh_float32 must give a float32 for a float32", "What does it return?") from error


def judge(answer: Any, numbers: Sequence[float] | np.ndarray, why: str) -> None:
    """Each number's result must be within ULPS of the truth, with its sign, and NaN for NaN."""
    x = np.array(numbers, np.float32)
    out = np.zeros_like(x)
    learners_loop(answer)(0, len(x), x, out)
    truth = np.tanh(x.astype(np.float64))
    unit = np.spacing(np.abs(truth).astype(np.float32)).astype(np.float64)
    off = np.abs(out - truth) / unit
    right = (off <= ULPS) & (np.signbit(out) == np.signbit(truth)) | (np.isnan(out) & np.isnan(x))
    if not right.all():
        worst = int(np.flatnonzero(~right)[0])
        by = f", {off[worst]:.0f} ulps away" if 0 < off[worst] < np.inf else ""
        raise WrongAnswer(f"tanh_float32({x[worst]}): expected {np.float32(truth[worst])}, got {out[worst]}{by}", why)


@TANH.case("numbers around 1", points=0, section=SECTION)
def _(answer: Any) -> None:
    judge(answer, [0.75, 1.0, 1.5, 2.0, -1.0, -2.0], "Here the exponential's formula holds, for both signs.")


@TANH.case("near 0", points=1, section=SECTION)
def _(answer: Any) -> None:
    why = "Subtracting two numbers near 1 cancels the digits of a small result. There is a polynomial for this part."
    judge(answer, np.concatenate([np.linspace(0.6, -0.6, 10001), [1e-3, 1e-6, -1e-20, 1e-30, 1e-42]]), why)


@TANH.case("the sign of zero", points=1, section=SECTION)
def _(answer: Any) -> None:
    judge(answer, [0.0, -0.0], "-0.0 plus 0.0 is 0.0. Compute with absolute(x), and put the sign back at the end.")


@TANH.case("far out", points=1, section=SECTION)
def _(answer: Any) -> None:
    why = "The exponential of a large number is infinite, and infinity divided by infinity isn't a number."
    judge(answer, [*np.linspace(0.6, 20, 10001), 50.0, 100.0, -100.0, 1e38, -np.inf, np.inf], why)


@TANH.case("NaN stays NaN", points=1, section="Flags that keep NaN")
def _(answer: Any) -> None:
    why = "Broken data looks healthy now. A comparison with NaN is false: what does your select choose then?"
    judge(answer, [np.nan, 1.0], why)


@TANH.case("vector code", points=1, section="What stops the compiler")
def _(answer: Any) -> None:
    code = optimised(learners_loop(answer))
    library = re.search(r"@(?:llvm\.|numba_)?(exp|expm1|tanh|sinh|cosh|pow)f?[.(]", code)
    if library:
        raise WrongAnswer(f"the loop calls the C library's {library[1]}", "That takes its numbers one by one.")
    if not vector_operations(code):
        raise WrongAnswer("there is no vector instruction in the loop", "Compute both values, and select.")
    if "double" in code:
        raise WrongAnswer("there is a float64 in the loop", "Say F(...) of every number.")
