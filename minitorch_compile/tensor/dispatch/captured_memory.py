"""Which memory a function that grad or vjp runs may write to: what it was given, and what it made itself.

The gradient of a function is about its arguments. A tensor that it merely found, in a variable around it or in a
module, is *captured*, and an in-place operation on it would be a side effect that the gradient knows nothing of.
PyTorch refuses that, and so do we:

>>> import minitorch_compile as torch
>>> count = torch.zeros(())
>>> torch.func.grad(lambda x: count.add_(1) * x)(torch.tensor(2.0))  # doctest: +ELLIPSIS
Traceback (most recent call last):
RuntimeError: During a grad (vjp, jvp, grad, etc) transform, the function provided attempted ... a captured Tensor. ...

Each recording starts at a number, higher than the last one's. Storages are marked with the number of the recording that
they were made in; one with a lower mark than the running recording's, or none, is older than it. Views share the
storage, so they need no marks.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from minitorch_compile.tensor.tensor_base import TensorBase, kept_by

_numbers = itertools.count(1)


class _Recordings(threading.local):
    """The recordings that run in one thread, the innermost last: the number that each started at."""

    def __init__(self) -> None:
        self.starts: list[int] = []

    def begin(self, arguments: Iterable[Any]) -> None:
        """A function begins to run with these arguments, which it may write to."""
        self.starts.append(next(_numbers))
        for x in arguments:
            _mark(x)


recordings = _Recordings()


def _mark(x: TensorBase) -> None:
    x.storage.memory.made_in = recordings.starts[-1]


def mark_made(result: Any, args: Sequence[Any]) -> None:
    """These results were made by the running function, those excepted that it got as they are."""
    for x in result if isinstance(result, (tuple, list)) else (result,):
        if "storage" not in kept_by(x):  # so it is new: the mark waits for the storage
            x.made_in = recordings.starts[-1]
        elif x.base is None and not any(x is given for given in args):
            _mark(x)


def refuse_captured(name: str, target: Any) -> None:
    """RuntimeError if a function that is differentiated is about to write to what it captured."""
    if not recordings.starts or not isinstance(target, TensorBase):
        return
    if getattr(target.storage.memory, "made_in", 0) < recordings.starts[-1]:
        raise RuntimeError(
            "During a grad (vjp, jvp, grad, etc) transform, the function provided attempted to call in-place operation"
            f" (aten::{name}) that would mutate a captured Tensor. This is not supported; please rewrite the function"
            " being transformed to explicitly accept the mutated Tensor(s) as inputs."
        )


@contextmanager
def captured_may_change() -> Iterator[None]:
    """Inside, an operation writes what PyTorch's kernel of it writes unseen: running statistics, `out=`."""
    saved, recordings.starts = recordings.starts, []
    try:
        yield
    finally:
        recordings.starts = saved
