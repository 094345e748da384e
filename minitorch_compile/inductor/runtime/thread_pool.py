"""Threads that share out the chunks of one task: the parallel driver of all kernels.

`parallel_for(pool, task, context, chunks, threads)` calls `task(context, chunk, thread)` once for each chunk, on the
calling thread (number 0) and on as many others as were asked for, and returns when all have been done. Who does which
chunk is left to chance; what a chunk is must not depend on the number of threads, so that results don't either.

The others are native threads that never touch Python. Between tasks they wait by spinning for some microseconds, then
asleep. A task is launched by one thread at a time: whoever comes while the pool is busy (another Python thread, or a
task that starts a task) does all of its chunks itself. They are started by the first task that wants them; a forked
child begins without any, and they have ended before Python does.

The chunks are handed out through one word, `generation << 32 | next chunk`. A thread reads it, then the task, and then
swaps the word for the next one. If that works, the word hadn't changed in between, so what it read belonged together.

>>> from minitorch_compile.inductor.runtime.kernel_function import native_function
>>> @native_function("doctest_square", types.void(types.int64, types.int64, types.int64))
... def square(context, chunk, thread):
...     atomic_store(context + 8 * chunk, chunk * chunk)
>>> squares = np.zeros(5, np.int64)
>>> POOL.run(square.address, squares.ctypes.data, chunks=5, threads=2)
>>> squares
array([ 0,  1,  4,  9, 16])
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import llvmlite.binding as llvm
import numpy as np  # noqa: F401 (the example's)
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

from minitorch_compile.inductor.runtime.atomics import atomic_add, atomic_load, atomic_store, compare_and_swap, pause
from minitorch_compile.inductor.runtime.kernel_function import native_function
from minitorch_compile.kernel_library.pool_memory import (
    BUSY,
    CHUNKS,
    CLAIM,
    CONDITION,
    CONTEXT,
    DONE,
    ENDING,
    HAS_THREADS,
    IDENTITIES,
    MAIN_OF_WORKER,
    MEMORY,
    MOST_THREADS,
    MUTEX,
    NUMBERED,
    SLEEPERS,
    STARTED,
    TASK,
    THREADS,
    WAKE,
    address_of_system,
)

SPINS = 600  # pauses, some 20 microseconds, before a thread that waits goes to sleep
CLOSED = (1 << 32) - 1  # as the next chunk: there is none
PTHREAD = {
    "create": types.int32(types.int64, types.int64, types.int64, types.int64),
    "mutex_lock": types.int32(types.int64),
    "mutex_unlock": types.int32(types.int64),
    "cond_wait": types.int32(types.int64, types.int64),
    "cond_broadcast": types.int32(types.int64),
}
if HAS_THREADS:
    for _name in PTHREAD:
        llvm.add_symbol(f"minitorch_pthread_{_name}", address_of_system(f"pthread_{_name}"))
    llvm.add_symbol("minitorch_sched_yield", address_of_system("sched_yield"))

create_thread, lock, unlock, wait_for_signal, signal_all = (
    types.ExternalFunction(f"minitorch_pthread_{name}", signature) for name, signature in PTHREAD.items()
)
give_way = types.ExternalFunction("minitorch_sched_yield", types.int32())


@intrinsic
def call_task(typing_context, task, context, chunk, thread):
    """Calls the C function at the address `task`."""

    def code(context, builder, signature, values):
        word = ir.IntType(64)
        kind = ir.FunctionType(ir.VoidType(), [word] * 3).as_pointer()
        builder.call(builder.inttoptr(values[0], kind), values[1:])
        return context.get_dummy_value()

    return types.void(*[types.int64] * 4), code


# ------------------------------------------------------------------------------------------------ what workers do


@njit(error_model="numpy")
def take_chunks(pool, number):
    """Does chunks of the present task until none is left."""
    while True:
        claim = atomic_load(pool + CLAIM)
        task, context = atomic_load(pool + TASK), atomic_load(pool + CONTEXT)
        chunk = claim & CLOSED
        if chunk >= atomic_load(pool + CHUNKS) or number >= atomic_load(pool + THREADS):
            return
        if compare_and_swap(pool + CLAIM, claim, claim + 1):
            call_task(task, context, chunk, number)
            atomic_add(pool + DONE, 1)


@njit(error_model="numpy")
def wait_for_work(pool, seen):
    """Returns when there has been another task than the one `seen`: its number."""
    for _ in range(SPINS):
        if atomic_load(pool + WAKE) != seen:
            return atomic_load(pool + WAKE)
        pause()
    lock(pool + MUTEX)
    atomic_add(pool + SLEEPERS, 1)  # whoever adds to WAKE afterwards sees that somebody has to be woken
    while atomic_load(pool + WAKE) == seen:
        wait_for_signal(pool + CONDITION, pool + MUTEX)
    atomic_add(pool + SLEEPERS, -1)
    unlock(pool + MUTEX)
    return atomic_load(pool + WAKE)


@njit(error_model="numpy")
def wake_all(pool):
    atomic_add(pool + WAKE, 1)
    if atomic_load(pool + SLEEPERS):
        lock(pool + MUTEX)
        signal_all(pool + CONDITION)
        unlock(pool + MUTEX)


def worker(pool):
    """The life of a thread."""
    number, seen = atomic_add(pool + NUMBERED, 1) + 1, 0
    while True:
        seen = wait_for_work(pool, seen)
        if atomic_load(pool + ENDING):
            return 0
        take_chunks(pool, number)


# ------------------------------------------------------------------------------------------------ launching


@njit(error_model="numpy")
def start_workers(pool, threads):
    """Starts the threads that are missing; the system may refuse, and then there are fewer."""
    started, main = atomic_load(pool + STARTED), atomic_load(pool + MAIN_OF_WORKER)
    while started < threads - 1:
        place = pool + IDENTITIES + 8 * started
        if create_thread(place, 0, main, pool) != 0:
            return
        started += 1
        atomic_store(pool + STARTED, started)


def parallel_for(pool, task, context, chunks, threads):
    """Calls `task(context, chunk, thread)` for each chunk. `pool` is the address of the pool's memory."""
    if threads <= 1 or chunks <= 1 or not compare_and_swap(pool + BUSY, 0, 1):
        for chunk in range(chunks):
            call_task(task, context, chunk, 0)
        return
    start_workers(pool, min(threads, MOST_THREADS))
    generation = (atomic_load(pool + CLAIM) >> 32) + 1
    atomic_store(pool + CLAIM, generation << 32 | CLOSED)
    atomic_store(pool + TASK, task)
    atomic_store(pool + CONTEXT, context)
    atomic_store(pool + CHUNKS, chunks)
    atomic_store(pool + THREADS, threads)
    atomic_store(pool + DONE, 0)
    atomic_store(pool + CLAIM, generation << 32)
    wake_all(pool)
    take_chunks(pool, 0)
    waited = 0
    while atomic_load(pool + DONE) < chunks:
        waited += 1
        if waited < SPINS:
            pause()
        else:  # the thread that has the last chunk may be waiting for this processor
            give_way()
    atomic_store(pool + BUSY, 0)


# ------------------------------------------------------------------------------------------------ from Python


class ThreadPool:
    """The pool, whose memory is at `address`; `run` launches a task from Python."""

    address = MEMORY.address

    @cached_property
    def launcher(self) -> Any:
        """`parallel_for` as a native function; asking for it compiles what the threads run."""
        launcher, worker = self.functions
        MEMORY.begin_in(worker.address)
        return launcher

    @property
    def functions(self) -> list[Any]:
        """`parallel_for` and what each thread runs, compiled when their addresses are asked for."""
        return [
            native_function("parallel_for", types.void(*[types.int64] * 5))(parallel_for),
            native_function("thread_pool_worker", types.int64(types.int64))(worker),
        ]

    @property
    def started(self) -> int:
        """How many threads there are besides those that launch tasks."""
        return MEMORY.word(STARTED).value

    def run(self, task: int, context: int, chunks: int, threads: int) -> None:
        """Does a task, whose function lies at the address `task`."""
        self.launcher(self.address, task, context, chunks, threads)

    def stop(self) -> None:
        """Ends the threads; a later task starts new ones."""
        MEMORY.stop()


POOL = ThreadPool()
