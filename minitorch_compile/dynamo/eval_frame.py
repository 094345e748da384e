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

from minitorch_compile.autograd.function import Function
from minitorch_compile.dynamo.cache.callees import compiled_callable, has_plain_frame, original
from minitorch_compile.dynamo.cache.region import Backend, Region
from minitorch_compile.dynamo.cache.slots import slots
from minitorch_compile.dynamo.optimized_module import OptimizedModule
from minitorch_compile.dynamo.resuming.resume import shown_name
from minitorch_compile.dynamo.variables.functions.skipped_modules import is_library_code

APPLY = Function.apply.__func__  # type: ignore[attr-defined]


def optimize(function: Any, backend: Backend, fullgraph: bool = False, dynamic: bool | None = None) -> Any:
    """A callable that behaves as `function` and runs graphs compiled by `backend(graph_module, fake_inputs)`.

    With `fullgraph`, a graph break is an `Unsupported` error with the explanation instead of a split. `dynamic`: sizes
    are unknown from the start (True), once they have changed (None), or never (False).
    """
    return optimize_in(Region(backend, fullgraph, dynamic), function)


def optimize_in(region: Region, function: Any) -> Any:
    """The same, within an existing region."""
    if isinstance(function, OptimizedModule):
        function = function._orig_mod
    if isinstance(function, MethodType) and function.__func__ is APPLY:
        return region.wrap(_in_a_frame(function))  # its own frame is the tape's
    if isinstance(function, MethodType):
        return MethodType(optimize_in(region, function.__func__), function.__self__)
    if isinstance(function, FunctionType):
        return region.wrap(original(function)) if has_plain_frame(function) else compiled_callable(function, region)
    if isinstance(function, type) or not callable(function):
        raise TypeError(f"optimize: expected a function, a method or a callable object, but got {function!r}.")
    method = inspect.getattr_static(type(function), "__call__", None)
    if not isinstance(method, FunctionType) or _is_operation(function, method):
        return region.wrap(_in_a_frame(function))
    return OptimizedModule(function, region, region.wrap(method), _compiled_forward(function, region))


def _is_operation(function: Any, method: FunctionType) -> bool:
    """Whether the object is one of this package's operations, whose bytecode is not what a trace is about."""
    return is_library_code(method.__code__) and not hasattr(type(function), "_call_is_forward")


def _in_a_frame(function: Callable[..., Any]) -> FunctionType:
    """A function that only calls: `F.softmax`, or what is written in C, has no frame of its own to trace."""

    def inline(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    functools.update_wrapper(inline, function, updated=())
    return inline  # type: ignore[return-value]  # a def is a FunctionType


def _compiled_forward(owner: Any, region: Region) -> tuple[FunctionType, Callable[..., Any]] | None:
    """The forward, plain and compiled, of an object whose call may be nothing but that, such as an nn.Module."""
    forward = inspect.getattr_static(type(owner), "forward", None)
    if not hasattr(type(owner), "_call_is_forward") or not isinstance(forward, FunctionType):
        return None
    return (forward, region.wrap(original(forward))) if has_plain_frame(forward) else None


def region_of(function: Callable[..., Any]) -> Region:
    """The region of a compiled callable. TypeError for any other object."""
    if isinstance(function, MethodType):
        return region_of(function.__func__)
    if type(function) is OptimizedModule:
        return function._dynamo_region
    dispatcher = getattr(function, "_dynamo_dispatcher", None)
    if dispatcher is None:
        raise TypeError(f"region_of: {function!r} is not a compiled function.")
    return dispatcher.region


def cache_sizes(function: Callable[..., Any]) -> dict[str, int]:
    """How many versions there are of a compiled function, and of those that were compiled on its way.

    >>> from minitorch_compile.tensor import ones
    >>> def halve(x):
    ...     return x / 2
    >>> compiled = optimize(halve, backend=lambda module, inputs: module, dynamic=False)
    >>> for size in (1, 2, 1):
    ...     _ = compiled(ones(size))
    >>> cache_sizes(compiled)
    {'halve': 2}
    """
    sizes: dict[str, int] = {}
    for cache in region_of(function).caches:
        name = shown_name(cache.code)
        sizes[name] = sizes.get(name, 0) + len(cache.entries)
    return sizes


slots.optimize = optimize
