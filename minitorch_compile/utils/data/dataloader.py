"""DataLoader: runs through a dataset in batches, in this process or with worker processes.

>>> from minitorch_compile import arange
>>> from minitorch_compile.utils.data.dataset import TensorDataset
>>> for x, y in DataLoader(TensorDataset(arange(5), arange(5) * 10), batch_size=2):
...     print(x, y)
tensor([0, 1]) tensor([ 0, 10])
tensor([2, 3]) tensor([20, 30])
tensor([4]) tensor([40])
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Generic, TypeVar

from minitorch_compile.tensor.random.generator import Generator
from minitorch_compile.user_warnings import warn_user
from minitorch_compile.utils.data.collate import default_collate, default_convert
from minitorch_compile.utils.data.dataset import IterableDataset
from minitorch_compile.utils.data.epoch import (
    _BaseDataLoaderIter,
    _MultiProcessingDataLoaderIter,
    _SingleProcessDataLoaderIter,
)
from minitorch_compile.utils.data.pinning import pinning_step
from minitorch_compile.utils.data.sampler import BatchSampler, RandomSampler, Sampler, SequentialSampler, drawn_seed
from minitorch_compile.utils.data.worker import (
    Assignment,
    Begin,
    Restart,
    fetch,
    fetch_next,
    get_worker_info,
)
from minitorch_compile.utils.data.worker_pool import CannotStart, WorkerPool, check_main_script, context_named, packed

T_co = TypeVar("T_co", covariant=True)
_collate_fn_t = Callable[[list[Any]], Any]  # PyTorch's names of the types, which other libraries annotate with
_worker_init_fn_t = Callable[[int], None]
__all__ = ["DataLoader", "get_worker_info", "default_collate", "default_convert"]
FIXED = ("batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers")


class _DatasetKind:
    """Whether a dataset is asked for items by index, or gives them one after the other."""

    Map = 0
    Iterable = 1


class _Endless(Sampler[None]):
    """For an iterable dataset there are no indices: only the wish for one more item."""

    def __iter__(self) -> Iterator[None]:
        return itertools.repeat(None)


class DataLoader(Generic[T_co]):
    """An iterable over the batches of a `dataset`: `batch_size` of its items each.

    - `shuffle`, or a `sampler` of indices, or a `batch_sampler` of lists of indices, says in which order.
    - `batch_size=None` gives single items. `drop_last` leaves out a last batch that is too short.
    - `collate_fn` puts a list of items together, `default_collate` if not given.
    - `num_workers` processes make batches ahead, `prefetch_factor` (2) each. They are spawned: dataset and functions
      must be picklable, and a script must guard its main part by `if __name__ == "__main__":`. Where that isn't so, a
      warning says it and the data is loaded here; with multiprocessing_context="spawn" it is a RuntimeError.
      `persistent_workers` keeps them from one epoch to the next; `timeout` is how many seconds to wait for a batch.
      `worker_init_fn(index)` is called in each at its start; they hand over batches `in_order` unless it is False.
    - `generator` draws the order and the seeds of the workers.
    - `pin_memory`: batches come in pinned memory, from which x.to("cuda", non_blocking=True) copies while the program
      goes on. Without a GPU a warning says that it has no effect. `pin_memory_device` has none: all GPUs can use it.

    >>> list(torch.utils.data.DataLoader([1, 2, 3], batch_size=2))
    [tensor([1, 2]), tensor([3])]
    """

    def __init__(
        self,
        dataset: Any,
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Sampler[Any] | Iterable[Any] | None = None,
        batch_sampler: Sampler[list[Any]] | Iterable[list[Any]] | None = None,
        num_workers: int = 0,
        collate_fn: Callable[[list[Any]], Any] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Callable[[int], None] | None = None,
        multiprocessing_context: Any = None,
        generator: Generator | None = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
        pin_memory_device: str = "",
        in_order: bool = True,
    ) -> None:
        self.dataset = dataset
        self.num_workers = num_workers
        self.pin_memory = pin_memory
        self.pin_memory_device = pin_memory_device
        self.timeout = timeout
        self.worker_init_fn = worker_init_fn
        self.generator = generator
        self.persistent_workers = persistent_workers
        self.in_order = in_order
        self.prefetch_factor = 2 if num_workers > 0 and prefetch_factor is None else prefetch_factor
        self._check_workers(prefetch_factor, multiprocessing_context)
        asked_for = multiprocessing_context
        self.multiprocessing_context = None if asked_for is None else context_named(asked_for)
        self._alone = False  # whether this process does it all, since workers couldn't be started
        self._iterable = isinstance(dataset, IterableDataset)
        self._check_sampling(batch_size, shuffle, sampler, batch_sampler, drop_last)
        self.batch_size = None if batch_sampler is not None else batch_size
        self.drop_last = drop_last
        self.sampler = sampler if sampler is not None else self._default_sampler(bool(shuffle))
        if batch_sampler is None and batch_size is not None:
            batch_sampler = BatchSampler(self.sampler, batch_size, drop_last)
        self.batch_sampler = batch_sampler
        self.collate_fn = collate_fn or (default_convert if batch_sampler is None else default_collate)
        self._pool: WorkerPool | None = None
        self._iterator: _BaseDataLoaderIter | None = None  # the run in progress, where workers persist
        self._complete = True

    def _check_workers(self, prefetch_factor: int | None, context: Any) -> None:
        if self.num_workers < 0:
            raise ValueError("num_workers option should be non-negative; use num_workers=0 to disable multiprocessing.")
        if self.timeout < 0:
            raise ValueError("timeout option should be non-negative")
        if self.num_workers == 0 and prefetch_factor is not None:
            raise ValueError(
                "prefetch_factor option could only be specified in multiprocessing.let num_workers > 0 to enable"
                " multiprocessing, otherwise set prefetch_factor to None."
            )
        if prefetch_factor is not None and prefetch_factor < 0:
            raise ValueError("prefetch_factor option should be non-negative")
        if self.persistent_workers and self.num_workers == 0:
            raise ValueError("persistent_workers option needs num_workers > 0")
        if context is not None and self.num_workers == 0:
            raise ValueError(
                "multiprocessing_context can only be used with multi-process loading (num_workers > 0), but got"
                f" num_workers={self.num_workers}"
            )

    def _check_sampling(
        self, batch_size: int | None, shuffle: bool | None, sampler: Any, batch_sampler: Any, drop_last: bool
    ) -> None:
        if self._iterable:
            refused = {"shuffle": shuffle or None, "sampler": sampler, "batch_sampler": batch_sampler}
            for name, value in refused.items():
                if value is not None:
                    raise ValueError(
                        f"DataLoader with IterableDataset: expected unspecified {name} option, but got {name}={value}"
                    )
        if sampler is not None and shuffle:
            raise ValueError("sampler option is mutually exclusive with shuffle")
        if batch_sampler is not None and (batch_size != 1 or shuffle or sampler is not None or drop_last):
            raise ValueError(
                "batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and drop_last"
            )
        if batch_size is None and drop_last:
            raise ValueError("batch_size=None option disables auto-batching and is mutually exclusive with drop_last")

    def _default_sampler(self, shuffle: bool) -> Any:
        if self._iterable:
            return _Endless()
        return RandomSampler(self.dataset, generator=self.generator) if shuffle else SequentialSampler(self.dataset)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in FIXED and "_complete" in self.__dict__:
            raise ValueError(f"{name} attribute should not be set after {type(self).__name__} is initialized")
        super().__setattr__(name, value)

    def __len__(self) -> int:
        if not self._iterable:
            return len(self._index_sampler)  # type: ignore[arg-type]
        count = len(self.dataset)
        if self.batch_size is None:
            return count
        return count // self.batch_size if self.drop_last else -(-count // self.batch_size)

    @property
    def _dataset_kind(self) -> int:
        return _DatasetKind.Iterable if self._iterable else _DatasetKind.Map

    @property
    def _auto_collation(self) -> bool:
        """Whether items are put together to batches."""
        return self.batch_sampler is not None

    @property
    def _index_sampler(self) -> Iterable[Any]:
        """What is to be fetched, batch by batch."""
        return self.sampler if self.batch_sampler is None else self.batch_sampler

    def __iter__(self) -> _BaseDataLoaderIter:
        if self._iterator is not None:  # workers that persist do one run at a time
            self._iterator.close()
        run = self._get_iterator()
        if self.pin_memory:
            run.last_step = pinning_step()
        self._iterator = run if self.persistent_workers else None
        return run

    def _get_iterator(self) -> _BaseDataLoaderIter:
        """A new run. Classes that derive from this one may give another."""
        seed = drawn_seed(self.generator)  # also where no worker needs it: the stream goes on as with workers
        if self.num_workers == 0 or self._alone:
            return _SingleProcessDataLoaderIter(self)
        pool = self._pool
        keeps_data = self.persistent_workers and pool is not None and not pool.ended and not pool.busy
        try:
            message = Restart(seed) if keeps_data else Begin(self._assignment(), seed)
            pool = self._free_pool()
        except CannotStart as error:
            if self.multiprocessing_context is not None:
                raise
            warn_user(
                f"{error}. Now the data is loaded in this process instead of in {self.num_workers} workers.",
                RuntimeWarning,
            )
            self._alone = True
            return _SingleProcessDataLoaderIter(self)
        pool.tell(message)
        ahead = self.num_workers * max(self.prefetch_factor or 1, 1)
        return _MultiProcessingDataLoaderIter(
            pool, self._index_sampler, ahead, self.in_order, self.persistent_workers, self.timeout or None
        )

    def _assignment(self) -> bytes:
        """What the workers have to know."""
        batched = self.batch_sampler is not None
        return packed(
            Assignment(self.dataset, self.collate_fn, batched, self.drop_last, self.worker_init_fn, self.num_workers)
        )

    def _free_pool(self) -> WorkerPool:
        """The workers of the epoch before, or new ones if there are none or they are in use."""
        if self._pool is not None and not self._pool.ended and not self._pool.busy:
            return self._pool
        check_main_script()
        pool = WorkerPool(context_named(self.multiprocessing_context), self.num_workers)
        if self._pool is None or self._pool.ended:
            self._pool = pool
        return pool

    def _in_this_process(self) -> Iterator[Any]:
        """The batches, made one by one when they are asked for."""
        batched = self.batch_sampler is not None
        items = iter(self.dataset) if self._iterable else None
        for indices in self._index_sampler:
            if items is None:
                yield fetch(self.dataset, indices, self.collate_fn, batched)
                continue
            try:
                batch = fetch_next(items, len(indices) if batched else None, self.collate_fn, self.drop_last)
            except StopIteration:
                return
            yield batch
