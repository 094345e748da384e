"""torch.profiler.itt: marks for Intel's profiler, which this package doesn't speak to; programs ask first.

>>> is_available()
False
>>> mark("step")
Traceback (most recent call last):
RuntimeError: ITT functions not installed. Are you sure you have a ITT build? ...
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn


def is_available() -> bool:
    """Whether marks reach Intel's profiler."""
    return False


def _refuse() -> NoReturn:
    raise RuntimeError(
        "ITT functions not installed. Are you sure you have a ITT build? (torch.profiler.record_function names a part"
        " of a program for torch.profiler.)"
    )


def range_push(msg: str) -> NoReturn:
    """RuntimeError: there is nobody to tell."""
    _refuse()


def range_pop() -> NoReturn:
    """RuntimeError: there is nobody to tell."""
    _refuse()


def mark(msg: str) -> NoReturn:
    """RuntimeError: there is nobody to tell."""
    _refuse()


@contextmanager
def range(msg: str, *args: Any, **kwargs: Any) -> Iterator[None]:
    """RuntimeError: there is nobody to tell."""
    _refuse()
    yield


__all__ = ["is_available", "mark", "range", "range_pop", "range_push"]
