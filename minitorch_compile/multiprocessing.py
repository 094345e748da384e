"""torch.multiprocessing: Python's module, and `spawn`, which runs a function in several processes.

A tensor that is sent to another process, or that `share_memory_` was called on, lies in memory that both look at:
`tensor/tensor_class/sent_tensors.py`.

>>> Queue.__self__.__class__.__module__
'multiprocessing.context'
>>> set_sharing_strategy("file_system")
>>> spawn(print, nprocs=0) is None
True
"""

from __future__ import annotations

import multiprocessing
import signal
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


class ProcessException(Exception):
    """One of the processes that spawn() started failed: `error_index` says which, `error_pid` its number."""

    def __init__(self, msg: str, error_index: int, error_pid: int) -> None:
        super().__init__(msg)
        self.msg, self.error_index, self.error_pid = msg, error_index, error_pid

    def __reduce__(self) -> Any:
        return type(self), (self.msg, self.error_index, self.error_pid)


class ProcessRaisedException(ProcessException):
    """It failed by an exception."""


class ProcessContext:
    """The processes that spawn() started with `join=False`."""

    def __init__(self, processes: list[Any]) -> None:
        self.processes = processes

    def pids(self) -> list[int]:
        """Their numbers."""
        return [process.pid for process in self.processes]

    def join(self, timeout: float | None = None) -> bool:
        """Waits, `timeout` seconds for each, and says whether all have ended. ProcessRaisedException if one failed."""
        for process in self.processes:
            process.join(timeout)
        for i, process in enumerate(self.processes):
            if process.exitcode:
                raise _failure(i, process.pid, process.exitcode)
        return not any(process.is_alive() for process in self.processes)


class ProcessExitedException(ProcessException):
    """It ended by a signal; `exit_code` says which."""

    def __init__(
        self, msg: str, error_index: int, error_pid: int, exit_code: int, signal_name: str | None = None
    ) -> None:
        super().__init__(msg, error_index, error_pid)
        self.exit_code, self.signal_name = exit_code, signal_name

    def __reduce__(self) -> Any:
        return type(self), (self.msg, self.error_index, self.error_pid, self.exit_code, self.signal_name)


def _failure(index: int, pid: int, exit_code: int) -> ProcessException:
    """What is raised for a process with this exit status; a signal's is negative."""
    if exit_code > 0:
        return ProcessRaisedException(f"spawn: process {index} failed with exit status {exit_code}", index, pid)
    name = signal.Signals(-exit_code).name
    return ProcessExitedException(f"process {index} terminated with signal {name}", index, pid, exit_code, name)


def spawn(
    fn: Callable[..., Any],
    args: tuple[Any, ...] = (),
    nprocs: int = 1,
    join: bool = True,
    daemon: bool = False,
    start_method: str = "spawn",
) -> ProcessContext | None:
    """Runs `fn(i, *args)` in `nprocs` processes. Waits for them, or with `join=False` returns what can wait for them.

    ProcessRaisedException if one of them fails.
    """
    context: Any = multiprocessing.get_context(start_method)
    processes = [context.Process(target=fn, args=(i, *args), daemon=daemon) for i in range(nprocs)]
    for process in processes:
        process.start()
    started = ProcessContext(processes)
    if not join:
        return started
    started.join()
    return None


start_processes = spawn


def set_sharing_strategy(new_strategy: str) -> None:
    """PyTorch's ways to share memory; here it is always an open file that is sent. ValueError for an unknown one."""
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
    "ProcessContext",
    "ProcessException",
    "ProcessExitedException",
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
    "start_processes",
]
