"""Frames that run as plain Python inside compiled code: what they call is compiled nevertheless.

With the frame hook, the plain function runs as it is, and every Python function called below it, also by C code or an
operator, may be captured. That is the way that changes nothing about the frame itself: same code object, same caller,
same `locals()`. Where there is no hook (`config.frame_hook` off, or an interpreter that can't be hooked), the function
is rewritten to call through the compiler (call_wrapping.py), which reaches what it calls itself.

>>> from minitorch_compile.dynamo.cache.region import Region
>>> from minitorch_compile.frame_marks import passed
>>> from minitorch_compile.dynamo.testing import eager
>>> from minitorch_compile.tensor import ones
>>> def double(x):
...     return x * 2
>>> @passed                                             # runs as plain Python
... def doubled(tensors):
...     return list(map(double, tensors))
>>> region = Region(eager)
>>> calling_compiled(doubled, region)([ones(1)])
[tensor([2.])]
>>> [module.graph.compact() for module in region.graph_modules]
['x -> (x * 2,)']
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any

from minitorch_compile import config
from minitorch_compile.dynamo.cache.slots import slots
from minitorch_compile.dynamo.cache.wrapper import plain_caller
from minitorch_compile.dynamo.frame_evaluation.call_wrapping import wrapping_calls
from minitorch_compile.dynamo.frame_evaluation.check import reason_against
from minitorch_compile.dynamo.frame_evaluation.frame_hook import FrameHook
from minitorch_compile.dynamo.frame_evaluation.region_frames import frames_of
from minitorch_compile.dynamo.frame_evaluation.skip_rule import is_ordinary

if TYPE_CHECKING:
    from minitorch_compile.dynamo.cache.region import Region


def calling_compiled(function: FunctionType, region: Region) -> Callable[..., Any]:
    """The plain function, whose callees are compiled within the region."""
    return _under_hook(function, region) if is_hooked() else wrapping_calls(function, region.compiled)


def calling_compiled_by_slots(function: FunctionType, region: Region) -> Callable[..., Any]:
    """The same, called with all slots by position, as compiled code is."""
    if is_hooked():
        return _under_hook(plain_caller(function), region)
    return plain_caller(wrapping_calls(function, region.compiled))


def with_callees_compiled(function: Any, region: Region) -> Any:
    """A callable of a library's, which is not worth compiling itself; under the hook, what it calls may be."""
    plain = function.__func__ if isinstance(function, MethodType) else function
    runs_at_once = isinstance(plain, FunctionType) and is_ordinary(plain.__code__)
    if not runs_at_once or "_dynamo_disabled" in plain.__dict__ or not is_hooked():
        return function
    return _under_hook(function, region)


def _under_hook(function: Callable[..., Any], region: Region) -> Callable[..., Any]:
    def run(*args: Any, **kwargs: Any) -> Any:
        with FrameHook(frames_of(region)):
            return function(*args, **kwargs)

    return run


def is_hooked() -> bool:
    """Whether plain frames are run under the frame hook."""
    return config.frame_hook and not reason_against()


slots.calling_compiled = calling_compiled
slots.calling_compiled_by_slots = calling_compiled_by_slots
slots.with_callees_compiled = with_callees_compiled
