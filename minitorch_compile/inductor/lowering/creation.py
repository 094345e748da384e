"""Prims that make a tensor from numbers: no memory is read."""

from __future__ import annotations

from minitorch_compile import prims
from minitorch_compile.inductor.ir.buffer import Ints, Position
from minitorch_compile.inductor.ir.handler import Handler, Number
from minitorch_compile.inductor.ir.index import ZERO, flatten
from minitorch_compile.inductor.ir.loops import TensorBox
from minitorch_compile.inductor.lowering.graph_lowering import EXPENSIVE_OPERATION, GraphLowering
from minitorch_compile.inductor.lowering.table import lowering
from minitorch_compile.tensor.numerics.dtype import dtype, float64, int64


@lowering(prims.full)
def full(graph: GraphLowering, sizes: Ints, value: Number, dtype: dtype) -> TensorBox:
    box = TensorBox(sizes, dtype, lambda ops, at: ops.constant(value, dtype))
    box.constant_value = value
    return box


@lowering(prims.iota)
def _(graph: GraphLowering, length: int, start: Number, step: Number, dtype: dtype) -> TensorBox:
    if isinstance(start, int) and isinstance(step, int) and not dtype.is_floating_point:
        return TensorBox((length,), dtype, lambda ops, at: ops.index_value(at[0] * step + start, dtype))
    exact = float64 if dtype.is_floating_point else int64

    def inner(ops: Handler, at: Position) -> object:
        scaled = ops.apply("mul", ops.constant(step, exact), ops.index_value(at[0], exact))
        value = ops.apply("add", ops.constant(start, exact), scaled)
        return value if dtype is exact else ops.convert(value, dtype)

    return TensorBox((length,), dtype, inner, operations=2)


@lowering(prims.philox_uniform)
def _(graph: GraphLowering, sizes: Ints, seed: TensorBox, offset: TensorBox, dtype: dtype) -> TensorBox:
    def inner(ops: Handler, at: Position) -> object:
        place = ops.index_value(flatten(at, sizes) + ZERO, int64)
        counter = ops.apply("add", offset.load(ops, ()), place)
        return ops.random(seed.load(ops, ()), counter, dtype)

    return TensorBox(sizes, dtype, inner, inputs=[seed, offset], operations=3 * EXPENSIVE_OPERATION)
