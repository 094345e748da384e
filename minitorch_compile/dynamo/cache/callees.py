"""What a callable that the program meets on its way becomes: functions and methods are compiled on their own.

>>> from minitorch_compile.dynamo.cache.region import Region
>>> from minitorch_compile.dynamo.testing import eager
>>> region = Region(eager)
>>> compiled_callable(len, region), compiled_callable(lambda x: x, region)._dynamo_dispatcher.region is region
(<built-in function len>, True)
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
from typing import TYPE_CHECKING, Any

from minitorch_compile.control import compiled_from
from minitorch_compile.dynamo.bytecode.instructions import has_hidden_variables
from minitorch_compile.dynamo.variables.functions.skipped_modules import (
    is_library_code,
    is_traced_whole,
    reason_to_skip,
)

if TYPE_CHECKING:
    from minitorch_compile.dynamo.cache.region import Region

STANDARD_LIBRARY = os.path.dirname(os.__file__) + os.sep
WRITTEN_IN_C = frozenset((type, BuiltinFunctionType, MethodDescriptorType, WrapperDescriptorType, MethodWrapperType))
NOT_COMPILED = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


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
    return region.wrap(original(function), owner) if _is_compilable(function) else None


def original(function: FunctionType) -> FunctionType:
    """The plain function behind a compiled one."""
    return compiled_from(function) or function


def _is_compilable(function: FunctionType) -> bool:
    """Whether a callee is worth compiling on its own."""
    code = function.__code__
    standard = code.co_filename.startswith(STANDARD_LIBRARY) and "site-packages" not in code.co_filename
    if standard or not has_plain_frame(function):
        return False
    module = function.__globals__.get("__name__")
    return not is_traced_whole(module) and reason_to_skip(code, module) is None


def has_plain_frame(function: FunctionType) -> bool:
    """Not the hidden function of a comprehension, nor that of type parameters: not all their variables have names."""
    code = function.__code__
    return (
        not has_hidden_variables(code)
        and not function.__dict__.get("_dynamo_disabled")
        and not code.co_flags & NOT_COMPILED
    )
