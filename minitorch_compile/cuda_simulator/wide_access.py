"""Accesses of several elements side by side: what one thread reads or writes by one instruction.

Each element is checked as any other one is, for bounds, for races, for having been written; counted is one access.

>>> from minitorch_compile.cuda_simulator.block import Launch
>>> from minitorch_compile.cuda_simulator.faults import Faults, Place
>>> block = Block(Launch((1, 1, 1), (32, 1, 1), Faults(collect=False)), (0, 0, 0))
>>> x, place = DeviceMemory.of_array("x", np.arange(256.0)), Place("kernel.py", 2, "kernel", "y = load(x, 4 * i)")
>>> lanes = np.arange(32)
>>> read_wide(block, place, x, lanes, 4 * lanes, 4)[5].tolist()
[20.0, 21.0, 22.0, 23.0]
>>> read_wide(block, place, x, lanes, 4 * lanes + 1, 4)
Traceback (most recent call last):
minitorch_compile.cuda_simulator.faults.KernelFault: misaligned access: thread 0 of block 0 reaches x[1]
 for 16 bytes at once, which begins 8 bytes too late
    kernel.py:2 in kernel:  y = load(x, 4 * i)
"""

from __future__ import annotations

import numpy as np

from minitorch_compile.cuda_simulator.block import Block
from minitorch_compile.cuda_simulator.faults import Place
from minitorch_compile.cuda_simulator.memory import DeviceMemory, SharedMemory, address_of, different

WIDEST = 16  # bytes of an access; more are several


def read_wide(
    block: Block, place: Place, memory: DeviceMemory, lanes: np.ndarray, index: np.ndarray, count: int
) -> np.ndarray:
    """[lane, element] of `count` elements from those at `index`, for these lanes; zeros out of bounds."""
    result = np.zeros((lanes.size, count), memory.dtype)
    good = reachable(block, place, memory, lanes, index, count)
    where = elements(index[good], count)
    if where.size:
        repeated = np.repeat(lanes[good], count)
        addresses = memory.addresses(repeated, (where,))
        if isinstance(memory, SharedMemory):
            report_unwritten(block, place, memory, repeated, where, addresses)
        memory.report(block, memory.raced(block.races.read, repeated, addresses, place), (where,), place)
        result[good] = memory.data[where].reshape(-1, count)
    return result


def write_wide(
    block: Block, place: Place, memory: DeviceMemory, lanes: np.ndarray, index: np.ndarray, values: np.ndarray
) -> None:
    """Writes values [lane, element] from those at `index` on."""
    count = values.shape[1]
    good = reachable(block, place, memory, lanes, index, count)
    where, flat = elements(index[good], count), values[good].reshape(-1)
    if not where.size:
        return
    repeated = np.repeat(lanes[good], count)
    differs = different(memory.data[where], flat)
    race = memory.raced(block.races.write, repeated, memory.addresses(repeated, (where,)), place, differs)
    memory.report(block, race, (where,), place)
    memory.data[where] = flat


def reachable(
    block: Block, place: Place, memory: DeviceMemory, lanes: np.ndarray, index: np.ndarray, count: int
) -> np.ndarray:
    """Which lanes reach elements of a one-dimensional array only, from an address on that their bytes divide."""
    if memory.ndim != 1:
        raise TypeError(f"{memory.title}: wide accesses want an array of one dimension\n    {place}")
    inside = (index >= 0) & (index + count <= memory.size)
    if not inside.all():
        first = int(np.flatnonzero(~inside)[0])
        where = f"{block.name_of(int(lanes[first]))} reaches {count} elements from {memory.title}[{int(index[first])}]"
        block.faults.report("out of bounds", f"{where}, but {memory.title} has {memory.size} elements", place)
    return inside & aligned(block, place, memory, lanes, index, min(count * memory.dtype.itemsize, WIDEST))


def aligned(
    block: Block, place: Place, memory: DeviceMemory, lanes: np.ndarray, index: np.ndarray, nbytes: int
) -> np.ndarray:
    """Which lanes name an element whose address `nbytes` divides."""
    # What lies in global memory has an address of its own, which kernels ask for (`vectors.beyond`).
    begin = address_of(memory.data) if memory.space == "global" else memory.offset
    starts = begin + index * memory.strides[0]
    good: np.ndarray = starts % nbytes == 0
    if not good.all():
        first = int(np.flatnonzero(~good)[0])
        where = f"{block.name_of(int(lanes[first]))} reaches {memory.title}[{int(index[first])}]"
        what = f"{where} for {nbytes} bytes at once, which begins {int(starts[first]) % nbytes} bytes too late"
        block.faults.report("misaligned access", what, place)
    return good


def elements(index: np.ndarray, count: int) -> np.ndarray:
    return (index[:, None] + np.arange(count)).reshape(-1)


def report_unwritten(
    block: Block, place: Place, memory: SharedMemory, lanes: np.ndarray, where: np.ndarray, addresses: np.ndarray
) -> None:
    cells = memory.cells(addresses).reshape(-1, memory.cells_each)
    unwritten = np.flatnonzero(memory.shadow.unwritten(cells).any(1))
    if unwritten.size:
        first = int(unwritten[0])
        what = f"{block.name_of(int(lanes[first]))} reads {memory.title}[{int(where[first])}], which nobody has written"
        block.faults.report("uninitialised read", what, place)
