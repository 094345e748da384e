"""One run through a dataset with worker processes: who makes which batch, and in which order they come out.

>>> from minitorch_compile.utils.data import DataLoader
>>> loader = DataLoader(range(3), num_workers=0)       # with workers, iter(loader) is an Epoch
>>> [batch.item() for batch in loader]
[0, 1, 2]
"""

from __future__ import annotations

from collections.abc import Iterator
from multiprocessing.connection import wait
from typing import Any

from minitorch_compile.utils.data.worker import Rest, Result, Task
from minitorch_compile.utils.data.worker_pool import WorkerPool


class Epoch(Iterator[Any]):
    """The batches of an epoch. The first are being made as soon as it exists; at its end the pool is free again.

    `ahead`: how many batches are under way. `in_order`: they come out in the order of the sampler. `keeps_data`: the
    workers keep the dataset for the next epoch. `timeout`: so many seconds a batch may take.
    """

    def __init__(
        self,
        pool: WorkerPool,
        batches: Iterator[Any],
        ahead: int,
        in_order: bool,
        keeps_data: bool,
        timeout: float | None,
    ) -> None:
        self.pool = pool
        self.batches = batches
        self.ahead = ahead
        self.in_order = in_order
        self.keeps_data = keeps_data
        self.timeout = timeout
        self.active = list(range(len(pool.processes)))
        self.owner: dict[int, int] = {}  # which worker makes a batch that has not come yet
        self.come: dict[int, Result] = {}
        self.index = pool.next_index
        self.open = pool.busy = True
        self._assign()

    def _assign(self) -> None:
        """Gives out work until enough is on its way."""
        while self.active and len(self.owner) + len(self.come) < self.ahead:
            try:
                items = next(self.batches)
            except StopIteration:
                return
            index = self.pool.next_index
            worker = self.active[index % len(self.active)]
            self.owner[index] = worker
            self.pool.tasks[worker].put(Task(index, items))
            self.pool.next_index += 1

    def __next__(self) -> Any:
        while self.owner or self.come:
            if not self.come or (self.in_order and self.index not in self.come):
                self._receive()
                continue
            result = self.come.pop(self.index if self.in_order else next(iter(self.come)))
            self.index += 1
            self._assign()
            if result.failure is not None:
                result.failure.reraise(result.worker)
            if not result.finished:
                return result.value
        self.close()
        raise StopIteration

    def _receive(self) -> None:
        """Waits for results, and for the death of a worker."""
        ready: list[Any] = wait(self.pool.results, self.timeout)
        if not ready:
            self._give_up()
            raise RuntimeError(f"DataLoader timed out after {self.timeout} seconds")
        for connection in ready:
            try:
                result = connection.recv()
            except EOFError:
                error = self.pool.death(self.pool.results.index(connection))
                self._give_up()
                raise error from None
            self._take(result)

    def _take(self, result: Result) -> None:
        if result.index == -1 and result.failure is not None:  # the worker could not begin
            self._give_up()
            result.failure.reraise(result.worker)
        if self.owner.pop(result.index, None) is None:
            return  # of an earlier epoch that was left before its end
        self.come[result.index] = result
        if result.finished and result.worker in self.active:
            self.active.remove(result.worker)

    def _give_up(self) -> None:
        """Ends the workers, which can't be relied on any more."""
        self.pool.shutdown()
        self.close()

    def close(self) -> None:
        """Frees the workers for another epoch; a second time does nothing."""
        if self.open:
            self.open = self.pool.busy = False
            self.owner, self.come = {}, {}
            if not self.pool.ended and not self.keeps_data:
                self.pool.tell(Rest())

    def __del__(self) -> None:
        self.close()
