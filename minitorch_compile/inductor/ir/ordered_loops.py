"""Loops whose positions depend on each other: a running result, and values that are put where an index says.

>>> from minitorch_compile.inductor.ir.buffer import Buffer
>>> from minitorch_compile.tensor.numerics.dtype import float32
>>> x, y = Buffer.contiguous("x", (4, 8), float32), Buffer.contiguous("y", (4, 8), float32)
>>> running = Scan(y, (4, 8), lambda ops, at: ops.load(x, x.address(at)), kind="sum", dim=1)
>>> running.is_reduction, running.row_dims
(False, (1,))
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from minitorch_compile.inductor.ir.buffer import Ints, Position
from minitorch_compile.inductor.ir.handler import Handler
from minitorch_compile.inductor.ir.loops import InnerFn, Loop


@dataclass(eq=False)
class Scan(Loop):
    """A running result along one dimension: at each position, the values of all up to it in `dim`, combined.

    `kind` is sum, prod, amax, amin or logaddexp.
    """

    dim: int = 0

    def run(self, ops: Handler, position: Position) -> None:
        value = self.inner_fn(ops, position)
        outer, ops.origin = ops.origin, self.origin or ops.origin
        ops.store_scan(self.buffer, self.address(position), self.kind, value)
        ops.origin = outer

    @property
    def is_reduction(self) -> bool:
        return False

    @property
    def row_dims(self) -> Ints:
        return (self.dim,)


@dataclass(eq=False)
class Scatter(Loop):
    """Fills `buffer` with `initial`, then for every position of the space puts its value where `target` says.

    `combine` says how: sum, prod, amax or amin with what is there, or "", in its place. Positions run in row-major
    order, one after the other, so the result is the same each time; of values that are stored the last one stays.
    """

    initial: InnerFn = field(default=lambda ops, at: None)
    target: Callable[[Handler, Position], Position] = field(default=lambda ops, at: at)
    combine: str = ""
