"""Functions about which the frame hook is told beforehand, by mark, instead of judging by where they are defined.

The hook belongs to the tracer (`dynamo/frame_evaluation`); the marks lie below it, since a library that knows nothing
of tracing has entry points, too.

>>> @unhooked
... def trace():
...     "Nothing that is called from here is captured."
>>> mark_of(trace.__code__) == OFF
True
>>> mark_of(mark_of.__code__) is None
True
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable
from types import CodeType, FunctionType, MethodType
from typing import Any, TypeVar

PASS, OFF, CAPTURE = 1, 2, 3

AnyCallable = TypeVar("AnyCallable", bound=Callable[..., Any])

_generated: weakref.WeakValueDictionary[int, CodeType] = weakref.WeakValueDictionary()
_marks: dict[int, tuple[CodeType, int]] = {}  # by identity of the code object, which is kept alive
_listeners: list[Callable[[CodeType, int], None]] = []


def listen(listener: Callable[[CodeType, int], None]) -> None:
    """From now on `listener(code, kind)` is called for each mark: it may have judged the function already."""
    _listeners.append(listener)


def unhooked(function: AnyCallable) -> AnyCallable:
    """The hook is off in this function and everything that it calls: the compiler itself, and compiled graphs."""
    return _marked(function, OFF)


def passed(function: AnyCallable) -> AnyCallable:
    """This function's own frames run as they are; what it calls may be captured."""
    return _marked(function, PASS)


def entry_point(function: AnyCallable) -> AnyCallable:
    """A function of this package's that is captured, such as the call of a module; others are not."""
    return _marked(function, CAPTURE)


def generated(code: CodeType) -> CodeType:
    """Code that the compiler made, such as a resume function: it bears the user's file name, but is dispatched
    already."""
    _generated[id(code)] = code
    return code


def mark_of(code: CodeType) -> int | None:
    """OFF, PASS, CAPTURE, or None for a function without a mark."""
    known = _marks.get(id(code))
    if known is not None:
        return known[1]
    return PASS if _generated.get(id(code)) is code else None


def _marked(function: Any, kind: int) -> Any:
    """Marks the code that a call of it runs; what is written in C needs no mark."""
    code = _code_of(function)
    if code is not None and mark_of(code) not in (kind, CAPTURE):
        _marks[id(code)] = code, kind
        for listener in _listeners:
            listener(code, kind)
    return function


def _code_of(function: Any) -> CodeType | None:
    if isinstance(function, FunctionType):
        return function.__code__
    if isinstance(function, MethodType):
        return _code_of(function.__func__)
    if isinstance(function, functools.partial):
        return _code_of(function.func)
    method = getattr(type(function), "__call__", None)  # noqa: B004  the function is wanted
    return method.__code__ if isinstance(method, FunctionType) else None
