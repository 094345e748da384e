"""What the names in a scripted function stand for, and which other functions it needs.

`Resolution` walks from a function to all it calls. A name that stands for nothing, or for something that TorchScript
does not know, is refused while the function is scripted, before anything runs.

>>> def area(r: float):
...     return PI * r * r
>>> Resolution().take(area)
Traceback (most recent call last):
RuntimeError:
undefined value PI:
...
"""

from __future__ import annotations

import ast
import builtins
import enum
import inspect
import math
import sys
import warnings
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

from minitorch_compile.jit.frontend import Definition, definition_of
from minitorch_compile.jit.markers import marker_of
from minitorch_compile.jit.script_types import type_text
from minitorch_compile.nn import Module
from minitorch_compile.tensor import Tensor
from minitorch_compile.tensor.memory.device import device
from minitorch_compile.tensor.memory.memory_format import layout, memory_format
from minitorch_compile.tensor.numerics.dtype import dtype
from minitorch_compile.tensor.tensor_base import TensorBase

PACKAGE = __name__.partition(".")[0]
MISSING = object()
BUILTINS = (
    *(abs, all, any, bin, bool, chr, complex, dict, divmod, enumerate, float, getattr, hasattr, hash, hex, int),
    *(isinstance, len, list, max, min, oct, ord, pow, print, range, reversed, round, slice, sorted, str, sum, tuple),
    *(type, zip, object, warnings.warn),
)
PLAIN = (bool, int, float, complex, str, type(None), enum.Enum, TensorBase, dtype, device, layout, memory_format)
scripted_classes: set[type] = set()

NO_GLOBALS = (
    "python value of type '{}' cannot be used as a value. Perhaps it is a closed over global variable? If so, please"
    " consider passing it in as an argument or use a local variable instead."
)
NOT_CONVERTED = (
    "Module '{}' has no attribute '{}' (This attribute exists on the Python module, but we failed to convert Python"
    " type: '{}' to a TorchScript type. Only tensors and (possibly nested) tuples of tensors, lists, or dicts are"
    " supported as inputs or outputs of traced functions, but instead got value of type {}.. Its type was inferred; try"
    " adding a type annotation for the attribute.)"
)
NOT_THERE = "Tried to set nonexistent attribute: {}. Did you forget to initialize it in __init__()?"


def ours(value: Any) -> bool:
    """Whether it is of this package, which needs no leave."""
    return (getattr(value, "__module__", None) or "").partition(".")[0] in (PACKAGE, sys.modules[PACKAGE].__name__)


class Resolution:
    """The definitions that one scripted function or module needs: `functions`, and `methods` of the module."""

    def __init__(self, module: Module | None = None) -> None:
        self.module = module
        self.functions: dict[FunctionType, Definition] = {}
        self.methods: dict[str, Definition] = {}

    def take(self, function: FunctionType) -> Definition:
        """A function and what it calls."""
        function = inspect.unwrap(function)
        if function not in self.functions:
            made = self.functions[function] = definition_of(function)
            self._visit(made, None)
        return self.functions[function]

    def take_method(self, name: str) -> None:
        """A method of the module, and what it calls."""
        if name in self.methods or self.module is None:
            return
        method = inspect.unwrap(getattr(type(self.module), name))
        made = self.methods[name] = definition_of(method, of_a_method=True)
        if not ours(type(self.module)):
            self._visit(made, made.tree.args.args[0].arg)

    def _visit(self, definition: Definition, itself: str | None) -> None:
        visitor = _Names(self, definition, itself)
        for statement in definition.tree.body:
            visitor.visit(statement)

    def use(self, definition: Definition, node: ast.expr, value: Any, by_path: bool) -> None:
        """Notes that a text names this value. RuntimeError if TorchScript can't."""
        builtin = isinstance(value, BuiltinFunctionType) or (isinstance(value, type) and vars(builtins).get(
            value.__name__) is value)  # fmt: skip
        if ours(value) or ours(type(value)) and callable(value) and not isinstance(value, Module):
            return
        if isinstance(value, FunctionType):
            if marker_of(value) not in ("ignore", "unused"):
                self.take(value)
        elif builtin:
            fine = value in BUILTINS or issubclass_of_error(value) or vars(math).get(value.__name__) is value
            if not fine:
                message = f"Python builtin {value!r} is currently not supported in Torchscript"
                raise definition.error(RuntimeError, message, node)
        elif not by_path and (isinstance(value, (*PLAIN, list, tuple, dict, Module)) and not isinstance(value, dtype)):
            raise definition.error(RuntimeError, NO_GLOBALS.format(type(value).__name__), node)

    def use_attribute(self, definition: Definition, node: ast.Attribute) -> None:
        """Notes that a text names an attribute of its module."""
        module, name = self.module, node.attr
        on_class = inspect.getattr_static(type(module), name, MISSING)
        if marker_of(on_class) in ("ignore", "unused"):
            return
        if isinstance(on_class, FunctionType) and name not in vars(module):
            if not ours(on_class):
                self.take_method(name)
            return
        if isinstance(on_class, (property, staticmethod, classmethod)):
            return
        value = getattr(module, name, MISSING)
        if isinstance(node.ctx, ast.Store) and value is MISSING:
            raise definition.error(RuntimeError, NOT_THERE.format(name), node)
        if value is MISSING:
            message = f"Module '{type(module).__name__}' has no attribute '{name}' "
            raise definition.error(RuntimeError, message, node)
        if isinstance(value, FunctionType) and not ours(value):
            self.take(value)
        elif not convertible(value):
            kind = type(value).__name__
            message = NOT_CONVERTED.format(type(module).__name__, name, kind, kind)
            raise definition.error(RuntimeError, message, node)


def issubclass_of_error(value: Any) -> bool:
    """Whether it is a class of errors, which a script may raise."""
    return isinstance(value, type) and issubclass(value, BaseException)


def convertible(value: Any) -> bool:
    """Whether TorchScript has a type for a value that a module keeps."""
    if isinstance(value, (list, tuple)):
        return all(map(convertible, value))
    if isinstance(value, dict):
        return all(map(convertible, [*value, *value.values()]))
    if isinstance(value, (*PLAIN, Module, FunctionType, BuiltinFunctionType)) or type(value) in scripted_classes:
        return True
    return ours(type(value)) or isinstance(value, type)


class _Names(ast.NodeVisitor):
    """Walks a text and asks what its names stand for. `itself` is what a method calls its module."""

    def __init__(self, resolution: Resolution, definition: Definition, itself: str | None) -> None:
        self.resolution, self.definition, self.itself = resolution, definition, itself
        stored = (node for node in ast.walk(definition.tree) if isinstance(node, ast.Name))
        self.local = {node.id for node in stored if isinstance(node.ctx, ast.Store)}
        arguments = definition.tree.args
        self.tensors = {name for name, kind in definition.types.items() if type_text(kind) == "Tensor"} - self.local
        self.local |= {arg.arg for arg in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]}

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        for part in filter(None, [node.target, node.value]):
            self.visit(part)

    def visit_Name(self, node: ast.Name) -> None:
        if node.id not in self.local:
            self.resolution.use(self.definition, node, self.outside(node), by_path=False)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        root: ast.expr = node
        first = node
        path: list[str] = []
        while isinstance(root, ast.Attribute):
            path.append(root.attr)
            first, root = root, root.value
        if isinstance(root, ast.Name) and root.id == self.itself:
            self.resolution.use_attribute(self.definition, first)
        elif isinstance(root, ast.Name) and root.id not in self.local:
            self._follow(node, self.outside(root), path[::-1])
        else:
            if isinstance(root, ast.Name) and root.id in self.tensors and not hasattr(Tensor, first.attr):
                message = f"'Tensor' object has no attribute or method '{first.attr}'."
                raise self.definition.error(RuntimeError, message, first)
            self.visit(root)

    def _follow(self, node: ast.Attribute, value: Any, path: list[str]) -> None:
        for name in path:
            if not isinstance(value, (ModuleType, type)):
                return
            if not hasattr(value, name):
                kind = "module" if isinstance(value, ModuleType) else "class"
                message = f"{kind} '{value.__name__}' has no attribute '{name}'"
                raise self.definition.error(RuntimeError, message, node)
            value = getattr(value, name)
        self.resolution.use(self.definition, node, value, by_path=True)

    def outside(self, node: ast.Name) -> Any:
        """What a name that is not local stands for. RuntimeError if nothing has that name."""
        function, name = self.definition.function, node.id
        cells = dict(zip(function.__code__.co_freevars, function.__closure__ or ()))
        if name == "super":
            message = "super() can't be called in a script: give the method of the base class a name of its own"
            raise self.definition.error(RuntimeError, message, node)
        try:
            return cells[name].cell_contents if name in cells else self._global(function, name)
        except (KeyError, ValueError):  # no such name, or a cell that is empty still
            raise self.definition.error(RuntimeError, f"undefined value {name}", node) from None

    @staticmethod
    def _global(function: FunctionType, name: str) -> Any:
        return function.__globals__[name] if name in function.__globals__ else vars(builtins)[name]
