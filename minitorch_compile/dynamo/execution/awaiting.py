"""What `await`, `async with` and `async for` ask of objects, on plain values, as CPython asks it.

>>> check_awaitable(3, AWAIT)
Traceback (most recent call last):
    ...
TypeError: object int can't be used in 'await' expression
>>> async_iterator([1])
Traceback (most recent call last):
    ...
TypeError: 'async for' requires an object with __aiter__ method, got list
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable
from typing import Any, NoReturn

from minitorch_compile.dynamo.execution.frame_objects import without_host

AWAIT, ENTERING, LEAVING = 0, 1, 2  # what an awaitable is for, as in GET_AWAITABLE
NOT_AWAITABLE = {
    AWAIT: "object {} can't be used in 'await' expression",
    ENTERING: "'async with' received an object from __aenter__ that does not implement __await__: {}",
    LEAVING: "'async with' received an object from __aexit__ that does not implement __await__: {}",
}
NATIVE = types.CoroutineType | types.GeneratorType
Call = Callable[[Any, list[Any], dict[str, Any]], Any]


def is_awaitable(value: Any) -> bool:
    """A coroutine, a generator that `types.coroutine` marked, or anything with `__await__`."""
    marked = isinstance(value, types.GeneratorType) and value.gi_code.co_flags & inspect.CO_ITERABLE_COROUTINE
    return bool(marked) or hasattr(type(value), "__await__")


def check_awaitable(value: Any, purpose: int) -> Any:
    """The value, which can be awaited."""
    if not is_awaitable(value):
        raise TypeError(NOT_AWAITABLE[purpose].format(type(value).__name__))
    return value


def async_iterator(iterable: Any, call: Call | None = None) -> Any:
    """What `async for` goes through."""
    name = type(iterable).__name__
    method = getattr(type(iterable), "__aiter__", None)
    if method is None:
        raise TypeError(f"'async for' requires an object with __aiter__ method, got {name}")
    iterator = call(method, [iterable], {}) if call else method(iterable)
    if not hasattr(type(iterator), "__anext__"):
        came = type(iterator).__name__
        raise TypeError(f"'async for' received an object from __aiter__ that does not implement __anext__: {came}")
    return iterator


def next_awaitable(iterator: Any, call: Call) -> Any:
    """What `async for` awaits for its next item."""
    method = getattr(type(iterator), "__anext__", None)
    if method is None:
        raise TypeError(f"'async for' requires an iterator with __anext__ method, got {type(iterator).__name__}")
    awaitable = call(method, [iterator], {})
    try:
        check_awaitable(awaitable, AWAIT)
        return awaitable if isinstance(awaitable, NATIVE) else _Awaited(awaitable)
    except Exception as cause:
        cause.__traceback__ = without_host(cause.__traceback__)  # our frames there would keep the iterator alive
        came = type(awaitable).__name__
        raise TypeError(f"'async for' received an invalid object from __anext__: {came}") from cause


class _Awaited:
    """An awaitable that has been asked for its iterator."""

    def __init__(self, value: Any) -> None:
        self.iterator = value.__await__()

    def __await__(self) -> Any:
        return self.iterator


def refuse_to_enter(manager: Any) -> NoReturn:
    """CPython's own error for what no `async with` takes: each version words it differently."""

    async def enter() -> NoReturn:
        async with manager:
            raise AssertionError(f"{type(manager)} is no asynchronous context manager and yet was entered")

    enter().send(None)
    raise AssertionError
