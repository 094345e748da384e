"""What a program says to the compiler: break the graph here, don't compile this, are we compiling?"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

AnyCallable = TypeVar("AnyCallable", bound=Callable[..., Any])


def graph_break(reason: str = "") -> None:
    """Ends the graph here when traced; does nothing when run. A `reason` is for the reader.

    >>> graph_break()
    """


def is_compiling() -> bool:
    """True while the function is traced for compilation, False when it runs as plain Python.

    >>> is_compiling()
    False
    """
    return False


def disable(function: AnyCallable | None = None, recursive: bool = True, *, reason: str = "") -> Any:
    """Marks a function that is never compiled: a compiled caller breaks its graph and calls it. Also a decorator.

    >>> @disable
    ... def log(loss):
    ...     return f"{loss:.3f}"
    >>> log(0.5)
    '0.500'
    """
    if not recursive:
        raise NotImplementedError(
            "disable: recursive=False is not available; disable the function and compile() the functions that it calls"
        )
    if function is None:
        return functools.partial(disable, recursive=recursive, reason=reason)
    if not callable(function):
        raise TypeError(f"disable: function must be callable, but got {type(function).__name__}.")
    original = getattr(function, "_dynamo_original", function)  # of a compiled function, the plain one runs

    @functools.wraps(original)
    def disabled(*args: Any, **kwargs: Any) -> Any:
        return original(*args, **kwargs)

    disabled.__dict__.pop("_dynamo_original", None)
    disabled.__dict__["_dynamo_disabled"] = True
    return disabled
