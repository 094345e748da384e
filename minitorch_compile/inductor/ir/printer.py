"""Loop IR as text: a handler whose values are the names of lines it has written.

>>> from minitorch_compile.inductor.ir.buffer import Buffer
>>> from minitorch_compile.inductor.ir.loops import Loop
>>> from minitorch_compile.tensor.numerics.dtype import float32
>>> x, total = Buffer("x", (4, 8), (8, 1), float32), Buffer("total", (4,), (1,), float32)
>>> body = lambda ops, at: ops.apply("exp", ops.load(x, x.address(at)))
>>> print(print_operation(Loop(total, (4, 8), body, reduced=(1,), kind="sum")))
for i0 in 4, reduce r1 in 8:
    t0 = load(x, 8*i0 + r1)
    t1 = exp(t0)
    total[i0] = sum(t1)
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from typing import Any

from minitorch_compile.inductor.ir.buffer import Buffer
from minitorch_compile.inductor.ir.dependencies import loop_variables
from minitorch_compile.inductor.ir.extern_call import ExternCall
from minitorch_compile.inductor.ir.handler import Handler, Number
from minitorch_compile.inductor.ir.index import Index, symbol, variables
from minitorch_compile.inductor.ir.loops import InnerFn, Loop, LoopGraph, Operation
from minitorch_compile.inductor.ir.ordered_loops import Scan, Scatter
from minitorch_compile.tensor.numerics.dtype import dtype


class PrintHandler(Handler):
    """Writes each operation as a line `t3 = add(t1, t2)`; the value is the name."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []
        self.count = 0

    def line(self, text: str) -> str:
        name = f"t{self.count}"
        self.count += 1
        self.lines.append(f"{name} = {text}")
        return name

    def load(self, buffer: Buffer, address: Index) -> str:
        return self.line(f"load({buffer.name}, {address})")

    def constant(self, value: Number, dtype: dtype) -> str:
        return self.line(f"constant({value}, {dtype.name})")

    def index_value(self, index: Index, dtype: dtype) -> str:
        return self.line(f"index_value({index}, {dtype.name})")

    def apply(self, prim: str, *operands: str) -> str:
        return self.line(f"{prim}({', '.join(operands)})")

    def convert(self, value: str, dtype: dtype) -> str:
        return self.line(f"convert({value}, {dtype.name})")

    def random(self, seed: str, counter: str, dtype: dtype) -> str:
        return self.line(f"random({seed}, {counter}, {dtype.name})")

    def indirect(self, value: str, size: int, wrap: bool) -> Index:
        return symbol(self.line(f"indirect({value}, size={size}{', wrap' if wrap else ''})"), size, indirect=True)

    def masked(self, condition: str, body: Callable[[], str], other: Number, dtype: dtype) -> str:
        outside, self.lines = self.lines, []
        inner = self.inside(body)
        block, self.lines = self.lines, outside
        name = self.line(f"masked({condition}, other={other}):")
        self.lines += [f"    {line}" for line in [*block, f"yield {inner}"]]
        return name

    def store(self, buffer: Buffer, address: Index, value: str) -> None:
        self.lines.append(f"{buffer.name}[{address}] = {value}")

    def store_reduction(self, buffer: Buffer, address: Index, kind: str, value: str) -> None:
        self.lines.append(f"{buffer.name}[{address}] = {kind}({value})")

    def store_scan(self, buffer: Buffer, address: Index, kind: str, value: str) -> None:
        self.lines.append(f"{buffer.name}[{address}] = running_{kind}({value})")


def print_body(inner_fn: InnerFn, sizes: Sequence[int]) -> str:
    """The body of a box, at the position i0, i1, ..."""
    handler = PrintHandler()
    inner_fn(handler, variables("i", sizes))
    return "\n".join(handler.lines)


def print_operation(operation: Operation, new_handler: Callable[[], PrintHandler] = PrintHandler) -> str:
    """One operation of a loop graph. `new_handler` makes what writes the lines."""
    if isinstance(operation, ExternCall):
        return repr(operation)
    if isinstance(operation, Scatter):
        return _print_scatter(operation, new_handler)
    position = loop_variables(operation)
    handler = new_handler()
    operation.run(handler, position)
    heads = [
        f"{word_for(operation, dim)} {variable} in {size}"
        for dim, (variable, size) in enumerate(zip(position, operation.sizes))
        if size != 1
    ]
    head = ", ".join(heads) or "once"
    return f"{head}:\n" + textwrap.indent("\n".join(handler.lines), "    ")


def word_for(loop: Loop, dim: int) -> str:
    """What a loop does along a dimension."""
    if dim in loop.reduced:
        return "reduce"
    return "scan" if isinstance(loop, Scan) and dim == loop.dim else "for"


def _print_scatter(operation: Scatter, new_handler: Callable[[], PrintHandler]) -> str:
    buffer = operation.buffer
    fill: Callable[..., Any] = operation.initial
    first = print_operation(Loop(buffer, buffer.sizes, fill), new_handler)
    handler = new_handler()
    position = loop_variables(operation)
    value = operation.inner_fn(handler, position)
    address = buffer.address(operation.target(handler, position))
    how = {"": "=", "sum": "+="}.get(operation.combine, f"= {operation.combine} with")
    handler.lines.append(f"{buffer.name}[{address}] {how} {value}")
    heads = [f"for {v} in {n}" for v, n in zip(position, operation.sizes) if n != 1]
    body = textwrap.indent("\n".join(handler.lines), "    ")
    return f"{first}\nthen {', '.join(heads) or 'once'}:\n{body}"


def print_graph(graph: LoopGraph) -> str:
    """A whole loop graph: its inputs, each operation under the place it came from, its outputs."""
    lines = [f"input {buffer!r}" for buffer in graph.inputs]
    for operation in graph.operations:
        lines.append(f"\n# {operation.origin}" if operation.origin else "")
        lines += [f"{buffer!r}" for buffer in operation.outputs]
        lines.append(print_operation(operation))
    return "\n".join([*lines, "", *(f"output {view!r}" for view in graph.outputs)])
