"""What stands for a value while tracing.

A `VariableTracker` answers the questions that Python asks of a value (its attributes, its items, its truth, a call)
without the value's data. Each class answers for one kind of value, and refuses with `Unsupported` what it can't answer
for sure.

A tracker of a value that existed before the call has a `source`, the path on which the generated code reads it; a
value made while tracing has none and is made again by `reconstruct`.
"""

from __future__ import annotations

import inspect
import operator
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, NoReturn

from minitorch_compile.dynamo.errors import Unsupported
from minitorch_compile.dynamo.guards.source import Source
from minitorch_compile.dynamo.variables.rebuilding import Template, call

if TYPE_CHECKING:
    from minitorch_compile.dynamo.variables.containers.iterators import IteratorVariable
    from minitorch_compile.dynamo.variables.rebuilding import Description, Part
    from minitorch_compile.dynamo.variables.tracer import Output, Tracer

MISSING = inspect.Parameter.empty


class Value:
    """A value of the traced program, looked into or not."""

    source: Source | None = None

    def realize(self) -> VariableTracker:
        """The tracker; for a value that nothing looked into yet, this installs the guards."""
        raise NotImplementedError


class VariableTracker(Value):
    """A value that was looked into. The methods are Python's questions; the defaults refuse."""

    def __init__(self, source: Source | None = None) -> None:
        self.source = source

    def __repr__(self) -> str:
        place = f" from {self.source.name()}" if self.source else ""
        return f"<{type(self).__name__}{place}>"

    def realize(self) -> VariableTracker:
        return self

    def describe(self) -> str:
        """What to call the value in a message."""
        return f"a {self.python_type().__name__}"

    def unsupported(self, what: str, reason: str = "unsupported-object") -> NoReturn:
        raise Unsupported(reason, f"{what} is not followed for {self.describe()}.")

    def is_same(self, other: VariableTracker) -> bool:
        """Whether two trackers stand for one object; most objects have only one tracker."""
        return False

    def note_raised(self) -> None:
        """It is an exception, and is being raised."""

    # --- what it is ---------------------------------------------------------------------------------------------------

    def python_type(self) -> type:
        """The class that type() would give."""
        raise Unsupported("unsupported-object", f"the type of a {type(self).__name__} is not known while tracing.")

    def is_constant(self) -> bool:
        """Whether the value is known and can't change: a number, a string, or a tuple of such."""
        return False

    def is_literal(self) -> bool:
        """Whether it is a constant of a built-in class: only that class answers the operators."""
        return False

    def check_text(self, tracer: Tracer) -> None:
        """Of a constant: guards what its text in a container is made of, and refuses what a class says in Python."""

    def as_constant(self) -> Any:
        """The Python value, where `is_constant`."""
        self.unsupported("using it as a constant")

    def real_value(self) -> Any:
        """The object of the running program that this stands for, or MISSING if it was made while tracing."""
        return MISSING

    def hash_key(self, tracer: Tracer) -> Hashable:
        """What stands for it as a key of a dict or a member of a set."""
        self.unsupported("hash()")

    # --- what Python asks of it ---------------------------------------------------------------------------------------

    def getattr(self, tracer: Tracer, name: str) -> Value:
        """value.name; by default what is in its `__dict__`, and the methods of its built-in class."""
        from minitorch_compile.dynamo.variables.objects.class_lookup import look_up, printed_name
        from minitorch_compile.dynamo.variables.objects.methods import BuiltinMethodVariable
        from minitorch_compile.dynamo.variables.objects.own_attributes import own_attribute

        cls = self.python_type()
        if name == "__class__":
            return tracer.output.wrap_constant(cls, cls.__name__)
        found = look_up(cls, name)
        own = own_attribute(tracer, self, name) if found is None or not found.is_data_descriptor else None
        if own is not None:
            return own
        if found is None:
            tracer.raise_error(AttributeError, f"'{printed_name(cls)}' object has no attribute '{name}'")
        if callable(found.value):
            return BuiltinMethodVariable(self, name)
        self.unsupported(f"the attribute '{name}'")

    def setattr(self, tracer: Tracer, name: str, value: Value) -> None:
        self.unsupported(f"setting the attribute '{name}'", "unsupported-store")

    def delattr(self, tracer: Tracer, name: str) -> None:
        self.unsupported(f"deleting the attribute '{name}'", "unsupported-store")

    def call(self, tracer: Tracer, args: list[Value], kwargs: dict[str, Value]) -> Value:
        self.unsupported("a call", "unsupported-call")

    def call_method(self, tracer: Tracer, name: str, args: list[Value], kwargs: dict[str, Value]) -> Value:
        """A method of the built-in class; operators on items arrive as '__getitem__' and so on."""
        self.unsupported(f"the method {name}()")

    def binary(self, tracer: Tracer, op: str, other: VariableTracker) -> Value | None:
        """self op other; None where Python's method would answer NotImplemented."""
        return None

    def reflected(self, tracer: Tracer, op: str, other: VariableTracker) -> Value | None:
        """other op self, asked after `other.binary` had no answer."""
        return None

    def inplace(self, tracer: Tracer, op: str, other: VariableTracker) -> Value | None:
        """self op= other; None to fall back to `binary`."""
        return None

    def compare(self, tracer: Tracer, op: str, other: VariableTracker) -> Value | None:
        """self op other for a comparison; None for NotImplemented."""
        return None

    def unary(self, tracer: Tracer, op: str) -> Value:
        self.unsupported(f"the operator {op}")

    def contains(self, tracer: Tracer, item: Value) -> Value:
        """item in self; by default by iterating."""
        from minitorch_compile.dynamo.variables.constant import ConstantVariable
        from minitorch_compile.dynamo.variables.objects.class_lookup import has_method, printed_name

        cls = self.python_type()
        if not has_method(cls, "__iter__") and not has_method(cls, "__getitem__"):
            tracer.compute(operator.contains, type(printed_name(cls), (), {})(), None)  # raises what it would
        iterator = tracer.as_iterator(self)
        while (member := iterator.next_value(tracer)) is not None:
            if tracer.same_or_equal(member, item):
                return ConstantVariable(True)
        return ConstantVariable(False)

    def truth(self, tracer: Tracer) -> bool:
        self.unsupported("bool()")

    def length(self, tracer: Tracer) -> int:
        from minitorch_compile.dynamo.variables.objects.class_lookup import has_method, printed_name

        if has_method(self.python_type(), "__len__"):
            self.unsupported("len()")
        tracer.raise_error(TypeError, f"object of type '{printed_name(self.python_type())}' has no len()")

    def length_value(self, tracer: Tracer) -> Value:
        """len(self), which may be a size that is not known."""
        from minitorch_compile.dynamo.variables.constant import ConstantVariable

        return ConstantVariable(self.length(tracer))

    def hint_length(self, tracer: Tracer) -> None:
        """What list(self) asks besides the items; only a class in Python can tell."""

    def merged_items(self) -> list[tuple[Value, Value]] | None:
        """What dict(self) takes as it is; None if it asks `keys` and `__getitem__`."""
        return None

    def iterate(self, tracer: Tracer) -> IteratorVariable:
        """iter(self)"""
        self.unsupported("iterating")

    def format(self, tracer: Tracer, spec: str) -> str:
        """format(self, spec), as text known while tracing."""
        self.unsupported("formatting")

    def to_text(self, tracer: Tracer, conversion: str) -> str:
        """str(self) or repr(self), as text known while tracing."""
        self.unsupported(f"{conversion}()")

    def reconstruct(self, output: Output) -> Description:
        """How the generated code makes this value."""
        raise Unsupported("unrebuildable-value", f"{self.describe()} made while tracing is needed afterwards.")

    def storing(self, holder: Part, name: str, value: Value) -> Template:
        """The statement that sets an attribute, past a `__setattr__` in Python, which was traced already."""
        if name.isidentifier():
            return Template(holder, f".{name} = ", value)
        return call("setattr", holder, repr(name), value)

    def deleting(self, holder: Part, name: str) -> Template:
        """The statement that deletes an attribute, likewise."""
        return call("delattr", holder, repr(name))


class ObservedException(Exception):
    """An exception of the user's program, met while tracing; `value` is its tracker. Handlers of the program may
    catch it."""

    def __init__(self, value: VariableTracker) -> None:
        self.value = value
        value.note_raised()
        super().__init__(value)
