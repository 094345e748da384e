"""Tensor cores, and what feeds them, in the simulator: the twins of `inductor/codegen/cuda/tensor_cores.py`.

Fragments lie in the lanes' registers as NVIDIA's manual of PTX has them (the other file draws that): `place_in_a`,
`place_in_b` and `place_in_sums` say which element a lane has in a register.

>>> register, element = np.arange(4)[:, None], np.arange(2)
>>> row, k = place_in_a(np.int64(5), register, element, 2)        # what lane 5 has of A, in floats of two bytes
>>> [list(zip(*pair)) for pair in zip(np.broadcast_to(row, (4, 2)).tolist(), k.tolist())]
[[(1, 2), (1, 3)], [(9, 2), (9, 3)], [(1, 10), (1, 11)], [(9, 10), (9, 11)]]

An asynchronous copy reads at once, but what it writes appears only when its thread has waited for it: a kernel that
doesn't wait finds what was there before. Both the beginning and the end of a copy count as writes for races.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from minitorch_compile.cuda_simulator.arithmetic import Value
from minitorch_compile.cuda_simulator.block import WARP, Block
from minitorch_compile.cuda_simulator.faults import Place
from minitorch_compile.cuda_simulator.intrinsics import Site, intrinsic
from minitorch_compile.cuda_simulator.memory import DeviceMemory
from minitorch_compile.cuda_simulator.wide_access import aligned, read_wide, write_wide

LANES = np.arange(WARP)
BYTES = 16  # that a lane copies, and of a row of a matrix

# ------------------------------------------------------------------------------------------------ fragments


def place_in_a(lane: Any, register: Any, element: Any, each: int) -> tuple[Any, Any]:
    """(row, k) of an element of A, of which a register holds `each`."""
    return lane // 4 + 8 * (register % 2), each * (lane % 4) + element + 4 * each * (register // 2)


def place_in_b(lane: Any, register: Any, element: Any, each: int) -> tuple[Any, Any]:
    """(k, column) of an element of B."""
    return each * (lane % 4) + element + 4 * each * register, lane // 4


def place_in_sums(lane: Any, number: Any) -> tuple[Any, Any]:
    """(row, column) of a sum."""
    return lane // 4 + 8 * (number // 2), 2 * (lane % 4) + number % 2


def as_bfloat16(words: np.ndarray) -> np.ndarray:
    return (words.view(np.uint16).astype(np.uint32) << 16).view(np.float32)


def as_tf32(words: np.ndarray) -> np.ndarray:
    """The ten bits of a fraction that the device looks at."""
    return (words & np.int32(-(1 << 13))).view(np.float32)


# How a register is read, and how many numbers are in it.
OPERANDS: dict[str, tuple[Callable[[np.ndarray], np.ndarray], int]] = {
    "bfloat16": (as_bfloat16, 2),
    "float16": (lambda words: words.view(np.float16), 2),
    "float32": (as_tf32, 1),
    "int8": (lambda words: words.view(np.int8), 4),
}


def whole_warps(at: Site, what: str) -> int:
    """How many warps take part; reports one of which a lane doesn't."""
    active = at.active.reshape(-1, WARP)
    partial = active.any(1) & ~active.all(1)
    if partial.any():
        lane = int(np.flatnonzero(partial)[0]) * WARP + int(np.flatnonzero(~active[partial][0])[0])
        at.block.faults.report("inactive lane", f"{at.block.name_of(lane)} doesn't take part in {what}", at.place)
    return at.block.width // WARP


def in_warps(block: Block, registers: Value) -> np.ndarray:
    """A fragment as an array [warp, register, lane]."""
    return np.stack([block.vector(value).reshape(-1, WARP) for value in registers], 1)


def fragment_matrix(
    name: str, block: Block, registers: Value, place_in: Callable[..., tuple[Any, Any]], sizes: tuple[int, int]
) -> Any:
    """The matrix [warp, row, column] that lies in registers."""
    read, each = OPERANDS[name]
    words = np.ascontiguousarray(in_warps(block, registers).astype(np.int32))
    numbers = read(words).reshape(*words.shape, each)
    register = np.arange(words.shape[1])[:, None, None]
    row, column = np.broadcast_arrays(*place_in(LANES[:, None], register, np.arange(each), each))
    result = np.zeros((words.shape[0], *sizes), np.int64 if name == "int8" else np.float64)
    result[:, row, column] = numbers
    return result


def multiplication(name: str) -> Callable[..., Value]:
    each, sums = OPERANDS[name][1], np.int32 if name == "int8" else np.float32

    def run(at: Site, a: Value, b: Value, c: Value) -> Value:
        whole_warps(at, f"mma_{name}")
        of_a = fragment_matrix(name, at.block, a, place_in_a, (16, 8 * each))
        of_b = fragment_matrix(name, at.block, b, place_in_b, (8 * each, 8))
        product = of_a @ of_b
        row, column = place_in_sums(LANES, np.arange(4)[:, None])
        total = (product[:, row, column] + in_warps(at.block, c)).astype(sums)
        return tuple(total[:, number].reshape(-1) for number in range(4))

    return run


for _name in OPERANDS:
    intrinsic(f"tensor_cores.mma_{_name}")(multiplication(_name))


def matrix_load(at: Site, array: DeviceMemory, index: Value, place: Callable[..., Any], what: str) -> Value:
    """Four matrices of 8 rows of 16 bytes; `place(rows)` gives each lane's word of a matrix [warp, 8, 16 bytes]."""
    whole_warps(at, what)
    block, lanes = at.block, np.flatnonzero(at.active)
    index = block.vector(index).astype(np.int64)[lanes]
    rows = np.zeros((block.width, BYTES), np.uint8)
    count = BYTES // array.dtype.itemsize
    rows[lanes] = read_wide(block, at.place, array, lanes, index, count).view(np.uint8).reshape(-1, BYTES)
    count_access(at, array, "load", lanes, index)
    matrices = rows.reshape(-1, 4, 8, BYTES)
    return tuple(np.ascontiguousarray(place(matrices[:, number])).reshape(-1) for number in range(4))


def count_access(
    at: Site, array: DeviceMemory, what: str, lanes: np.ndarray, index: np.ndarray, nbytes: int = BYTES
) -> None:
    if at.block.counts is not None and lanes.size:
        addresses = array.addresses(lanes, (index,))
        at.block.counts.access(at.place, array.space, what, lanes, addresses, nbytes, array.title)


@intrinsic("tensor_cores.ldmatrix_x4")
def ldmatrix_x4(at: Site, array: DeviceMemory, index: Value) -> Value:
    def words(rows: np.ndarray) -> np.ndarray:
        return rows.view(np.int32)[:, LANES // 4, LANES % 4]

    return matrix_load(at, array, index, words, "ldmatrix_x4")


@intrinsic("tensor_cores.ldmatrix_x4_transposed")
def ldmatrix_x4_transposed(at: Site, array: DeviceMemory, index: Value) -> Value:
    def words(rows: np.ndarray) -> np.ndarray:
        halves = np.ascontiguousarray(rows.view(np.uint16).swapaxes(1, 2))
        return halves.view(np.int32)[:, LANES // 4, LANES % 4]

    return matrix_load(at, array, index, words, "ldmatrix_x4_transposed")


# ------------------------------------------------------------------------------------------------ copies


@dataclass
class Copy:
    """What a copy will write into shared memory, by which lanes, and the line that began it."""

    memory: DeviceMemory
    lanes: np.ndarray
    index: np.ndarray
    values: np.ndarray
    place: Place


def copies(block: Block) -> list[list[Copy]]:
    """The groups of copies that are under way; the last one isn't closed."""
    return block.shared.setdefault("copies under way", [[]])


def copying(all_bytes: int) -> Callable[..., None]:
    def copy(at: Site, shared: DeviceMemory, place: Value, source: DeviceMemory, index: Value, count: Value) -> None:
        """Reads now, and writes when the threads wait."""
        block, lanes = at.block, np.flatnonzero(at.active)
        to, origin, nbytes = (block.vector(v).astype(np.int64)[lanes] for v in (place, index, count))
        read = nbytes > 0
        bytes_read = source_bytes(at, source, lanes[read], origin[read], nbytes[read], all_bytes)
        count_access(at, source, "load", lanes[read], origin[read], all_bytes)
        count_access(at, shared, "store", lanes, to, all_bytes)
        values = np.zeros((lanes.size, all_bytes), np.uint8)
        values[read] = bytes_read
        begun = Copy(shared, lanes, to, values.view(shared.dtype), at.place)
        write_wide(block, at.place, shared, lanes, to, untouched(shared, to, begun.values.shape[1]))
        copies(block)[-1].append(begun)

    return copy


for _bytes in (8, 16):
    intrinsic(f"tensor_cores.cp_async_{_bytes}")(copying(_bytes))


def source_bytes(
    at: Site, source: DeviceMemory, lanes: np.ndarray, index: np.ndarray, nbytes: np.ndarray, all_bytes: int
) -> np.ndarray:
    """[lane, all] bytes, of which those behind the first `nbytes` are zero, and not read."""
    size = source.dtype.itemsize
    result = np.zeros((lanes.size, all_bytes // size), source.dtype)
    aligned(at.block, at.place, source, lanes, index, all_bytes)
    for count in np.unique(nbytes // size):
        some = nbytes // size == count
        each = 1 if count < all_bytes // size else count  # a part need not begin where its own bytes divide
        for first in range(0, int(count), int(each)):
            part = read_wide(at.block, at.place, source, lanes[some], index[some] + first, int(each))
            result[some, first : first + int(each)] = part
    return result.view(np.uint8).reshape(lanes.size, all_bytes)


def untouched(memory: DeviceMemory, index: np.ndarray, count: int) -> np.ndarray:
    """What is there now, read by nobody."""
    where = np.clip(index[:, None] + np.arange(count), 0, memory.size - 1)
    return memory.data[where]


@intrinsic("tensor_cores.cp_async_commit")
def cp_async_commit(at: Site) -> None:
    copies(at.block).append([])


def waiting(most: int) -> Callable[[Site], None]:
    def wait(at: Site) -> None:
        """Ends all groups but the last `most`."""
        groups = copies(at.block)
        ended, groups[:] = groups[: max(0, len(groups) - 1 - most)], groups[max(0, len(groups) - 1 - most) :]
        for copy in (copy for group in ended for copy in group):
            write_wide(at.block, copy.place, copy.memory, copy.lanes, copy.index, copy.values)

    return wait


for _most in range(3):
    intrinsic(f"tensor_cores.cp_async_wait_{_most}")(waiting(_most))


# ------------------------------------------------------------------------------------------------ numbers


def packing(round_to: Callable[[np.ndarray], np.ndarray]) -> Callable[..., Value]:
    def pack(at: Site, low: Value, high: Value) -> Value:
        halves = np.stack([round_to(at.block.vector(x).astype(np.float32)) for x in (low, high)], 1)
        return halves.astype(np.uint16).view(np.int32)[:, 0]

    return pack


def bits_of_bfloat16(x: np.ndarray) -> np.ndarray:
    """The upper half of the nearest number of which nothing else is set."""
    bits = x.view(np.uint32)
    return np.where(np.isnan(x), 0x7FFF, (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16)


intrinsic("tensor_cores.pack_bfloat16")(packing(bits_of_bfloat16))
intrinsic("tensor_cores.pack_float16")(packing(lambda x: x.astype(np.float16).view(np.uint16)))


@intrinsic("tensor_cores.quotient")
def quotient(at: Site, x: Value, y: Value) -> Value:
    return (np.asarray(x).astype(np.uint32) // np.asarray(y).astype(np.uint32)).astype(np.int32)[()]


@intrinsic("tensor_cores.exp2")
def exp2(at: Site, x: Value) -> Value:
    result = np.exp2(np.asarray(x, np.float32))
    return np.where(result < np.finfo(np.float32).tiny, np.float32(0), result)[()]


@intrinsic("tensor_cores.load_four")
def load_four(at: Site, array: DeviceMemory, index: Value) -> Value:
    block, lanes = at.block, np.flatnonzero(at.active)
    index = block.vector(index).astype(np.int64)[lanes]
    count_access(at, array, "load", lanes, index)
    result = np.zeros((block.width, 4), np.float32)
    result[lanes] = read_wide(block, at.place, array, lanes, index, 4).view(np.float32)
    return tuple(result[:, number] for number in range(4))


@intrinsic("tensor_cores.load_word")
def load_word(at: Site, source: DeviceMemory, index: Value) -> Value:
    block, lanes = at.block, np.flatnonzero(at.active)
    index = block.vector(index).astype(np.int64)[lanes]
    count_access(at, source, "load", lanes, index, 4)
    result = np.zeros(block.width, np.int32)
    values = read_wide(block, at.place, source, lanes, index, 4 // source.dtype.itemsize)
    result[lanes] = values.view(np.int32)[:, 0]
    return result


@intrinsic("tensor_cores.store_word")
def store_word(at: Site, target: DeviceMemory, index: Value, bits: Value) -> None:
    block, lanes = at.block, np.flatnonzero(at.active)
    words = np.ascontiguousarray(block.vector(bits).astype(np.int32)[lanes])
    index = block.vector(index).astype(np.int64)[lanes]
    count_access(at, target, "store", lanes, index, 4)
    write_wide(block, at.place, target, lanes, index, words.view(target.dtype).reshape(lanes.size, -1))
