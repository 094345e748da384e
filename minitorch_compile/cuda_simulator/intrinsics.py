"""What `numba.cuda` has for kernels: thread indices, barriers, shuffles, votes, bits.

Each is a function from a `Site`, which says where it was called, by whom and under which mask, and from its arguments.
`register` enters those that are values, such as `threadIdx.x`, `intrinsic` those that are called.

>>> len([name for name in INTRINSICS if name.startswith("shfl")]), "threadIdx.x" in REGISTERS
(4, True)
>>> Intrinsic("shared").array
<cuda.shared.array, for kernels>
>>> Intrinsic("").warp_speed
Traceback (most recent call last):
AttributeError: the simulator knows no cuda.warp_speed
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from minitorch_compile.cuda_simulator.arithmetic import Value, truth, widened
from minitorch_compile.cuda_simulator.block import AXES, WARP, Block, Mask
from minitorch_compile.cuda_simulator.faults import Place

REGISTERS: dict[str, Callable[[Block], Value]] = {}
INTRINSICS: dict[str, Callable[..., Value]] = {}


class Intrinsic:
    """A name of `cuda`. Outside of kernels it means nothing."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __getattr__(self, part: str) -> Intrinsic:
        """A name in this one; made at its first use, and kept."""
        name = f"{self.name}.{part}" if self.name else part
        if part.startswith("__") or not any(f"{known}.".startswith(f"{name}.") for known in (*REGISTERS, *INTRINSICS)):
            raise AttributeError(f"the simulator knows no cuda.{name}")
        self.__dict__[part] = Intrinsic(name)
        return self.__dict__[part]

    def __call__(self, *_: Any, **__: Any) -> Any:
        raise RuntimeError(f"cuda.{self.name} is for kernels: call it in a function that cuda.jit or simulate runs")

    def __repr__(self) -> str:
        return f"<cuda.{self.name}, for kernels>"


@dataclass
class Site:
    """A call in a kernel: of which block, by which lanes, in which line. `node` tells calls apart."""

    block: Block
    active: Mask
    place: Place
    node: Any


def register(name: str) -> Callable[[Callable[[Block], Value]], Callable[[Block], Value]]:
    def enter(function: Callable[[Block], Value]) -> Callable[[Block], Value]:
        REGISTERS[name] = function
        return function

    return enter


def intrinsic(*names: str) -> Callable[[Callable[..., Value]], Callable[..., Value]]:
    def enter(function: Callable[..., Value]) -> Callable[..., Value]:
        INTRINSICS.update(dict.fromkeys(names, function))
        return function

    return enter


# ---------------------------------------------------------------------------------------------- who am I


def register_axis(number: int, axis: str) -> None:
    register(f"threadIdx.{axis}")(lambda block: block.thread_index[axis])
    register(f"blockIdx.{axis}")(lambda block: block.block_index[axis])
    register(f"blockDim.{axis}")(lambda block: np.int32(block.launch.threads[number]))
    register(f"gridDim.{axis}")(lambda block: np.int32(block.launch.blocks[number]))


for _number, _axis in enumerate(AXES):
    register_axis(_number, _axis)
register("laneid")(lambda block: block.lane)
register("warpsize")(lambda block: np.int32(WARP))


def of_dimensions(count: Value, values: list[Value]) -> Value:
    """The first, or the first two or three as a tuple."""
    return values[0] if int(count) == 1 else tuple(values[: int(count)])


@intrinsic("grid")
def grid(at: Site, dimensions: Value) -> Value:
    """The thread's place in the whole grid."""
    block = at.block
    sizes = (np.int64(size) for size in block.launch.threads)
    places = [block.thread_index[a] + block.block_index[a] * size for a, size in zip(AXES, sizes)]
    return of_dimensions(dimensions, places)


@intrinsic("gridsize")
def gridsize(at: Site, dimensions: Value) -> Value:
    launch = at.block.launch
    return of_dimensions(dimensions, [np.int64(b * t) for b, t in zip(launch.blocks, launch.threads)])


# ---------------------------------------------------------------------------------------------- barriers


def all_threads(at: Site, condition: Value = None) -> None:
    """Reports a barrier that some of the block's threads don't reach, and lets the others pass."""
    if condition is not None and condition.dtype.kind not in "iu":
        raise TypeError(f"the barrier takes a whole number, got {condition.dtype}: int32(...)\n    {at.place}")
    block = at.block
    missing = np.flatnonzero(block.existing & ~at.active)
    if missing.size:
        here = int(np.count_nonzero(at.active))
        what = f"{here} of {here + missing.size} threads of block {block.number} reach the barrier;"
        block.faults.report("divergent barrier", f"{what} {block.name_of(int(missing[0]))} doesn't", at.place)
    if block.counts is not None:
        block.counts.barrier(at.place)
    block.races.barrier()


@intrinsic("syncthreads")
def syncthreads(at: Site) -> Value:
    all_threads(at)


@intrinsic("syncthreads_count")
def syncthreads_count(at: Site, condition: Value) -> Value:
    all_threads(at, condition)
    return np.int32(np.count_nonzero(at.active & truth(condition)))


@intrinsic("syncthreads_and")
def syncthreads_and(at: Site, condition: Value) -> Value:
    all_threads(at, condition)
    return np.int32(not (at.active & ~truth(condition)).any())


@intrinsic("syncthreads_or")
def syncthreads_or(at: Site, condition: Value) -> Value:
    all_threads(at, condition)
    return np.int32((at.active & truth(condition)).any())


@intrinsic("syncwarp")
def syncwarp(at: Site, mask: Value = np.int64(0xFFFFFFFF)) -> Value:
    members_of_warp(at, mask, "syncwarp")
    at.block.races.warp_barrier(np.flatnonzero(at.active))


@intrinsic("threadfence", "threadfence_block", "threadfence_system")
def threadfence(at: Site) -> Value:
    at.block.races.fence()


@intrinsic("nanosleep")
def nanosleep(at: Site, nanoseconds: Value) -> Value:
    """Nobody waits for anybody here."""


# ---------------------------------------------------------------------------------------------- within a warp


PASSED_ON = (4, 8)  # bytes of what Numba's shuffles take


def members_of_warp(at: Site, mask: Value, what: str) -> Mask:
    """The lanes that the masks of callers name; reports those of them that aren't here, and callers whose own mask
    doesn't name them. Parts of a warp may call with a mask each."""
    block = at.block
    masks = block.vector(mask).astype(np.int64)
    by_warp = np.bitwise_or.reduce(np.where(at.active, masks, 0).reshape(-1, WARP), axis=1)
    named = (np.repeat(by_warp, WARP) >> block.lane) & 1 != 0
    absent = np.flatnonzero(named & block.existing & ~at.active)
    uncalled = np.flatnonzero(at.active & ((masks >> block.lane) & 1 == 0))
    if absent.size:
        message = f"the mask of {what} names {block.name_of(int(absent[0]))}, which isn't here"
        block.faults.report("inactive lane", message, at.place)
    if uncalled.size:
        message = f"{block.name_of(int(uncalled[0]))} calls {what}, but its mask doesn't name it"
        block.faults.report("inactive lane", message, at.place)
    return named & at.active


def shuffled(at: Site, mask: Value, value: Value, source: np.ndarray, what: str) -> Value:
    """Each lane's value from the lane `source` of its warp. TypeError for a value that no shuffle passes on."""
    block = at.block
    values = block.vector(value)
    if values.dtype.kind not in "fiu" or values.itemsize not in PASSED_ON:
        raise TypeError(f"{what} passes on numbers of 4 and 8 bytes, not {values.dtype.name}\n    {at.place}")
    members = members_of_warp(at, mask, what)
    from_lane = np.arange(block.width) // WARP * WARP + source
    silent = np.flatnonzero(members & ~members[from_lane])
    if silent.size:
        lane = int(silent[0])
        message = f"{block.name_of(lane)} takes a value from lane {int(source[lane])} of its warp, which gives none"
        block.faults.report("inactive lane", f"{message} ({what})", at.place)
    return values[from_lane]


@intrinsic("shfl_sync")
def shfl_sync(at: Site, mask: Value, value: Value, lane: Value) -> Value:
    """The value of one lane."""
    return shuffled(at, mask, value, at.block.vector(lane) % WARP, "shfl_sync")


@intrinsic("shfl_up_sync")
def shfl_up_sync(at: Site, mask: Value, value: Value, delta: Value) -> Value:
    """The value of the lane `delta` below; the first ones keep theirs."""
    lane = at.block.lane
    source = lane - at.block.vector(delta)
    return shuffled(at, mask, value, np.where(source < 0, lane, source), "shfl_up_sync")


@intrinsic("shfl_down_sync")
def shfl_down_sync(at: Site, mask: Value, value: Value, delta: Value) -> Value:
    """The value of the lane `delta` above; the last ones keep theirs."""
    lane = at.block.lane
    source = lane + at.block.vector(delta)
    return shuffled(at, mask, value, np.where(source >= WARP, lane, source), "shfl_down_sync")


@intrinsic("shfl_xor_sync")
def shfl_xor_sync(at: Site, mask: Value, value: Value, lanes: Value) -> Value:
    """The value of the lane whose number differs in these bits."""
    return shuffled(at, mask, value, (at.block.lane ^ at.block.vector(lanes)) % WARP, "shfl_xor_sync")


def per_warp(at: Site, mask: Value, what: str) -> tuple[Mask, np.ndarray]:
    """The members of each warp, and a function's result for each warp handed to its lanes."""
    return members_of_warp(at, mask, what).reshape(-1, WARP), np.arange(at.block.width) // WARP


@intrinsic("all_sync")
def all_sync(at: Site, mask: Value, condition: Value) -> Value:
    members, warp = per_warp(at, mask, "all_sync")
    return (~members | at.block.vector(truth(condition)).reshape(-1, WARP)).all(1)[warp]


@intrinsic("any_sync")
def any_sync(at: Site, mask: Value, condition: Value) -> Value:
    members, warp = per_warp(at, mask, "any_sync")
    return (members & at.block.vector(truth(condition)).reshape(-1, WARP)).any(1)[warp]


@intrinsic("eq_sync")
def eq_sync(at: Site, mask: Value, condition: Value) -> Value:
    members, warp = per_warp(at, mask, "eq_sync")
    true = at.block.vector(truth(condition)).reshape(-1, WARP)
    return ((~members | true).all(1) | ~(members & true).any(1))[warp]


def bits_of(members: Mask) -> np.ndarray:
    """For each warp: a number whose bits are its lanes."""
    return (members.reshape(-1, WARP).astype(np.int64) << np.arange(WARP)).sum(1).astype(np.uint32)


@intrinsic("ballot_sync")
def ballot_sync(at: Site, mask: Value, condition: Value) -> Value:
    members, warp = per_warp(at, mask, "ballot_sync")
    return bits_of(members & at.block.vector(truth(condition)).reshape(-1, WARP)).astype(np.int32)[warp]


@intrinsic("match_any_sync")
def match_any_sync(at: Site, mask: Value, value: Value) -> Value:
    """The lanes whose value is mine, as bits."""
    members, warp = per_warp(at, mask, "match_any_sync")
    values = at.block.vector(value).reshape(-1, WARP)
    same = (values[:, :, None] == values[:, None, :]) & members[:, None, :]
    return (same.astype(np.int64) << np.arange(WARP)).sum(2).astype(np.int32).reshape(-1)


@intrinsic("match_all_sync")
def match_all_sync(at: Site, mask: Value, value: Value) -> Value:
    """(the members as bits if all have one value, else 0; whether they have)."""
    members, warp = per_warp(at, mask, "match_all_sync")
    same = match_any_sync(at, mask, value)
    agreed = (~members | (same == bits_of(members).astype(np.int32)[warp]).reshape(-1, WARP)).all(1)[warp]
    return np.where(agreed, same, 0).astype(np.int32), agreed


@intrinsic("activemask")
def activemask(at: Site) -> Value:
    return bits_of(at.active)[np.arange(at.block.width) // WARP]


@intrinsic("lanemask_lt")
def lanemask_lt(at: Site) -> Value:
    """The lanes below mine, as bits."""
    return ((np.int64(1) << at.block.lane.astype(np.int64)) - 1).astype(np.uint32)


# ---------------------------------------------------------------------------------------------- numbers


def bits(value: Value) -> int:
    return 8 * int(value.dtype.itemsize)


def unsigned(value: Value) -> Value:
    """The bits of a whole number as one without a sign."""
    return value.astype(np.dtype(f"u{value.dtype.itemsize}"))


@intrinsic("popc")
def popc(at: Site, value: Value) -> Value:
    """How many bits are set."""
    return np.bitwise_count(unsigned(value)).astype(value.dtype)


def reversed_bits(value: Value) -> Value:
    number, result = unsigned(value), np.zeros_like(unsigned(value))
    one = number.dtype.type(1)
    for _ in range(bits(value)):
        result = (result << one) | (number & one)
        number = number >> one
    return result


@intrinsic("brev")
def brev(at: Site, value: Value) -> Value:
    """The bits in the other order, as a number of 32 or 64 bits without a sign."""
    return reversed_bits(value if value.dtype.itemsize == 8 else value.astype(np.int32))


@intrinsic("ffs")
def ffs(at: Site, value: Value) -> Value:
    """The place of the lowest set bit, counted from 1; 0 if there is none."""
    number = unsigned(value)
    lowest = number & (~number + number.dtype.type(1))
    below = np.bitwise_count(lowest - number.dtype.type(1))
    return np.where(number == 0, 0, below + 1).astype(np.uint32)


@intrinsic("clz")
def clz(at: Site, value: Value) -> Value:
    """How many bits above the highest set one are clear."""
    number = reversed_bits(value)
    return np.where(number == 0, bits(value), ffs(at, number) - 1).astype(value.dtype)


@intrinsic("fma")
def fma(at: Site, x: Value, y: Value, z: Value) -> Value:
    """x * y + z, rounded once: exact for float32, in extended precision for float64."""
    dtype = np.result_type(x, y, z)
    exact = np.dtype(np.float64 if dtype.itemsize <= 4 else np.longdouble)
    return (x.astype(exact) * y.astype(exact) + z.astype(exact)).astype(dtype)


@intrinsic("cbrt")
def cbrt(at: Site, value: Value) -> Value:
    return np.cbrt(value)


@intrinsic("selp")
def selp(at: Site, condition: Value, x: Value, y: Value) -> Value:
    """x where the condition holds, else y."""
    return np.where(truth(condition), *widened(x, y))
