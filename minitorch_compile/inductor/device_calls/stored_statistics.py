"""What is computed from sums down columns, a mean say, is stored: else each element's thread computes it again.

A kernel of points has the results of a column for each of its elements, and numbers such as a count are parameters, so
that no compiler can make a division by it a product. The kernel that sums up has all that at hand once a column.

>>> from minitorch_compile.inductor.ir.buffer import Buffer
>>> from minitorch_compile.tensor.numerics.dtype import float32
>>> graph = GraphLowering()
>>> x, total = (Buffer.contiguous(name, sizes, float32) for name, sizes in (("x", (256, 64)), ("total", (64,))))
>>> graph.add(Loop(total, x.sizes, lambda ops, at: ops.load(x, x.address(at)), (0,), "sum"))
>>> half = lambda ops, at: ops.apply("div", ops.load(total, at[0]), ops.constant(2.0, float32))
>>> mean = TensorBox((64,), float32, half, inputs=[TensorBox.of(total)], operations=1)
>>> stored_statistics_rule(graph, mean, (256, 64), (1,)) is None, mean.buffer
(True, buf0: float32[64])
"""

from __future__ import annotations

from minitorch_compile.inductor.device_calls.split_for_device import goes_down
from minitorch_compile.inductor.ir.buffer import Buffer, Ints
from minitorch_compile.inductor.ir.dependencies import accesses_of
from minitorch_compile.inductor.ir.loops import Loop, TensorBox
from minitorch_compile.inductor.lowering.graph_lowering import GraphLowering
from minitorch_compile.tensor.memory.strides import numel

MANY_TIMES = 1 << 6  # a number is wanted, from which on it is stored


def stored_statistics_rule(graph: GraphLowering, x: TensorBox, sizes: Ints, broadcast_dimensions: Ints) -> None:
    """Stores what will be broadcast, if that is computed from such sums; the rest is the usual rule's."""
    if x.buffer is None and x.operations and numel(sizes) >= MANY_TIMES * x.numel:
        summed = {o.buffer for o in graph.operations if type(o) is Loop and o.reduced and goes_down(o)}
        read = accesses_of(Loop(Buffer.contiguous("box", x.sizes, x.dtype), x.sizes, x.load)).reads
        if any(access.buffer in summed for access in read):
            graph.realize(x)
