"""How sums are kept accurate and still vectorise.

A float32 sum over a long row is taken in blocks: each block in float32, in as many partial sums as vector lanes
allow, and the blocks' results in float64. So the error grows with the length of a block, not of the row.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from minitorch_compile.inductor.codegen.shared.spelling import Spelling
from minitorch_compile.inductor.ir.buffer import Buffer
from minitorch_compile.tensor.numerics.dtype import bool_, dtype, float32, float64

# The prim that combines two values.
COMBINING = {"sum": "add", "prod": "mul", "amax": "maximum", "amin": "minimum"}
# The function that looks for an extreme value among floats that are not NaN, and what the better one is to the other.
EXTREMES = {"amax": ("accumulate_maximum", ">"), "amin": ("accumulate_minimum", "<")}
BLOCK = 4096  # elements of a row that are summed in float32
BLOCK_OF_PLACES = 128  # elements of a row among which the place of an extreme value is looked for


class Accumulator(NamedTuple):
    """A running result: `total` is the variable, of dtype `wide`; `partial` the one for a block, if the two differ.

    `block` is the variable for the first block in which an extreme value stands, if somebody asks for its place.
    """

    buffer: Buffer
    kind: str
    total: str
    partial: str
    wide: dtype
    block: str = ""

    @property
    def is_nan(self) -> str:
        """The variable that says whether a NaN came, for extremes of floats: they are searched for without NaNs."""
        return f"{self.total}_is_nan" if self.kind in EXTREMES and self.wide.is_floating_point else ""

    @property
    def is_split(self) -> bool:
        return self.total != self.partial


def scan_dtype(buffer: Buffer, kind: str) -> dtype:
    """The dtype in which a running result is carried from one position to the next."""
    return float64 if kind in ("sum", "prod", "logaddexp") and buffer.dtype is float32 else buffer.dtype


def accumulator(buffer: Buffer, kind: str, name: str) -> Accumulator:
    split = kind in ("sum", "prod") and buffer.dtype is float32
    return Accumulator(buffer, kind, name, f"{name}_part" if split else name, float64 if split else buffer.dtype)


def start(kind: str, element: dtype, spelling: Spelling) -> str:
    """The value that combining starts from."""
    if kind in ("sum", "prod"):
        return spelling.constant(int(kind == "prod"), element)
    if element is bool_:
        return spelling.constant(kind == "amin", element)
    if element.is_floating_point:
        return spelling.constant(math.inf if kind == "amin" else -math.inf, element)
    limits: Any = np.iinfo(element.numpy)
    return spelling.constant(int(limits.min if kind == "amax" else limits.max), element)


def combine(kind: str, element: dtype, total: str, value: str, spelling: Spelling) -> str:
    """The accumulator after one more value."""
    if kind in ("sum", "prod") and element.is_floating_point:
        return f"accumulate_{'sum' if kind == 'sum' else 'product'}({total}, {value})"
    return combine_in_order(kind, element, total, value, spelling)


def combine_in_order(kind: str, element: dtype, total: str, value: str, spelling: Spelling) -> str:
    """The same where each result is wanted, so that no other order of combining will do."""
    apply = lambda prim, *operands: spelling.apply(prim, element, list(operands))
    if kind != "logaddexp":
        return apply(COMBINING[kind], total, value)
    # log(e**a + e**b) = max(a, b) + log(1 + e**-|a - b|); equal ones, which may be infinite, give a + log 2.
    apart = apply("abs", f"({apply('sub', total, value)})")
    rest = apply("log1p", apply("exp", f"({apply('neg', apart)})"))
    different = apply("add", apply("maximum", total, value), rest)
    same = apply("add", total, spelling.constant(math.log(2), element))
    return apply("where", apply("eq", total, value), same, different)
