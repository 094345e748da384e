"""Classes and functions that both processes have: they cross as a module and a name.

The learner's process imports what the judge names. What the judge takes is less, and nothing is imported for it:
classes, ops and operators, which can do no harm whatever they are called with.

>>> name_of(ValueError), name_of(len)
(('builtins', 'ValueError'), ('builtins', 'len'))
>>> named("builtins", "ValueError", harmless=True)
<class 'ValueError'>
>>> named("builtins", "eval", harmless=True)
Traceback (most recent call last):
LookupError: builtins.eval is not taken
"""

from __future__ import annotations

import importlib
import inspect
import sys
import types
from types import BuiltinFunctionType, FunctionType, MethodDescriptorType, ModuleType
from typing import Any

import numpy as np

from minitorch_compile.tensor.dispatch.op import Op, table
from minitorch_compile.tensor.numerics.dtype import dtype

ROOTS = frozenset({"builtins", "operator", "_operator", "math", "numpy", "ml_dtypes", "types", "minitorch_compile"})
SELF = (type, FunctionType, BuiltinFunctionType, MethodDescriptorType, np.ufunc)
TYPES = {value: name for name, value in vars(types).items() if isinstance(value, type)}
IMPURE = (getattr, setattr, delattr, vars, globals, locals, dir)
HARMFUL = ("eval", "exec", "compile", "open", "input", "breakpoint")
SPLICING = "minitorch_compile.course.splicing"  # of the course's machinery the part that learners use, too
OPS = "ops"  # in the place of a module's name: the table of the package's ops


def name_of(value: Any) -> tuple[str, str] | None:
    """Where a class, a function, an op or a dtype of a library is found; None for all others."""
    if isinstance(value, Op):
        return (OPS, value.name) if table.get(value.name) is value else None
    if isinstance(value, dtype):
        return "minitorch_compile", value.name
    if not isinstance(value, SELF):
        return None
    if isinstance(value, type) and value in TYPES:
        return "types", TYPES[value]
    if isinstance(value, MethodDescriptorType):
        module = value.__objclass__.__module__
        return (module, value.__qualname__) if _found(module, value.__qualname__) is value else None
    module = getattr(value, "__module__", None) or ("numpy" if isinstance(value, np.ufunc) else "")
    name = getattr(value, "__qualname__", None) or getattr(value, "__name__", "")
    return (module, name) if name and _found(module, name) is value and _is_library(module) else None


def named(module: str, name: str, harmless: bool, pure: bool = False) -> Any:
    """What has this name. LookupError if there is none, or, where it must be `harmless`, if it might not be.

    `pure`: it might be called with arguments of the learner's choice.
    """
    if not harmless and module != OPS and _is_library(module):
        importlib.import_module(module)
    value = table.get(name) if module == OPS else _found(module, name)
    refused = harmless and (not is_harmless(module, value) or (pure and any(value is each for each in IMPURE)))
    if value is None or refused:
        raise LookupError(f"{module}.{name} is not taken")
    return value


def is_harmless(module: str, value: Any) -> bool:
    """Whether the judge may hold it, and call it with whatever the learner's process gives."""
    if module != OPS and module.partition(".")[0] not in ROOTS:
        return False
    if isinstance(value, Op | dtype | np.ufunc):
        return True
    if module in ("operator", "_operator", "math"):
        return type(value) is BuiltinFunctionType and value.__name__ != "call"
    if module == "builtins":
        return value.__name__ not in HARMFUL and not value.__name__.startswith("__")  # such as type.__subclasses__
    if not isinstance(value, type):
        return False
    if module == "types":
        return True
    return issubclass(value, np.generic | np.ndarray | BaseException) or _of_package(value)


def module_name(module: ModuleType) -> str:
    """A module of the judge's that the learner's process imports, too."""
    name = module.__name__
    if sys.modules.get(name) is not module or name.startswith(("authoring", "minitorch_compile.course")):
        raise TypeError(f"the module {name} doesn't cross")
    return name


def _of_package(value: type) -> bool:
    return value.__module__.startswith("minitorch_compile.") and not value.__module__.startswith(
        "minitorch_compile.course"
    )


def _is_library(module: str) -> bool:
    own = ("authoring", "minitorch_compile.course", "mini.", "your_notebook", "__main__")
    return module.startswith(SPLICING) or not module.startswith(own)


def _found(module: str, name: str) -> Any:
    found: Any = sys.modules.get(module) if _is_library(module) else None
    for part in name.split("."):
        found = inspect.getattr_static(found, part, None) if found is not None else None
    return found
