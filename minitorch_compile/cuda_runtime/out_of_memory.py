"""The error of a GPU whose memory is used up, with PyTorch's figures.

>>> print(out_of_memory(0, 20 << 20, (1 << 20, 1 << 30), None, 900 << 20, 60 << 20))
CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total capacity of 1024.00 MiB of which 1024.00 KiB is \
free. Of the allocated memory 900.00 MiB is allocated by PyTorch, and 60.00 MiB is reserved by PyTorch but \
unallocated. If reserved but unallocated memory is large, it lies in pieces that are too small: memory_snapshot() \
lists them.
"""

from __future__ import annotations

from minitorch_compile.cuda_runtime.errors import OutOfMemoryError


def out_of_memory(
    device: int, wanted: int, free_and_total: tuple[int, int], limit: int | None, allocated: int, unallocated: int
) -> OutOfMemoryError:
    """`limit`: the bytes that this process may have, if it was given a limit."""
    free, total = free_and_total
    allowed = "" if limit is None else f"{formatted(limit)} allowed; "
    return OutOfMemoryError(
        f"CUDA out of memory. Tried to allocate {formatted(wanted)}. GPU {device} has a total capacity of "
        f"{formatted(total)} of which {formatted(free)} is free. {allowed}Of the allocated memory "
        f"{formatted(allocated)} is allocated by PyTorch, and {formatted(unallocated)} is reserved by PyTorch but "
        "unallocated. If reserved but unallocated memory is large, it lies in pieces that are too small: "
        "memory_snapshot() lists them."
    )


def formatted(nbytes: int) -> str:
    """A number of bytes in PyTorch's units.

    >>> [formatted(nbytes) for nbytes in (1024, 1025, 3 << 20, 5 << 30)]
    ['1024 bytes', '1.00 KiB', '3.00 MiB', '5.00 GiB']
    """
    for unit, power in (("bytes", 0), ("KiB", 10), ("MiB", 20)):
        if nbytes <= 1024 << power:
            return f"{nbytes / (1 << power):.2f} {unit}" if power else f"{nbytes} {unit}"
    return f"{nbytes / (1 << 30):.2f} GiB"
