"""script: a function or a module is checked as TorchScript checks it, and compiled.

>>> from minitorch_compile import jit, ones
>>> @script
... def double(x):
...     return 2 * x if jit.is_scripting() else x
>>> double(ones(2)), double.code
(tensor([2., 2.]), 'def double(x: Tensor):\\n  return 2 * x\\n')
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from types import FunctionType, MethodType
from typing import Any

from minitorch_compile.control import compiled_from
from minitorch_compile.jit.frontend import definition_of
from minitorch_compile.jit.markers import marker_of
from minitorch_compile.jit.resolution import scripted_classes
from minitorch_compile.jit.script_function import ScriptFunction
from minitorch_compile.jit.script_module import scripted_module
from minitorch_compile.jit.traced_module import ScriptModule
from minitorch_compile.jit.tracing import is_tracing
from minitorch_compile.nn import Module

NO_INHERITANCE = "TorchScript classes does not support inheritance yet. Please directly inherit from 'object'."
MODULE_CLASS = "Type '{}' cannot be compiled since it inherits from nn.Module, consider passing an instance instead"


def script(obj: Any, optimize: Any = None, _frames_up: int = 0, _rcb: Any = None, example_inputs: Any = None) -> Any:
    """A ScriptFunction for a function, a RecursiveScriptModule for a module; a class of the program stays what it is,
    once its methods were checked. RuntimeError or NotSupportedError for what TorchScript has no word for."""
    if isinstance(obj, (ScriptFunction, ScriptModule)):
        return obj
    if isinstance(obj, Module):
        return scripted_module(obj, {})
    if isinstance(obj, type):
        return _checked_class(obj)
    if isinstance(obj, MethodType) and isinstance(obj.__self__, Module):
        obj = obj.__func__
    original = compiled_from(obj) or obj
    if not isinstance(original, FunctionType):
        raise TypeError(f"{type(obj)} is a built-in class")
    if marker_of(original) in ("ignore", "unused"):
        return original
    return ScriptFunction(original)


def _checked_class(cls: type) -> type:
    """A class whose methods can be scripted. RuntimeError for one that can't."""
    if issubclass(cls, Module):
        raise RuntimeError(MODULE_CLASS.format(cls))
    if len(cls.mro()) > 2 and not issubclass(cls, (tuple, BaseException)) and "Enum" not in str(cls.mro()):
        raise RuntimeError(NO_INHERITANCE)
    for method in vars(cls).values():
        if isinstance(method, FunctionType) and marker_of(method) not in ("ignore", "unused"):
            written = inspect.unwrap(method)  # a dataclass writes methods that have no file, and wraps __repr__
            if not written.__code__.co_filename.startswith("<"):
                definition_of(method, of_a_method=True)
    scripted_classes.add(cls)
    return cls


def script_if_tracing(fn: Callable[..., Any]) -> Callable[..., Any]:
    """A function that is scripted when a trace calls it: its branches and loops stay in the trace."""

    @functools.wraps(fn)
    def called(*args: Any, **kwargs: Any) -> Any:
        return _scripted_once(fn)(*args, **kwargs) if is_tracing() else fn(*args, **kwargs)

    called.__dict__["__script_if_tracing_wrapper"] = True
    called.__dict__["__original_fn"] = fn
    return called


def _scripted_once(fn: Any) -> ScriptFunction:
    made = vars(fn).get("_scripted")
    if made is None:
        made = vars(fn)["_scripted"] = script(fn)
    return made
