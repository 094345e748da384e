"""Warnings of this package name the user's line: the first one that is neither in a file of the package nor generated.

How many calls lie between is another number on each way to an operation: as a function or a method, plain or compiled.

>>> import warnings
>>> from minitorch_compile import ones, sin
>>> with warnings.catch_warnings(record=True) as warned:
...     _ = sin(ones(3), out=ones(2))
>>> warned[0].filename == __file__, warned[0].lineno
(False, 2)
"""

from __future__ import annotations

import os
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

NOT_THE_USERS = (os.path.dirname(__file__) + os.sep, "<generated", "<frozen importlib")


class _Collector(threading.local):
    """What takes the warnings of a thread instead of its user."""

    messages: list[str] | None = None


_collector = _Collector()


@contextmanager
def collected() -> Iterator[list[str]]:
    """While a tracer tries out a call: what it would warn of."""
    before, _collector.messages = _collector.messages, []
    try:
        yield _collector.messages
    finally:
        _collector.messages = before


def warn_user(message: str, category: type[Warning] = UserWarning) -> None:
    """`warnings.warn`, as if the user's line had called it."""
    if _collector.messages is not None:
        _collector.messages.append(message)
        return
    frame = _users_frame()
    registry = frame.f_globals.setdefault("__warningregistry__", {})
    module = frame.f_globals.get("__name__") or "<unknown>"
    warnings.warn_explicit(message, category, frame.f_code.co_filename, frame.f_lineno, module, registry)


def _users_frame() -> FrameType:
    frame = sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(NOT_THE_USERS):
        frame = frame.f_back
    return frame
