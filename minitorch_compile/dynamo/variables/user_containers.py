"""Objects whose class derives from dict or list: a user object with contents.

Methods and special methods that the class defines in Python are traced; what it inherits from the built-in class is
asked of the contents.

>>> from minitorch_compile.dynamo.testing import captured
>>> from minitorch_compile.tensor import ones
>>> class Config(dict):
...     def __getattr__(self, name):
...         return self[name]
>>> print(captured(lambda x, config: x * config.by, ones(2), Config(by=3)))
x -> (x * 3,)
"""

from __future__ import annotations

from collections.abc import Hashable
from types import FunctionType
from typing import TYPE_CHECKING, Any

from minitorch_compile.dynamo.guards.source import Source
from minitorch_compile.dynamo.variables.base import MISSING, Value, VariableTracker
from minitorch_compile.dynamo.variables.class_lookup import Found, bind_class_attribute, look_up
from minitorch_compile.dynamo.variables.dicts import DICT_TYPES, DictVariable
from minitorch_compile.dynamo.variables.lists import ListVariable
from minitorch_compile.dynamo.variables.objects import BINARY_METHODS, COMPARE_METHODS, UserObjectVariable

if TYPE_CHECKING:
    from minitorch_compile.dynamo.capture.output_graph import OutputGraph
    from minitorch_compile.dynamo.capture.tracer import Tracer
    from minitorch_compile.dynamo.rewriting.codegen import Codegen
    from minitorch_compile.dynamo.variables.iterators import IteratorVariable

CONTAINER_BASES = (*reversed(DICT_TYPES), list)


def container_base(cls: type) -> type | None:
    """The built-in class that a Python class gets its contents from; None if it is no container or another kind of C
    class."""
    built_in = [base for base in cls.__mro__ if base in CONTAINER_BASES or base.__module__ == "builtins"]
    built_in.remove(object)
    return built_in[0] if built_in and built_in[0] in CONTAINER_BASES and built_in[0] is not cls else None


class UserContainerVariable(UserObjectVariable):
    """`contents` is the dict or list inside; it has the same source."""

    def __init__(
        self,
        cls: type,
        base: type,
        source: Source | None = None,
        real: Any = MISSING,
        output: OutputGraph | None = None,
    ) -> None:
        super().__init__(cls, source, real)
        self.base = base
        kind = None if source is None else real
        self.contents: VariableTracker = (
            ListVariable((), source, kind, output) if base is list else DictVariable(base, source, kind, output)
        )

    def _overrides(self, name: str) -> bool:
        """Whether the class defines the special method in Python."""
        found = look_up(self.cls, name)
        return found is not None and isinstance(found.value, FunctionType)

    def call_method(self, tracer: Tracer, name: str, args: list[Value], kwargs: dict[str, Value]) -> Value:
        found = look_up(self.cls, name)
        if found is not None and found.owner in (self.base, *self.base.__mro__[:-1]):
            missing = look_up(self.cls, "__missing__") if name == "__getitem__" else None
            if missing is not None and isinstance(missing.value, FunctionType):
                return self._or_missing(tracer, missing, args[0])
            return self.contents.call_method(tracer, name, args, kwargs)
        return super().call_method(tracer, name, args, kwargs)

    def _or_missing(self, tracer: Tracer, missing: Found, key: Value) -> Value:
        """dict.__getitem__ of a class that says what a missing key stands for."""
        if tracer.truth(self.contents.contains(tracer, key)):
            return self.contents.call_method(tracer, "__getitem__", [key], {})
        return tracer.call(bind_class_attribute(tracer, self, missing), [key], {})

    def truth(self, tracer: Tracer) -> bool:
        if self._overrides("__bool__") or self._overrides("__len__"):
            return super().truth(tracer)
        return self.contents.truth(tracer)

    def length(self, tracer: Tracer) -> int:
        return super().length(tracer) if self._overrides("__len__") else self.contents.length(tracer)

    def iterate(self, tracer: Tracer) -> IteratorVariable:
        return super().iterate(tracer) if self._overrides("__iter__") else self.contents.iterate(tracer)

    def contains(self, tracer: Tracer, item: Value) -> Value:
        return (
            super().contains(tracer, item) if self._overrides("__contains__") else self.contents.contains(tracer, item)
        )

    def binary(self, tracer: Tracer, op: str, other: VariableTracker) -> Value | None:
        if self._overrides(f"__{BINARY_METHODS[op]}__"):
            return super().binary(tracer, op, other)
        return self.contents.binary(tracer, op, contents_of(other))

    def compare(self, tracer: Tracer, op: str, other: VariableTracker) -> Value | None:
        if self._overrides(COMPARE_METHODS[op]):
            return super().compare(tracer, op, other)
        return self.contents.compare(tracer, op, contents_of(other))

    def hash_key(self, tracer: Tracer) -> Hashable:
        return super().hash_key(tracer) if self._overrides("__hash__") else self.contents.hash_key(tracer)

    def reconstruct(self, codegen: Codegen) -> str:
        cls, base = codegen.constant(self.cls, self.cls.__name__), codegen.constant(self.base, self.base.__name__)
        variable = codegen.assign("made", f"{base}.__new__({cls})", self)
        fill = "extend" if self.base is list else "update"
        codegen.line(f"{base}.{fill}({variable}, {self.contents.reconstruct(codegen)})")
        codegen.fill_attributes(self, variable)
        return variable


def contents_of(value: VariableTracker) -> VariableTracker:
    """The plain dict or list inside a user container; any other value itself."""
    return value.contents if isinstance(value, UserContainerVariable) else value
