"""torch.multiprocessing: Python's module, and `spawn`, which runs a function in several processes.

A tensor that is sent to another process is copied; both sides go on with their own.

>>> Queue.__self__.__class__.__module__
'multiprocessing.context'
>>> set_sharing_strategy("file_system")
>>> spawn(print, nprocs=0) is None
True
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from multiprocessing import (
    Array,
    Barrier,
    Condition,
    Event,
    JoinableQueue,
    Lock,
    Manager,
    Pipe,
    Pool,
    Process,
    Queue,
    RLock,
    Semaphore,
    SimpleQueue,
    Value,
    active_children,
    cpu_count,
    current_process,
    freeze_support,
    get_all_start_methods,
    get_context,
    get_logger,
    get_start_method,
    set_start_method,
)
from typing import Any


class ProcessRaisedException(Exception):
    """One of the processes that spawn() started failed."""


def spawn(
    fn: Callable[..., Any],
    args: tuple[Any, ...] = (),
    nprocs: int = 1,
    join: bool = True,
    daemon: bool = False,
    start_method: str = "spawn",
) -> list[Any] | None:
    """Runs `fn(i, *args)` in `nprocs` processes. Waits for them, or with `join=False` returns them.

    ProcessRaisedException if one of them fails.
    """
    context: Any = multiprocessing.get_context(start_method)
    processes = [context.Process(target=fn, args=(i, *args), daemon=daemon) for i in range(nprocs)]
    for process in processes:
        process.start()
    if not join:
        return processes
    for process in processes:
        process.join()
    failed = [i for i, process in enumerate(processes) if process.exitcode]
    if failed:
        raise ProcessRaisedException(
            f"spawn: process {failed[0]} failed with exit status {processes[failed[0]].exitcode}"
        )
    return None


def set_sharing_strategy(new_strategy: str) -> None:
    """How PyTorch shares memory between processes; here it is copied. ValueError for an unknown way."""
    if new_strategy not in get_all_sharing_strategies():
        raise ValueError(f"set_sharing_strategy: expected one of {get_all_sharing_strategies()}, got {new_strategy!r}")


def get_sharing_strategy() -> str:
    """PyTorch's name for the default way."""
    return "file_descriptor"


def get_all_sharing_strategies() -> set[str]:
    """PyTorch's names."""
    return {"file_descriptor", "file_system"}


__all__ = [
    "Array",
    "Barrier",
    "Condition",
    "Event",
    "JoinableQueue",
    "Lock",
    "Manager",
    "Pipe",
    "Pool",
    "Process",
    "ProcessRaisedException",
    "Queue",
    "RLock",
    "Semaphore",
    "SimpleQueue",
    "Value",
    "active_children",
    "cpu_count",
    "current_process",
    "freeze_support",
    "get_all_sharing_strategies",
    "get_all_start_methods",
    "get_context",
    "get_logger",
    "get_sharing_strategy",
    "get_start_method",
    "set_sharing_strategy",
    "set_start_method",
    "spawn",
]
