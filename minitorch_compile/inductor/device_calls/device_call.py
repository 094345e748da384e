"""One op on tensors of one layout: the kernels that it comes down to, and what each is called with.

Everything that the sizes say is worked out once, so a call allocates results, and launches.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, NamedTuple

import numpy as np

from minitorch_compile import logs
from minitorch_compile.cuda.device_block import DeviceBlock
from minitorch_compile.cuda.runtime import Runtime
from minitorch_compile.cuda_runtime.driver import StreamHandle
from minitorch_compile.cuda_runtime.sanitizer import Sanitizer
from minitorch_compile.inductor.device_calls.call_memory import Places, places_of, planned
from minitorch_compile.inductor.device_calls.copies_together import MOST, copying_launch
from minitorch_compile.inductor.device_calls.extern_launches import Resources, launch_of
from minitorch_compile.inductor.device_calls.host_status import STATUS_BYTES, HostStatus, raise_reported
from minitorch_compile.inductor.device_calls.launcher import (
    SIZE,
    STATUS,
    Kernel,
    Launcher,
    Open,
    array_of,
    memory_dtype,
)
from minitorch_compile.inductor.device_calls.launcher import Launch as Launching
from minitorch_compile.inductor.device_calls.lifted_kernel import LiftedKernel, Write, write_lifted_kernel
from minitorch_compile.inductor.device_calls.one_op_graph import NoKernelError
from minitorch_compile.inductor.device_calls.product_launches import TensorCoreProduct, fused_product
from minitorch_compile.inductor.device_calls.scatter_kernels import scatter_kernels
from minitorch_compile.inductor.ir.buffer import Buffer
from minitorch_compile.inductor.ir.dependencies import buffers_read
from minitorch_compile.inductor.ir.extern_call import ExternCall
from minitorch_compile.inductor.schedule.fused_call import FusedCall
from minitorch_compile.inductor.schedule.group import Group
from minitorch_compile.inductor.schedule.schedule import Schedule, reads_of
from minitorch_compile.tensor.functions.settings import settings
from minitorch_compile.tensor.memory.device_storage import DeviceStorage
from minitorch_compile.tensor.memory.size import Size
from minitorch_compile.tensor.tensor_base import TensorBase, from_parts

log_schedule = logs.artifact("schedule")

Compile = Callable[[LiftedKernel], Kernel]
Prepared = tuple[Group, LiftedKernel] | ExternCall | TensorCoreProduct


@dataclass
class Launch:
    """A kernel that waits for its pointers, and the places of their buffers in a call's memory.

    `read` and `written`: places and bytes of what it reads and writes, for the sanitizer. `first_uses` and `last_uses`:
    the places of buffers that no launch before it, or behind it, has to do with.
    """

    launch: Launching
    places: list[int]
    uses_status: bool
    name: str
    read: list[tuple[int, int]]
    written: list[tuple[int, int]]
    is_open: bool = False  # whether each call has numbers for it
    first_uses: list[int] = field(default_factory=list)
    last_uses: list[int] = field(default_factory=list)


class Single(NamedTuple):
    """A launch, the places of its buffers among inputs and result (none if these are in order), bytes of the inputs'
    elements and of the result, and what `from_parts` is told of the latter behind its storage."""

    launch: Launching
    places: list[int]
    item_sizes: list[int]
    nbytes: int
    parts: tuple[Any, ...]
    is_open: bool


class Described(NamedTuple):
    """What a launch does: the text of a kernel, or the name of what is called, and with which numbers."""

    text: str
    numbers: list[Any]


class DeviceCall:
    """A schedule made ready for a device: called with its input tensors, which lie there, it returns its outputs.

    `opened`: numbers in the schedule that stand for those which each call brings. One that isn't `is_settled` was made
    for tensors some of which lie in main memory, and have to be moved first, or waits for faster kernels (`waits`:
    `warm_up.py`).
    """

    is_settled = True
    waits: Mapping[str, int] = {}

    def __init__(
        self,
        schedule: Schedule,
        resources: Resources,
        compile: Compile,
        runtime: Runtime,
        index: int,
        opened: Sequence[Any] = (),
        write: Write = write_lifted_kernel,
    ) -> None:
        graph = schedule.graph
        self.runtime, self.index, self.device = runtime, index, runtime.devices[index]
        self.sanitizer = runtime.sanitizer
        if graph.constants:
            raise NoKernelError("its graph has constants")
        self.inputs, self.outputs = graph.inputs, graph.outputs
        if any(view.buffer in self.inputs for view in self.outputs):
            raise NoKernelError("it gives back what it was given")
        used: list[Buffer] = []
        kernels: list[Prepared] = []
        for step in schedule.steps:
            if isinstance(step, FusedCall):
                product = fused_product(step, schedule.internal, resources.launcher)
                kernels.append(product)
                used += product.buffers
            elif isinstance(step, Group):
                for kernel in _kernels_of(step, schedule.internal, resources.launcher.threads, write):
                    kernels.append((step, kernel))
                    if log_schedule.is_on:
                        log_schedule(f"{kernel.source.title}: {kernel.source.reason}")
                    used += kernel.source.buffers
            else:
                kernels.append(step)
                used += [*buffers_read(step), *step.outputs]
        places = places_of(schedule, used)
        self.sizes, self.filled = places.sizes, places.results
        resources.ahead([prepared[1] for prepared in kernels if isinstance(prepared, tuple)])
        self.launches = [
            prepared_launch(*prepared, places.of, resources.launcher, compile, opened)
            if isinstance(prepared, tuple)
            else _made_launch(prepared, places.of, resources)
            for prepared in kernels
        ]
        self.launches += _copies(places, resources)
        self.described = [_described(prepared) for prepared in kernels]
        self.item_sizes = [buffer.dtype.itemsize for buffer in self.inputs]
        # Of what is written back, the input itself.
        self.results: list[Any] = [
            places.of[graph.written_back[v.buffer]]
            if v.buffer in graph.written_back
            else (places.of[v.buffer], v.offset, Size(v.sizes), tuple(v.strides), v.buffer.dtype, self.device)
            for v in self.outputs
        ]
        self._plan_memory()
        self.single = self._single()
        self._plan_row(resources.launcher)

    def _plan_memory(self) -> None:
        """Notes at each launch which blocks begin there and which end: a stream runs in order, so a block that was
        given back may be handed out again at once."""
        returned = set(self.filled)
        seen: set[int] = set()
        for launch in self.launches:
            launch.first_uses = [p for p in dict.fromkeys(launch.places) if p in self.sizes and p not in seen]
            seen.update(launch.places)
        self.unwritten = [place for place in self.filled if place not in seen]  # results without elements
        later = set(returned)
        for launch in reversed(self.launches):
            launch.last_uses = [p for p in dict.fromkeys(launch.places) if p in self.sizes and p not in later]
            later.update(launch.places)

    def _plan_row(self, launcher: Launcher) -> None:
        """Prepares all launches as one. Not where each is watched, or is given numbers of its own."""
        first = len(self.inputs)
        temporaries = {place: nbytes for place, nbytes in self.sizes.items() if place not in self.filled}
        self.offsets, self.arena = planned(temporaries, [launch.places for launch in self.launches])
        self.temporaries: tuple[int, list[int]] = (0, [])  # where they begin, and their addresses
        self.uses_status = any(launch.uses_status for launch in self.launches)
        status = first + len(self.sizes)  # its place, behind all others
        placed = [(x.launch, [*x.places, status] if x.uses_status else x.places) for x in self.launches]
        is_plain = self.sanitizer is None and not any(launch.is_open for launch in self.launches)
        self.row = launcher.row(placed, status + self.uses_status) if is_plain and self.single is None else None

    def _single(self) -> Single | None:
        """What a call that is one launch with one result consists of, which nobody watches; None for another."""
        if len(self.launches) != 1 or len(self.results) != 1 or self.sanitizer is not None:
            return None
        (launch,), result = self.launches, len(self.inputs)
        if launch.uses_status or self.sizes.keys() != {result} or self.filled != [result]:
            return None
        made, *parts = self.results[0]
        places = [] if launch.places == [*range(result + 1)] else launch.places
        return Single(launch.launch, places, self.item_sizes, self.sizes[result], tuple(parts), launch.is_open)

    def __call__(self, tensors: Sequence[TensorBase], given: Sequence[Any] = ()) -> Any:
        """A tensor, or a tuple if there are several."""
        if self.single is None:
            results = self.results_of(tensors, given)
            return results[0] if len(results) == 1 else tuple(results)
        # Most calls, at whose speed small programs run: each line counts.
        launch, places, item_sizes, nbytes, parts, is_open = self.single
        runtime, index = self.runtime, self.index
        stream = runtime.current_stream(index)
        block = DeviceBlock(runtime, index, nbytes, stream)
        addresses = [x.storage.block.address + x.offset * size for x, size in zip(tensors, item_sizes)]
        addresses.append(block.address)
        if places:
            addresses = [addresses[place] for place in places]
        if is_open:
            launch(addresses, stream, given)
        else:
            launch(addresses, stream)
        return from_parts(DeviceStorage(block), *parts)

    def results_of(
        self, tensors: Sequence[TensorBase], given: Sequence[Any] = (), status: int | None = None
    ) -> list[TensorBase]:
        """All results. `given`: a number for each of those that were left open. `status`: the address of memory of the
        host, of zeros, where kernels leave what went wrong; without it, this waits for them, and raises IndexError."""
        if self.row is None:
            return self._one_by_one(tensors, given)
        runtime, index, sizes = self.runtime, self.index, self.sizes
        stream = runtime.current_stream(index)
        memory = [x.storage.block.address + x.offset * size for x, size in zip(tensors, self.item_sizes)]
        if self.arena:
            arena = DeviceBlock(runtime, index, self.arena, stream)
            start, temporaries = self.temporaries
            if start != arena.address:  # it lies where it lay last time, in most loops
                start = arena.address
                temporaries = [start + offset for offset in self.offsets]
                self.temporaries = start, temporaries
            memory += temporaries
        else:
            memory += self.offsets
        blocks = {place: DeviceBlock(runtime, index, sizes[place], stream) for place in self.filled}
        memory += [block.address for block in blocks.values()]
        if not self.uses_status:
            self.row(memory, stream)
        elif status is not None:
            self.row([*memory, status], stream)
        else:
            with Checked(runtime, index) as status:
                self.row([*memory, status], stream)
        return self._results(tensors, blocks)

    def _one_by_one(self, tensors: Sequence[TensorBase], given: Sequence[Any]) -> list[TensorBase]:
        """The same, each launch by itself: for who watches them, or gives them numbers."""
        runtime, index, all_sizes = self.runtime, self.index, self.sizes
        stream = runtime.current_stream(index)
        memory = [x.storage.block.address + x.offset * size for x, size in zip(tensors, self.item_sizes)]
        memory += [0] * len(all_sizes)
        blocks: dict[int, DeviceBlock] = {}
        for launch in self.launches:
            for place in launch.first_uses:
                block = blocks[place] = DeviceBlock(runtime, index, all_sizes[place], stream)
                memory[place] = block.address
            if self.sanitizer is not None:
                tell(self.sanitizer, launch, memory, stream)
            addresses = [memory[place] for place in launch.places]
            numbers = [given] if launch.is_open else []
            if launch.uses_status:
                with Checked(runtime, index) as status:
                    launch.launch([*addresses, status], stream, *numbers)
            else:
                launch.launch(addresses, stream, *numbers)
            for place in launch.last_uses:
                del blocks[place]
        for place in self.unwritten:
            blocks[place] = DeviceBlock(runtime, index, all_sizes[place], stream)
        return self._results(tensors, blocks)

    def _results(self, tensors: Sequence[TensorBase], blocks: Mapping[int, DeviceBlock]) -> list[TensorBase]:
        storages = {place: DeviceStorage(blocks[place]) for place in self.filled}
        return [
            tensors[made] if type(made) is int else from_parts(storages[made[0]], *made[1:]) for made in self.results
        ]


class Checked:
    """Memory for what goes wrong in kernels that read through indices; at the end IndexError for one out of range. Of
    what is recorded, the next launch of the recording raises it."""

    def __init__(self, runtime: Runtime, index: int) -> None:
        self.runtime, self.index = runtime, index
        self.block: DeviceBlock | None = None

    def __enter__(self) -> int:
        runtime = self.runtime
        recording = runtime.recordings.get(self.index)
        if recording is not None and runtime.driver.is_capturing(runtime.current_stream(self.index)):  # by this thread
            if recording.check is None:
                recording.check = HostStatus(self.runtime)
            return recording.check.address
        self.block = DeviceBlock(self.runtime, self.index, STATUS_BYTES)
        self.block.write(0, np.zeros(STATUS_BYTES, np.uint8))
        return self.block.address

    def __exit__(self, kind: type | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        if kind is None and self.block is not None:
            raise_reported(self.block.read(0, STATUS_BYTES).view(np.int64))


def _copies(places: Places, resources: Resources) -> list[Launch]:
    """What copies results to where they belong."""
    copied, launches = [*places.copied.items()], []
    for first in range(0, len(copied), MOST):
        pairs = copied[first : first + MOST]
        items = [(result.dtype.itemsize, result.length) for result, _ in pairs]
        kernel = copying_launch(items, resources.launcher, resources.compile)
        used = [places.of[buffer] for pair in pairs for buffer in pair]
        read, written = ([(places.of[pair[end]], pair[end].nbytes) for pair in pairs] for end in (0, 1))
        launches.append(Launch(kernel, used, False, "copies", read, written))
    return launches


def _described(prepared: Prepared) -> Described:
    if isinstance(prepared, ExternCall):
        return Described(prepared.kernel, list(prepared.parameters))
    if isinstance(prepared, TensorCoreProduct):
        return Described(prepared.kernel.text, prepared.numbers)
    kernel = prepared[1]
    return Described(kernel.source.body, [*kernel.source.sizes.values(), *(n for n, _ in kernel.numbers.values())])


def kinds_of(kernel: LiftedKernel) -> list[str]:
    """The kinds of its parameters."""
    elements = {name: b.dtype for name, b in zip(kernel.source.names, kernel.source.buffers)}
    pointers = [memory_dtype(dtype).name for dtype in elements.values()]
    if kernel.changed_as is not None:
        pointers[-1] = array_of(kernel.changed_as.name)
    numbers = [f"={dtype.name}" for _, dtype in kernel.numbers.values()]
    status = [STATUS] if kernel.source.uses_status else []
    return [*pointers, *[SIZE] * len(kernel.source.sizes), *numbers, *status]


def _made_launch(
    prepared: ExternCall | TensorCoreProduct, places: Mapping[Buffer, int], resources: Resources
) -> Launch:
    if isinstance(prepared, ExternCall):
        return _extern_launch(prepared, places, resources)
    read, written = ([(places[buffer], buffer.nbytes) for buffer in used] for used in (prepared.read, prepared.written))
    launch = prepared.launch(resources.compile, resources.launcher, resources.libraries)
    return Launch(launch, [places[b] for b in prepared.buffers], False, prepared.kernel.name, read, written)


def _extern_launch(call: ExternCall, places: Mapping[Buffer, int], resources: Resources) -> Launch:
    buffers = [*(view.buffer for view in call.inputs), *call.outputs]
    read, written = (
        [(places[buffer], buffer.nbytes) for buffer in used] for used in (buffers_read(call), call.outputs)
    )
    launch = launch_of(call, resources)
    return Launch(launch, [places[buffer] for buffer in buffers], False, call.kernel, read, written)


def _kernels_of(group: Group, internal: frozenset[Buffer], threads: int, write: Write) -> list[LiftedKernel]:
    if group.is_fusible:
        return [write(group, internal, threads)]
    return scatter_kernels(group, internal, settings.deterministic, threads, write)


def prepared_launch(
    group: Group,
    kernel: LiftedKernel,
    places: Mapping[Buffer, int],
    launcher: Launcher,
    compile: Compile,
    opened: Sequence[Any] = (),
) -> Launch:
    """A kernel with its sizes and numbers; `places`: where in a call's memory its buffers are. `opened`: those of its
    numbers that each launch is given."""
    source = kernel.source
    buffers = list(dict(zip(source.names, source.buffers)).values())
    blocks = source.extent if kernel.per_block else -(-source.extent // launcher.threads)
    reaches = [(buffer.length, memory_dtype(buffer.dtype)) for buffer in buffers]
    if kernel.changed_as is not None:
        reaches[-1] = reaches[-1][0], kernel.changed_as.numpy
    reaches += [(STATUS_BYTES // 8, np.dtype(np.int64))] if source.uses_status else []
    numbers = [*source.sizes.values(), *(_left_open(value, opened) for value, _ in kernel.numbers.values())]
    most = launcher.all_blocks if source.block.each else max(1, int(launcher.most_blocks / source.block.times))
    launch = compile(kernel)(max(1, min(blocks, most)), reaches, numbers)
    read, written = (
        [(places[buffer], buffer.nbytes) for buffer in used if buffer in buffers]
        for used in (reads_of(group), group.outputs)
    )
    is_open = any(isinstance(number, Open) for number in numbers)
    return Launch(
        *(launch, [places[buffer] for buffer in buffers], source.uses_status, source.title, read, written, is_open)
    )


def _left_open(value: Any, opened: Sequence[Any]) -> Any:
    return next(
        (Open(place) for place, mark in enumerate(opened) if type(value) is type(mark) and value == mark), value
    )


def tell(sanitizer: Sanitizer, launch: Launch, memory: Sequence[int], stream: StreamHandle) -> None:
    """The sanitizer which memory a launch reads and writes."""
    reads, writes = ([(memory[place], nbytes) for place, nbytes in spans] for spans in (launch.read, launch.written))
    sanitizer.access(stream, launch.name, reads, writes)
