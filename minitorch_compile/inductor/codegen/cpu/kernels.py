"""Groups as Numba kernels for the CPU.

>>> from minitorch_compile.inductor.ir.buffer import Buffer
>>> from minitorch_compile.inductor.ir.loops import Loop
>>> from minitorch_compile.tensor.numerics.dtype import float32
>>> x, best = Buffer.contiguous("x", (4, 8), float32), Buffer.contiguous("best", (4,), float32)
>>> group = Group.of(Loop(best, (4, 8), lambda ops, at: ops.apply("exp", ops.load(x, x.address(at))), (1,), "amax"))
>>> print(write_kernel(group.merged(), frozenset(), {}).body)
for i0 in range(lo, hi):
    best0 = float32(-inf)
    best0_is_nan = False
    for r0 in range(8):
        t0 = in0[8 * i0 + r0]
        t1 = exp_float32(t0)
        best0 = accumulate_maximum(best0, t1)
        best0_is_nan = best0_is_nan | (t1 != t1)
    t2 = select(best0_is_nan, float32(nan), best0)
    out0[i0] = t2
"""

from __future__ import annotations

from collections.abc import Mapping

from minitorch_compile.inductor.codegen.cpu.columns import ColumnWriter
from minitorch_compile.inductor.codegen.cpu.pieces import PieceWriter, find_pieces
from minitorch_compile.inductor.codegen.cpu.rows import RowWriter
from minitorch_compile.inductor.codegen.cpu.serial import ScatterWriter
from minitorch_compile.inductor.codegen.cpu.transposed import TileWriter
from minitorch_compile.inductor.codegen.cpu.writer import CpuKernelWriter
from minitorch_compile.inductor.codegen.shared.kernel_source import KernelSource
from minitorch_compile.inductor.ir.buffer import Buffer
from minitorch_compile.inductor.ir.ordered_loops import Scatter
from minitorch_compile.inductor.schedule.group import Group
from minitorch_compile.inductor.schedule.strategy import choose_order


def write_kernel(
    group: Group, internal: frozenset[Buffer], shared: Mapping[Buffer, Buffer], careful: bool = False
) -> KernelSource:
    """The kernel of a group. `internal` buffers need no memory; `shared` says which outputs overwrite which inputs."""
    return _writer(group, internal, shared).write(careful)


def _writer(group: Group, internal: frozenset[Buffer], shared: Mapping[Buffer, Buffer]) -> CpuKernelWriter:
    first = group.members[0].loop
    if isinstance(first, Scatter):
        return ScatterWriter(group, internal, shared)
    order = choose_order(group)
    if order.columns is not None:
        return ColumnWriter(group, internal, shared, order, order.columns)
    if order.square is not None:
        return TileWriter(group, internal, shared, order, order.square)
    pieces = find_pieces(group, order)
    if pieces:
        return PieceWriter(group, internal, shared, order, pieces)
    return RowWriter(group, internal, shared, order)
