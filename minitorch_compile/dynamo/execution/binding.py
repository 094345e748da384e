"""Bind a call's arguments to the slots of the function called, as CPython does, down to its error messages.

CPython's own code does it: a *binder* is a function with the same signature whose body only returns its arguments.

>>> def scale(x, *rest, by=2):
...     return x * by
>>> bind_arguments(scale, (1, 5, 6), {"by": 3})
{'x': 1, 'by': 3, 'rest': (5, 6)}
>>> bind_arguments(scale, (), {})
Traceback (most recent call last):
    ...
TypeError: scale() missing 1 required positional argument: 'x'
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Sequence
from typing import Any

from minitorch_compile.dynamo.bytecode.assemble import assemble
from minitorch_compile.dynamo.bytecode.instructions import Instruction, Program

_MAKES_GENERATOR = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
_binders: dict[int, tuple[types.CodeType, types.CodeType]] = {}  # id of a code object -> (itself, its binder's code)


def bind_arguments(function: types.FunctionType, args: Sequence[Any], kwargs: dict[str, Any]) -> dict[str, Any]:
    """The argument slots of a call, by name. Raises the TypeError that the call would raise."""
    code = function.__code__
    if id(code) not in _binders:
        _binders[id(code)] = code, _binder_code(code)
    binder = types.FunctionType(_binders[id(code)][1], {}, function.__name__, function.__defaults__)
    binder.__kwdefaults__ = function.__kwdefaults__
    binder.__qualname__ = function.__qualname__
    return dict(zip(argument_names(code), binder(*args, **kwargs), strict=True))


def argument_names(code: types.CodeType) -> tuple[str, ...]:
    """The slots that a call fills: positional, keyword-only, then *args and **kwargs."""
    stars = bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount + stars]


def _binder_code(code: types.CodeType) -> types.CodeType:
    names = argument_names(code)
    header = code.replace(
        co_flags=code.co_flags & ~_MAKES_GENERATOR,
        co_varnames=names,
        co_nlocals=len(names),
        co_cellvars=(),
        co_freevars=(),
    )
    loads = [Instruction("LOAD_FAST", name) for name in names]
    body = [*loads, Instruction("BUILD_TUPLE", len(names)), Instruction("RETURN_VALUE")]
    return assemble(Program(header, tuple(body)))
