"""Sets and frozensets of values that are known, or compared by identity.

>>> from minitorch_compile.dynamo.testing import generated
>>> from minitorch_compile.tensor import ones
>>> print(generated(lambda s: (s.add(3), 3 in s, len(s | {1})), {1, 2}))
s.add(3)
return (None, True, 3)
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from types import BuiltinFunctionType, FunctionType
from typing import TYPE_CHECKING, Any

from minitorch_compile.dynamo.errors import Unsupported
from minitorch_compile.dynamo.execution.concrete import BINARY, COMPARE
from minitorch_compile.dynamo.guards import content_guards, guards
from minitorch_compile.dynamo.guards.source import Source
from minitorch_compile.dynamo.variables.base import MISSING, Value, VariableTracker
from minitorch_compile.dynamo.variables.constant import ConstantVariable, has_literal, is_constant_value
from minitorch_compile.dynamo.variables.rebuilding import Template, call, commas
from minitorch_compile.tensor import Op

if TYPE_CHECKING:
    from minitorch_compile.dynamo.variables.containers.iterators import IteratorVariable
    from minitorch_compile.dynamo.variables.tracer import Output, Tracer

BY_IDENTITY = (type, FunctionType, BuiltinFunctionType, Op)  # members from outside that equal only themselves


class SetVariable(VariableTracker):
    """`members` maps hash keys to values. The order of iteration is that of a real set that went through the same
    steps."""

    def __init__(
        self, cls: type = set, source: Source | None = None, real: Any = None, output: Output | None = None
    ) -> None:
        super().__init__(source)
        self.cls = cls
        self.real = real
        self.output = output
        self._members: dict[Hashable, Value] | None = {} if source is None else None
        self.mirror: set[Any] | None = set() if source is None else None

    @classmethod
    def of(cls, tracer: Tracer, items: Iterable[Value], python_type: type = set) -> SetVariable:
        made = cls(python_type)
        for item in items:
            made._insert(tracer, item)
        return made

    @classmethod
    def copy_of(cls, tracer: Tracer, iterable: Value, python_type: type = set) -> SetVariable:
        """set(iterable). A set is copied as a whole, because that is what decides the order of the copy."""
        tracked = iterable.realize()
        made = cls.of(tracer, tracer.unpack_all(tracked), python_type)
        if isinstance(tracked, SetVariable):
            made.mirror = None if tracked.mirror is None else set(tracked.mirror)
        return made

    @property
    def members(self) -> dict[Hashable, Value]:
        if self._members is None:
            assert self.output is not None and self.source is not None
            self._members = self._wrap_members(self.output, self.source)
            self.mirror = self.real
        return self._members

    def _wrap_members(self, output: Output, source: Source) -> dict[Hashable, Value]:
        """The members of a set from outside, guarded together with their order."""
        members = list(self.real)
        if all(has_literal(member) for member in members):
            output.guards.add(content_guards.same_members("SET_MATCH", source, members, output.names))
        elif all(is_constant_value(member) or issubclass(type(member), BY_IDENTITY) for member in members):
            known = output.names.install(members, "members")
            output.guards.add(guards.Guard(source, "SET_MATCH", f"list({{0}}) == {known}", "the same members"))
        else:
            raise Unsupported("unsupported-object", f"a {self.cls.__name__} from outside with objects as members.")
        return {("value", member): output.from_python(member) for member in members}

    def python_type(self) -> type:
        return self.cls

    def real_value(self) -> Any:
        return MISSING if self.source is None else self.real

    def is_constant(self) -> bool:
        return self.cls is frozenset and all(m.realize().is_constant() for m in self.members.values())

    def as_constant(self) -> Any:
        return self.cls(m.realize().as_constant() for m in self.members.values())

    def hash_key(self, tracer: Tracer) -> Hashable:
        if self.cls is set:
            tracer.raise_error(TypeError, "unhashable type: 'set'")
        return ("value", self.as_constant()) if self.is_constant() else ("frozenset", frozenset(self.members))

    def truth(self, tracer: Tracer) -> bool:
        return len(self.members) > 0

    def length(self, tracer: Tracer) -> int:
        return len(self.members)

    def contains(self, tracer: Tracer, item: Value) -> Value:
        return ConstantVariable(self._key_asked(tracer, item) in self.members)

    @staticmethod
    def _key_asked(tracer: Tracer, item: Value) -> Hashable:
        """A set that is looked for is taken for the frozenset of its members, as in CPython."""
        tracked = item.realize()
        if isinstance(tracked, SetVariable):
            tracked = SetVariable.copy_of(tracer, tracked, frozenset)
        return tracked.hash_key(tracer)

    def ordered(self) -> list[Value]:
        """The members in the order of iteration."""
        members = self.members
        if len(members) <= 1:
            return list(members.values())
        if self.mirror is None:
            raise Unsupported(
                "unsupported-object", "the order of a set of objects depends on where they lie in memory."
            )
        return [members[("value", item)] for item in self.mirror]

    def iterate(self, tracer: Tracer) -> IteratorVariable:
        from minitorch_compile.dynamo.variables.containers.iterators import DictIterator

        return DictIterator(self.ordered(), self.members, type(iter(set())))

    # --- changing -----------------------------------------------------------------------------------------------------

    def _insert(self, tracer: Tracer, item: Value) -> None:
        tracked = item.realize()
        hashed = tracked.hash_key(tracer)
        self.members.setdefault(hashed, item)
        if self.mirror is not None and tracked.is_constant() and self.source is None:
            self.mirror.add(tracked.as_constant())
        else:
            self.mirror = None

    def _remove(self, hashed: Hashable) -> Value:
        value = self.members.pop(hashed)
        if self.mirror is not None and self.source is None:
            self.mirror.discard(value.realize().as_constant())
        else:
            self.mirror = None
        return value

    def method_add(self, tracer: Tracer, item: Value) -> Value:
        self._insert(tracer, item)
        tracer.side_effects.method(self, "add", item)
        return ConstantVariable(None)

    def method_update(self, tracer: Tracer, *iterables: Value) -> Value:
        for iterable in iterables:
            tracked = iterable.realize()
            mirror = self.mirror.copy() if isinstance(tracked, SetVariable) and self.mirror is not None else None
            for item in list(self.ordered()) if tracked is self else tracer.each(tracked):
                self.method_add(tracer, item)
            if (
                isinstance(tracked, SetVariable)
                and mirror is not None
                and tracked.mirror is not None
                and self.source is None
            ):
                mirror.update(tracked.mirror)  # the order after a merge of two sets is not that of adding one by one
                self.mirror = mirror
        return ConstantVariable(None)

    def method_discard(self, tracer: Tracer, item: Value) -> Value:
        hashed = self._key_asked(tracer, item)
        if hashed in self.members:
            self._remove(hashed)
        tracer.side_effects.method(self, "discard", item)
        return ConstantVariable(None)

    def method_remove(self, tracer: Tracer, item: Value) -> Value:
        if self._key_asked(tracer, item) not in self.members:
            tracer.raise_error(KeyError, item)
        return self.method_discard(tracer, item)

    def method_pop(self, tracer: Tracer) -> Value:
        if not self.members:
            tracer.raise_error(KeyError, ConstantVariable("pop from an empty set"))
        if self.source is None and self.mirror is not None:
            item = self.members.pop(("value", self.mirror.pop()))
        elif len(self.members) == 1:
            item = self._remove(next(iter(self.members)))
        else:
            raise Unsupported(
                "unsupported-object", "which member pop() gives depends on where the objects lie in memory."
            )
        tracer.side_effects.method(self, "pop")
        return item

    def method_clear(self, tracer: Tracer) -> Value:
        self.members.clear()
        self.mirror = set() if self.source is None else None
        tracer.side_effects.method(self, "clear")
        return ConstantVariable(None)

    def method_copy(self, tracer: Tracer) -> Value:
        return self if self.cls is frozenset else self._copied()

    def _copied(self) -> SetVariable:
        fresh = SetVariable(self.cls)
        fresh._members = dict(self.members)
        fresh.mirror = None if self.mirror is None else set(self.mirror)
        return fresh

    def method_len(self, tracer: Tracer) -> Value:
        return ConstantVariable(len(self.members))

    def method_contains(self, tracer: Tracer, item: Value) -> Value:
        return self.contains(tracer, item)

    def method_iter(self, tracer: Tracer) -> Value:
        return self.iterate(tracer)

    # --- set algebra --------------------------------------------------------------------------------------------------

    NAMED = {"union": "|", "intersection": "&", "difference": "-", "symmetric_difference": "^"}
    NAMED_COMPARISONS = {"issubset": "<=", "issuperset": ">="}

    def binary(self, tracer: Tracer, op: str, other: VariableTracker) -> Value | None:
        from minitorch_compile.dynamo.variables.containers.dict_views import DictViewVariable

        if isinstance(other, DictViewVariable):
            other = other.as_set(tracer) or other
        if not isinstance(other, SetVariable) or op not in ("|", "&", "-", "^"):
            return None
        return self._combined(BINARY[op], other)

    def _combined(self, function: Callable[[Any, Any], Any], other: SetVariable) -> SetVariable:
        everything = {**other.members, **self.members}
        made = SetVariable(self.cls)
        made._members = {
            key: everything[key] for key in everything if key in function(set(self.members), set(other.members))
        }
        made.mirror = None if self.mirror is None or other.mirror is None else function(self.mirror, other.mirror)
        return made

    def inplace(self, tracer: Tracer, op: str, other: VariableTracker) -> Value | None:
        if self.cls is frozenset or not isinstance(other, SetVariable):
            return None
        if op == "|":
            return self.method_update(tracer, other) and self
        result = self.binary(tracer, op, other)
        if not isinstance(result, SetVariable):
            return None
        for hashed, item in list(self.members.items()):
            if hashed not in result.members:
                self.method_discard(tracer, item)
        for hashed, item in result.members.items():
            if hashed not in self.members:
                self.method_add(tracer, item)
        return self

    def compare(self, tracer: Tracer, op: str, other: VariableTracker) -> Value | None:
        if not isinstance(other, SetVariable):
            return None
        return ConstantVariable(COMPARE[op](set(self.members), set(other.members)))

    def call_method(self, tracer: Tracer, name: str, args: list[Value], kwargs: dict[str, Value]) -> Value:
        if name in self.NAMED and not kwargs:
            if name == "symmetric_difference" and len(args) != 1:
                raise Unsupported("wrong-arguments", f"{name}() takes exactly one argument.")
            result: VariableTracker = self
            for other in args:
                result = result.binary(tracer, self.NAMED[name], SetVariable.copy_of(tracer, other)).realize()  # type: ignore[union-attr]
            return result if args else self._copied()
        if name in self.NAMED_COMPARISONS and len(args) == 1 and not kwargs:
            return self.compare(tracer, self.NAMED_COMPARISONS[name], SetVariable.copy_of(tracer, args[0]))  # type: ignore[return-value]
        method = getattr(self, f"method_{name.strip('_')}", None)
        if (
            method is None
            or kwargs
            or (self.cls is frozenset and name in ("add", "update", "discard", "remove", "pop", "clear"))
        ):
            return super().call_method(tracer, name, args, kwargs)
        return tracer.checked_call(method, tracer, *args)

    def reconstruct(self, output: Output) -> Template:
        members = list(self.ordered() if self.mirror is not None else self.members.values())
        if self.cls is frozenset:
            return call("frozenset", Template("[", commas(members), "]"))
        return Template("{", commas(members), "}") if members else Template("set()")
