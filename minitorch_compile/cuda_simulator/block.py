"""A block of threads: all take each step together, as the lanes of vectors, under a mask that says who takes part.

Lanes are numbered as threads are, x quickest, and filled up to whole warps of 32; those beyond the last thread never
take part.

>>> block = Block(Launch((2, 1, 1), (8, 5, 1), Faults(collect=False)), (1, 0, 0))
>>> block.width, int(block.existing.sum()), block.thread_index["y"][:10].tolist()
(64, 40, [0, 0, 0, 0, 0, 0, 0, 0, 1, 1])
>>> block.name_of(9), Block(Launch((1, 1, 1), (32, 1, 1), Faults(collect=False)), (0, 0, 0)).name_of(9)
('thread (1, 1, 0) of block 1', 'thread 9 of block 0')
"""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch_compile.cuda_simulator.counts import Counts
from minitorch_compile.cuda_simulator.faults import Faults
from minitorch_compile.cuda_simulator.races import Races

Size = tuple[int, int, int]
Mask = np.ndarray  # a bool for each lane
AXES = ("x", "y", "z")
WARP = 32


class Launch:
    """One call of a kernel: how many blocks of how many threads, and who watches them."""

    def __init__(
        self, blocks: Size, threads: Size, faults: Faults, counts: Counts | None = None, shared_bytes: int = 0
    ) -> None:
        self.blocks, self.threads, self.faults, self.counts = blocks, threads, faults, counts
        self.shared_bytes = shared_bytes
        self.number_of_threads = int(np.prod(threads))
        self.width = -(-self.number_of_threads // WARP) * WARP
        self.races = Races(self.width)
        self.outside: dict[tuple[int, str], Any] = {}  # what names mean that are no variables of a function


class Block:
    """The state of one block while it runs."""

    def __init__(self, launch: Launch, index: Size) -> None:
        self.launch, self.index, self.width = launch, index, launch.width
        self.faults, self.counts, self.races = launch.faults, launch.counts, launch.races
        lanes = np.arange(self.width)
        self.existing: Mask = lanes < launch.number_of_threads
        x, y, _ = launch.threads
        places = (lanes % x, lanes // x % y, lanes // (x * y))
        self.thread_index = {axis: place.astype(np.int32) for axis, place in zip(AXES, places)}
        self.block_index = {axis: np.int32(place) for axis, place in zip(AXES, index)}
        self.lane = (lanes % WARP).astype(np.int32)
        self.number = index[0] + launch.blocks[0] * (index[1] + launch.blocks[1] * index[2])
        self.shared: dict[Any, Any] = {}  # arrays by the line that asks for them
        self.races.begin_block(self.number)
        if self.counts is not None:
            self.counts.begin_block(self.number)

    def vector(self, value: Any) -> np.ndarray:
        """A value as a vector with a place for each lane."""
        return value if np.ndim(value) else np.full(self.width, value)

    def name_of(self, lane: int) -> str:
        """How messages name a thread of this block."""
        return name_of_thread(self.launch, self.number, lane)


def name_of_thread(launch: Launch, block: int, lane: int) -> str:
    """A thread by its number in a block, or by its place if the block has more than one dimension."""
    x, y, z = launch.threads
    if y == z == 1:
        return f"thread {lane} of block {block}"
    return f"thread ({lane % x}, {lane // x % y}, {lane // (x * y)}) of block {block}"
