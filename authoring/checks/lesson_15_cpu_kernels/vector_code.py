"""What LLVM made of a learner's loop, read in a way that doesn't depend on the processor.

The optimised code is LLVM's own, in which a vector of eight floats is `<8 x float>` on every machine.

>>> def twice(lo, hi, x, out):
...     for i in range(lo, hi):
...         out[i] = x[i] + x[i]
>>> code = optimised(compiled(twice, types.float32, types.float32))
>>> vector_operations(code) > 0, "double" in code
(True, False)
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from numba import types

from minitorch_compile.course.checking.exercise import NotWritten, WrongAnswer
from minitorch_compile.course.far.there import there
from minitorch_compile.inductor.runtime.kernel_function import NativeFunction

ARITHMETIC = re.compile(
    r"= (?:fadd|fsub|fmul|fdiv|fcmp|fneg)[^\n]*<\d+ x (?:float|double)>"
    r"|<\d+ x (?:float|double)> @llvm\.(?:sqrt|fma|fmuladd|maximum|minimum)"
)


def compiled(function: Callable[..., None], *elements: Any) -> NativeFunction:
    """A function (lo, hi, pointer, ...) as a kernel; nothing is remembered under its name."""
    signature = types.void(types.int64, types.int64, *map(types.CPointer, elements))
    return NativeFunction("answer", signature, function)


@there
def compiled_there(function: Callable[..., None]) -> NativeFunction:
    """The same of float32 pointers, where the function is."""
    elements = types.CPointer(types.float32)
    return NativeFunction("answer", types.void(types.int64, types.int64, elements, elements), function)


@there
def optimised(kernel: NativeFunction) -> str:
    """The code of a kernel after LLVM's optimisations."""
    return str(kernel.compiled._library.get_llvm_str())


def vector_operations(code: str) -> int:
    """How many instructions of arithmetic work on a vector of floats."""
    return len(ARITHMETIC.findall(code))


FRAME = re.compile(r"\s*$|Failed in |During: |\s*File |\s*<source|.*[\^~-]+$|\s*- Resolution failure|Traceback")


def numbas_reason(error: Exception) -> str:
    """What Numba says, without where in Numba it says so; an intrinsic's assertion has no words of its own.

    >>> numbas_reason(ValueError("Failed in nopython mode\\nNameError: name 'y' is not defined\\nDuring: a pass"))
    "NameError: name 'y' is not defined"
    """
    said = [line.strip() for line in str(error).splitlines() if not FRAME.match(line)]
    return said[0] if said else f"{type(error).__name__}: two operands of different types, float32 and float64"


def missing_cell(error: Exception) -> str:
    """What to do about a name that the sheet's first cell imports.

    >>> missing_cell(NameError("name 'float32' is not defined"))
    'The first cell of this sheet imports float32: run the first cell, and check again.'
    >>> missing_cell(NameError("name 'y' is not defined"))
    ''
    """
    for name in ("float32", "accumulate_sum"):
        if f"name '{name}' is not defined" in str(error):
            return f"The first cell of this sheet imports {name}: run the first cell, and check again."
    return ""


def mixed_types(error: Exception) -> bool:
    """Whether float64 met float32 where only one type may be."""
    return isinstance(error, AssertionError) or "double" in str(error) or "float64" in str(error)


@lru_cache(maxsize=1)  # the cases ask for it again and again: it is compiled when it is first run
def _once(answer: Callable[..., None]) -> NativeFunction:
    kernel: NativeFunction = compiled_there(answer)
    return kernel


def learners_kernel(name: str, answer: Any) -> NativeFunction:
    """The learner's function (lo, hi, x, out) of float32 pointers, compiled."""
    if not callable(answer):
        raise WrongAnswer(f"{name}: expected a function, got {type(answer).__name__}")
    try:
        answer(0, 0, np.zeros(1, np.float32), np.zeros(64, np.float32))  # an empty range, in plain Python
    except NotImplementedError as error:
        raise NotWritten(str(error)) from error
    except Exception as error:
        said = f"{name} of an empty range raised {type(error).__name__}: {error}"
        raise WrongAnswer(said, missing_cell(error)) from error
    try:
        return _once(answer)
    except Exception as error:
        raise WrongAnswer(f"Numba can't compile {name}: {numbas_reason(error)}", missing_cell(error)) from error
