"""One run through a dataset: what iter(loader) gives. With worker processes, who makes which batch, and in which order
they come out.

>>> from minitorch_compile.utils.data import DataLoader
>>> run = iter(DataLoader(range(3), num_workers=0))
>>> type(run).__name__, len(run), [batch.item() for batch in run]
('_SingleProcessDataLoaderIter', 3, [0, 1, 2])
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from multiprocessing.connection import wait
from typing import Any

from minitorch_compile.utils.data.worker import Rest, Result, Task
from minitorch_compile.utils.data.worker_pool import WorkerPool


class _BaseDataLoaderIter(Iterator[Any]):
    """One run through the batches of a loader; `index_sampler` says what is in each. Libraries ask for these classes by
    PyTorch's names. `last_step`: what is done with a batch before the program gets it."""

    last_step: Callable[[Any], Any] = staticmethod(lambda batch: batch)

    def __init__(self, index_sampler: Iterable[Any]) -> None:
        self._index_sampler = index_sampler

    def __len__(self) -> int:
        return len(self._index_sampler)  # type: ignore[arg-type]

    def close(self) -> None:
        """Frees what the run holds: in this process, nothing."""


class _SingleProcessDataLoaderIter(_BaseDataLoaderIter):
    """The batches of a `loader`, made one by one in this process when they are asked for."""

    def __init__(self, loader: Any) -> None:
        super().__init__(loader._index_sampler)
        self._batches = loader._in_this_process()

    def __next__(self) -> Any:
        return self.last_step(next(self._batches))


class _MultiProcessingDataLoaderIter(_BaseDataLoaderIter):
    """The batches of an epoch. The first are being made as soon as it exists; at its end the pool is free again.

    `ahead`: how many batches are under way. `in_order`: they come out in the order of the sampler. `keeps_data`: the
    workers keep the dataset for the next epoch. `timeout`: so many seconds a batch may take.
    """

    def __init__(
        self,
        pool: WorkerPool,
        index_sampler: Iterable[Any],
        ahead: int,
        in_order: bool,
        keeps_data: bool,
        timeout: float | None,
    ) -> None:
        super().__init__(index_sampler)
        self.pool = pool
        self.batches = iter(index_sampler)
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
                return self.last_step(result.value)
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

    def _shutdown_workers(self) -> None:
        """Ends the workers, also those that would be kept for the next epoch."""
        self._give_up()

    def close(self) -> None:
        """Frees the workers for another epoch; a second time does nothing."""
        if self.open:
            self.open = self.pool.busy = False
            self.owner, self.come = {}, {}
            if not self.pool.ended and not self.keeps_data:
                self.pool.tell(Rest())

    def __del__(self) -> None:
        self.close()
