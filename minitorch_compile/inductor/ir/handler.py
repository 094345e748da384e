"""What a loop body may do: eleven operations on single elements, behind an interface with many meanings.

A loop body is a function of its position (index expressions) that calls a *handler*. The same body is run under one
handler to print it, under another to compute it with NumPy, to find out which memory it touches, and to emit a
kernel: the loop IR is "define by run", and each meaning of it is one small class (PyTorch:
`torch/_inductor/ops_handler.py`).

>>> from minitorch_compile.inductor.ir.printer import print_body
>>> from minitorch_compile.inductor.ir.buffer import Buffer
>>> from minitorch_compile.tensor.numerics.dtype import float32
>>> x = Buffer("x", (4, 8), (8, 1), float32)
>>> def body(ops, position):
...     return ops.apply("mul", ops.load(x, x.address(position)), ops.constant(2, float32))
>>> print(print_body(body, [4, 8]))
t0 = load(x, 8*i0 + i1)
t1 = constant(2, float32)
t2 = mul(t0, t1)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, NamedTuple

from minitorch_compile.inductor.ir.index import Index
from minitorch_compile.prims import table as prims
from minitorch_compile.source_place import source_place
from minitorch_compile.tensor.numerics.dtype import bool_, dtype

if TYPE_CHECKING:
    from minitorch_compile.inductor.ir.buffer import Buffer

Number = bool | int | float

COMPARISONS = frozenset({"eq", "ne", "lt", "le", "gt", "ge"})
PREDICATES = frozenset(name for name, prim in prims.items() if prim.result is bool_)


def result_of(prim: str, operand: dtype) -> dtype:
    """The dtype of a prim's result, from that of its last operand.

    >>> from minitorch_compile.tensor.numerics.dtype import complex64, float32
    >>> result_of("lt", float32), result_of("complex", float32), result_of("abs", complex64)
    (torch.bool, torch.complex64, torch.float32)
    """
    if prim in PREDICATES:
        return bool_
    if operand.is_complex and prim in ("abs", "real", "imag"):
        return operand.to_real()
    return operand.to_complex() if prim == "complex" else operand


names_nodes = ContextVar("names_nodes", default=False)  # whether texts of origins end with \u27e6the node\u27e7


class Origin(NamedTuple):
    """Where an operation came from: the primitive, the user's (filename, line number, source line) if known, and the
    name of the node in the graph of prims."""

    prim: str
    stack: tuple[str, int, str] | None = None
    node: str = ""

    def __str__(self) -> str:
        text = self.prim
        if self.stack is not None:
            filename, line, source = self.stack
            text = f"{text}: {source_place(filename, line)}  {source.strip()}"
        return f"{text} \u27e6{self.node}\u27e7" if names_nodes.get() else text


class Handler(ABC):
    """One meaning of loop bodies. `Any` below is whatever the handler uses for the value of an element; not None, by
    which lowerings mean that there is no condition.

    `origin` is the operation that the code being run was written for. Values computed once at a position are
    remembered, so a body that uses a value twice doesn't compute it twice (without this, x = x + x thirty times would
    take 2**30 steps).
    """

    def __init__(self) -> None:
        self.origin: Origin | None = None
        self._remembered: list[dict[Hashable, Any]] = [{}]

    @abstractmethod
    def load(self, buffer: Buffer, address: Index) -> Any:
        """The element of a buffer at an address."""

    @abstractmethod
    def constant(self, value: Number, dtype: dtype) -> Any:
        """A number of that dtype."""

    @abstractmethod
    def index_value(self, index: Index, dtype: dtype) -> Any:
        """The value of an index expression, as a number of that dtype."""

    @abstractmethod
    def apply(self, prim: str, *operands: Any) -> Any:
        """An elementwise primitive."""

    @abstractmethod
    def convert(self, value: Any, dtype: dtype) -> Any:
        """The value in another dtype."""

    @abstractmethod
    def random(self, seed: Any, counter: Any, dtype: dtype) -> Any:
        """A number in [0, 1) that depends on seed and counter only."""

    @abstractmethod
    def indirect(self, value: Any, size: int, wrap: bool) -> Index:
        """A computed integer as an index below `size`; with `wrap`, negative ones count from the end.

        What is out of range raises: IndexError with `wrap`, as indexing does, RuntimeError without, as gather does.
        """

    @abstractmethod
    def masked(self, condition: Any, body: Callable[[], Any], other: Number, dtype: dtype) -> Any:
        """`body()` where the condition holds, else the number `other`, without the loads of `body`."""

    @abstractmethod
    def store(self, buffer: Buffer, address: Index, value: Any) -> None:
        """Writes an element. Each address is written by one position only."""

    @abstractmethod
    def store_reduction(self, buffer: Buffer, address: Index, kind: str, value: Any) -> None:
        """Combines the values of all positions that have this address: kind is sum, prod, amax or amin."""

    @abstractmethod
    def store_scan(self, buffer: Buffer, address: Index, kind: str, value: Any) -> None:
        """Writes what combining this value with those before it along the scanned dimension gives; see `Scan`."""

    # ------------------------------------------------------------------------------------------ memory of one run

    def once(self, key: Hashable, compute: Callable[[], Any]) -> Any:
        """The remembered value of `key`, or `compute()`."""
        for known in self._remembered:
            if key in known:
                return known[key]
        value = compute()
        self._remembered[-1][key] = value
        return value

    def inside(self, body: Callable[[], Any]) -> Any:
        """Runs `body`, then forgets what it computed: values of a masked region don't exist outside it."""
        self._remembered.append({})
        try:
            return body()
        finally:
            self._remembered.pop()
