"""Twins of the intrinsics by which kernels move several neighbouring elements at once, find rows and places, and do by
one instruction what takes others several. `inductor/codegen/cuda/vectors.py` and `indices.py` and
`single_instructions.py` beside it say what each does.

>>> from minitorch_compile.cuda_simulator.block import Launch
>>> from minitorch_compile.cuda_simulator.faults import Faults, Place
>>> from minitorch_compile.cuda_simulator.memory import LocalMemory
>>> block = Block(Launch((1, 1, 1), (32, 1, 1), Faults(collect=False)), (0, 0, 0))
>>> site = Site(block, block.existing, Place("kernel.py", 2, "kernel", "load_4(fours, 0, x, 4 * i, True)"), None)
>>> x, fours = DeviceMemory.of_array("x", np.arange(128.0)), LocalMemory("fours", np.zeros((32, 4)))
>>> INTRINSICS["vectors.load_4"](site, fours, np.int64(0), x, 4 * np.arange(32), np.bool_(True))
>>> fours.data[5].tolist()
[20.0, 21.0, 22.0, 23.0]
"""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch_compile.cuda_simulator.arithmetic import Value, truth
from minitorch_compile.cuda_simulator.block import Block
from minitorch_compile.cuda_simulator.intrinsics import INTRINSICS, Site, intrinsic  # noqa: F401  (an example's)
from minitorch_compile.cuda_simulator.memory import DeviceMemory, address_of
from minitorch_compile.cuda_simulator.wide_access import read_wide, write_wide

WIDEST = 16  # bytes of an access


@intrinsic("vectors.is_aligned")
def is_aligned(at: Site, memory: Value) -> Value:
    return np.bool_(address_of(memory.data) % WIDEST == 0)


@intrinsic("indices.split")
def split(at: Site, number: Value, size: Value) -> Value:
    """Quotient and remainder of numbers of 32 bits."""
    divisor = np.maximum(size, 1)  # where no thread asks, it may be 0
    return number // divisor, number % divisor


intrinsic("single_instructions.maximum")(lambda at, x, y: np.maximum(x, y))
intrinsic("single_instructions.minimum")(lambda at, x, y: np.minimum(x, y))
intrinsic("single_instructions.near_exp")(lambda at, x: np.exp(np.float32(x)))
intrinsic("single_instructions.near_reciprocal")(lambda at, x: np.float32(1) / np.float32(x))
intrinsic("single_instructions.near_root")(lambda at, x: np.sqrt(np.float32(x)))
intrinsic("single_instructions.near_quotient")(lambda at, x, y: np.float32(x) / np.float32(y))
intrinsic("single_instructions.wide_product")(lambda at, x, y: np.uint64(x) * np.uint64(y))
intrinsic("single_instructions.floor")(lambda at, x: np.floor(x))
intrinsic("single_instructions.ceil")(lambda at, x: np.ceil(x))
intrinsic("single_instructions.trunc")(lambda at, x: np.trunc(x))
intrinsic("single_instructions.round_half_even")(lambda at, x: np.rint(x))


@intrinsic("single_instructions.bfloat16_of_float32")
def bfloat16_of_float32(at: Site, x: Value) -> Value:
    """Rounded to even, by what carries into the upper half."""
    bits = np.asarray(x, np.float32).view(np.uint32)
    rounded = bits + (bits >> np.uint32(16) & np.uint32(1)) + np.uint32(0x7FFF)
    return (np.where(np.isnan(x), bits | np.uint32(0x7FC00000), rounded) >> np.uint32(16)).astype(np.uint16)


@intrinsic("single_instructions.float32_by_bfloat16")
def float32_by_bfloat16(at: Site, x: Value) -> Value:
    return (bfloat16_of_float32(at, x).astype(np.uint32) << np.uint32(16)).view(np.float32)


def pieces(memory: DeviceMemory, count: int) -> list[tuple[int, int]]:
    """(first element, elements) of each access to `count` elements."""
    each = min(count, max(1, WIDEST // memory.dtype.itemsize))
    return [(first, each) for first in range(0, count, each)]


def groups(at: Site, aligned: Value) -> tuple[np.ndarray, np.ndarray]:
    """The active lanes whose elements are aligned, and the others."""
    is_whole = at.block.vector(truth(aligned))
    return np.flatnonzero(at.active & is_whole), np.flatnonzero(at.active & ~is_whole)


def accesses(at: Site, memory: DeviceMemory, count: int, aligned: Value) -> list[tuple[np.ndarray, int, int]]:
    """(lanes, first element, elements) of each access that is made."""
    whole, one_by_one = groups(at, aligned)
    made = [(whole, *piece) for piece in pieces(memory, count)] if whole.size else []
    return made + ([(one_by_one, k, 1) for k in range(count)] if one_by_one.size else [])


def count_access(at: Site, what: str, memory: DeviceMemory, lanes: np.ndarray, index: np.ndarray, each: int) -> None:
    if at.block.counts is not None:
        nbytes = each * memory.dtype.itemsize
        at.block.counts.access(at.place, memory.space, what, lanes, memory.addresses(lanes, (index,)), nbytes)


def lanes_of(block: Block, value: Value) -> np.ndarray:
    return block.vector(value).astype(np.int64)


def enter(count: int) -> None:
    """Enters the intrinsics for so many elements."""

    @intrinsic(f"vectors.load_{count}")
    def load(at: Site, registers: Any, place: Value, memory: Any, address: Value, aligned: Value) -> Value:
        to, start = lanes_of(at.block, place), lanes_of(at.block, address)
        for lanes, first, each in accesses(at, memory, count, aligned):
            count_access(at, "load", memory, lanes, start[lanes] + first, each)
            values = read_wide(at.block, at.place, memory, lanes, start[lanes] + first, each)
            for k in range(each):
                registers.data[lanes, to[lanes] + first + k] = values[:, k]

    @intrinsic(f"vectors.store_{count}")
    def store(at: Site, registers: Any, place: Value, memory: Any, address: Value, aligned: Value) -> Value:
        of, start = lanes_of(at.block, place), lanes_of(at.block, address)
        for lanes, first, each in accesses(at, memory, count, aligned):
            values = np.stack([registers.data[lanes, of[lanes] + first + k] for k in range(each)], 1)
            count_access(at, "store", memory, lanes, start[lanes] + first, each)
            write_wide(at.block, at.place, memory, lanes, start[lanes] + first, values)

    if count == 1:
        return

    @intrinsic(f"vectors.fetch_{count}")
    def fetch(at: Site, words: Any, place: Value, memory: Any, address: Value, aligned: Value) -> Value:
        to, start = lanes_of(at.block, place), lanes_of(at.block, address)
        found = np.zeros((at.block.width, count), memory.dtype)
        for lanes, first, each in accesses(at, memory, count, aligned):
            count_access(at, "load", memory, lanes, start[lanes] + first, each)
            found[lanes, first : first + each] = read_wide(
                at.block, at.place, memory, lanes, start[lanes] + first, each
            )
        active = np.flatnonzero(at.active)
        for n, word in enumerate(found.view(np.uint32).T):
            words.data[active, to[active] + n] = word[active]

    @intrinsic(f"vectors.take_{count}")
    def take(at: Site, registers: Any, place: Value, words: Any, word: Value) -> Value:
        to, of, active = lanes_of(at.block, place), lanes_of(at.block, word), np.flatnonzero(at.active)
        for n in range(count * registers.dtype.itemsize // 4):
            parts = words.data[active, of[active] + n].copy().view(registers.dtype).reshape(active.size, -1)
            for k in range(parts.shape[1]):
                registers.data[active, to[active] + parts.shape[1] * n + k] = parts[:, k]


@intrinsic("vectors.beyond")
def beyond(at: Site, memory: Value, address: Value, count: Value) -> Value:
    """Elements from where the last vector before an address may begin."""
    itemsize = memory.dtype.itemsize
    return (address_of(memory.data) // itemsize + address) % count


for _count in (1, 2, 4, 8, 16):
    enter(_count)
