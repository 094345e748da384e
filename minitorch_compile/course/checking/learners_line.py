"""Where in the learner's own code an error arose, and which call of it the check had made.

An error that comes from another process was told there (`far/link.py`): it has no traceback here.
"""

from __future__ import annotations

import inspect
import linecache
import reprlib
import traceback
from types import CodeType
from typing import Any

from ..mini.package import learners_line
from .notebook_slice import described


def learner_line(error: BaseException | None) -> str:
    """The innermost line of the learner's own code in a traceback; empty if there is none."""
    if told := getattr(error, "__dict__", {}).get("told"):
        return told.get("line", "")
    frames = traceback.extract_tb(error.__traceback__) if error is not None else []
    own = filter(None, map(_own_line, reversed(frames)))
    return next(own, "")


def defined_at(function: Any) -> str:
    """The line of the learner's own code on which a function begins; empty for any other."""
    code = getattr(inspect.unwrap(getattr(function, "__func__", function)), "__code__", None)
    if not isinstance(code, CodeType):
        return ""
    line = linecache.getline(code.co_filename, code.co_firstlineno).strip()
    return _own_line(traceback.FrameSummary(code.co_filename, code.co_firstlineno, code.co_name, line=line)) or ""


def bound_at(job: dict[str, Any]) -> str:
    """The line that binds the answer; empty for a step of `mini`, which binds many names.

    >>> bound_at({"answer": "x", "cells": [{"number": 3, "source": "y = 1\\nx = 2", "statements": [0, 1]}]})
    'cell 3, line 2: x = 2'
    """
    for cell in reversed(job.get("cells", [])):
        parts = described(cell["number"], cell["source"])
        for node, statement in reversed([parts[index] for index in cell["statements"]]):
            if job["answer"] in statement.binds:
                text = cell["source"].splitlines()[node.lineno - 1].strip()
                return f"cell {cell['number']}, line {node.lineno}: {text}"
    return ""


def learners_call(error: BaseException) -> str:
    """The function of the learner that the check called, and with what: `at(value=3, batch=None): `; else empty."""
    if told := getattr(error, "__dict__", {}).get("told"):
        return told.get("call", "")
    for frame, line in traceback.walk_tb(error.__traceback__):
        code = frame.f_code
        if _own_line(traceback.FrameSummary(code.co_filename, line, code.co_name)) and code.co_name != "<module>":
            names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
            given = [f"{name}={reprlib.repr(frame.f_locals[name])}" for name in names if name in frame.f_locals]
            return f"{code.co_name}({', '.join(given)}): "
    return ""


def _own_line(frame: traceback.FrameSummary) -> str | None:
    if frame.filename.startswith("cell "):
        return f"{frame.filename}, line {frame.lineno}: {frame.line}"
    return learners_line(frame.filename, frame.lineno or 0)
