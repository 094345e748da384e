"""The device's memories: arrays in global, shared, local and constant memory, which check each access.

An index has a number for each lane; a load gives a value for each lane. Negative indices count from the end, as Numba
compiles them.

>>> from minitorch_compile.cuda_simulator.faults import Faults
>>> from minitorch_compile.cuda_simulator.block import Launch
>>> block = Block(Launch((1, 1, 1), (3, 1, 1), Faults(collect=False)), (0, 0, 0))
>>> x, line = DeviceMemory.of_array("x", np.array([5.0, 6.0, 7.0])), Place("kernel.py", 2, "kernel", "y = x[i]")
>>> i = np.arange(block.width)
>>> x.load(block, (i,), block.existing, line)[:3].tolist()
[5.0, 6.0, 7.0]
>>> x.load(block, (i + 1,), block.existing, line)
Traceback (most recent call last):
minitorch_compile.cuda_simulator.faults.KernelFault: out of bounds: thread 2 of block 0 reads x[3], but x has 3 elements
    kernel.py:2 in kernel:  y = x[i]
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minitorch_compile.cuda_simulator.arithmetic import Value, convert
from minitorch_compile.cuda_simulator.block import Block, Launch, Mask, name_of_thread
from minitorch_compile.cuda_simulator.faults import Place
from minitorch_compile.cuda_simulator.races import Race, Shadow

Indices = Sequence[Value]


class DeviceMemory:
    """An array in global memory, or in another if a subclass says so. It begins `offset` bytes into its allocation, and
    the shadow's cells at the byte `first`.

    One without a name gets that of the first variable that it is assigned to.
    """

    space = "global"

    def __init__(self, name: str, data: np.ndarray, shadow: Shadow, offset: int = 0, first: int = 0) -> None:
        self.name, self.data, self.shadow, self.offset, self.first = name, data, shadow, offset, first
        self.dtype, self.shape = data.dtype, data.shape
        self.ndim, self.size = len(self.shape), int(np.prod(self.shape))
        self.strides = data.strides[len(data.strides) - self.ndim :]

    @property
    def title(self) -> str:
        return self.name or f"an array in {self.space} memory"

    @classmethod
    def of_array(cls, name: str, data: np.ndarray) -> DeviceMemory:
        """An array that shares its memory with no other."""
        return cls(name, data, Shadow(-(-span(data) // data.itemsize), data.itemsize), lowest(data))

    # ------------------------------------------------------------------------------------------ access

    def load(self, block: Block, indices: Indices, active: Mask, place: Place) -> np.ndarray:
        """What the active lanes read; zero for the others, and out of bounds."""
        lanes, where = self.inside(block, indices, active, place, "reads")
        result = np.zeros(block.width, self.dtype)
        if lanes.size:
            addresses = self.addresses(lanes, where)
            self.watch(block, lanes, addresses, place, "load")
            race = self.raced(block.races.read, lanes, addresses, place)
            self.report(block, race, where, place)
            result[lanes] = self.data[self.element(lanes, where)]
        return result

    def store(self, block: Block, indices: Indices, value: Value, active: Mask, place: Place) -> None:
        """Writes the active lanes' values, converted to the array's type."""
        lanes, where = self.inside(block, indices, active, place, "writes")
        if not lanes.size:
            return
        values = block.vector(convert(value, self.dtype))[lanes]
        addresses, element = self.addresses(lanes, where), self.element(lanes, where)
        self.watch(block, lanes, addresses, place, "store")
        differs = different(self.data[element], values)
        race = self.raced(block.races.write, lanes, addresses, place, differs)
        self.report(block, race, where, place)
        self.data[element] = values
        lost = np.flatnonzero(different(self.data[element], values))
        if lost.size:  # several lanes wrote other values into one cell, at once
            position = int(lost[0])
            winner = int(self.shadow.written.thread[self.cells(addresses)[position * self.cells_each]])
            me = block.number * block.width + int(lanes[position])
            self.report(block, Race("writes", "writes", winner, me, position, place), where, place)

    def change(
        self, block: Block, indices: Indices, active: Mask, place: Place, step: Callable[[int, Any], Any]
    ) -> np.ndarray:
        """An atomic: lane by lane `step(lane, old)` gives the new value. Returns the old values."""
        lanes, where = self.inside(block, indices, active, place, "changes")
        result = np.zeros(block.width, self.dtype)
        if lanes.size:
            addresses = self.addresses(lanes, where)
            self.watch(block, lanes, addresses, place, "atomic")
            race = self.raced(block.races.change, lanes, addresses, place)
            self.report(block, race, where, place)
            if self.space == "global":
                block.races.signal()
        element = np.array(self.element(lanes, where)).T.tolist()
        for lane, at in zip(lanes.tolist(), map(tuple, element)):
            result[lane] = self.data[at]
            self.data[at] = convert(step(lane, self.data[at]), self.dtype)
        return result

    def expect_written(self, block: Block, indices: Indices, active: Mask, place: Place) -> None:
        """Reports a read of what has no value yet: global memory is the host's to fill."""

    # ------------------------------------------------------------------------------------------ places

    def inside(
        self, block: Block, indices: Indices, active: Mask, place: Place, what: str
    ) -> tuple[np.ndarray, tuple[np.ndarray, ...]]:
        """The lanes that take part and have indices within the array, and these; the others are reported."""
        lanes = np.flatnonzero(active)
        asked, where = [], []
        good = np.ones(lanes.size, bool)
        for index, size in zip(indices, self.shape):
            if getattr(index, "dtype", np.dtype(float)).kind not in "iub":
                raise TypeError(f"{self.title}: an index must be a whole number, got {index!r}\n    {place}")
            mine = index[lanes].astype(np.int64) if np.ndim(index) else np.full(lanes.size, index, np.int64)
            positive = np.where(mine < 0, mine + size, mine)
            good &= (positive >= 0) & (positive < size)
            asked.append(mine)
            where.append(positive)
        if not good.all():
            first = int(np.flatnonzero(~good)[0])
            subscript = ", ".join(str(int(index[first])) for index in asked)
            sizes = f"{self.size} elements" if self.ndim == 1 else f"sizes {self.shape}"
            what = f"{block.name_of(int(lanes[first]))} {what} {self.title}[{subscript}], but {self.title} has {sizes}"
            block.faults.report("out of bounds", what, place)
            return lanes[good], tuple(index[good] for index in where)
        return lanes, tuple(where)

    def element(self, lanes: np.ndarray, where: tuple[np.ndarray, ...]) -> tuple[np.ndarray, ...]:
        """Where these elements lie in `data`."""
        return where

    def addresses(self, lanes: np.ndarray, where: tuple[np.ndarray, ...]) -> np.ndarray:
        """The bytes at which they begin, in their allocation."""
        total = np.full(lanes.size, self.offset, np.int64)
        for index, stride in zip(where, self.strides):
            total += index * stride
        return total

    @property
    def cells_each(self) -> int:
        """How many cells of the shadow stand for an element: more than one where smaller elements share the memory."""
        return self.dtype.itemsize // self.shadow.grain

    def cells(self, addresses: np.ndarray) -> np.ndarray:
        """The cells of the shadow that stand for elements at these bytes, those of an element side by side."""
        first = (addresses - self.first) // self.shadow.grain
        return first if self.cells_each == 1 else (first[:, None] + np.arange(self.cells_each)).reshape(-1)

    # ------------------------------------------------------------------------------------------ watching

    def watch(self, block: Block, lanes: np.ndarray, addresses: np.ndarray, place: Place, what: str) -> None:
        if block.counts is not None:
            block.counts.access(place, self.space, what, lanes, addresses, self.dtype.itemsize, self.title)

    def raced(
        self, access: Callable[..., Race | None], lanes: np.ndarray, addresses: np.ndarray, place: Place, *more: Any
    ) -> Race | None:
        """Tells the shadow of an access; the race that it makes, by its position among the lanes."""
        each = self.cells_each
        per_cell = (np.repeat(values, each) for values in more)
        race = access(self.shadow, self.cells(addresses), np.repeat(lanes, each), place, *per_cell)
        if race is not None:
            race.position //= each
        return race

    def report(self, block: Block, race: Race | None, where: tuple[np.ndarray, ...], place: Place) -> None:
        if race is None:
            return
        subscript = ", ".join(str(int(index[race.position])) for index in where)
        first, second = (name_of(block.launch, thread) for thread in (race.first, race.second))
        block.faults.report(
            "data race",
            f"{second} {race.second_is} {self.title}[{subscript}], which {first} {race.first_is},"
            " and nothing says which comes first",
            place,
            race.line,
        )


class SharedMemory(DeviceMemory):
    """An array of one block."""

    space = "shared"

    def load(self, block: Block, indices: Indices, active: Mask, place: Place) -> np.ndarray:
        self.expect_written(block, indices, active, place)
        return super().load(block, indices, active, place)

    def expect_written(self, block: Block, indices: Indices, active: Mask, place: Place) -> None:
        """Reports a read of what has no value yet."""
        lanes, where = self.inside(block, indices, active, place, "reads")
        cells = self.cells(self.addresses(lanes, where)).reshape(-1, self.cells_each)
        unwritten = np.flatnonzero(self.shadow.unwritten(cells).any(1))
        if unwritten.size:
            position = int(unwritten[0])
            subscript = ", ".join(str(int(index[position])) for index in where)
            what = f"{block.name_of(int(lanes[position]))} reads {self.title}[{subscript}], which nobody has written"
            block.faults.report("uninitialised read", what, place)


class LocalMemory(DeviceMemory):
    """An array of which each thread has its own; `data` has a leading dimension for the lanes."""

    space = "local"

    def __init__(self, name: str, data: np.ndarray) -> None:
        super().__init__(name, data, Shadow(0))
        self.shape, self.ndim, self.size = data.shape[1:], data.ndim - 1, int(np.prod(data.shape[1:]))

    def load(self, block: Block, indices: Indices, active: Mask, place: Place) -> np.ndarray:
        lanes, where = self.inside(block, indices, active, place, "reads")
        result = np.zeros(block.width, self.dtype)
        result[lanes] = self.data[(lanes, *where)]
        return result

    def store(self, block: Block, indices: Indices, value: Value, active: Mask, place: Place) -> None:
        lanes, where = self.inside(block, indices, active, place, "writes")
        self.data[(lanes, *where)] = block.vector(convert(value, self.dtype))[lanes]

    def change(self, *_: Any) -> np.ndarray:
        raise TypeError(f"{self.title} is local: no other thread sees it, so it needs no atomics, and has none")


class ConstantMemory(DeviceMemory):
    """An array that a kernel only reads, made by `cuda.const.array_like`."""

    space = "constant"

    def store(self, block: Block, indices: Indices, value: Value, active: Mask, place: Place) -> None:
        raise TypeError(f"{self.title} is constant memory, which kernels only read\n    {place}")


class Part:
    """An array that fewer indices than dimensions chose from: `rows[i]`, to be indexed further."""

    def __init__(self, memory: DeviceMemory, indices: tuple[Value, ...]) -> None:
        self.memory, self.indices = memory, indices
        self.shape = memory.shape[len(indices) :]
        self.ndim, self.size, self.dtype = len(self.shape), int(np.prod(self.shape)), memory.dtype


def name_of(launch: Launch, thread: int) -> str:
    return name_of_thread(launch, thread // launch.width, thread % launch.width)


def different(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Where two arrays differ, NaNs being alike."""
    return (left != right) & ~((left != left) & (right != right))


def lowest(data: np.ndarray) -> int:
    """How far the first element lies behind the lowest address, in bytes: more than 0 for reversed arrays."""
    return -sum((size - 1) * stride for size, stride in zip(data.shape, data.strides) if stride < 0)


def span(data: np.ndarray) -> int:
    """How many bytes lie between the lowest and the highest address of an array."""
    if data.size == 0:
        return 0
    return data.itemsize + sum((size - 1) * abs(stride) for size, stride in zip(data.shape, data.strides))


def global_memories(arrays: dict[str, np.ndarray]) -> dict[str, DeviceMemory]:
    """A launch's arrays in global memory. Those that overlap share what is known about their cells."""
    memories: dict[str, DeviceMemory] = {}
    for first, end, names in overlapping(arrays):
        grain = min(arrays[name].itemsize for name in names)
        shadow = Shadow(-(-(end - first) // grain), grain)
        base = min(address_of(whole(arrays[name])) - lowest(whole(arrays[name])) for name in names)
        for name in names:
            memories[name] = DeviceMemory(name, arrays[name], shadow, address_of(arrays[name]) - base, first - base)
    return memories


def overlapping(arrays: dict[str, np.ndarray]) -> list[tuple[int, int, list[str]]]:
    """(first address, end, names) for each group of arrays of which one begins before another ends."""
    groups: list[tuple[int, int, list[str]]] = []
    for name, data in sorted(arrays.items(), key=lambda item: address_of(item[1]) - lowest(item[1])):
        first = address_of(data) - lowest(data)
        end, names = first + span(data), [name]
        if groups and first < groups[-1][1]:
            before = groups.pop()
            first, end, names = before[0], max(before[1], end), before[2] + names
        groups.append((first, end, names))
    return groups


def whole(data: np.ndarray) -> np.ndarray:
    """The array that an array is a view of: an allocation, which begins at a sector."""
    while isinstance(data.base, np.ndarray):
        data = data.base
    return data


def address_of(data: np.ndarray) -> int:
    return int(data.__array_interface__["data"][0])
