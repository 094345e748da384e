"""Elementwise prims: the element of the result is the prim applied to the elements of the arguments."""

from __future__ import annotations

from minitorch_compile import prims
from minitorch_compile.inductor.ir.dependencies import EXPENSIVE
from minitorch_compile.inductor.ir.handler import Number, result_of
from minitorch_compile.inductor.ir.loops import TensorBox
from minitorch_compile.inductor.lowering.graph_lowering import EXPENSIVE_OPERATION, GraphLowering
from minitorch_compile.inductor.lowering.half_precision import HALF, rounded_and_widened
from minitorch_compile.inductor.lowering.table import WITHOUT_A_KERNEL, Rule, lowering
from minitorch_compile.tensor.numerics.dtype import dtype

ELEMENTWISE = [prim for prim in prims.table.values() if prim.kind == "pointwise" and prim.name not in WITHOUT_A_KERNEL]
WITH_OWN_RULE = (prims.convert_element_type, prims.pow)


def elementwise(name: str, result: dtype, *operands: TensorBox) -> TensorBox:
    """The box of a prim applied to boxes of the same sizes."""
    cost = EXPENSIVE_OPERATION if name in EXPENSIVE else 1
    compute = lambda ops, at: ops.apply(name, *(x.load(ops, at) for x in operands))
    return TensorBox(operands[0].sizes, result, compute, inputs=operands, operations=cost)


def elementwise_rule(name: str) -> Rule:
    """The lowering of a prim of that name on boxes of the same sizes."""

    def rule(graph: GraphLowering, *operands: TensorBox) -> TensorBox:
        return elementwise(name, result_of(name, operands[-1].dtype), *operands)

    return rule


for _prim in ELEMENTWISE:
    if _prim not in WITH_OWN_RULE:
        lowering(_prim)(elementwise_rule(_prim.name))


@lowering(prims.convert_element_type)
def _(graph: GraphLowering, x: TensorBox, dtype: dtype) -> TensorBox:
    if x.dtype is dtype:
        return TensorBox(x.sizes, dtype, x.load, inputs=[x])
    if x.dtype in HALF:
        x = rounded_and_widened(x)
        if dtype is x.dtype:
            return x
    return TensorBox(x.sizes, dtype, lambda ops, at: ops.convert(x.load(ops, at), dtype), inputs=[x], operations=1)


@lowering(prims.pow)
def _(graph: GraphLowering, a: TensorBox, b: TensorBox) -> TensorBox:
    """Small constant exponents are multiplications, exactly as the eager kernel computes them."""
    special = _power(a, b.constant_value) if a.dtype.is_floating_point and b.constant_value is not None else None
    return special or elementwise("pow", a.dtype, a, b)


def _power(a: TensorBox, exponent: Number) -> TensorBox | None:
    if exponent == 1:
        return a
    if exponent == 2:
        return elementwise("mul", a.dtype, a, a)
    if exponent == 3:
        return elementwise("mul", a.dtype, elementwise("mul", a.dtype, a, a), a)
    if exponent == 0.5:
        return elementwise("sqrt", a.dtype, a)
    if exponent == -1:
        return elementwise("reciprocal", a.dtype, a)
    return None
