"""What the batching rule of a custom op is told of the vmap that runs it.

>>> VmapInfo(batch_size=3, randomness="error").batch_size
3
"""

from __future__ import annotations

from typing import NamedTuple


class VmapInfo(NamedTuple):
    """How many examples there are, and what vmap was told about random operations."""

    batch_size: int
    randomness: str
