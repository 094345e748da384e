"""Running results along a line of memory: sums, products, extremes, log-sum-exps.

One result needs the one before it, so the plain loop takes as long as its additions take one after the other. Eight
elements at a time go faster: three rounds of shifting and combining leave in each lane the result of the lanes up to
it, whatever came before is then combined with all eight, and only that last step waits for the eight before.

    x0  x1  x2   x3   ...       shift by 1 and add:  x0  x0+x1  x1+x2     x2+x3       ...
                                shift by 2 and add:  x0  x0+x1  x0+x1+x2  x0+x1+x2+x3 ...

Sums and products of float32 are taken in float64, so that their error does not grow with the length of the line.

>>> from minitorch_compile.inductor.runtime.raw_memory import pointer
>>> from numba import njit
>>> @njit
... def totals(x):
...     running_sum(pointer(x), 1, len(x))
...     return x
>>> totals(np.arange(12, dtype=np.float32))
array([ 0.,  1.,  3.,  6., 10., 15., 21., 28., 36., 45., 55., 66.],
      dtype=float32)

Source of the method: Hillis and Steele, "Data parallel algorithms" (1986).
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

from minitorch_compile.inductor.kernels.vecmath.float32 import exp_float32, log_float32
from minitorch_compile.inductor.kernels.vecmath.float64 import exp_float64, log_float64
from minitorch_compile.inductor.runtime.inlined_code import kept_njit
from minitorch_compile.inductor.runtime.native import JIT_IS_OFF, Emit, instruction, maximum, minimum, same_type
from minitorch_compile.inductor.runtime.raw_memory import advance

LANES = 8  # on every processor, so that sums have the same bits; where vectors are shorter, LLVM takes two for one
Combine = Callable[[ir.IRBuilder, ir.Value, ir.Value], ir.Value]


def _call_on_vectors(name: str) -> Combine:
    def combine(builder: ir.IRBuilder, a: ir.Value, b: ir.Value) -> ir.Value:
        kind = a.type
        suffix = {"float": "f32", "double": "f64"}[str(getattr(kind, "element", kind))]
        overload = f"v{LANES}{suffix}" if isinstance(kind, ir.VectorType) else suffix
        function = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(kind, [kind, kind]), f"{name}.{overload}"
        )
        return builder.call(function, [a, b])

    return combine


def _running_block(combine: Combine, neutral: float) -> Emit:
    """Emits: eight elements at `line` become their running results after `before`; the last one is returned."""

    def emit(builder: ir.IRBuilder, before: ir.Value, line: ir.Value) -> ir.Value:
        wide = before.type
        vector, index = ir.VectorType(wide, LANES), ir.VectorType(ir.IntType(32), LANES)
        place = builder.bitcast(line, ir.VectorType(line.type.pointee, LANES).as_pointer())
        x = builder.load(place, align=1)
        if line.type.pointee != wide:
            x = builder.fpext(x, vector)
        filling = ir.Constant(vector, [neutral] * LANES)
        for by in (1, 2, 4):
            mask = ir.Constant(index, [lane - by if lane >= by else LANES for lane in range(LANES)])
            x = combine(builder, builder.shuffle_vector(x, filling, mask), x)
        last = builder.extract_element(x, ir.Constant(ir.IntType(32), LANES - 1))
        start = builder.insert_element(ir.Constant(vector, ir.Undefined), before, ir.Constant(ir.IntType(32), 0))
        everywhere = builder.shuffle_vector(start, start, ir.Constant(index, [0] * LANES))
        result = combine(builder, everywhere, x)
        builder.store(
            builder.fptrunc(result, place.type.pointee) if line.type.pointee != wide else result, place, align=1
        )
        return combine(builder, before, last)

    return emit


def _one_by_one(before: Any, line: Any, combine: Callable[[Any, Any], Any]) -> Any:
    for lane in range(LANES):
        before = combine(before, line[lane])
        line[lane] = before
    return before


@instruction(same_type, _running_block(lambda builder, x, y: builder.fadd(x, y), -0.0))  # -0.0 + x is x, even for -0.0
def sum_block(before, line):
    """Replaces eight elements by the sums of `before` and all up to each; returns the last sum."""
    return _one_by_one(before, line, operator.add)


@instruction(same_type, _running_block(lambda builder, x, y: builder.fmul(x, y), 1.0))
def product_block(before, line):
    return _one_by_one(before, line, operator.mul)


@instruction(same_type, _running_block(_call_on_vectors("llvm.maximum"), -math.inf))
def maximum_block(before, line):
    return _one_by_one(before, line, maximum)


@instruction(same_type, _running_block(_call_on_vectors("llvm.minimum"), math.inf))
def minimum_block(before, line):
    return _one_by_one(before, line, minimum)


# ------------------------------------------------------------------------------------------------ lines

ROOM = 256  # elements of a line that are worked on at once, where that takes more than a pass


if JIT_IS_OFF:

    def room(line: np.ndarray) -> np.ndarray:
        return np.empty(ROOM, line.dtype)

else:

    @intrinsic
    def room(typing_context, line):
        """Memory for ROOM elements of the type of the line's, until the calling function returns."""

        def code(context, builder, signature, values):
            memory = cgutils.alloca_once(builder, ir.ArrayType(values[0].type.pointee, ROOM))
            return builder.bitcast(memory, values[0].type)

        return line(line), code


kept = kept_njit(error_model="numpy")


@kept
def whole_blocks(step, count):
    """How many elements of a line are taken eight at a time: none if they don't lie side by side."""
    return count - count % LANES if step == 1 else 0


@kept
def running_sum(line, step, count):
    """Replaces `count` floats, `step` apart, by the sums of all up to each."""
    total, first = 0.0, whole_blocks(step, count)
    for i in range(0, first, LANES):
        total = sum_block(total, advance(line, i))
    for i in range(first, count):
        total += line[i * step]
        line[i * step] = total


@kept
def running_product(line, step, count):
    total, first = 1.0, whole_blocks(step, count)
    for i in range(0, first, LANES):
        total = product_block(total, advance(line, i))
    for i in range(first, count):
        total *= line[i * step]
        line[i * step] = total


@kept
def running_maximum(line, step, count):
    """NaN from the first NaN on."""
    best, first = line[0], whole_blocks(step, count)
    for i in range(0, first, LANES):
        best = maximum_block(best, advance(line, i))
    for i in range(first, count):
        best = maximum(best, line[i * step])
        line[i * step] = best


@kept
def running_minimum(line, step, count):
    best, first = line[0], whole_blocks(step, count)
    for i in range(0, first, LANES):
        best = minimum_block(best, advance(line, i))
    for i in range(first, count):
        best = minimum(best, line[i * step])
        line[i * step] = best


def exponential(x):
    """e**x in the dtype of x."""
    return exp_float32(x) if isinstance(x, np.float32) else exp_float64(x)


def logarithm(x):
    return log_float32(x) if isinstance(x, np.float32) else log_float64(x)


@overload(exponential, inline="always")
def _exponential(x):
    return (lambda x: exp_float32(x)) if x == types.float32 else (lambda x: exp_float64(x))


@overload(logarithm, inline="always")
def _logarithm(x):
    return (lambda x: log_float32(x)) if x == types.float32 else (lambda x: log_float64(x))


@kept
def running_logaddexp(line, step, count):
    """log(sum(exp)) as top + log(share): `top` is the largest x so far, `share` the sum over exp(x - top).

    `share` shrinks when a larger x comes. All but that one recurrence is done for a stretch of the line at once.
    """
    tops, shares = room(line), room(line)
    top, share = line[0], 0.0
    for start in range(0, count, ROOM):
        here = advance(line, start * step)
        length, before = min(ROOM, count - start), top
        for i in range(length):
            top = maximum(top, here[i * step])
            tops[i] = top
        for i in range(length):  # equal ones, which may be infinite, differ by nothing
            shares[i] = 0.0 if here[i * step] == tops[i] else here[i * step] - tops[i]
        for i in range(length):
            shares[i] = exponential(shares[i])
        for i in range(length):
            if tops[i] != before:
                share *= exponential(before - tops[i])
                before = tops[i]
            share += shares[i]
            shares[i] = share
        for i in range(length):
            shares[i] = tops[i] + logarithm(shares[i])
        for i in range(length):
            here[i * step] = shares[i]


@kept
def running_sum_of_integers(line, step, count):
    total = 0
    for i in range(count):
        total += line[i * step]
        line[i * step] = total


@kept
def running_product_of_integers(line, step, count):
    total = 1
    for i in range(count):
        total *= line[i * step]
        line[i * step] = total


@kept
def running_maximum_of_integers(line, step, count):
    best = line[0]
    for i in range(1, count):
        best = max(best, line[i * step])
        line[i * step] = best


@kept
def running_minimum_of_integers(line, step, count):
    best = line[0]
    for i in range(1, count):
        best = min(best, line[i * step])
        line[i * step] = best
