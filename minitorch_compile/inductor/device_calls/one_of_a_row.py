"""Values scattered into zeros, one into each row, as a comparison: an element is the value if its place is the index.

    index 2 0      | 0 0 a |        element (i, j) is   where(j == index[i], value[i], 0)
    value a b      | b 0 0 |

So the gradient of a loss of classes is computed where it is read. As a scatter it would be a tensor as large as the
scores, filled with zeros, written to at one place a row, and read again.

>>> from minitorch_compile.inductor.ir.buffer import Buffer
>>> from minitorch_compile.inductor.ir.printer import print_body
>>> from minitorch_compile.tensor.numerics.dtype import float32
>>> graph = GraphLowering()
>>> zeros = TensorBox((2, 3), float32, lambda ops, at: ops.constant(0, float32))
>>> zeros.constant_value = 0.0
>>> index, value = (TensorBox.of(Buffer.contiguous(n, (2, 1), e)) for n, e in (("index", int64), ("value", float32)))
>>> print(print_body(one_of_a_row_rule(graph, zeros, 1, index, value).load, (2, 3)))
t0 = load(index, i0)
t1 = indirect(t0, size=3)
t2 = load(value, i0)
t3 = index_value(i1, int64)
t4 = index_value(t1, int64)
t5 = eq(t3, t4)
t6 = constant(0, float32)
t7 = where(t5, t2, t6)

Source: `scatter_upon_const_tensor` in TorchInductor (`torch/_inductor/fx_passes/post_grad.py`), which does the same.
"""

from __future__ import annotations

from minitorch_compile.inductor.ir.buffer import Position
from minitorch_compile.inductor.ir.handler import Handler
from minitorch_compile.inductor.ir.index import ZERO
from minitorch_compile.inductor.ir.loops import TensorBox
from minitorch_compile.inductor.lowering.graph_lowering import GraphLowering
from minitorch_compile.inductor.lowering.half_precision import HALF
from minitorch_compile.tensor.numerics.dtype import int64


def one_of_a_row_rule(
    graph: GraphLowering, x: TensorBox, dim: int, index: TensorBox, src: TensorBox
) -> TensorBox | None:
    """The box of `scatter_add` if x is zeros, and has as many rows along `dim` as there are values."""
    places = tuple(1 if d == dim else size for d, size in enumerate(x.sizes))
    if x.constant_value != 0 or index.sizes != places or src.sizes != places or x.dtype in HALF:
        return None

    def inner(ops: Handler, at: Position) -> object:
        row = [ZERO if d == dim else i for d, i in enumerate(at)]
        chosen = ops.indirect(index.load(ops, row), x.sizes[dim], wrap=False)
        value = src.load(ops, row)
        is_there = ops.apply("eq", ops.index_value(at[dim], int64), ops.index_value(chosen, int64))
        return ops.apply("where", is_there, value, ops.constant(0, x.dtype))

    return TensorBox(x.sizes, x.dtype, inner, inputs=[index, src], operations=2)
