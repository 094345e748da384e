"""Kernels that don't know their sizes: what a size or a number would be in the text is a parameter.

So one kernel serves all sizes of one kind of layout, and another size compiles nothing. From `FEW` points on, and for
rows of `LONG_ROW` elements, there is more than one kind: a size chooses among a few strategies (`warm_up.py`).

>>> from minitorch_compile.inductor.ir.buffer import Buffer
>>> from minitorch_compile.inductor.ir.loops import Loop
>>> from minitorch_compile.tensor.numerics.dtype import float32
>>> x, y = Buffer("x", (4, 6), (16, 1), float32), Buffer.contiguous("y", (4, 6), float32)
>>> def halved(ops, at):
...     return ops.apply("mul", ops.load(x, x.address(at)), ops.constant(0.5, float32))
>>> kernel = write_lifted_kernel(Group.of(Loop(y, (4, 6), halved)).merged(), frozenset())
>>> print(kernel.source.body)
for row in range(cuda.grid(1), n0, cuda.gridsize(1)):
    i0, i1 = indices.split(row, n1)
    t0 = in0[n2 * i0 + i1]
    t1 = t0 * c0
    out0[n3 * i0 + i1] = t1
>>> kernel.source.sizes, kernel.numbers
({'n0': 24, 'n1': 6, 'n2': 16, 'n3': 6}, {'c0': (0.5, torch.float32)})
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass

from minitorch_compile.inductor.codegen.cpu.spelling import CpuSpelling
from minitorch_compile.inductor.codegen.cuda.kernels import THREADS, CudaKernelWriter
from minitorch_compile.inductor.codegen.cuda.spelling import CudaSpelling
from minitorch_compile.inductor.codegen.cuda.strategies.choose import Strategy, strategy_of_few
from minitorch_compile.inductor.codegen.shared.block import Value
from minitorch_compile.inductor.codegen.shared.kernel_source import KernelSource
from minitorch_compile.inductor.device_calls.launcher import memory_dtype
from minitorch_compile.inductor.ir.buffer import Buffer
from minitorch_compile.inductor.ir.handler import Number
from minitorch_compile.inductor.ir.index import Digit
from minitorch_compile.inductor.ir.iteration import count
from minitorch_compile.inductor.schedule.group import Group
from minitorch_compile.tensor.numerics.dtype import bool_, dtype

FEW = 1 << 16  # points: a large GPU has more threads
LONG_ROW = 1 << 14  # elements: too many for the threads of one block to take one by one


Write = Callable[[Group, frozenset[Buffer], int], "LiftedKernel"]  # the last is a block's threads


class PointerSpelling(CudaSpelling):
    """Buffers are bare pointers, and truth values bytes there."""

    load = CpuSpelling.load
    store = CpuSpelling.store


@dataclass
class LiftedKernel:
    """A kernel, and the numbers that it is called with beside its sizes.

    `changed_as`: its one output is an array of Numba's, as atomic operations want it, of elements of this dtype, and
    the last pointer.
    """

    source: KernelSource
    numbers: dict[str, tuple[Number, dtype]]
    changed_as: dtype | None = None

    @property
    def per_block(self) -> bool:
        """Whether a block has a row to itself."""
        return "cuda.shared" in self.source.body

    @property
    def parameters(self) -> list[str]:
        """Pointers, sizes, numbers, and where a wrong index is reported."""
        status = ["status"] if self.source.uses_status else []
        return [*dict.fromkeys(self.source.names), *self.source.sizes, *self.numbers, *status]


class LiftedKernelWriter(CudaKernelWriter):
    """A size that stands for the same thing twice is one parameter; two that happen to be equal are two."""

    def __init__(
        self, group: Group, internal: frozenset[Buffer], threads: int = THREADS, whatever_the_sizes: bool = False
    ) -> None:
        self.whatever_the_sizes = whatever_the_sizes
        super().__init__(group, internal, threads)
        self.spelling = PointerSpelling()
        self.sizes: dict[str, int] = {}
        self.names: dict[Hashable, str] = {}
        self.numbers: dict[str, tuple[Number, dtype]] = {}
        self.known: dict[tuple[str, dtype], str] = {}

    def choose(self, internal: frozenset[Buffer]) -> Strategy:
        """Of few elements one kernel is as fast as another, and there is one for all sizes: a new one compiles nothing.

        Of many, their sizes choose among a few kernels that don't wait for memory as long.
        """
        is_small = count(self.group.axes) < FEW and count(self.order.reduced) < LONG_ROW
        if is_small or self.whatever_the_sizes:
            return strategy_of_few(self.group, self.order, self.later)
        return super().choose(internal)

    def memory_name(self, element: dtype) -> str:
        return memory_dtype(element).name

    def number_text(self, value: int, role: Hashable) -> str:
        if role not in self.names:
            self.names[role] = f"n{len(self.sizes)}"
            self.sizes[self.names[role]] = value
        return self.names[role]

    def digit(self, digit: Digit, base: str) -> str:
        quotient = base if digit.divisor == 1 else f"({base}) // {self.number_text(digit.divisor, (digit, 'divisor'))}"
        if not digit.modulus:
            return f"({quotient})"
        return f"(({quotient}) % {self.number_text(digit.modulus, (digit, 'modulus'))})"

    def constant(self, value: Number, dtype: dtype) -> Value:
        if dtype is bool_:
            return super().constant(value, dtype)
        if dtype.is_complex:
            number, real = complex(value), dtype.to_real()
            return self.apply("complex", self.constant(number.real, real), self.constant(number.imag, real))
        key = repr(value), dtype
        if key not in self.known:
            self.known[key] = f"c{len(self.numbers)}"
            self.numbers[self.known[key]] = value, dtype
        return Value(self.known[key], dtype, self.root)


def write_lifted_kernel(
    group: Group, internal: frozenset[Buffer], threads: int = THREADS, whatever_the_sizes: bool = False
) -> LiftedKernel:
    """The kernel of a group whose `internal` buffers need no memory, unless a later loop of the kernel reads them; for
    blocks of so many threads. `whatever_the_sizes`: the one that few elements have, though there are many."""
    writer = LiftedKernelWriter(group, internal, threads, whatever_the_sizes)
    source = writer.write()
    source.sizes = writer.sizes
    return LiftedKernel(source, writer.numbers)
