"""The door to the tracer: `optimize` makes a compiled stand-in for a function, method, or callable object.

>>> from minitorch_compile.tensor import tensor
>>> def halve(x):
...     return x / 2
>>> fast = optimize(halve, backend=lambda module, inputs: module)
>>> fast(tensor([2.0, 4.0]))
tensor([1., 2.])
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from types import FunctionType, MethodType
from typing import Any

from minitorch_compile.dynamo.binding import argument_names
from minitorch_compile.dynamo.cache import Backend, Region
from minitorch_compile.dynamo.optimized_object import OptimizedObject
from minitorch_compile.dynamo.skipped_modules import is_library_code, reason_to_skip

NOT_COMPILED = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


def optimize(function: Any, backend: Backend, fullgraph: bool = False) -> Any:
    """A callable that behaves as `function` and runs graphs compiled by `backend(graph_module, fake_inputs)`.

    With `fullgraph`, a graph break is an `Unsupported` error with the explanation instead of a split.
    """
    return optimize_in(Region(backend, fullgraph), function)


def optimize_in(region: Region, function: Any) -> Any:
    """The same, within an existing region."""
    if isinstance(function, OptimizedObject):
        function = function._orig_mod
    if isinstance(function, MethodType):
        return MethodType(optimize_in(region, function.__func__), function.__self__)
    if isinstance(function, FunctionType):
        return region.wrap(_original(function)) if _has_plain_frame(function) else function
    if isinstance(function, type) or not callable(function):
        raise TypeError(f"optimize: expected a function, a method or a callable object, but got {function!r}.")
    method = inspect.getattr_static(type(function), "__call__", None)
    if not isinstance(method, FunctionType):
        return function  # written in C: there is no bytecode to trace
    return OptimizedObject(function, region, region.wrap(method), _compiled_forward(function, region))


def _compiled_forward(owner: Any, region: Region) -> tuple[FunctionType, Callable[..., Any]] | None:
    """The forward, plain and compiled, of an object whose call may be nothing but that, such as an nn.Module."""
    forward = inspect.getattr_static(type(owner), "forward", None)
    if not hasattr(type(owner), "_call_is_forward") or not isinstance(forward, FunctionType):
        return None
    return (forward, region.wrap(_original(forward))) if _has_plain_frame(forward) else None


def compiled_callable(function: Any, region: Region) -> Any:
    """The compiled form of a callable met on the way; what has no bytecode worth tracing comes back as it is."""
    if isinstance(function, MethodType):
        return _bound(function.__func__, function.__self__, region) or function
    if isinstance(function, FunctionType):
        return region.wrap(_original(function)) if _is_compilable(function) else function
    if isinstance(function, functools.partial):
        return functools.partial(compiled_callable(function.func, region), *function.args, **function.keywords)
    return _bound(inspect.getattr_static(type(function), "__call__", None), function, region) or function


def _bound(method: Any, owner: Any, region: Region) -> MethodType | None:
    """The compiled method of an object, None if there is nothing to compile."""
    if not isinstance(method, FunctionType) or not _is_compilable(method):
        return None
    shared = type(owner) if is_library_code(method.__code__) else None
    return MethodType(region.wrap(_original(method), shared), owner)


def _original(function: FunctionType) -> FunctionType:
    """The plain function behind a compiled one."""
    return function.__dict__.get("_dynamo_original", function)


def _is_compilable(function: FunctionType) -> bool:
    """Whether a callee is worth compiling on its own."""
    return (
        _has_plain_frame(function) and reason_to_skip(function.__code__, function.__globals__.get("__name__")) is None
    )


def _has_plain_frame(function: FunctionType) -> bool:
    """Not the hidden function of a comprehension either: its argument has no name."""
    code = function.__code__
    has_names = all(name.isidentifier() for name in argument_names(code))
    return has_names and not function.__dict__.get("_dynamo_disabled") and not code.co_flags & NOT_COMPILED


def region_of(function: Callable[..., Any]) -> Region:
    """The region of a compiled callable. TypeError for any other object."""
    if isinstance(function, MethodType):
        return region_of(function.__func__)
    if type(function) is OptimizedObject:
        return function._dynamo_region
    dispatcher = getattr(function, "_dynamo_dispatcher", None)
    if dispatcher is None:
        raise TypeError(f"region_of: {function!r} is not a compiled function.")
    return dispatcher.region
