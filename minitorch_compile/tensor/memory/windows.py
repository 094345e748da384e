"""Storages whose memory has moved: tensors keep a NumPy window on it (`TensorBase.array`), and it would show the old.

Nobody has a list of a storage's tensors, except the garbage collector.

>>> from minitorch_compile.tensor import arange
>>> x = arange(3)
>>> view = x[1:]
>>> (view + 1).tolist(), x.resize_(100).fill_(5).sum().item(), (view + 1).tolist()
([2, 3], 500, [6, 6])
"""

from __future__ import annotations

import gc
from types import GetSetDescriptorType
from typing import Any

from minitorch_compile.tensor.memory.storage import BorrowedStorage, Storage


def forget_windows(moved: list[Storage]) -> None:
    """The windows on the old memory of these are made anew, when they are next looked through."""
    pending: list[Any] = list(moved)
    while pending:
        holders = gc.get_referrers(*pending)
        pending = [holder for holder in holders if isinstance(holder, BorrowedStorage)]
        for holder in holders:
            attributes = holder if isinstance(holder, dict) else _kept_by(holder)
            if isinstance(attributes, dict) and "storage" in attributes and "_array" in attributes:
                attributes["_array"] = None


def _kept_by(holder: object) -> Any:
    """What an object keeps, seen past a `__dict__` that its class has as a property, as Tensor has."""
    offers = [vars(cls)["__dict__"] for cls in type(holder).__mro__ if "__dict__" in vars(cls)]
    return offers[-1].__get__(holder) if offers and isinstance(offers[-1], GetSetDescriptorType) else {}
