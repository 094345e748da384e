"""Members of enums are constants, as long as nothing but the module `enum` answers for them.

A method that the enum or a class mixed in states in Python is traced. Where the standard one answers, the trace relies
on it: the look-up is guarded, and what it reads, such as the member's name and value.

>>> import enum
>>> from minitorch_compile.dynamo.testing import captured
>>> from minitorch_compile.tensor import ones
>>> class Step(enum.Enum):
...     SMALL = 1
...     LARGE = 10
...     def __lt__(self, other):
...         return self.value < other.value
>>> print(captured(lambda x: x * Step.LARGE.value + (Step.SMALL < Step.LARGE), ones(2)))
x -> ((x * 10) + True,)
"""

from __future__ import annotations

import enum
from collections.abc import Hashable
from types import FunctionType
from typing import TYPE_CHECKING

from minitorch_compile.dynamo.execution.concrete import CONVERT
from minitorch_compile.dynamo.guards import content_guards, value_guards
from minitorch_compile.dynamo.guards.source import AttrSource
from minitorch_compile.dynamo.variables.base import Value, VariableTracker
from minitorch_compile.dynamo.variables.constant import LITERAL_TYPES, ConstantVariable, name_of
from minitorch_compile.dynamo.variables.objects.class_lookup import (
    bind_class_attribute,
    is_standard,
    look_up,
    method_in_python,
)
from minitorch_compile.dynamo.variables.objects.enum_classes import EnumVariable
from minitorch_compile.dynamo.variables.objects.method_names import BINARY_METHODS, COMPARE_METHODS, UNARY_METHODS
from minitorch_compile.dynamo.variables.objects.own_attributes import instance_dict
from minitorch_compile.dynamo.variables.objects.special_answers import judged
from minitorch_compile.dynamo.variables.rebuilding import Held, Template

if TYPE_CHECKING:
    from minitorch_compile.dynamo.variables.containers.iterators import IteratorVariable
    from minitorch_compile.dynamo.variables.tracer import Output, Tracer


class MemberVariable(ConstantVariable):
    """A member of an enum."""

    value: enum.Enum

    def describe(self) -> str:
        return f"the member {name_of(self.value)} of {type(self.value).__qualname__}"

    def is_same(self, other: VariableTracker) -> bool:
        return isinstance(other, MemberVariable) and self.value is other.value

    def is_literal(self) -> bool:
        return False

    def special(self, tracer: Tracer, name: str) -> Value | None:
        """The special method in Python, bound; None for the standard one, which may be computed."""
        method = method_in_python(tracer, self, name)
        if method is None and isinstance(self.value, enum.Flag):
            self._guard_flag(tracer)
        return method

    def _guard_flag(self, tracer: Tracer) -> None:
        """What the operators of flags read: the value, and how the class makes members of other values."""
        self._own(tracer, "value")
        EnumVariable(type(self.value)).check_lookup_by_value(tracer)
        found = look_up(type(self.value), "_missing_", exactly=True)
        if found is not None and not is_standard(found):
            self.unsupported("an operator of a flag with its own _missing_")

    def reconstruct(self, output: Output) -> Template:
        return Template(Held(self.value, name_of(self.value)))

    # --- attributes ---------------------------------------------------------------------------------------------------

    def getattr(self, tracer: Tracer, name: str) -> Value:
        if self.special(tracer, "__getattribute__") is not None:
            self.unsupported("an attribute through a __getattribute__ in Python", "metaclass-or-descriptor")
        own = self._own(tracer, name)
        if own is not None:
            return own
        if look_up(type(self.value), name) is None:
            fallback = self.special(tracer, "__getattr__")
            if fallback is not None:
                return tracer.call(fallback, [ConstantVariable(name)], {})
        return super().getattr(tracer, name)

    def _own(self, tracer: Tracer, name: str) -> Value | None:
        """What the member has in its own `__dict__`, its value and name among it, guarded; what its class has. None for
        what all members have."""
        found = look_up(type(self.value), name)
        is_stated = found is not None and found.owner is enum.Enum and name in ("name", "value")
        key, attributes = f"_{name}_" if is_stated else name, instance_dict(self.value) or {}
        member = tracer.output.constant_source(self.value, type(self.value).__name__)
        if key in attributes:
            source = AttrSource(member, key)
            tracer.output.guards.must_read(source)
            if type(attributes[key]) not in LITERAL_TYPES:
                return tracer.output.wrap(attributes[key], source)
            tracer.output.guards.add(*value_guards.equals(source, attributes[key], tracer.output.names))
            return ConstantVariable(attributes[key])
        tracer.output.guards.add(content_guards.attribute_absent(member, key))
        if found is None or is_standard(found) or found.owner.__module__ == "enum":
            return None
        return bind_class_attribute(tracer, self, found)

    # --- operators ----------------------------------------------------------------------------------------------------

    def answer(self, tracer: Tracer, name: str, other: VariableTracker) -> Value | None:
        """What the special method in Python answers; None for NotImplemented."""
        method = self.special(tracer, name)
        if method is None and name == "__ne__" and type(self.value).__ne__ is object.__ne__:
            equal = self.answer(tracer, "__eq__", other)
            return None if equal is None else ConstantVariable(not tracer.truth(equal))
        if method is None:
            return None
        answer = tracer.call(method, [other], {}).realize()
        return None if answer.python_type() is type(NotImplemented) else answer

    def answers(self, tracer: Tracer, name: str) -> bool:
        """Whether a method in Python answers the operator."""
        inverted = name == "__ne__" and type(self.value).__ne__ is object.__ne__ and self.answers(tracer, "__eq__")
        return self.special(tracer, name) is not None or inverted

    def binary(self, tracer: Tracer, op: str, other: VariableTracker) -> Value | None:
        return self.answer(tracer, f"__{BINARY_METHODS[op]}__", other)

    def reflected(self, tracer: Tracer, op: str, other: VariableTracker) -> Value | None:
        return self.answer(tracer, f"__r{BINARY_METHODS[op]}__", other)

    def inplace(self, tracer: Tracer, op: str, other: VariableTracker) -> Value | None:
        return self.answer(tracer, f"__i{BINARY_METHODS[op]}__", other)

    def compare(self, tracer: Tracer, op: str, other: VariableTracker) -> Value | None:
        return self.answer(tracer, COMPARE_METHODS[op], other)

    def unary(self, tracer: Tracer, op: str) -> Value:
        method = self.special(tracer, UNARY_METHODS[op])
        return super().unary(tracer, op) if method is None else tracer.call(method, [], {})

    def truth(self, tracer: Tracer) -> bool:
        for name in ("__bool__", "__len__"):
            method = self.special(tracer, name)
            if method is not None:
                return bool(judged(tracer, bool, name, tracer.call(method, [], {})))
            if look_up(type(self.value), name) is not None:
                break
        return super().truth(tracer)

    def length(self, tracer: Tracer) -> int:
        method = self.special(tracer, "__len__")
        if method is None:
            return super().length(tracer)
        return int(judged(tracer, len, "__len__", tracer.call(method, [], {})))

    def call(self, tracer: Tracer, args: list[Value], kwargs: dict[str, Value]) -> Value:
        method = self.special(tracer, "__call__")
        if method is None:
            tracer.raise_error(TypeError, f"'{type(self.value).__name__}' object is not callable")
        return tracer.call(method, args, kwargs)

    def check_index(self, tracer: Tracer) -> None:
        """Refuses a class that makes its members numbers, where a number is wanted; an int stays what it is."""
        if not isinstance(self.value, int) and self.special(tracer, "__index__") is not None:
            self.unsupported("a number by its own __index__")

    # --- items --------------------------------------------------------------------------------------------------------

    def item(self, tracer: Tracer, key: Value) -> Value:
        method = self.special(tracer, "__getitem__")
        return super().item(tracer, key) if method is None else tracer.call(method, [key], {})

    def contains(self, tracer: Tracer, item: Value) -> Value:
        method = self.special(tracer, "__contains__")
        if method is not None:
            return ConstantVariable(tracer.truth(tracer.call(method, [item], {})))
        if look_up(type(self.value), "__contains__") is None:
            for name in ("__iter__", "__getitem__"):
                if self.special(tracer, name) is not None:
                    self.unsupported(f"`in` by {name}")
        return super().contains(tracer, item)

    def iterate(self, tracer: Tracer) -> IteratorVariable:
        method = self.special(tracer, "__iter__")
        if method is not None:
            iterator = tracer.call(method, [], {}).realize()
            if look_up(iterator.python_type(), "__next__") is None:
                self.unsupported("iter(), whose __iter__ gives no iterator,")
            return tracer.as_iterator(iterator)
        if self.special(tracer, "__getitem__") is not None:
            self.unsupported("iterating by __getitem__")
        return super().iterate(tracer)

    def hash_key(self, tracer: Tracer) -> Hashable:
        if self.special(tracer, "__hash__") is not None or self.special(tracer, "__eq__") is not None:
            self.unsupported("hashing with its own __hash__ or __eq__")
        return super().hash_key(tracer)

    # --- text ---------------------------------------------------------------------------------------------------------

    def call_method(self, tracer: Tracer, name: str, args: list[Value], kwargs: dict[str, Value]) -> Value:
        if name in ("__str__", "__repr__") and not args:
            return ConstantVariable(self.to_text(tracer, name.strip("_")))
        if name == "__format__" and len(args) == 1:
            return ConstantVariable(self.format(tracer, tracer.constant(args[0])))
        return super().call_method(tracer, name, args, kwargs)

    def check_text(self, tracer: Tracer) -> None:
        for name in ("__str__", "__repr__", "__format__", "__int__", "__float__", "__index__"):
            if self.special(tracer, name) is not None:
                self.unsupported(f"text made by its own {name}")
        self._guard_text(tracer)

    def _guard_text(self, tracer: Tracer) -> None:
        """What the standard text is made of: the name, the value, and how the class is called."""
        tracer.load_attr(EnumVariable(type(self.value)), "__name__").realize()
        self._own(tracer, "name")
        value = self._own(tracer, "value")
        if value is not None:
            value.realize().to_text(tracer, "repr")
        shows = look_up(type(self.value), "_value_repr_", exactly=True)
        if shows is not None and isinstance(shows.value, FunctionType) and shows.value.__module__ != "enum":
            self.unsupported("a value shown by its own __repr__")

    def format(self, tracer: Tracer, spec: str) -> str:
        method = self.special(tracer, "__format__")
        if method is not None:
            return str(judged(tracer, format, "__format__", tracer.call(method, [ConstantVariable(spec)], {}), spec))
        if not spec:
            return self.to_text(tracer, "str")
        if isinstance(type(self.value).__format__, FunctionType):  # the one of enums, which formats the text
            return str(tracer.compute(format, self.to_text(tracer, "str"), spec))
        return super().format(tracer, spec)

    def to_text(self, tracer: Tracer, conversion: str) -> str:
        if conversion == "str":
            method = self.special(tracer, "__str__")
            if method is not None:
                return str(judged(tracer, str, "__str__", tracer.call(method, [], {})))
        if conversion != "str" or type(self.value).__str__ is object.__str__:
            method = self.special(tracer, "__repr__")
            if method is not None:
                return str(judged(tracer, CONVERT[conversion], "__repr__", tracer.call(method, [], {})))
        self._guard_text(tracer)
        return super().to_text(tracer, conversion)


def answer_of_members(
    tracer: Tracer, left: VariableTracker, right: VariableTracker, forward: str, backward: str = ""
) -> Value | None:
    """An operator between constants: what methods in Python answer, in Python's order; None if it may be computed."""
    if forward == "__mod__" and left.python_type() in (str, bytes):
        right.check_text(tracer)
    for tracked in (left, right):
        if forward == "__mul__" and isinstance(tracked, MemberVariable):
            tracked.check_index(tracer)
    same = left.python_type() is right.python_type()
    mine = left if isinstance(left, MemberVariable) and left.answers(tracer, forward) else None
    theirs = right if backward and isinstance(right, MemberVariable) else None
    if theirs is not None and (same and backward == f"__r{forward[2:]}" or not theirs.answers(tracer, backward)):
        theirs = None
    if mine is None and theirs is None:
        return None
    first_is_right = theirs is not None and not same and issubclass(right.python_type(), left.python_type())
    if mine is None and not first_is_right:
        method = getattr(left.python_type(), forward, None)
        known = NotImplemented if method is None else tracer.compute(method, left.as_constant(), right.as_constant())
        if known is not NotImplemented:
            return tracer.output.from_python(known)
    asked = [(mine, forward, right), (theirs, backward, left)]
    for member, name, other in reversed(asked) if first_is_right else asked:
        answer = None if member is None else member.answer(tracer, name, other)
        if answer is not None:
            return answer
    left.unsupported(f"{forward}, to which a method answered NotImplemented,")
