"""Datasets: things to train on, by index or one after another.

>>> from minitorch_compile import arange, tensor
>>> pairs = TensorDataset(arange(4), arange(4) * 10)
>>> pairs[2], len(pairs), len(pairs + pairs)
((tensor(2), tensor(20)), 4, 8)
>>> train, test = random_split(pairs, [0.75, 0.25])
>>> len(train), len(test)
(3, 1)
"""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Generic, TypeVar

from minitorch_compile.tensor import ops
from minitorch_compile.tensor.random.generator import Generator, default_generator

T_co = TypeVar("T_co", covariant=True)


class Dataset(Generic[T_co]):
    """A dataset by index. A subclass defines `__getitem__`, and `__len__` if it has a length.

    It may define `__getitems__(indices)`, which gives a whole list of items at once.

    >>> class Squares(torch.utils.data.Dataset):
    ...     def __len__(self):
    ...         return 4
    ...     def __getitem__(self, index):
    ...         return index**2
    >>> list(torch.utils.data.DataLoader(Squares(), batch_size=4))
    [tensor([0, 1, 4, 9])]
    """

    def __getitem__(self, index: Any) -> T_co:
        raise NotImplementedError("Subclasses of Dataset should implement __getitem__.")

    def __add__(self, other: Dataset[T_co]) -> ConcatDataset[T_co]:
        return ConcatDataset([self, other])


class IterableDataset(Dataset[T_co], Iterable[T_co]):
    """A dataset that can only be run through. A subclass defines `__iter__`.

    With several workers each has a copy: `get_worker_info()` tells them apart, so that each gives its own part.
    """

    def __add__(self, other: Any) -> Any:
        return ChainDataset([self, other])


class TensorDataset(Dataset[tuple[Any, ...]]):
    """The rows of `tensors`, which have the same first size, as tuples. AssertionError if the sizes differ.

    >>> data = torch.utils.data.TensorDataset(torch.tensor([[1.0], [2.0]]), torch.tensor([0, 1]))
    >>> data[1], len(data)
    ((tensor([2.]), tensor(1)), 2)
    """

    def __init__(self, *tensors: Any) -> None:
        if any(x.size(0) != tensors[0].size(0) for x in tensors):
            raise AssertionError("Size mismatch between tensors")
        self.tensors = tensors

    def __getitem__(self, index: Any) -> tuple[Any, ...]:
        return tuple(x[index] for x in self.tensors)

    def __len__(self) -> int:
        return self.tensors[0].size(0)


class StackDataset(Dataset[Any]):
    """Item i is the tuple of the datasets' i-th items; their dict if they are given by name."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if args and kwargs:
            raise ValueError(
                "Supported either ``tuple``- (via ``args``) or ``dict``- (via ``kwargs``) like input/output, but both"
                " types are given."
            )
        if not args and not kwargs:
            raise ValueError("At least one dataset should be passed")
        self.datasets: Any = args or kwargs
        parts = self._parts()
        self._length = len(parts[0])
        if any(len(part) != self._length for part in parts):
            raise ValueError("Size mismatch between datasets")

    def _parts(self) -> list[Any]:
        return list(self.datasets.values() if isinstance(self.datasets, dict) else self.datasets)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(self.datasets, dict):
            return {name: part[index] for name, part in self.datasets.items()}
        return tuple(part[index] for part in self.datasets)

    def __len__(self) -> int:
        return self._length


class ConcatDataset(Dataset[T_co]):
    """Datasets one after another. `cumulative_sizes`: where each ends."""

    def __init__(self, datasets: Iterable[Any]) -> None:
        self.datasets = list(datasets)
        if not self.datasets:
            raise AssertionError("datasets should not be an empty iterable")
        if any(isinstance(d, IterableDataset) for d in self.datasets):
            raise AssertionError("ConcatDataset does not support IterableDataset")
        self.cumulative_sizes = list(itertools.accumulate(len(d) for d in self.datasets))

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, idx: int) -> T_co:
        if idx < 0:
            if -idx > len(self):
                raise ValueError("absolute value of index should not exceed dataset length")
            idx += len(self)
        which = bisect.bisect_right(self.cumulative_sizes, idx)
        return self.datasets[which][idx - (self.cumulative_sizes[which - 1] if which else 0)]


class ChainDataset(IterableDataset[Any]):
    """Iterable datasets one after another."""

    def __init__(self, datasets: Iterable[Any]) -> None:
        self.datasets = datasets

    def __iter__(self) -> Iterator[Any]:
        for dataset in self.datasets:
            if not isinstance(dataset, IterableDataset):
                raise AssertionError("ChainDataset only supports IterableDataset")
            yield from dataset

    def __len__(self) -> int:
        return sum(len(dataset) for dataset in self.datasets)


class Subset(Dataset[T_co]):
    """The items of a dataset at the given indices."""

    def __init__(self, dataset: Any, indices: Sequence[int]) -> None:
        self.dataset = dataset
        self.indices = indices

    def __getitem__(self, idx: Any) -> Any:
        if isinstance(idx, list):
            return self.dataset[[self.indices[i] for i in idx]]
        return self.dataset[self.indices[idx]]

    def __getitems__(self, indices: list[int]) -> list[Any]:
        chosen = [self.indices[i] for i in indices]
        many = getattr(self.dataset, "__getitems__", None)
        return many(chosen) if callable(many) else [self.dataset[i] for i in chosen]

    def __len__(self) -> int:
        return len(self.indices)


def random_split(
    dataset: Any, lengths: Sequence[int | float], generator: Generator | None = default_generator
) -> list[Subset[Any]]:
    """Parts of a dataset of the given lengths, or fractions that sum to 1, drawn without replacement.

    What rounding leaves over goes to the first parts, one each. ValueError if the lengths don't sum to the whole.
    """
    if math.isclose(sum(lengths), 1) and sum(lengths) <= 1:
        lengths = _lengths_of(len(dataset), lengths)
    if sum(lengths) != len(dataset):
        raise ValueError("Sum of input lengths does not equal the length of the input dataset!")
    order = ops.randperm(int(sum(lengths)), generator=generator).tolist()
    ends = itertools.accumulate(int(n) for n in lengths)
    return [Subset(dataset, order[end - int(n) : end]) for end, n in zip(ends, lengths, strict=True)]


def _lengths_of(total: int, fractions: Sequence[float]) -> list[int]:
    for i, fraction in enumerate(fractions):
        if not 0 <= fraction <= 1:
            raise ValueError(f"Fraction at index {i} is not between 0 and 1")
    lengths = [math.floor(total * fraction) for fraction in fractions]
    for i in range(total - sum(lengths)):
        lengths[i % len(lengths)] += 1
    return lengths
