"""Fixed sequences of allocations; tools/record_cuda_statistics.py has given them to PyTorch's allocator, too."""

from __future__ import annotations

import random
from collections.abc import Callable

SEQUENCES = {"small": (1 << 9, 1 << 12, 1 << 16, 1 << 20), "large": (1 << 20, 3 << 20, 9 << 20, 30 << 20)}
COUNT, STREAMS = 400, 2


def play(name: str, allocate: Callable[[int, int], int], free: Callable[[int], None]) -> None:
    """Calls allocate(bytes, number of the stream) and free(address)."""
    choice, live = random.Random(name), []
    for _ in range(COUNT):
        if live and choice.random() < 0.45:
            free(live.pop(choice.randrange(len(live))))
        else:
            largest = SEQUENCES[name][choice.randrange(len(SEQUENCES[name]))]
            live.append(allocate(choice.randrange(1, largest), choice.randrange(STREAMS)))
    for _ in range(len(live) // 2):
        free(live.pop())
