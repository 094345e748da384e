"""The main process's side of a DataLoader's workers: starting them, ending them, and what they are told.

Processes are spawned, not forked: a forked copy of a process that has threads, as BLAS and compiled kernels do, may
stand still forever. So a worker imports everything anew and receives dataset and functions pickled.

>>> context_named("spawn").get_start_method()
'spawn'
>>> culprit({"dataset": [1, 2], "collate_fn": lambda items: items})
'collate_fn'
"""

from __future__ import annotations

import multiprocessing
import pickle
import weakref
from typing import Any

from minitorch_compile.utils.data.main_script import is_interactive, is_lost, unguarded_line
from minitorch_compile.utils.data.worker import Assignment, Begin, Rest, Restart, work

UNPICKLABLE = (pickle.PicklingError, AttributeError, TypeError, RuntimeError)


def context_named(context: Any) -> Any:
    """The multiprocessing context: None and "spawn" are spawn. NotImplementedError for the other start methods."""
    if not isinstance(context, str):
        return multiprocessing.get_context("spawn") if context is None else context
    methods = ["fork", "spawn", "forkserver"]
    if context not in methods:
        raise ValueError(
            f"multiprocessing_context option should specify a valid start method in {methods}, but got"
            f" multiprocessing_context={context!r}"
        )
    if context != "spawn":
        raise NotImplementedError(
            f"DataLoader: workers are only started by 'spawn', not by {context!r}, which can stand still when the"
            " process has threads; leave multiprocessing_context out"
        )
    return multiprocessing.get_context(context)


def culprit(parts: dict[str, Any]) -> str | None:
    """The first of the named objects that can't be pickled."""
    for name, value in parts.items():
        try:
            pickle.dumps(value)
        except UNPICKLABLE:
            return name
    return None


class CannotStart(RuntimeError):
    """Worker processes can't be started here."""


def packed(assignment: Assignment) -> bytes:
    """The assignment as it travels. CannotStart, with the reason, if workers would not find what is in it."""
    try:
        data = pickle.dumps(assignment)
    except UNPICKLABLE as error:
        fields = ("dataset", "collate_fn", "worker_init_fn")
        name = culprit({field: getattr(assignment, field) for field in fields})
        raise CannotStart(
            f"DataLoader: {name or 'something'} can't be sent to a worker process: {error}. Define its class or"
            " function at the top level of a module, not as a lambda, nor inside a function"
        ) from error
    if is_interactive() and b"__main__" in data:
        raise CannotStart(
            "DataLoader: the dataset, or a function of it, was defined in an interactive session, where worker"
            " processes don't find it. Define it in a file and import it"
        )
    return data


def check_main_script() -> None:
    """CannotStart if workers would run the main script once more, or would not find it."""
    if is_lost():
        raise CannotStart("DataLoader: worker processes import the main script anew, and here it isn't a file")
    place = unguarded_line()
    if place is not None:
        raise CannotStart(
            f"DataLoader: worker processes import the main script anew, and would run it once more up to {place}. Guard"
            ' what it does by `if __name__ == "__main__":`'
        )


class WorkerPool:
    """Worker processes. They live as long as their DataLoader: to start one takes a second.

    In each epoch they are sent the dataset anew, as if they were new processes, unless they are to keep it.
    """

    def __init__(self, context: Any, count: int) -> None:
        self.processes: list[Any] = []
        self.tasks: list[Any] = []
        self.results: list[Any] = []
        self.next_index = 0  # counts through all epochs, so that a late batch of an earlier one is recognised
        self.busy = False  # whether an epoch is being run through
        self._end = weakref.finalize(self, _end_workers, self.processes, self.tasks, self.results)
        for worker in range(count):
            self._start(context, worker)

    def _start(self, context: Any, worker: int) -> None:
        tasks = context.Queue()
        receive, send = context.Pipe(duplex=False)
        process = context.Process(target=work, args=(worker, tasks, send), daemon=True)
        process.start()
        send.close()  # the worker has it: so its end is noticed here when it dies
        self.processes.append(process)
        self.tasks.append(tasks)
        self.results.append(receive)

    def tell(self, message: Begin | Restart | Rest) -> None:
        """Sends the same to all workers."""
        for tasks in self.tasks:
            tasks.put(message)

    @property
    def ended(self) -> bool:
        return not self._end.alive

    def shutdown(self) -> None:
        """Ends the workers; a second time does nothing."""
        self._end()

    def death(self, worker: int) -> RuntimeError:
        """The error for a worker that has ended by itself."""
        process = self.processes[worker]
        process.join(1)
        return RuntimeError(
            f"DataLoader worker (pid(s) {process.pid}) exited unexpectedly with exit code {process.exitcode}; what it"
            " printed says why. With num_workers=0 the data is loaded in this process"
        )


def _end_workers(processes: list[Any], tasks: list[Any], results: list[Any]) -> None:
    """Asks all workers to end, waits a moment, and ends those that don't."""
    for queue in tasks:
        queue.put(None)
    for connection in results:
        connection.close()  # a worker that is sending a batch finds nobody there
    for process in processes:
        process.join(0.5)
        if process.is_alive():
            process.terminate()
            process.join()
    for queue in tasks:
        queue.cancel_join_thread()
        queue.close()
    for items in (processes, tasks, results):
        items.clear()
