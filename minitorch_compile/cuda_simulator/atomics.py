"""Atomics and the making of shared, local and constant arrays: the intrinsics that have to do with memory.

Of a warp's lanes that change one cell, the lower goes first.

>>> from minitorch_compile.cuda_simulator.intrinsics import INTRINSICS
>>> sorted(name for name in INTRINSICS if name.startswith("atomic."))[:4]
['atomic.add', 'atomic.and_', 'atomic.cas', 'atomic.compare_and_swap']
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from minitorch_compile.cuda_simulator.arithmetic import Value, dtype_of
from minitorch_compile.cuda_simulator.block import Block
from minitorch_compile.cuda_simulator.intrinsics import Site, intrinsic
from minitorch_compile.cuda_simulator.memory import ConstantMemory, DeviceMemory, LocalMemory, SharedMemory
from minitorch_compile.cuda_simulator.races import Shadow


def nan_skipping(choose: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """A choice of two numbers in which NaN never wins."""
    return lambda old, new: new if old != old else old if new != new else choose(old, new)


CHANGES: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda old, value: old + value,
    "sub": lambda old, value: old - value,
    "and_": lambda old, value: old & value,
    "or_": lambda old, value: old | value,
    "xor": lambda old, value: old ^ value,
    "inc": lambda old, limit: 0 if old >= limit else old + 1,
    "dec": lambda old, limit: limit if old == 0 or old > limit else old - 1,
    "exch": lambda old, value: value,
    "max": lambda old, value: value if value > old or old != old else old,
    "min": lambda old, value: value if value < old or old != old else old,
    "nanmax": nan_skipping(lambda old, value: max(old, value)),
    "nanmin": nan_skipping(lambda old, value: min(old, value)),
}


# The types of elements that Numba has each for; what is not listed has them all.
ALL = ("int32", "uint32", "int64", "uint64", "float32", "float64")
ONLY = {"inc": ("uint32", "uint64"), "dec": ("uint32", "uint64")} | dict.fromkeys(
    ("and_", "or_", "xor", "exch", "cas"), ("int32", "uint32", "int64", "uint64")
)


def check_type(at: Site, name: str, array: DeviceMemory) -> None:
    """TypeError for elements of which no device changes one as a step."""
    types = ONLY.get(name, ALL)
    if array.dtype.name not in types:
        names = ", ".join(types)
        raise TypeError(f"atomic.{name}: {array.title} is {array.dtype.name}, but has to be {names}\n    {at.place}")


def atomic(name: str, change: Callable[[Any, Any], Any]) -> Callable[..., Value]:
    """An intrinsic (array, index, value) that gives the old value."""

    def run(at: Site, array: DeviceMemory, index: Value, value: Value) -> Value:
        check_type(at, name, array)
        indices = index if isinstance(index, tuple) else (index,)
        values = at.block.vector(value)
        if name != "exch":  # which needs no old value
            array.expect_written(at.block, indices, at.active, at.place)
        return array.change(
            at.block, indices, at.active, at.place, lambda lane, old: change(old, old.dtype.type(values[lane]))
        )

    return run


for _name, _change in CHANGES.items():
    intrinsic(f"atomic.{_name}")(atomic(_name, _change))


@intrinsic("atomic.cas")
def cas(at: Site, array: DeviceMemory, index: Value, expected: Value, value: Value) -> Value:
    """Writes `value` where `expected` is; the old value."""
    check_type(at, "cas", array)
    indices = index if isinstance(index, tuple) else (index,)
    olds, values = at.block.vector(expected), at.block.vector(value)
    array.expect_written(at.block, indices, at.active, at.place)
    return array.change(
        at.block, indices, at.active, at.place, lambda lane, old: values[lane] if old == olds[lane] else old
    )


@intrinsic("atomic.compare_and_swap")
def compare_and_swap(at: Site, array: DeviceMemory, expected: Value, value: Value) -> Value:
    return cas(at, array, np.int64(0), expected, value)


# ---------------------------------------------------------------------------------------------- arrays


PYTHONS = {bool: "numba.boolean", int: "numba.int64", float: "numba.float64", complex: "numba.complex128"}


def sizes_and_dtype(at: Site, shape: Value, dtype: Value) -> tuple[tuple[int, ...], np.dtype[Any]]:
    sizes = shape if isinstance(shape, tuple) else (shape,)
    found = dtype_of(dtype)
    if found is None or any(np.ndim(size) for size in sizes):
        raise TypeError(f"the shape and dtype of an array must be constants, got {shape} and {dtype}\n    {at.place}")
    if isinstance(dtype, type) and dtype in PYTHONS:
        instead = PYTHONS[dtype]
        raise TypeError(
            f"the dtype of an array is Python's {dtype.__name__}, which Numba refuses; use {instead}\n    {at.place}"
        )
    return tuple(int(size) for size in sizes), found


@intrinsic("shared.array")
def shared_array(at: Site, shape: Value, dtype: Value, alignment: Value = 16) -> Value:
    """One array for all threads of a block, the same at each call; without a size, what the launch gave. Its addresses
    count from its beginning, which any alignment divides."""
    if at.node not in at.block.shared:
        sizes, found = sizes_and_dtype(at, shape, dtype)
        data = np.zeros(sizes, found)
        shadow = Shadow(data.size, found.itemsize)
        if sizes == (0,):
            memory, shadow = dynamic_shared_memory(at.block)
            data = memory[: memory.size // found.itemsize * found.itemsize].view(found)
        at.block.shared[at.node] = SharedMemory("", data, shadow)
    return at.block.shared[at.node]


def dynamic_shared_memory(block: Block) -> tuple[np.ndarray, Shadow]:
    """The bytes that the launch gave, and what is known of them: arrays without a size all begin there."""
    if "dynamic" not in block.shared:
        block.shared["dynamic"] = (np.zeros(block.launch.shared_bytes, np.uint8), Shadow(block.launch.shared_bytes))
    memory, shadow = block.shared["dynamic"]
    return memory, shadow


@intrinsic("local.array")
def local_array(at: Site, shape: Value, dtype: Value) -> Value:
    """An array for each thread."""
    sizes, found = sizes_and_dtype(at, shape, dtype)
    return LocalMemory("", np.zeros((at.block.width, *sizes), found))


@intrinsic("const.array_like")
def constant_array(at: Site, array: Value) -> Value:
    data = array.data if isinstance(array, DeviceMemory) else np.asarray(array)
    return ConstantMemory("", data, Shadow(data.size, data.itemsize))
