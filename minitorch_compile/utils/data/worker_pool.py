"""The main process's side of a DataLoader's workers: who makes which batch, and in which order they come out.

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
import time
import weakref
from collections.abc import Iterator
from multiprocessing.connection import wait
from typing import Any

from minitorch_compile.utils.data.main_script import is_interactive, is_lost, unguarded_line
from minitorch_compile.utils.data.worker import Assignment, Restart, Result, Task, work

UNPICKLABLE = (pickle.PicklingError, AttributeError, TypeError)


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


def _check_startable(assignment: Assignment) -> None:
    """CannotStart if workers would run the main script once more, or would not find what it defines."""
    if is_lost():
        raise CannotStart("DataLoader: worker processes import the main script anew, and here it isn't a file")
    place = unguarded_line()
    if place is not None:
        raise CannotStart(
            f"DataLoader: worker processes import the main script anew, and would run it once more up to {place}. Guard"
            ' what it does by `if __name__ == "__main__":`'
        )
    if is_interactive():
        try:
            of_the_session = b"__main__" in pickle.dumps(assignment)
        except UNPICKLABLE:
            return  # the start will say what can't be pickled
        if of_the_session:
            raise CannotStart(
                "DataLoader: the dataset, or a function of it, was defined in an interactive session, where worker"
                " processes don't find it. Define it in a file and import it"
            )


class WorkerPool:
    """The workers of one DataLoader, for one epoch or, if they are persistent, for many.

    CannotStart if processes can't be started here.
    """

    def __init__(self, loader: Any, seed: int) -> None:
        self.count = loader.num_workers
        self.timeout = loader.timeout or None
        self.in_order = loader.in_order
        self.persistent = loader.persistent_workers
        self.ahead = loader.num_workers * max(loader.prefetch_factor, 1)
        self.processes: list[Any] = []
        self.tasks: list[Any] = []
        self.results: list[Any] = []
        self.next_index = 0  # counts through all epochs, so that a late batch of an earlier one is recognised
        assignment = Assignment(
            loader.dataset,
            loader.collate_fn,
            loader.batch_sampler is not None,
            loader.drop_last,
            loader.worker_init_fn,
            self.count,
        )
        _check_startable(assignment)
        self._end = weakref.finalize(self, _end_workers, self.processes, self.tasks, self.results)
        for worker in range(self.count):
            self._start(loader.multiprocessing_context, assignment, worker, seed)

    def _start(self, context: Any, assignment: Assignment, worker: int, seed: int) -> None:
        tasks = context.Queue()
        receive, send = context.Pipe(duplex=False)
        process = context.Process(target=work, args=(assignment, worker, seed, tasks, send), daemon=True)
        try:
            process.start()
        except UNPICKLABLE as error:
            self.shutdown()
            fields = ("dataset", "collate_fn", "worker_init_fn")
            name = culprit({field: getattr(assignment, field) for field in fields})
            raise CannotStart(
                f"DataLoader: {name or 'something'} can't be sent to a worker process: {error}. Define its class or"
                " function at the top level of a module, not as a lambda, nor inside a function"
            ) from error
        send.close()  # the worker has it: so its end is noticed here when it dies
        self.processes.append(process)
        self.tasks.append(tasks)
        self.results.append(receive)

    def restart(self, seed: int) -> None:
        """Lets the workers begin their datasets anew."""
        for tasks in self.tasks:
            tasks.put(Restart(seed))

    def shutdown(self) -> None:
        """Ends the workers; a second time does nothing."""
        self._end()

    # -------------------------------------------------------------------------------------------- an epoch

    def epoch(self, batches: Iterator[Any]) -> Iterator[Any]:
        """The batches of an epoch. The first are being made from now on."""
        first = self.next_index
        self._batches = batches
        self._active = list(range(self.count))
        self._owner: dict[int, int] = {}  # which worker makes a batch that has not come yet
        self._come: dict[int, Result] = {}
        self._assign()
        return self._in_turn(first)

    def _assign(self) -> None:
        """Gives out work until enough is on its way."""
        while self._active and len(self._owner) + len(self._come) < self.ahead:
            try:
                items = next(self._batches)
            except StopIteration:
                return
            worker = self._active[self.next_index % len(self._active)]
            self._owner[self.next_index] = worker
            self.tasks[worker].put(Task(self.next_index, items))
            self.next_index += 1

    def _in_turn(self, index: int) -> Iterator[Any]:
        try:
            while self._owner or self._come:
                if self._come and (index in self._come or not self.in_order):
                    result = self._come.pop(index if self.in_order else next(iter(self._come)))
                    index += 1
                    self._assign()
                    if result.failure is not None:
                        result.failure.reraise(result.worker)
                    if not result.finished:
                        yield result.value
                else:
                    self._receive()
            self._check_alive()
        finally:
            if not self.persistent:
                self.shutdown()

    def _receive(self) -> None:
        """Waits for results, and for the death of a worker."""
        deadline = None if self.timeout is None else time.monotonic() + self.timeout
        ready: list[Any] = wait(self.results, None if deadline is None else max(0.0, deadline - time.monotonic()))
        if not ready:
            raise RuntimeError(f"DataLoader timed out after {self.timeout} seconds")
        for connection in ready:
            try:
                result = connection.recv()
            except EOFError:
                raise self._death(self.results.index(connection)) from None
            self._take(result)

    def _take(self, result: Result) -> None:
        if result.index == -1 and result.failure is not None:  # the worker could not begin
            result.failure.reraise(result.worker)
        if self._owner.pop(result.index, None) is None:
            return  # of an earlier epoch that was left before its end
        self._come[result.index] = result
        if result.finished and result.worker in self._active:
            self._active.remove(result.worker)

    def _check_alive(self) -> None:
        for worker, process in enumerate(self.processes):
            if process.exitcode not in (None, 0):
                raise self._death(worker)

    def _death(self, worker: int) -> RuntimeError:
        process = self.processes[worker]
        process.join(1)
        return RuntimeError(
            f"DataLoader worker (pid(s) {process.pid}) exited unexpectedly with exit code {process.exitcode}; what it"
            " printed says why. Workers import the main script anew: guard what it runs by"
            ' `if __name__ == "__main__":`, and define datasets in a file, not in a notebook or on the command line;'
            " or use num_workers=0"
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
