"""Products on tensor cores as launches: which there is a kernel for, in which tile, and what it is called with.

>>> from minitorch_compile.inductor.ir.extern_call import whole
>>> from minitorch_compile.tensor.numerics.dtype import bfloat16
>>> x, w, out = (Buffer.contiguous(name, (4096, 4096), bfloat16) for name in ("x", "w", "out"))
>>> call = ExternCall("mm", [whole(x), whole(w)], [out])
>>> has_kernel(call), tile_of(call, threads=256).rows
(True, 128)
>>> odd = Buffer.contiguous("odd", (4096, 41), bfloat16)                   # of whose rows not all begin at 16 bytes
>>> has_kernel(ExternCall("mm", [whole(x), whole(odd)], [Buffer.contiguous("out", (4096, 41), bfloat16)]))
False
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from minitorch_compile.cuda_runtime.driver import StreamHandle
from minitorch_compile.inductor.device_calls.device_limits import device_limits
from minitorch_compile.inductor.device_calls.launcher import Kernel, Launch, Launcher, memory_dtype
from minitorch_compile.inductor.device_calls.libraries import Libraries
from minitorch_compile.inductor.device_calls.product_epilogue import WrittenEpilogue, follows, write_epilogue
from minitorch_compile.inductor.device_calls.tensor_core_product import CHUNK, ELEMENTS, ProductKernel, Side, Tile
from minitorch_compile.inductor.ir.buffer import Buffer
from minitorch_compile.inductor.ir.extern_call import ExternCall, StridedView, matrix_layout
from minitorch_compile.inductor.ir.loops import LoopGraph
from minitorch_compile.inductor.schedule.fused_call import Blocks, FusedCall
from minitorch_compile.inductor.schedule.schedule import Schedule
from minitorch_compile.inductor.schedule.scheduler import schedule

WORD = 4  # bytes
LINE_STEP = CHUNK // 2  # elements: lines of so many, or a multiple, all begin at 16 bytes if the first does
MANY = 132  # tiles: as many as a large GPU has multiprocessors
TILES = (Tile(2, 4, 4), Tile(4, 2, 1, step=128))  # large and small; three steps of each fill 48 KB
SIMULATED = Tile(1, 1, 1)


def has_kernel(call: ExternCall) -> bool:
    """Whether a call is a product that the template computes: of floats of two bytes, whose lines begin at 16 bytes."""
    if call.kernel not in ("mm", "bmm") or call.outputs[0].dtype.name not in ELEMENTS:
        return False
    return all(layout(view) is not None for view in call.inputs)


@dataclass(frozen=True)
class Factor:
    """How matrices lie: `by_columns`, the elements from one line to the next, and from one matrix to the next."""

    by_columns: bool
    line: int
    apart: int


def layout(view: StridedView) -> Factor | None:
    """How a factor lies, if a copy of 16 bytes can begin at each of its lines when it can at the first."""
    found, each = matrix_layout(view), CHUNK // view.buffer.dtype.itemsize
    apart = view.strides[0] if len(view.sizes) == 3 and view.sizes[0] > 1 else 0
    if found is None or any(number % each for number in (found[1], apart)):
        return None
    return Factor(*found, apart)


def tile_of(call: ExternCall, threads: int) -> Tile:
    """Large tiles read less, small ones are more."""
    if threads == SIMULATED.threads:
        return SIMULATED
    *batch, rows, columns = call.outputs[0].sizes
    large, small = TILES
    count = (batch[0] if batch else 1) * -(-rows // large.rows) * -(-columns // large.columns)
    return large if count >= MANY else small


@dataclass
class TensorCoreProduct:
    """A product, with what follows it, in one kernel."""

    call: ExternCall
    kernel: ProductKernel
    epilogue: WrittenEpilogue | None

    @property
    def buffers(self) -> list[Buffer]:
        """What the kernel's pointers point to, in order."""
        a, b = (view.buffer for view in self.call.inputs)
        if self.epilogue is None:
            return [a, b, self.call.outputs[0]]
        out = [self.call.outputs[0]] if self.epilogue.epilogue.keeps else []
        return [a, b, *out, *self.epilogue.buffers]

    @property
    def read(self) -> list[Buffer]:
        return [buffer for buffer in self.buffers if buffer not in self.written]

    @property
    def written(self) -> list[Buffer]:
        """All that it makes."""
        if self.epilogue is None:
            return list(self.call.outputs)
        return [buffer for buffer in self.buffers if buffer in (*self.call.outputs, *self.epilogue.made)]

    @property
    def numbers(self) -> list[Any]:
        """All that the kernel is told beside pointers."""
        a, b = (layout(view) for view in self.call.inputs)
        assert a is not None and b is not None, "there is a kernel for it"
        *batch, rows, columns = self.call.outputs[0].sizes
        sizes = [batch[0] if batch else 1, rows, columns, self.call.inputs[0].sizes[-1]]
        own = [*sizes, a.apart, a.line, b.apart, b.line]
        if self.epilogue is None:
            return [*own]
        return [*own, *self.epilogue.sizes, *(number for number, _ in self.epilogue.numbers)]

    def launch(self, compile: Callable[..., Kernel], launcher: Launcher, libraries: Libraries) -> Launch:
        """A function of the addresses of its buffers, and a stream."""
        *batch, rows, columns = self.call.outputs[0].sizes
        tiles = self.kernel.tiles(batch[0] if batch else 1, rows, columns)
        reaches = [(buffer.length, memory_dtype(buffer.dtype)) for buffer in self.buffers]
        kernel = compile(self.kernel.text, self.kernel.name, self.kernel.parameters)
        launch = kernel(max(1, min(tiles, launcher.most_blocks)), reaches, self.numbers)
        in_words = self.call.outputs[0] if self.epilogue is None else None
        return OnAlignedFactors(launch, self.call.inputs, libraries, in_words)


class OnAlignedFactors:
    """A launch that reads 16 bytes at once of its first addresses, and writes four at once to the one behind them, a
    `result`, if there is one. What begins elsewhere, as views of tensors may, is moved to where it doesn't."""

    def __init__(
        self, launch: Launch, factors: Sequence[StridedView], libraries: Libraries, result: Buffer | None = None
    ) -> None:
        self.launch, self.libraries, self.result = launch, libraries, result
        self.nbytes = [spanned(view) * view.buffer.dtype.itemsize for view in factors]
        self.offsets = [view.offset * view.buffer.dtype.itemsize for view in factors]

    def __call__(self, addresses: Sequence[int], stream: StreamHandle, given: Sequence[Any] = ()) -> None:
        """`addresses`: of buffers, of which the factors may be a part."""
        count = len(self.offsets)
        factors = [address + offset for address, offset in zip(addresses[:count], self.offsets, strict=True)]
        others = addresses[count:]
        if any(address % CHUNK for address in factors) or (self.result is not None and others[0] % WORD):
            self.on_copies(factors, list(others), stream)
        else:
            self.launch([*factors, *others], stream)

    def on_copies(self, factors: list[int], others: list[int], stream: StreamHandle) -> None:
        runtime = self.libraries.runtime
        allocator, copy, moved = runtime.allocators[stream.device], runtime.driver.copy_device_to_device, []

        def place(nbytes: int) -> int:
            moved.append(allocator.allocate(nbytes, stream))
            return moved[-1]

        for number, (address, nbytes) in enumerate(zip(factors, self.nbytes)):
            if address % CHUNK:
                factors[number] = place(nbytes)
                copy(factors[number], address, nbytes, stream)
        target = others[0] if self.result is not None and others[0] % WORD else 0
        try:
            if self.result is not None and target:
                others[0] = place(self.result.nbytes)
            self.launch([*factors, *others], stream)
            if self.result is not None and target:
                copy(target, others[0], self.result.nbytes, stream)
        finally:
            for address in moved:
                allocator.free(address)  # whoever gets it works in the same stream, or waits


def spanned(view: StridedView) -> int:
    """How many elements lie from the first of a view to its last."""
    return 1 + sum((size - 1) * step for size, step in zip(view.sizes, view.strides))


def tensor_core_product(
    call: ExternCall, launcher: Launcher, epilogue: WrittenEpilogue | None = None, tile: Tile | None = None
) -> TensorCoreProduct:
    """The product of a call that there is a kernel for."""
    a, b = (layout(view) for view in call.inputs)
    assert a is not None and b is not None, "there is a kernel for it"
    tile = tile or tile_of(call, launcher.threads)
    of_epilogue = None if epilogue is None else epilogue.epilogue
    sides = Side(not a.by_columns), Side(b.by_columns)
    kernel = ProductKernel(tile, call.outputs[0].dtype.name, *sides, of_epilogue)
    return TensorCoreProduct(call, kernel, epilogue)


# ------------------------------------------------------------------------------------------ with what follows


def with_epilogues(graph: LoopGraph, operations: int, fuses: Callable[[ExternCall], bool]) -> Schedule:
    """A schedule in which products that `fuses` names, if there is a kernel for them, take in loops that can follow."""
    refused: set[Buffer] = set()

    def blocks_of(call: ExternCall) -> Blocks | None:
        if not has_kernel(call) or call.outputs[0] in refused or not fuses(call):
            return None
        *batch, rows, columns = call.outputs[0].sizes
        lines = (batch[0] if batch else 1) * rows
        return Blocks(extent=lines, elements=columns, length=lines)

    while True:
        planned = schedule(graph, device_limits(operations=operations, blocks_of=blocks_of))
        others = [s.result for s in planned.steps if isinstance(s, FusedCall) and not follows(s.epilogue, s.result)]
        if not others:
            return planned
        refused.update(others)


def fused_product(step: FusedCall, internal: frozenset[Buffer], launcher: Launcher) -> TensorCoreProduct:
    """A product and what follows it, in one kernel."""
    return tensor_core_product(step.call, launcher, write_epilogue(step.epilogue, step.result, internal))
