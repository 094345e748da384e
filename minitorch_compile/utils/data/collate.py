"""From a list of items to one batch.

>>> default_collate([{"x": 1, "name": "a"}, {"x": 2, "name": "b"}])
{'x': tensor([1, 2]), 'name': ['a', 'b']}
>>> default_convert([1, "a"])
[1, 'a']
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, MutableMapping, MutableSequence, Sequence
from typing import Any

import numpy as np

from minitorch_compile.tensor import Tensor, as_tensor, float64, ops, tensor

NOT_COLLATABLE = "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {}"


def default_convert(data: Any) -> Any:
    """NumPy arrays and numbers as tensors, inside lists, tuples and dicts too; everything else as it is."""
    if isinstance(data, Tensor):
        return data
    if isinstance(data, (np.ndarray, np.generic)):
        return data if data.dtype.kind in "SUO" else as_tensor(data)
    if isinstance(data, Mapping):
        return made_like(data, {key: default_convert(value) for key, value in data.items()})
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return type(data)(*(default_convert(item) for item in data))
    if isinstance(data, tuple):
        return [default_convert(item) for item in data]  # PyTorch gives a list for a plain tuple
    if isinstance(data, Sequence) and not isinstance(data, (str, bytes)):
        return made_like(data, [default_convert(item) for item in data])
    return data


def default_collate(batch: Sequence[Any]) -> Any:
    """The items of a batch put together: tensors stacked, numbers as a tensor, dicts and lists item by item.

    Strings stay a list. TypeError for other items; RuntimeError if lists differ in length.
    """
    first = batch[0]
    if isinstance(first, Tensor):
        return ops.stack(list(batch))
    if isinstance(first, (np.ndarray, np.generic)) and not isinstance(first, (str, bytes)):
        return _collate_numpy(batch)
    if isinstance(first, float):
        return tensor(list(batch), dtype=float64)
    if isinstance(first, int):
        return tensor(list(batch))
    if isinstance(first, (str, bytes)):
        return batch
    if isinstance(first, Mapping):
        return made_like(first, {key: default_collate([item[key] for item in batch]) for key in first})
    if isinstance(first, Sequence):
        return _collate_sequences(batch)
    raise TypeError(NOT_COLLATABLE.format(type(first)))


def _collate_numpy(batch: Sequence[Any]) -> Any:
    first = batch[0]
    if first.dtype.kind in "SUO":
        raise TypeError(NOT_COLLATABLE.format(first.dtype))
    return ops.stack([as_tensor(item) for item in batch])


def _collate_sequences(batch: Sequence[Any]) -> Any:
    first = batch[0]
    if any(len(item) != len(first) for item in batch):
        raise RuntimeError("each element in list of batch should be of equal size")
    columns = [default_collate(column) for column in zip(*batch, strict=True)]
    if isinstance(first, tuple) and hasattr(first, "_fields"):
        return type(first)(*columns)
    return columns if isinstance(first, tuple) else made_like(first, columns)


def made_like(example: Any, items: Any) -> Any:
    """The items in a container of the same class: a copy of the example, which may have more than its items, if it can
    be changed; else one made of a plain one, if the class allows that."""
    if type(example) in (list, dict):
        return items
    try:
        if isinstance(example, MutableMapping):
            clone: Any = copy.copy(example)
            clone.update(items)
            return clone
        if isinstance(example, MutableSequence):
            clone = copy.copy(example)
            for place, item in enumerate(items):
                clone[place] = item
            return clone
        return type(example)(items)
    except TypeError:  # the class wants something else: plain items do as well
        return items


__all__ = ["default_collate", "default_convert"]
