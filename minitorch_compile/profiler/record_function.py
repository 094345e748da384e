"""record_function: a part of the program under a name of its own.

>>> from minitorch_compile import ones
>>> from minitorch_compile.profiler import profile
>>> with profile() as recorded:
...     with record_function("## forward ##"):
...         _ = ones(2).exp()
>>> [event.name for event in recorded.events()]
['## forward ##', 'aten::ones', 'aten::full', 'aten::exp']
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import TracebackType
from typing import Any

from minitorch_compile.control import is_compiling
from minitorch_compile.profiler.recorder import active


class record_function:
    """`with record_function(name):` or a decorator. `args` is a text that goes into the trace. In a compiled function
    it does nothing."""

    def __init__(self, name: str, args: str | None = None) -> None:
        self.name, self.args = name, args
        self.event: Any = None

    def __enter__(self) -> record_function:
        if not is_compiling() and active:
            self.event = active[0].begin(self.name, scope=7, is_user_annotation=True)
            if self.args is not None:
                self.event.details["args"] = self.args
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        if not is_compiling() and self.event is not None:
            if active:
                active[0].end(self.event)
            self.event = None

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function, each call of which is an event."""

        @functools.wraps(function)
        def recorded(*args: Any, **kwargs: Any) -> Any:
            with record_function(self.name, self.args):
                return function(*args, **kwargs)

        return recorded
