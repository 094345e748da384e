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
import __future__

import builtins
import functools
import operator
import sys
import types
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from minitorch_compile.dynamo.bytecode.instructions import NULL
from minitorch_compile.dynamo.execution.frame_objects import callers, frame_object, outer_frame
from minitorch_compile.dynamo.execution.generators import PREFIXES

if TYPE_CHECKING:
    from minitorch_compile.dynamo.execution.concrete import ConcreteInterpreter

FUTURE_FEATURES = functools.reduce(
    operator.or_, (getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)
)


def build_class(frame: ConcreteInterpreter, body: types.FunctionType, name: str, *bases: Any, **kwargs: Any) -> type:
    """The class statement, `builtins.__build_class__`, with the body interpreted."""
    from minitorch_compile.dynamo.execution.concrete import function_frame

    resolved = types.resolve_bases(bases)
    metaclass, namespace, kwargs = types.prepare_class(name, resolved, kwargs)
    if not hasattr(type(namespace), "__getitem__"):
        maker = metaclass.__name__ if isinstance(metaclass, type) else "<metaclass>"
        raise TypeError(f"{maker}.__prepare__() must return a mapping, not {type(namespace).__name__}")
    if resolved is not bases:
        namespace["__orig_bases__"] = bases
    class_cell = function_frame(body, {}, namespace).run()
    cls = frame.call(metaclass, [name, resolved, namespace], kwargs)
    if isinstance(cls, type) and isinstance(class_cell, types.CellType):
        _check_class_cell(frame.load_cell(class_cell), name, cls)
    return cls


def _check_class_cell(content: Any, name: str, cls: type) -> None:
    """The cell that `super()` and `__class__` in the methods read must hold the class; `type.__new__` sees to it."""
    if content is NULL:
        advice = "Was __classcell__ propagated to type.__new__?"
        raise RuntimeError(f"__class__ not set defining {name!r} as {cls!r}. {advice}")
    if content is not cls:
        raise TypeError(f"__class__ set to {content!r} defining {name!r} as {cls!r}")


def function_name(function: Any) -> str:
    """How CPython names a function in a TypeError about its arguments."""
    qualified = getattr(function, "__qualname__", None)
    if qualified is None:
        return str(function)
    module = getattr(function, "__module__", None)
    prefix = "" if module in (None, "builtins") else f"{module}."
    return f"{prefix}{qualified}()"


def visible_variables(frame: ConcreteInterpreter) -> dict[str, Any]:
    """What `locals()` gives."""
    if frame.namespace is not None:
        return frame.namespace
    return {name: value for name, value in frame.visible().items() if not name.startswith(".")}


def _super(frame: ConcreteInterpreter, *args: Any) -> Any:
    problem = "" if args else frame.super_problem()
    if problem:
        raise RuntimeError(problem)
    return super(*(args or frame.super_arguments()))


def _globals(frame: ConcreteInterpreter) -> dict[str, Any]:
    return frame.globals


def _vars(frame: ConcreteInterpreter, *args: Any) -> Any:
    return vars(*args) if args else visible_variables(frame)


def _dir(frame: ConcreteInterpreter, *args: Any) -> list[str]:
    return dir(*args) if args else sorted(visible_variables(frame))


def _eval(frame: ConcreteInterpreter, source: Any, *scopes: Any) -> Any:
    if isinstance(source, str):
        source = source.lstrip(" \t")
    return _run(frame, source, "eval", *scopes)


def _exec(frame: ConcreteInterpreter, source: Any, *scopes: Any, closure: Any = None) -> None:
    if closure is not None or isinstance(source, types.CodeType) and source.co_freevars:
        exec(source, *_scopes(frame, *scopes), closure=closure)
    else:
        _run(frame, source, "exec", *scopes)


def _run(frame: ConcreteInterpreter, source: Any, mode: str, *scopes: Any) -> Any:
    """`exec` and `eval` with what they run interpreted."""
    from minitorch_compile.dynamo.execution.concrete import run_code

    names, variables = _scopes(frame, *scopes)
    if not isinstance(names, dict) or not hasattr(type(variables), "__getitem__"):
        return {"eval": eval, "exec": exec}[mode]("None", names, variables)  # CPython's own error
    if not isinstance(source, types.CodeType):
        source = compile(source, "<string>", mode, frame.program.code.co_flags & FUTURE_FEATURES, dont_inherit=True)
    names.setdefault("__builtins__", frame.builtins)
    return run_code(source, names, variables)


def _scopes(frame: ConcreteInterpreter, names: Any = None, variables: Any = None) -> tuple[Any, Any]:
    """The globals and locals that `exec` and `eval` run in."""
    if names is None:
        return frame.globals, visible_variables(frame) if variables is None else variables
    return names, names if variables is None else variables


def _getframe(frame: ConcreteInterpreter, depth: int = 0) -> types.FrameType:
    own = list(callers(frame))
    return frame_object(own[max(depth, 0)]) if depth < len(own) else outer_frame(depth - len(own))


def _module_of(frame: ConcreteInterpreter, depth: int = 0) -> str | None:
    return _getframe(frame, depth).f_globals.get("__name__")


def _warn(
    frame: ConcreteInterpreter, message: Any, category: Any = None, stacklevel: int = 1, source: Any = None, **more: Any
) -> None:
    """As seen from the interpreted frames, of which the C function knows nothing."""
    own = list(callers(frame))
    if more or not 1 <= stacklevel <= len(own) or isinstance(category, type) and not issubclass(category, Warning):
        return warnings.warn(message, category, stacklevel, source, **more)
    seen = own[stacklevel - 1]
    names = seen.globals
    if isinstance(message, Warning):
        category = type(message)
    registry = names.setdefault("__warningregistry__", {})
    where = seen.program.code.co_filename, seen.instruction.line or 0, names.get("__name__", "<string>")
    warnings.warn_explicit(message, category or UserWarning, *where, registry, names, source)
    return None


def _getattr(frame: ConcreteInterpreter, obj: Any, name: str, *default: Any) -> Any:
    known = isinstance(name, str) and type(obj) in PREFIXES and hasattr(obj, name)
    return frame.load_attr(obj, name) if known else getattr(obj, name, *default)


def _exc_info(frame: ConcreteInterpreter) -> tuple[Any, Any, Any]:
    error = frame.handled_exception()
    return (None, None, None) if error is NULL else (type(error), error, error.__traceback__)


def _exception(frame: ConcreteInterpreter) -> BaseException | None:
    return _exc_info(frame)[1]


def _type(frame: ConcreteInterpreter, *args: Any, **kwargs: Any) -> Any:
    return _with_globals(frame, type, args, kwargs)


def _new_type(frame: ConcreteInterpreter, *args: Any, **kwargs: Any) -> Any:
    return _with_globals(frame, type.__new__, args, kwargs)


def _with_globals(frame: ConcreteInterpreter, function: Any, args: Any, kwargs: Any) -> Any:
    """Call what asks for the module of the code that calls it."""
    call = (lambda function, args, kwargs: function(*args, **kwargs)).__code__
    return types.FunctionType(call, frame.globals)(function, args, kwargs)


FRAME_FUNCTIONS: dict[Any, Callable[..., Any]] = {
    builtins.super: _super,
    builtins.type: _type,
    type.__new__: _new_type,
    builtins.globals: _globals,
    builtins.locals: visible_variables,
    builtins.vars: _vars,
    builtins.dir: _dir,
    builtins.eval: _eval,
    builtins.exec: _exec,
    builtins.getattr: _getattr,
    sys.exc_info: _exc_info,
    sys.exception: _exception,
    sys._getframe: _getframe,
    getattr(sys, "_getframemodulename", None): _module_of,  # from 3.12 on
    warnings.warn: _warn,
}
