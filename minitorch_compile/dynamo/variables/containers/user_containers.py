"""Objects whose class derives from dict or list: a user object with contents.

Methods and special methods that the class defines in Python are traced; what it inherits from the built-in class is
asked of the contents. Guards and replayed changes look below what the class overrides (`guards/below.py`), so that the
program's methods run as often as plainly. Where a built-in method would ask overridden ones, the graph breaks.

>>> from minitorch_compile.dynamo.testing import captured
>>> from minitorch_compile.tensor import ones
>>> class Config(dict):
...     def __getattr__(self, name):
...         return self[name]
>>> print(captured(lambda x, config: x * config.by, ones(2), Config(by=3)))
x -> (x * 3,)
"""

from __future__ import annotations

import collections
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

from minitorch_compile.dynamo.guards.below import BelowSource, below, made
from minitorch_compile.dynamo.guards.source import Source
from minitorch_compile.dynamo.variables.base import MISSING, Value, VariableTracker
from minitorch_compile.dynamo.variables.containers.dicts import DICT_TYPES, DictVariable
from minitorch_compile.dynamo.variables.containers.lists import ListVariable
from minitorch_compile.dynamo.variables.containers.sequences import SliceVariable
from minitorch_compile.dynamo.variables.objects.class_lookup import Found, bind_class_attribute, look_up
from minitorch_compile.dynamo.variables.objects.method_names import BINARY_METHODS, COMPARE_METHODS
from minitorch_compile.dynamo.variables.objects.objects import UserObjectVariable
from minitorch_compile.dynamo.variables.rebuilding import Held, Made, Part, Template, call, held_class

if TYPE_CHECKING:
    from minitorch_compile.dynamo.variables.containers.iterators import IteratorVariable
    from minitorch_compile.dynamo.variables.tracer import Output, Tracer

CONTAINER_BASES = (*reversed(DICT_TYPES), list)


def container_base(cls: type) -> type | None:
    """The built-in class that a Python class gets its contents from; None if it is no container or another kind of C
    class."""
    built_in = [base for base in cls.__mro__ if base in CONTAINER_BASES or base.__module__ == "builtins"]
    built_in.remove(object)
    return built_in[0] if built_in and built_in[0] in CONTAINER_BASES and built_in[0] is not cls else None


# Methods in C that ask others of a subclass, and which; None: always, the class itself among them.
_ITEMS = ("__getitem__", "__setitem__", "__delitem__", "__contains__", "__iter__", "keys", "items")
ASKING: dict[tuple[type, str], tuple[str, ...] | None] = {
    (dict, "copy"): ("__iter__",),
    (collections.defaultdict, "copy"): None,
    (collections.defaultdict, "__copy__"): None,
    (collections.defaultdict, "__getitem__"): ("__setitem__",),
    (collections.defaultdict, "__missing__"): None,
    (collections.OrderedDict, "copy"): None,
    **{
        (collections.OrderedDict, name): _ITEMS
        for name in ("__init__", "update", "pop", "popitem", "setdefault", "__ior__", "__repr__", "__eq__", "__ne__")
    },
    **{(base, name): None for base in (dict, *DICT_TYPES) for name in ("__or__", "__ror__", "fromkeys")},
}


class UserContainerVariable(UserObjectVariable):
    """`contents` is the dict or list inside. Its source looks past the methods that the class overrides."""

    def __init__(
        self,
        cls: type,
        base: type,
        source: Source | None = None,
        real: Any = MISSING,
        output: Output | None = None,
    ) -> None:
        super().__init__(cls, source, real)
        self.base = base
        inside: Source | None = None
        if source is not None and output is not None:
            inside = BelowSource(source, output.names.install(below(base), f"inside_{base.__name__}"))
        kind = None if source is None else real
        self.contents: VariableTracker = (
            ListVariable((), inside, kind, output) if base is list else DictVariable(base, inside, kind, output)
        )

    def overrides(self, *names: str) -> bool:
        """Whether the class has any of these methods from elsewhere than its built-in class."""
        return any(self._override(name) is not None for name in names)

    def _override(self, name: str) -> Found | None:
        found = look_up(self.cls, name)
        return None if found is None or found.owner in self.base.__mro__ else found

    def special(self, tracer: Tracer, name: str) -> Value | None:
        """Special methods of the built-in class are asked of the contents."""
        return super().special(tracer, name) if self.overrides(name) else None

    def call_method(self, tracer: Tracer, name: str, args: list[Value], kwargs: dict[str, Value]) -> Value:
        found = look_up(self.cls, name)
        if found is not None and found.owner in (self.base, *self.base.__mro__[:-1]):
            return self.inherited(tracer, name, args, kwargs)
        return super().call_method(tracer, name, args, kwargs)

    def inherited(self, tracer: Tracer, name: str, args: list[Value], kwargs: dict[str, Value]) -> Value:
        """A method of the built-in class, also where the class overrides it: super().name(...)."""
        asks = ASKING.get((self.base, name), ())
        if asks is None or self.overrides(*asks):
            self.unsupported(f"the method {name}(), which asks others of the class,")
        missing = self._override("__missing__") if name == "__getitem__" else None
        if missing is not None:
            return self._or_missing(tracer, missing, args)
        if args and args[-1].realize() is self and isinstance(self.contents, ListVariable):
            args = [*args[:-1], self._given_itself(tracer, self.contents, name, args)]
        return self.contents.call_method(tracer, name, args, kwargs)

    def _given_itself(self, tracer: Tracer, contents: ListVariable, name: str, args: list[Value]) -> Value:
        """What a list's own methods see of the list itself as their last argument: they don't ask it for its length,
        and fill a slice without asking `__iter__`."""
        if name == "__setitem__" and isinstance(args[0].realize(), SliceVariable):
            return ListVariable(contents.items)
        if name == "__init__":
            contents.method_clear(tracer)
        return ListVariable(tracer.unpack_all(self)) if name in ("__init__", "extend") else self

    def _or_missing(self, tracer: Tracer, missing: Found, args: list[Value]) -> Value:
        """dict.__getitem__ of a class that says what a missing key stands for."""
        (key,) = args
        if tracer.truth(self.contents.contains(tracer, key)):
            return self.contents.call_method(tracer, "__getitem__", [key], {})
        return tracer.call(bind_class_attribute(tracer, self, missing), [key], {})

    def merged_items(self) -> list[tuple[Value, Value]] | None:
        """What dict(self) takes without asking `keys` and `__getitem__`; None if it does ask."""
        if self._overridden("__getattribute__") is not None:
            self.unsupported("reading all items past its own __getattribute__()")
        direct = isinstance(self.contents, DictVariable) and self.base is not collections.OrderedDict
        return list(self.contents.entries.values()) if direct and not self.overrides("__iter__") else None  # type: ignore[attr-defined]

    def truth(self, tracer: Tracer) -> bool:
        return super().truth(tracer) if self.overrides("__bool__", "__len__") else self.contents.truth(tracer)

    def length(self, tracer: Tracer) -> int:
        return super().length(tracer) if self.overrides("__len__") else self.contents.length(tracer)

    def iterate(self, tracer: Tracer) -> IteratorVariable:
        return super().iterate(tracer) if self.overrides("__iter__") else self.contents.iterate(tracer)

    def contains(self, tracer: Tracer, item: Value) -> Value:
        if self.overrides("__contains__"):
            return super().contains(tracer, item)
        return self.contents.contains(tracer, item)

    def binary(self, tracer: Tracer, op: str, other: VariableTracker) -> Value | None:
        if self.overrides(f"__{BINARY_METHODS[op]}__"):
            return super().binary(tracer, op, other)
        asks = isinstance(other, UserContainerVariable) and other.merged_items() is None
        if op == "|" and (self.base is not dict or asks or self.overrides("__iter__")):
            self.unsupported("the operator |")
        return self.contents.binary(tracer, op, contents_of(other))

    def compare(self, tracer: Tracer, op: str, other: VariableTracker) -> Value | None:
        if self.overrides(COMPARE_METHODS[op]):
            return super().compare(tracer, op, other)
        return self.contents.compare(tracer, op, contents_of(other))

    def hash_key(self, tracer: Tracer) -> Hashable:
        if not self.overrides("__hash__"):
            tracer.raise_error(TypeError, f"unhashable type: '{self.cls.__name__}'")
        return super().hash_key(tracer)

    def reconstruct(self, output: Output) -> Made:
        inside = self.contents
        parts: list[Part] = [held_class(self.cls), held_class(self.base)]
        if isinstance(inside, DictVariable):
            factory = [inside.default_factory] if self.base is collections.defaultdict else []
            parts += [inside.written_items(), *factory]
        else:
            items = inside.reconstruct(output)
            assert isinstance(items, Template)
            parts.append(items)
        return Made("made", call(Held(made, "made"), *parts))


def contents_of(value: VariableTracker) -> VariableTracker:
    """The plain dict or list inside a user container; any other value itself."""
    return value.contents if isinstance(value, UserContainerVariable) else value
