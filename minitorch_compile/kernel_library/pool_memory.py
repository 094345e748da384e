"""The memory of the thread pool: where its words lie, the threads that were started, and how they end.

What the threads do is native code (`inductor/runtime/thread_pool.py`), which is compiled, or loaded from a file. The
memory is one for both, so that a process has one pool.

>>> MEMORY.word(STARTED).value >= 0, MEMORY.address % 64
(True, 0)
"""

from __future__ import annotations

import atexit
import ctypes
import os

import numpy as np

from minitorch_compile.tensor.cpu.thread_count import THREAD_COUNT

MOST_THREADS = 64

# Places in the pool's memory, in bytes. What different threads write at the same time lies in different cache lines.
CLAIM = 0  # generation << 32 | next chunk
TASK, CONTEXT, CHUNKS, THREADS = 64, 72, 80, 88
DONE = 128  # chunks that are finished
WAKE, SLEEPERS, ENDING = 192, 200, 208
BUSY, STARTED, NUMBERED, MAIN_OF_WORKER = 256, 264, 272, 280
MUTEX, CONDITION = 320, 448  # room for the system's objects
IDENTITIES = 576
SIZE = IDENTITIES + 8 * MOST_THREADS

HAS_THREADS = os.name == "posix"  # elsewhere everything is done by the calling thread
_system = ctypes.CDLL(None) if HAS_THREADS else None


def address_of_system(name: str) -> int:
    """Where a function of the system's library lies."""
    return ctypes.cast(getattr(_system, name), ctypes.c_void_p).value or 0


class PoolMemory:
    """The words at `address`."""

    def __init__(self) -> None:
        self.memory = np.zeros(SIZE + 64, np.uint8)
        self.address: int = -(-self.memory.ctypes.data // 64) * 64
        self.main = 0  # of each thread: the address of what it runs
        self.forget_threads()

    def word(self, place: int) -> ctypes.c_int64:
        """One of the words."""
        return ctypes.c_int64.from_address(self.address + place)

    def begin_in(self, main: int) -> None:
        """Threads that are started from now on run the function at this address."""
        self.main = self.word(MAIN_OF_WORKER).value = main

    def forget_threads(self) -> None:
        """A pool without threads, as a forked process finds it."""
        self.memory[:] = 0
        if _system is not None:
            _system.pthread_mutex_init(ctypes.c_void_p(self.address + MUTEX), None)
            _system.pthread_cond_init(ctypes.c_void_p(self.address + CONDITION), None)
            self.word(MAIN_OF_WORKER).value = self.main

    def stop(self) -> None:
        """Ends the threads; a later task starts new ones."""
        identities = [self.word(IDENTITIES + 8 * number).value for number in range(self.word(STARTED).value)]
        if not identities or _system is None:
            return
        mutex = ctypes.c_void_p(self.address + MUTEX)
        _system.pthread_mutex_lock(mutex)
        self.word(ENDING).value = 1
        self.word(WAKE).value += 1
        _system.pthread_cond_broadcast(ctypes.c_void_p(self.address + CONDITION))
        _system.pthread_mutex_unlock(mutex)
        for identity in identities:
            _system.pthread_join(ctypes.c_uint64(identity & (1 << 64) - 1), None)
        self.forget_threads()


MEMORY = PoolMemory()
atexit.register(MEMORY.stop)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=MEMORY.forget_threads)

# What the native loop is told of threads: the addresses of `parallel_for`, the pool, `run_chunk`, the number of
# threads, and the slot for a large block.
_count = THREAD_COUNT if HAS_THREADS else np.ones(1, np.int64)
_cached_block = np.zeros(1, np.int64)
PARALLEL = np.array([0, MEMORY.address, 0, _count.ctypes.data, _cached_block.ctypes.data], np.int64)
PARALLEL_ADDRESS: int = PARALLEL.ctypes.data
