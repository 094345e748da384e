"""The functions that transforms return bear the names of those they were given.

>>> @named_after(abs)
... def transformed(x):
...     return x
>>> transformed.__name__, transformed.__wrapped__
('abs', <built-in function abs>)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

AnyCallable = TypeVar("AnyCallable", bound=Callable[..., Any])


def named_after(function: Callable[..., Any]) -> Callable[[AnyCallable], AnyCallable]:
    """As functools.wraps, but without the `__dict__`: that of a module holds the whole model."""

    def name(wrapper: Any) -> Any:
        wrapper.__name__ = name_of(function)
        wrapper.__qualname__ = getattr(function, "__qualname__", wrapper.__name__)
        wrapper.__doc__ = getattr(function, "__doc__", None)
        wrapper.__wrapped__ = function
        return wrapper

    return name


def name_of(function: Any) -> str:
    """The name of a function; of another callable, that of its class."""
    return getattr(function, "__name__", type(function).__name__)
