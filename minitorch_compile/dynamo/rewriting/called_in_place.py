"""Calls of generated code, made from a frame that looks like the user's.

A function may ask who calls it: `warnings.warn(..., stacklevel=2)` names the caller's line, `logging` and
`inspect.stack()` its function. So where a graph breaks at a call, a small function makes it that has the name, the file
and the line of the user's. The frames further up are those of the generated code.

>>> import inspect
>>> def loud(x):
...     return shout(x)
>>> def shout(x):
...     caller = inspect.stack()[1]
...     return f"{x}! says {caller.function}, line {caller.lineno - loud.__code__.co_firstlineno}"
>>> from minitorch_compile.dynamo.bytecode.decode import decode
>>> call = next(inst for inst in decode(loud.__code__).instructions if inst.opname == "CALL")
>>> caller_at(loud.__code__, call.positions)(shout, ("hey",), {})
'hey! says loud, line 1'
"""

from __future__ import annotations

from collections.abc import Callable
from dis import Positions
from types import CodeType, FunctionType
from typing import Any

from minitorch_compile.dynamo.bytecode.decode import decode
from minitorch_compile.dynamo.rewriting.raised_in_place import moved


def _call(function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    return function(*args, **kwargs)


def caller_at(code: CodeType, positions: Positions | None) -> FunctionType:
    """A function that calls `function(*args, **kwargs)`; its frame is that of the code, at that place."""
    return moved(_call.__code__, decode(_call.__code__).instructions, code, positions)


def raised_below(caller: FunctionType, error: BaseException) -> BaseException:
    """The exception that a call made so raised, its traceback beginning at the user's line."""
    traceback = error.__traceback__
    while traceback is not None and traceback.tb_frame.f_code is not caller.__code__:
        traceback = traceback.tb_next
    return error.with_traceback(traceback or error.__traceback__)
