"""A function of the checks that the learner's code is to read, not only to call: it crosses as code.

A tracer reads bytecode, closures and globals, so that a program must lie in its own process. A function that writes to
variables of the function around it, or that uses the checks' own machinery, is no program: it stays, and is called
from afar.

>>> import posixpath
>>> is_program(posixpath.join), is_program(is_program)
(True, False)
"""

from __future__ import annotations

import dis
from collections.abc import Callable, Iterator
from types import CellType, CodeType, FunctionType, ModuleType
from typing import Any

from .known_names import SPLICING

MACHINERY = ("minitorch_compile.course", "authoring.checks.comparing", "authoring.checks.predicting")
Encode = Callable[[Any], Any]


def is_program(function: FunctionType) -> bool:
    """Whether the function can be exchanged for a copy of itself."""
    if (function.__module__ or "").startswith(MACHINERY):
        return False
    codes = list(all_codes(function.__code__))
    writes = {"STORE_DEREF", "DELETE_DEREF", "STORE_GLOBAL", "DELETE_GLOBAL"}
    free = set(function.__code__.co_freevars)
    for code in codes:
        for instruction in dis.get_instructions(code):
            name = instruction.argval
            if instruction.opname in writes and (instruction.opname.endswith("GLOBAL") or name in free):
                return False
    return not any(of_machinery(value) for value in global_values(function).values())


def of_machinery(value: Any) -> bool:
    module = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
    return isinstance(module, str) and module.startswith(MACHINERY) and not module.startswith(SPLICING)


def all_codes(code: CodeType) -> Iterator[CodeType]:
    """The code and those of the functions that it makes."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from all_codes(constant)


def global_values(function: FunctionType) -> dict[str, Any]:
    """The globals that its code names; builtins are everywhere."""
    names = {name for code in all_codes(function.__code__) for name in code.co_names}
    return {name: function.__globals__[name] for name in sorted(names & function.__globals__.keys())}


def described(function: FunctionType, encode: Encode) -> dict[str, Any]:
    return {
        "code": encode(function.__code__),
        "name": [function.__name__, function.__qualname__, function.__doc__],
        "globals": {name: encode(value) for name, value in global_values(function).items()},
        "defaults": encode(function.__defaults__),
        "keywords": encode(function.__kwdefaults__),
        "module": function.__module__,
        "cells": [_cell(cell, encode) for cell in function.__closure__ or ()],
    }


def rebuilt(
    data: dict[str, Any], scope: dict[str, Any], decode: Encode, remember: Callable[[FunctionType], Any]
) -> None:
    """The copy; `remember` gets it before what it uses is there, which may be the function itself.

    `scope` has the globals of all programs of its module.
    """
    cells = tuple(CellType() for _ in data["cells"])
    function = FunctionType(decode(data["code"]), scope, data["name"][0], None, cells)
    function.__qualname__, function.__doc__ = data["name"][1:]
    remember(function)
    scope.update({name: decode(value) for name, value in data["globals"].items()})
    function.__defaults__, function.__kwdefaults__ = decode(data["defaults"]), decode(data["keywords"])
    for cell, contents in zip(cells, data["cells"], strict=True):
        for each in contents:
            cell.cell_contents = decode(each)


def _cell(cell: CellType, encode: Encode) -> list[Any]:
    try:
        return [encode(cell.cell_contents)]
    except ValueError:
        return []
