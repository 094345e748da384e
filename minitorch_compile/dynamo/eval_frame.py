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
import os
from collections.abc import Callable
from types import (
    BuiltinFunctionType,
    FunctionType,
    MethodDescriptorType,
    MethodType,
    MethodWrapperType,
    WrapperDescriptorType,
)
from typing import Any

from minitorch_compile.dynamo.bytecode.instructions import has_hidden_variables
from minitorch_compile.dynamo.cache.region import Backend, Region
from minitorch_compile.dynamo.capture.skipped_modules import is_library_code, is_traced_whole, reason_to_skip
from minitorch_compile.dynamo.optimized_module import OptimizedModule
from minitorch_compile.dynamo.rewriting.resume import shown_name

STANDARD_LIBRARY = os.path.dirname(os.__file__) + os.sep
WRITTEN_IN_C = frozenset((type, BuiltinFunctionType, MethodDescriptorType, WrapperDescriptorType, MethodWrapperType))
NOT_COMPILED = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


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
    if isinstance(function, MethodType):
        return MethodType(optimize_in(region, function.__func__), function.__self__)
    if isinstance(function, FunctionType):
        return region.wrap(_original(function)) if _has_plain_frame(function) else compiled_callable(function, region)
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
    return (forward, region.wrap(_original(forward))) if _has_plain_frame(forward) else None


def compiled_callable(function: Any, region: Region) -> Any:
    """The compiled form of a callable met on the way; what has no bytecode worth tracing comes back as it is."""
    cls = type(function)
    if cls in WRITTEN_IN_C or issubclass(cls, type):
        return function
    if cls is FunctionType:
        return _wrapped(function, region, None) or function
    if cls is MethodType:
        return _bound(function.__func__, function.__self__, region) or function
    if cls is functools.partial:
        return functools.partial(compiled_callable(function.func, region), *function.args, **function.keywords)
    return _bound(getattr(cls, "__call__", None), function, region) or function  # noqa: B004  the function is wanted


def _bound(method: Any, owner: Any, region: Region) -> MethodType | None:
    """The compiled method of an object, None if there is nothing to compile."""
    if type(method) is not FunctionType:
        return None
    wrapped = _wrapped(method, region, type(owner) if is_library_code(method.__code__) else None)
    return None if wrapped is None else MethodType(wrapped, owner)


def _wrapped(function: FunctionType, region: Region, owner: type | None) -> Callable[..., Any] | None:
    """The compiled form of a function, None if it is not worth compiling on its own."""
    known = region.known(function, owner)
    if known is not None:
        return known
    only_frame = function.__dict__.get("_dynamo_only_frame")
    if only_frame is not None:
        return region.through(only_frame)
    return region.wrap(_original(function), owner) if _is_compilable(function) else None


def _original(function: FunctionType) -> FunctionType:
    """The plain function behind a compiled one."""
    return function.__dict__.get("_dynamo_original", function)


def _is_compilable(function: FunctionType) -> bool:
    """Whether a callee is worth compiling on its own."""
    code = function.__code__
    standard = code.co_filename.startswith(STANDARD_LIBRARY) and "site-packages" not in code.co_filename
    if standard or not _has_plain_frame(function):
        return False
    module = function.__globals__.get("__name__")
    return not is_traced_whole(module) and reason_to_skip(code, module) is None


def _has_plain_frame(function: FunctionType) -> bool:
    """Not the hidden function of a comprehension, nor that of type parameters: not all their variables have names."""
    code = function.__code__
    return (
        not has_hidden_variables(code)
        and not function.__dict__.get("_dynamo_disabled")
        and not code.co_flags & NOT_COMPILED
    )


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
