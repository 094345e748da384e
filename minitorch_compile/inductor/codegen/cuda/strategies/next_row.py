"""The next row under way to registers of its own, while one is computed (`held_rows.py`).

    next = cuda.blockIdx.x
    if next < n1:
        ...                                     # fetches that row into ahead1
    for i0 in range(cuda.blockIdx.x, n1, cuda.gridDim.x):
        for n in range(16):
            row0[n] = ahead1[n]
        next = i0 + cuda.gridDim.x
        if next < n1:
            ...                                 # fetches the next one into ahead1
        ...                                     # computes with row0

Small elements stay whole words till they are taken, of which two share one: LLVM would keep each in a register.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from minitorch_compile.inductor.codegen.cuda.strategies.lanes import Lanes, inner_accesses, steps_by_one
from minitorch_compile.inductor.ir.buffer import Buffer
from minitorch_compile.inductor.ir.index import Index, symbol
from minitorch_compile.inductor.ir.iteration import Axis, count

if TYPE_CHECKING:
    from minitorch_compile.inductor.codegen.cuda.kernels import CudaKernelWriter
    from minitorch_compile.inductor.codegen.cuda.strategies.held_rows import HeldRows

Arrays = dict[tuple[Buffer, Index], tuple[str, str]]  # of registers, for an access: for this row and for the next


def fetch_first(strategy: HeldRows, writer: CudaKernelWriter, lanes: Lanes, own: str) -> Arrays:
    """Lines that fetch a thread's first row. For each of what is held, two arrays: of this row, and the next."""
    accesses = inner_accesses(writer.group)
    along = [a for a in accesses if a.buffer not in writer.internal and steps_by_one(a.address, strategy.axis)]
    if not strategy.has_ends and strategy.width > 1:
        lanes.pointers.update(dict.fromkeys(writer.pointers[access.buffer] for access in along))
        writer.root.add(f"aligned = {lanes.alignment()}")
    fetched: Arrays = {}
    for what in strategy.ahead:
        row = lanes.held[what] = lanes.array(writer, what[0], strategy.held, "row")
        in_words = strategy.is_in_words(what[0])
        ahead = lanes.words(writer, strategy.held // 2, "ahead") if in_words else ""
        fetched[what] = row, ahead or lanes.array(writer, what[0], strategy.held, "ahead")
    writer.block.add(f"next = {own}")
    fetch_row(strategy, writer, lanes, fetched)
    return fetched


def fetch_next(strategy: HeldRows, writer: CudaKernelWriter, lanes: Lanes, fetched: Arrays, step: str) -> None:
    """Lines that take what was fetched, and fetch the next row."""
    width, rows = strategy.width, strategy.order.rows
    for (buffer, _), (row, ahead) in fetched.items():
        if strategy.is_in_words(buffer):
            writer.enter(f"for step in range({strategy.steps}):")
            writer.block.add(f"vectors.take_{width}({row}, {width} * step, {ahead}, {width // 2} * step)")
        else:
            writer.enter(f"for n in range({strategy.held}):")
            writer.block.add(f"{row}[n] = {ahead}[n]")
        writer.leave()
    writer.block.add(f"next = {rows[0].variable if len(rows) == 1 else 'row'} + {step}")
    fetch_row(strategy, writer, lanes, fetched)


def fetch_row(strategy: HeldRows, writer: CudaKernelWriter, lanes: Lanes, fetched: Arrays) -> None:
    """Lines that fetch the row whose number is `next`, if there is one."""
    rows = strategy.order.rows
    axes = tuple(Axis(symbol(f"next_{axis.variable}", axis.size), axis.size, False) for axis in rows)
    renamed = {axis.variable: other.variable for axis, other in zip(rows, axes)}
    symbols = frozenset().union(*(axis.variable.symbols for axis in axes))
    writer.enter(f"if next < {writer.number_text(count(rows), rows)}:", symbols)
    if len(axes) == 1:
        writer.block.add(f"{axes[0].variable} = next")
    writer.find(axes, "next")
    if strategy.has_ends:
        strategy.find_ends(writer, renamed)
    into = [(ahead, buffer, address.substitute(renamed)) for (buffer, address), (_, ahead) in fetched.items()]
    strategy.fetch_into(writer, lanes, into, is_ahead=True)
    writer.leave()
