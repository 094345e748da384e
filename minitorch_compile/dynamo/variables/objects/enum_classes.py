"""Enums, the classes: members are found by value and by name, and guarded to be the same next time.

Where the enum or its metaclass states a method in Python, that one is traced. Where the standard one answers, each
member that the program looked up is guarded, or that there was none, and so are the names if all are gone through.

>>> import enum
>>> from minitorch_compile.dynamo.testing import captured
>>> from minitorch_compile.tensor import ones
>>> class Step(enum.Enum):
...     SMALL = 1
...     LARGE = 10
>>> print(captured(lambda x: x * Step(10).value + len(Step), ones(2)))
x -> ((x * 10) + 2,)
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

from minitorch_compile.dynamo.guards.guards import About, Guard
from minitorch_compile.dynamo.guards.source import AttrSource
from minitorch_compile.dynamo.variables.base import Value, VariableTracker
from minitorch_compile.dynamo.variables.constant import ConstantVariable
from minitorch_compile.dynamo.variables.objects.class_lookup import (
    is_standard,
    look_up,
    wrap_found,
)
from minitorch_compile.dynamo.variables.objects.classes import ClassVariable
from minitorch_compile.dynamo.variables.objects.special_answers import judged

if TYPE_CHECKING:
    from minitorch_compile.dynamo.variables.containers.iterators import IteratorVariable
    from minitorch_compile.dynamo.variables.tracer import Tracer

BY_VALUE, BY_NAME = "_value2member_map_", "_member_map_"


class EnumVariable(ClassVariable):
    """An enum, the class."""

    def _guard_item(self, tracer: Tracer, table: str, key: Any) -> None:
        """What a table of members has under a key: this very member, or nothing."""
        names = tracer.output.names
        member = getattr(self.cls, table, {}).get(key)
        shown = "None" if member is None else names.install(member, "member")
        check = f"{{0}}.get({names.install(key, 'key')}) is {shown}"
        source = AttrSource(tracer.output.constant_source(self.cls, self.cls.__name__), table)
        tracer.output.guards.add(Guard(source, "ENUM_MEMBER", check, "the same member", about=About.ITEMS))

    def _names(self, tracer: Tracer) -> VariableTracker:
        """The names of the members, in order."""
        source = AttrSource(tracer.output.constant_source(self.cls, self.cls.__name__), "_member_names_")
        return tracer.output.wrap(self.cls._member_names_, source).realize()  # type: ignore[attr-defined]

    def _from_metaclass(self, tracer: Tracer, name: str) -> Value:
        if look_up(self.python_type(), name) is None:
            fallback = self.special(tracer, "__getattr__")
            if fallback is not None:
                return tracer.call(fallback, [ConstantVariable(name)], {})
            self._guard_item(tracer, BY_NAME, name)  # which the standard __getattr__ of Python 3.11 asks
            return tracer.output.from_python(tracer.compute(getattr, self.cls, name))
        return super()._from_metaclass(tracer, name)

    def check_lookup_by_value(self, tracer: Tracer) -> None:
        """Refuses classes that make members of values in their own way, but for `_missing_`."""
        if self.special(tracer, "__call__") is not None:
            self.unsupported("a look-up by a __call__ of the metaclass", "metaclass-or-descriptor")
        maker = look_up(self.cls, "__new__", exactly=True)
        if maker is None or not is_standard(maker):
            self.unsupported("a look-up by its own __new__", "metaclass-or-descriptor")

    def call(self, tracer: Tracer, args: list[Value], kwargs: dict[str, Value]) -> Value:
        method = self.special(tracer, "__call__")
        if method is not None:
            return tracer.call(method, args, kwargs)
        if len(args) != 1 or kwargs:
            self.unsupported("a call with several arguments")
        self.check_lookup_by_value(tracer)
        args[0].realize().hash_key(tracer)
        value = tracer.constant(args[0])
        if type(value) is self.cls:
            return args[0]
        missing = look_up(self.cls, "_missing_", exactly=True)
        if missing is None or is_standard(missing):
            try:
                return tracer.output.from_python(tracer.compute(self.cls, value))
            finally:  # a flag may have made the member just now
                self._guard_item(tracer, BY_VALUE, value)
        self._guard_item(tracer, BY_VALUE, value)
        known = self.cls._value2member_map_.get(value)  # type: ignore[attr-defined]
        return self._missing(tracer, args[0]) if known is None else tracer.output.from_python(known)

    def _missing(self, tracer: Tracer, value: Value) -> Value:
        """What the class's own `_missing_` gives for a value that no member has."""
        found = look_up(self.cls, "_missing_")
        if found is None or not isinstance(found.value, classmethod):
            self.unsupported("a _missing_ that is no class method", "metaclass-or-descriptor")
        function = wrap_found(tracer, found, found.value.__func__, "__func__")
        member = tracer.call(function, [self, value], {}).realize()
        if not issubclass(member.python_type(), self.cls):
            self.unsupported("a _missing_ that gives no member")
        return member

    def truth(self, tracer: Tracer) -> bool:
        method = self.special(tracer, "__bool__")
        return True if method is None else bool(judged(tracer, bool, "__bool__", tracer.call(method, [], {})))

    def iterate(self, tracer: Tracer) -> IteratorVariable:
        from minitorch_compile.dynamo.variables.containers.iterators import ConstantIterator

        if self.special(tracer, "__iter__") is not None:
            return super().iterate(tracer)
        for name in tracer.unpack_all(self._names(tracer)):
            self._guard_item(tracer, BY_NAME, tracer.constant(name))
        return ConstantIterator(tracer.compute(iter, self.cls), self)

    def length(self, tracer: Tracer) -> int:
        if self.special(tracer, "__len__") is not None:
            return super().length(tracer)
        return self._names(tracer).length(tracer)

    def contains(self, tracer: Tracer, item: Value) -> Value:
        if self.special(tracer, "__contains__") is not None:
            return super().contains(tracer, item)
        item.realize().hash_key(tracer)
        value = tracer.constant(item)
        if isinstance(value, self.cls):
            self._guard_item(tracer, BY_NAME, value._name_)  # type: ignore[attr-defined]
        else:
            self._guard_item(tracer, BY_VALUE, value)
        return ConstantVariable(tracer.compute(operator.contains, self.cls, value))

    def call_method(self, tracer: Tracer, name: str, args: list[Value], kwargs: dict[str, Value]) -> Value:
        if name == "__getitem__" and len(args) == 1:
            method = self.special(tracer, name)
            if method is not None:
                return tracer.call(method, args, {})
            args[0].realize().hash_key(tracer)
            key = tracer.constant(args[0])
            self._guard_item(tracer, BY_NAME, key)
            return tracer.output.from_python(tracer.compute(operator.getitem, self.cls, key))
        return super().call_method(tracer, name, args, kwargs)
