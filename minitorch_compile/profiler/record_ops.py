"""torch.ops.profiler: record_function as two calls, so that a graph can hold them.

>>> from minitorch_compile import ones
>>> from minitorch_compile.profiler import profile
>>> with profile() as recorded:
...     handle = _record_function_enter_new("forward")
...     _ = ones(2).exp()
...     _record_function_exit(handle)
>>> [event.name for event in recorded.events()]
['forward', 'aten::ones', 'aten::full', 'aten::exp']
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.profiler.record_function import record_function
from minitorch_compile.tensor.dispatch import overrides

# `with record_function(...)` as it is here: programs put other methods into the class while they trace.
_enter, _exit = record_function.__enter__, record_function.__exit__


def _record_function_enter_new(name: str, args: str | None = None) -> record_function:
    """Begins a part of the program; what is returned ends it."""
    return _enter(record_function(name, args))


def _record_function_enter(name: str, args: str | None = None) -> record_function:
    """The same, under its older name."""
    return _enter(record_function(name, args))


def _record_function_exit(handle: Any) -> Any:
    """Ends a part of the program. RuntimeError for what did not begin one."""
    found = overrides.overriding((handle,))
    if found:  # a proxy, say: the call becomes a node
        return overrides.call_overrides(_record_function_exit, found, (handle,), {})
    if not isinstance(handle, record_function):
        raise RuntimeError(
            "profiler::_record_function_exit() Expected what _record_function_enter_new() gave for argument 'handle'"
            f" but instead found type '{type(handle).__name__}'."
        )
    _exit(handle, None, None, None)
    return None


OPS = (_record_function_enter, _record_function_enter_new, _record_function_exit)
