"""Whole modules in files, as `torch.save(model, f)` writes them: the class by name, the attributes, functions by name.

No code is in such a file. The class must be imported, and whoever loads the file must have said that it may be made:
`add_safe_globals([Net])`, as in PyTorch, or `weights_only=False` ("I trust this file"), which allows every module class
and every op. The module is made without its `__init__`; its attributes are set as they were.

>>> from minitorch_compile.nn import Linear, functional
>>> function_name(functional.relu), function_name(len), function_name(lambda: 1)
('op:F.relu', 'builtins:len', None)
>>> function_called("op:F.relu", trusted=True) is functional.relu
True
>>> function_called("builtins:len", trusted=True)
Traceback (most recent call last):
minitorch_compile.serialization.unreadable_file.UnreadableFileError: load: the file's module holds the function ...
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.nn import Module
from minitorch_compile.serialization.allowed_names import is_added
from minitorch_compile.serialization.named_classes import class_problem, look_up, name_of
from minitorch_compile.serialization.unreadable_file import refuse
from minitorch_compile.tensor.dispatch import op

OF_OPS = "op"  # ops are found in their table, wherever they were declared


def module_problem(cls: Any) -> str | None:
    """Why the modules of a class can't be saved whole; None if they can."""
    usual = cls.__getstate__ is Module.__getstate__ and cls.__reduce_ex__ is object.__reduce_ex__
    if not usual or cls.__setstate__ is not Module.__setstate__:
        return f"is of the class {cls.__qualname__}, which has its own way of being pickled"
    return class_problem(cls)


def module_class(name: Any, trusted: bool) -> type:
    """The class of that name, if it is imported, of modules, and allowed. UnreadableFileError otherwise."""
    found = look_up(name) if isinstance(name, str) else None
    shown = str(name)[:200]
    if not isinstance(found, type):
        raise refuse(f"the file holds a module of the class {shown!r}, which is not imported; import it and load again")
    if not issubclass(found, Module) or module_problem(found):
        raise refuse(f"the file holds a module of the class {shown!r}, which is none that can be made of attributes")
    if not trusted and not is_added(found):
        raise refuse(f"the file holds a module of the class {shown!r}; {_advice(found.__qualname__)}")
    return found


def function_name(function: Any) -> str | None:
    """The name by which a file refers to a function or class; None if it can't be found again."""
    if isinstance(function, op.Op):
        return f"{OF_OPS}:{function.name}" if op.table.get(function.name) is function else None
    named = callable(function) and isinstance(getattr(function, "__qualname__", None), str)
    if not named or not isinstance(getattr(function, "__module__", None), str):
        return None
    name = name_of(function)
    return name if look_up(name) is function else None


def function_called(name: Any, trusted: bool) -> Any:
    """The function of that name, if it was allowed. UnreadableFileError otherwise."""
    kind, _, rest = name.partition(":") if isinstance(name, str) else ("", "", "")
    found = op.table.get(rest) if kind == OF_OPS else look_up(name) if kind else None
    if found is None or not (is_added(found) or (trusted and kind == OF_OPS)):
        raise refuse(f"the file's module holds the function {str(name)[:200]!r}; {_advice(rest)}")
    return found


def _advice(name: str) -> str:
    return (
        "if you trust the file: load(..., weights_only=False), which allows modules and ops, or"
        f" add_safe_globals([{name:.100}])"
    )
