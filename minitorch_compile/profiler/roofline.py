"""How fast this machine moves memory: the roof under which a kernel that computes little must stay.

>>> gigabytes_per_second() > 0.1
True
"""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import numpy as np

from minitorch_compile.tensor.cpu.thread_count import get_num_threads

BYTES, ROUNDS = 1 << 26, 4  # of each array: more than caches hold


@cache
def gigabytes_per_second() -> float:
    """What a copy of a large array reads and writes, with as many threads as kernels have; measured once."""
    source, target = np.ones(BYTES, np.uint8), np.empty(BYTES, np.uint8)
    threads = get_num_threads()
    parts = [slice(BYTES * n // threads, BYTES * (n + 1) // threads) for n in range(threads)]
    best = float("inf")
    with ThreadPoolExecutor(threads) as pool:
        for _ in range(ROUNDS):
            started = time.perf_counter()
            list(pool.map(lambda part: np.copyto(target[part], source[part]), parts))
            best = min(best, time.perf_counter() - started)
    return 2 * BYTES / best / 1e9
