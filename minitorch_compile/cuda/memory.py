"""torch.cuda.memory: what the allocators of the GPUs say, and what they are told.

>>> from minitorch_compile.cuda.runtime import using
>>> from minitorch_compile.cuda_runtime.fake_driver import FakeDriver
>>> from minitorch_compile.tensor import zeros
>>> with using(FakeDriver()):
...     x = zeros(1000, device="cuda")
...     memory_allocated(), memory_reserved(), mem_get_info()[1]
(4096, 2097152, 1073741824)

Without a GPU nothing is in use: figures are 0.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from minitorch_compile.cuda.runtime import find, required
from minitorch_compile.cuda_runtime.allocator import CachingAllocator
from minitorch_compile.cuda_runtime.errors import OutOfMemoryError
from minitorch_compile.cuda_runtime.memory_summary import memory_summary as _summary


def _allocator(device: Any = None) -> CachingAllocator:
    runtime = required()
    return runtime.allocators[runtime.index_of(device)]


def empty_cache() -> None:
    """Gives the memory that no tensor is in back to the driver, on all GPUs."""
    runtime = find()
    for allocator in () if runtime is None else runtime.allocators:
        allocator.empty_cache()


def memory_stats(device: Any = None) -> OrderedDict[str, Any]:
    """All figures of the allocator, as "allocated_bytes.all.current". None without a GPU."""
    return OrderedDict() if find() is None else OrderedDict(sorted(_allocator(device).memory_stats().items()))


def _figure(name: str, device: Any) -> int:
    return 0 if find() is None else _allocator(device).memory_stats()[name]


def memory_allocated(device: Any = None) -> int:
    """Bytes that tensors take, rounded up to the allocator's pieces."""
    return _figure("allocated_bytes.all.current", device)


def max_memory_allocated(device: Any = None) -> int:
    """The most bytes that tensors took, since the start or reset_peak_memory_stats()."""
    return _figure("allocated_bytes.all.peak", device)


def memory_reserved(device: Any = None) -> int:
    """Bytes that the allocator has from the driver."""
    return _figure("reserved_bytes.all.current", device)


def max_memory_reserved(device: Any = None) -> int:
    """The most bytes that it had, since the start or reset_peak_memory_stats()."""
    return _figure("reserved_bytes.all.peak", device)


# The first names of these two, which PyTorch keeps.
memory_cached = memory_reserved
max_memory_cached = max_memory_reserved


def memory_snapshot(mempool_id: Any = None, include_traces: bool = True) -> list[dict[str, Any]]:
    """Every segment that the allocators have, with its blocks. AssertionError without a GPU."""
    return [segment for allocator in required().allocators for segment in allocator.snapshot()]


def memory_summary(device: Any = None, abbreviated: bool = False) -> str:
    """The figures as a table, in all and by pool; `abbreviated`: in all. AssertionError without a GPU."""
    index = required().index_of(device)
    return _summary(_allocator(index).memory_stats(), index, abbreviated)


def mem_get_info(device: Any = None) -> tuple[int, int]:
    """(free, total) bytes of a GPU, whoever uses them. AssertionError without one."""
    runtime = required()
    return runtime.driver.memory_info(runtime.index_of(device))


def set_per_process_memory_fraction(fraction: float, device: Any = None) -> None:
    """The part of a GPU's memory, from 0 to 1, beyond which allocations are out of memory. AssertionError without a
    GPU, TypeError and ValueError for what is no such number."""
    _allocator(device).set_memory_fraction(fraction)


def reset_peak_memory_stats(device: Any = None) -> None:
    """Peaks begin at what is in use now. AssertionError without a GPU."""
    _allocator(device).reset_peak_stats()


reset_max_memory_allocated = reset_max_memory_cached = reset_peak_memory_stats


def reset_accumulated_memory_stats(device: Any = None) -> None:
    """What was allocated and freed in all begins at 0. AssertionError without a GPU."""
    _allocator(device).reset_accumulated_stats()


__all__ = [
    "OutOfMemoryError", "empty_cache", "max_memory_allocated", "max_memory_cached", "max_memory_reserved",
    "mem_get_info", "memory_allocated", "memory_cached", "memory_reserved", "memory_snapshot", "memory_stats",
    "memory_summary", "reset_accumulated_memory_stats", "reset_max_memory_allocated", "reset_max_memory_cached",
    "reset_peak_memory_stats", "set_per_process_memory_fraction",
]  # fmt: skip
