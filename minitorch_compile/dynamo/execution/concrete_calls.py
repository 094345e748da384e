"""Calls that need the calling frame: `super()`, `locals()`, `exec(...)`, the class statement. See
`ConcreteInterpreter.call`.

>>> from minitorch_compile.dynamo.execution.concrete import interpret
>>> def report(width):
...     area = width * width
...     return sorted(locals())
>>> interpret(report, 3)
['area', 'width']
"""

from __future__ import annotations

import builtins
import sys
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from minitorch_compile.dynamo.bytecode.instructions import NULL

if TYPE_CHECKING:
    from minitorch_compile.dynamo.execution.concrete import ConcreteInterpreter


def build_class(frame: ConcreteInterpreter, body: types.FunctionType, name: str, *bases: Any, **kwargs: Any) -> type:
    """The class statement, `builtins.__build_class__`, with the body interpreted."""
    from minitorch_compile.dynamo.execution.concrete import function_frame

    resolved = types.resolve_bases(bases)
    metaclass, namespace, kwargs = types.prepare_class(name, resolved, kwargs)
    if resolved is not bases:
        namespace["__orig_bases__"] = bases
    class_cell = function_frame(body, {}, frame, namespace).run()
    cls = frame.call(metaclass, [name, resolved, namespace], kwargs)
    if isinstance(class_cell, types.CellType) and frame.load_cell(class_cell) is NULL:
        raise RuntimeError(
            f"__class__ not set defining {name!r} as {cls!r}. Was __classcell__ propagated to type.__new__?"
        )
    return cls


def function_name(function: Any) -> str:
    """How CPython names a function in a TypeError about its arguments."""
    qualified = getattr(function, "__qualname__", None)
    if qualified is None:
        return str(function)
    module = getattr(function, "__module__", None)
    prefix = "" if module in (None, "builtins") else f"{module}."
    return f"{prefix}{qualified}()"


def visible_variables(frame: ConcreteInterpreter) -> dict[str, Any]:
    """What `locals()` gives: the namespace of a class or module body, else the bound slots, cells looked through."""
    if frame.namespace is not None:
        return frame.namespace
    cells = {*frame.program.code.co_cellvars, *frame.program.code.co_freevars}
    contents = {
        name: frame.load_cell(value) if name in cells and isinstance(value, types.CellType) else value
        for name, value in frame.locals.items()
    }
    return {name: value for name, value in contents.items() if value is not NULL and not name.startswith(".")}


def _super(frame: ConcreteInterpreter, *args: Any) -> Any:
    return super(*(args or frame.super_arguments()))


def _globals(frame: ConcreteInterpreter) -> dict[str, Any]:
    return frame.globals


def _vars(frame: ConcreteInterpreter, *args: Any) -> Any:
    return vars(*args) if args else visible_variables(frame)


def _dir(frame: ConcreteInterpreter, *args: Any) -> list[str]:
    return dir(*args) if args else sorted(visible_variables(frame))


def _eval(frame: ConcreteInterpreter, source: Any, *scopes: Any) -> Any:
    return eval(source, *_scopes(frame, *scopes))


def _exec(frame: ConcreteInterpreter, source: Any, *scopes: Any) -> None:
    exec(source, *_scopes(frame, *scopes))


def _scopes(frame: ConcreteInterpreter, *scopes: Any) -> tuple[Any, ...]:
    return scopes or (frame.globals, visible_variables(frame))


def _exc_info(frame: ConcreteInterpreter) -> tuple[Any, Any, Any]:
    error = frame.handled_exception()
    return (None, None, None) if error is NULL else (type(error), error, error.__traceback__)


def _exception(frame: ConcreteInterpreter) -> BaseException | None:
    return _exc_info(frame)[1]


FRAME_FUNCTIONS: dict[Any, Callable[..., Any]] = {
    builtins.super: _super,
    builtins.globals: _globals,
    builtins.locals: visible_variables,
    builtins.vars: _vars,
    builtins.dir: _dir,
    builtins.eval: _eval,
    builtins.exec: _exec,
    sys.exc_info: _exc_info,
    sys.exception: _exception,
}
