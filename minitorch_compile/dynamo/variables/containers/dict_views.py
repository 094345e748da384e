"""d.keys(), d.values() and d.items().

>>> from minitorch_compile.dynamo.testing import captured
>>> from minitorch_compile.tensor import ones
>>> print(captured(lambda x, d: [x * v for k, v in d.items() if k in d.keys() & {"a"}], ones(2), {"a": 2, "b": 3}))
x -> (x * 2,)
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

from minitorch_compile.dynamo.variables.base import Value, VariableTracker
from minitorch_compile.dynamo.variables.constant import ConstantVariable
from minitorch_compile.dynamo.variables.containers.dicts import DictVariable
from minitorch_compile.dynamo.variables.containers.iterators import DictIterator, IteratorVariable
from minitorch_compile.dynamo.variables.rebuilding import Template

if TYPE_CHECKING:
    from minitorch_compile.dynamo.variables.tracer import Output, Tracer


class DictViewVariable(VariableTracker):
    """d.keys(), d.values() or d.items(): looks at the dictionary anew each time."""

    TYPES: dict[str, type] = {"keys": type({}.keys()), "values": type({}.values()), "items": type({}.items())}
    ITERATORS: dict[str, type] = {
        "keys": type(iter({})),
        "values": type(iter({}.values())),
        "items": type(iter({}.items())),
    }

    REVERSED: dict[str, type] = {
        "keys": type(reversed({})),
        "values": type(reversed({}.values())),
        "items": type(reversed({}.items())),
    }

    def __init__(self, owner: DictVariable, kind: str) -> None:
        super().__init__()
        self.owner = owner
        self.kind = kind

    def python_type(self) -> type:
        return self.TYPES[self.kind]

    def members(self, tracer: Tracer) -> list[Value]:
        if self.kind == "keys":
            return self.owner.keys()
        if self.kind == "values":
            return self.owner.values()
        return [tracer.build("tuple", [key, value]) for key, value in self.owner.entries.values()]

    def iterate(self, tracer: Tracer) -> IteratorVariable:
        return DictViewIterator(self, list(self.owner.entries), self.iterator_type(), self)

    def iterator_type(self) -> type:
        return type(iter(OrderedDict())) if self.owner.cls is OrderedDict else self.ITERATORS[self.kind]

    def length(self, tracer: Tracer) -> int:
        return self.owner.length(tracer)

    def truth(self, tracer: Tracer) -> bool:
        return self.length(tracer) > 0

    def contains(self, tracer: Tracer, item: Value) -> Value:
        return self.owner.contains(tracer, item) if self.kind == "keys" else super().contains(tracer, item)

    def as_set(self, tracer: Tracer) -> VariableTracker | None:
        """For the set operators, which keys and items have."""
        return None if self.kind == "values" else tracer.build("set", self.members(tracer))

    def binary(self, tracer: Tracer, op: str, other: VariableTracker) -> Value | None:
        as_set = self.as_set(tracer)
        if as_set is None:
            return None
        return as_set.binary(tracer, op, tracer.build("set", tracer.unpack_all(other)))

    def compare(self, tracer: Tracer, op: str, other: VariableTracker) -> Value | None:
        as_set = self.as_set(tracer)
        theirs = other.as_set(tracer) if isinstance(other, DictViewVariable) else other
        return as_set.compare(tracer, op, theirs) if as_set is not None and theirs is not None else None

    def call_method(self, tracer: Tracer, name: str, args: list[Value], kwargs: dict[str, Value]) -> Value:
        if name == "__reversed__" and not args:
            kind = type(reversed(OrderedDict())) if self.owner.cls is OrderedDict else self.REVERSED[self.kind]
            return DictViewIterator(self, list(self.owner.entries)[::-1], kind)
        if name == "isdisjoint" and len(args) == 1:
            return ConstantVariable(not any(tracer.truth(self.contains(tracer, m)) for m in tracer.unpack_all(args[0])))
        return super().call_method(tracer, name, args, kwargs)

    def reconstruct(self, output: Output) -> Template:
        return Template(self.owner, f".{self.kind}()")


class DictViewIterator(DictIterator):
    """Over a view. Values are looked up as they come: the loop may have changed them."""

    def __init__(
        self, view: DictViewVariable, hashes: list[Hashable], cls: type, of: VariableTracker | None = None
    ) -> None:
        super().__init__(hashes, view.owner.entries, cls, of)
        self.view = view

    def current(self, tracer: Tracer, item: Any) -> Value:
        if item not in self.view.owner.entries:
            self.unsupported("going on after a key was replaced by another")
        key, value = self.view.owner.entries[item]
        if self.view.kind == "items":
            return tracer.build("tuple", [key, value])
        return key if self.view.kind == "keys" else value
