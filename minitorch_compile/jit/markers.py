"""What a program says to `script` about its functions: compile this one too, leave that one to Python, never call this.

>>> @ignore
... def log(x):
...     print("sum", x.sum().item())
>>> marker_of(log)
'ignore'
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FunctionType
from typing import Any, TypeVar

from minitorch_compile.control import asked_again, disable

Program = TypeVar("Program")
MARKER = "_torchscript_modifier"
FAILED = "The following operation failed in the TorchScript interpreter."


class Error(Exception):
    """A script has raised an error."""


class _Here(threading.local):
    scripting = False


_here = _Here()


@asked_again
def is_scripting() -> bool:
    """Whether a scripted function runs this."""
    return _here.scripting


@contextmanager
def as_script(scripting: bool = True) -> Iterator[None]:
    """What runs inside is a scripted function, or is not."""
    before, _here.scripting = _here.scripting, scripting
    try:
        yield
    finally:
        _here.scripting = before


def marker_of(function: Any) -> str | None:
    """The marker "export", "ignore" or "unused"; None for a function, method or property without a marker."""
    function = getattr(function, "fget", None) or function
    return getattr(function, MARKER, None)


def _mark(function: Any, marker: str) -> None:
    vars(function)[MARKER] = marker


@disable(reason="a function marked with torch.jit.ignore runs as Python")
def _as_python(fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    with as_script(False):
        return fn(*args, **kwargs)


def ignore(drop: Any = False, **kwargs: Any) -> Any:
    """Leaves a function to Python: scripted code calls it as it is. With `drop=True` it may not be called there."""
    if not callable(drop):
        return unused if drop else ignore
    fn = drop

    @functools.wraps(fn)
    def ignored(*args: Any, **kwargs: Any) -> Any:
        return _as_python(fn, args, kwargs) if is_scripting() else fn(*args, **kwargs)

    _mark(ignored, "ignore")
    return ignored


def unused(fn: Any) -> Any:
    """Scripted code may name this function or property, but raises an Error when it comes to calling it."""
    if isinstance(fn, property):
        if fn.fset is None:
            return property(unused(fn.fget), None, fn.fdel, fn.__doc__)
        return property(unused(fn.fget), unused(fn.fset), fn.fdel, fn.__doc__)

    @functools.wraps(fn)
    def never_scripted(*args: Any, **kwargs: Any) -> Any:
        if is_scripting():
            why = "This Python function is annotated to be ignored and cannot be run"
            raise Error(f"{FAILED}\nRuntimeError: {why}: {fn.__name__}")
        return fn(*args, **kwargs)

    _mark(never_scripted, "unused")
    return never_scripted


def export(fn: Program) -> Program:
    """A method that is part of a scripted module, though forward() doesn't call it."""
    assert isinstance(fn, FunctionType)
    _mark(fn, "export")
    return fn


def script_method(fn: Program) -> Program:
    """A method of a class that is a ScriptModule from the start: part of it, as with `export`."""
    return export(fn)


def interface(obj: Program) -> Program:
    """A class that names methods which modules have in common. Here they are called by name anyway."""
    if not isinstance(obj, type):
        raise RuntimeError("interface must be applied to a class")
    return obj
