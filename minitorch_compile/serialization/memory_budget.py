"""How much memory what is read may take: what a file of some bytes makes is counted as it is made.

>>> budget = MemoryBudget(100)
>>> budget.spend(MEMORY_ABOVE_SIZE // 2)
>>> budget.spend(MEMORY_ABOVE_SIZE // 2)
Traceback (most recent call last):
minitorch_compile.serialization.unreadable_file.UnreadableFileError: load: what the file holds besides tensors ...
"""

from __future__ import annotations

from minitorch_compile.serialization.unreadable_file import MEMORY_ABOVE_SIZE, refuse

# What Python's objects take, in bytes, rounded up: with what the garbage collector and a growing container add.
PER_ITEM = 16  # of a list, a tuple, or the stack
PER_ENTRY = 120  # of a dictionary or a set
CONTAINER = 96
NUMBER = 32
TEXT = 80
TENSOR = 500


class MemoryBudget:
    """Bytes that may still be spent: those of the file, and those above. None: as many as there are."""

    def __init__(self, file_size: int | None) -> None:
        # A sixteenth stays for what is needed while reading.
        self.left = float("inf") if file_size is None else file_size + MEMORY_ABOVE_SIZE * 15 // 16

    def spend(self, count: int) -> None:
        """UnreadableFileError when it is used up."""
        self.left -= count
        if self.left < 0:
            raise refuse(
                "what the file holds besides tensors would take more memory than the file has bytes, and"
                f" {MEMORY_ABOVE_SIZE >> 20} MB; if you trust it: load(..., weights_only=False)"
            )
