"""What runs in a worker process of a DataLoader: it receives lists of indices and sends back batches.

>>> get_worker_info() is None                                  # this is the main process
True
>>> fetch([10, 20, 30], [0, 2], collate=sum, batched=True)
40
"""

from __future__ import annotations

import pickle
import random
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from minitorch_compile.tensor.cpu.thread_count import set_num_threads
from minitorch_compile.tensor.random.generator import manual_seed
from minitorch_compile.utils.data.dataset import IterableDataset


@dataclass(frozen=True)
class WorkerInfo:
    """Which worker this process is: `id` of `num_workers`, with its own random `seed` and its copy of the dataset."""

    id: int
    num_workers: int
    seed: int
    dataset: Any


class _Process:
    """The one fact that a process keeps about itself."""

    worker: WorkerInfo | None = None


def get_worker_info() -> WorkerInfo | None:
    """In a worker process who it is; in the main process None."""
    return _Process.worker


@dataclass(frozen=True)
class Task:
    """Make batch number `index` out of these items; of an iterable dataset, that many of the next ones."""

    index: int
    items: Any


@dataclass(frozen=True)
class Begin:
    """Begin an epoch with an assignment, which comes pickled: it is unpickled where errors are sent back."""

    assignment: bytes
    seed: int


@dataclass(frozen=True)
class Restart:
    """Begin another epoch with the assignment of the one before: the worker and its dataset stayed."""

    seed: int


@dataclass(frozen=True)
class Rest:
    """Forget the dataset: the epoch is over."""


@dataclass(frozen=True)
class Result:
    """Batch number `index`, made by a worker. `finished`: there is none, its iterable dataset has ended."""

    index: int
    worker: int
    value: Any = None
    failure: Failure | None = None
    finished: bool = False


@dataclass(frozen=True)
class Failure:
    """An exception of a worker, as text: it may not survive the way between processes itself."""

    kind: type[BaseException]
    text: str

    def reraise(self, worker: int) -> None:
        """Raises it here, with the worker's traceback as its message."""
        message = f"Caught {self.kind.__name__} in DataLoader worker process {worker}.\nOriginal {self.text}"
        if issubclass(self.kind, KeyError):
            raise self.kind(_AsItIs(message))
        try:
            error = self.kind(message)
        except TypeError:  # a class that wants other arguments
            raise RuntimeError(message) from None
        raise error


class _AsItIs(str):
    """A KeyError shows the repr of its message: here the lines are to stay lines."""

    def __repr__(self) -> str:
        return str(self)


def fetch(dataset: Any, indices: Any, collate: Callable[[Any], Any], batched: bool) -> Any:
    """The batch at a list of indices, or, not `batched`, the item at one."""
    if not batched:
        return collate(dataset[indices])
    many = getattr(dataset, "__getitems__", None)
    return collate(many(indices) if callable(many) else [dataset[i] for i in indices])


def fetch_next(items: Iterator[Any], count: int | None, collate: Callable[[Any], Any], drop_last: bool) -> Any:
    """The batch of the next `count` items of an iterable dataset; None for one item alone. StopIteration at its end."""
    if count is None:
        return collate(next(items))
    batch = []
    for item in items:
        batch.append(item)
        if len(batch) == count:
            break
    if not batch or (drop_last and len(batch) < count):
        raise StopIteration
    return collate(batch)


@dataclass(frozen=True)
class Assignment:
    """All that a worker needs to know. It travels to the new process, so everything in it must be picklable."""

    dataset: Any
    collate_fn: Callable[[Any], Any]
    batched: bool
    drop_last: bool
    worker_init_fn: Callable[[int], None] | None
    num_workers: int


def work(worker: int, tasks: Any, results: Any) -> None:
    """The main function of a worker process: it ends when it receives None."""
    set_num_threads(1)  # the workers share the processor
    fetcher: _Fetcher | None = None
    while (task := tasks.get()) is not None:
        if isinstance(task, Task):
            if fetcher is not None and not _send(results, fetcher.result(task, worker)):
                return
            continue
        try:
            fetcher = _prepared(task, worker, fetcher)
        except Exception as error:  # noqa: BLE001  # whatever it is, the main process is to raise it
            fetcher = None
            _send(results, Result(-1, worker, failure=_failure(error)))


def _prepared(task: Begin | Restart | Rest, worker: int, before: _Fetcher | None) -> _Fetcher | None:
    """What makes the batches of the epoch that begins."""
    if isinstance(task, Rest):
        _Process.worker = None
        return None
    _seed_all(task.seed + worker)
    if isinstance(task, Restart):
        return None if before is None else _Fetcher(before.assignment)
    assignment: Assignment = pickle.loads(task.assignment)
    _Process.worker = WorkerInfo(worker, assignment.num_workers, task.seed + worker, assignment.dataset)
    if assignment.worker_init_fn is not None:
        assignment.worker_init_fn(worker)
    return _Fetcher(assignment)


def _send(results: Any, result: Result) -> bool:
    """Sends a result. False if nobody is there any more to receive it."""
    try:
        results.send_bytes(pickle.dumps(result))  # a copy: shared memory would need this process alive when it is read
    except OSError:
        return False
    except Exception as error:  # noqa: BLE001  # the batch, or the class of an exception, can't be pickled
        text = "".join(traceback.format_exception(error)) if result.failure is None else result.failure.text
        return _send(results, Result(result.index, result.worker, failure=Failure(RuntimeError, text)))
    return True


def _seed_all(seed: int) -> None:
    """Each worker draws other random numbers, from all the generators that a dataset may use."""
    random.seed(seed)
    np.random.seed(seed % 2**32)
    manual_seed(seed)


class _Fetcher:
    """Makes batches of a dataset, by index or one after another."""

    def __init__(self, assignment: Assignment) -> None:
        self.assignment = assignment
        self.items = iter(assignment.dataset) if isinstance(assignment.dataset, IterableDataset) else None

    def result(self, task: Task, worker: int) -> Result:
        job = self.assignment
        try:
            if self.items is None:
                return Result(task.index, worker, fetch(job.dataset, task.items, job.collate_fn, job.batched))
            count = len(task.items) if job.batched else None
            return Result(task.index, worker, fetch_next(self.items, count, job.collate_fn, job.drop_last))
        except StopIteration:
            return Result(task.index, worker, finished=True)
        except Exception as error:  # noqa: BLE001  # whatever it is, the main process is to raise it
            return Result(task.index, worker, failure=_failure(error))


def _failure(error: BaseException) -> Failure:
    return Failure(type(error), "".join(traceback.format_exception(error)))
