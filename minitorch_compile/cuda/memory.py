"""torch.cuda.memory: the memory of a GPU, of which there is none: nothing is in use.

>>> memory_allocated(), memory_stats()
(0, OrderedDict())
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from minitorch_compile.cuda.absent import refuse
from minitorch_compile.cuda_runtime.errors import OutOfMemoryError as OutOfMemoryError


def empty_cache() -> None:
    """Frees unused GPU memory, of which there is none."""


def memory_allocated(device: Any = None) -> int:
    """Bytes of GPU memory that tensors take."""
    return 0


def max_memory_allocated(device: Any = None) -> int:
    """The most bytes of GPU memory that tensors took."""
    return 0


def memory_reserved(device: Any = None) -> int:
    """Bytes of GPU memory that are kept for tensors."""
    return 0


def max_memory_reserved(device: Any = None) -> int:
    """The most bytes of GPU memory that were kept."""
    return 0


# The first names of these two, which PyTorch keeps.
memory_cached = memory_reserved
max_memory_cached = max_memory_reserved


def memory_stats(device: Any = None) -> OrderedDict[str, Any]:
    """Figures of the allocator: there is none, so no figures."""
    return OrderedDict()


def memory_summary(device: Any = None, abbreviated: bool = False) -> str:
    """AssertionError: there is no allocator to tell about."""
    refuse()


def mem_get_info(device: Any = None) -> tuple[int, int]:
    """AssertionError: there is no memory but the machine's own."""
    refuse()


def set_per_process_memory_fraction(fraction: float, device: Any = None) -> None:
    """AssertionError: there is no memory but the machine's own."""
    refuse()


def reset_peak_memory_stats(device: Any = None) -> None:
    """AssertionError: there is none."""
    refuse()


reset_max_memory_allocated = reset_max_memory_cached = reset_peak_memory_stats


def reset_accumulated_memory_stats(device: Any = None) -> None:
    """AssertionError: there is none."""
    refuse()
