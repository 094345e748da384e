"""Tuples and what looks like one: sizes of tensors, named tuples, slices.

>>> from minitorch_compile.dynamo.testing import captured
>>> from minitorch_compile.tensor import ones
>>> print(captured(lambda x: x.view(x.shape[::-1] + (1,)) * len(x.shape), ones(2, 3)))
x -> (x.view((3, 2, 1)) * 2,)
"""

from __future__ import annotations

import collections
from collections.abc import Hashable, Sequence
from types import FunctionType
from typing import TYPE_CHECKING, Any, NoReturn

from minitorch_compile.dynamo.execution.concrete import COMPARE
from minitorch_compile.dynamo.guards import content_guards
from minitorch_compile.dynamo.guards.class_guards import is_immutable
from minitorch_compile.dynamo.guards.source import AttrSource, ItemSource, Source
from minitorch_compile.dynamo.variables.base import MISSING, Value, VariableTracker
from minitorch_compile.dynamo.variables.constant import ConstantVariable
from minitorch_compile.dynamo.variables.rebuilding import Held, Template, call, commas, held_class
from minitorch_compile.tensor.memory.size import Size

if TYPE_CHECKING:
    from minitorch_compile.dynamo.variables.containers.iterators import IteratorVariable
    from minitorch_compile.dynamo.variables.tracer import Output, Tracer


# What decides how a tuple of a program's class behaves.
TUPLE_METHODS = (
    *sorted({*dir(tuple)} - {"__class__", "__doc__", "__init_subclass__", "__class_getitem__"}),
    *("__bool__", "__getattr__", "__radd__", "__reversed__", "__iadd__", "__imul__", "__index__", "__set_name__"),
    *("_replace", "_asdict", "_make", "_fields", "__match_args__"),
)
PATTERN: Any = collections.namedtuple("PATTERN", "field")
TUPLE_GETTER = type(PATTERN.field)


class SequenceVariable(VariableTracker):
    """Values in order. Those of a sequence from outside are wrapped, and its length guarded, when first asked for."""

    cls: type = tuple
    iterator_type: type = type(iter(()))

    def __init__(
        self,
        items: Sequence[Value] = (),
        source: Source | None = None,
        real: Any = None,
        output: Output | None = None,
    ) -> None:
        super().__init__(source)
        self.real = real
        self.output = output
        self._items: list[Value] | None = list(items) if source is None else None

    @property
    def items(self) -> list[Value]:
        if self._items is None:
            self._items = self._wrap_items()
        return self._items

    def _wrap_items(self) -> list[Value]:
        assert self.output is not None and self.source is not None
        items = [*(list.__iter__(self.real) if isinstance(self.real, list) else tuple.__iter__(self.real))]
        self.output.guards.add(content_guards.length(self.source, len(items)))
        return [self.output.wrap(item, ItemSource(self.source, i)) for i, item in enumerate(items)]

    def python_type(self) -> type:
        return self.cls

    def real_value(self) -> Any:
        return MISSING if self.source is None else self.real

    def is_constant(self) -> bool:
        return all(item.realize().is_constant() for item in self.items)

    def is_literal(self) -> bool:
        return all(item.realize().is_literal() for item in self.items)

    def check_text(self, tracer: Tracer) -> None:
        for item in self.items:
            item.realize().check_text(tracer)

    def as_constant(self) -> Any:
        return self.cls(item.realize().as_constant() for item in self.items)

    def hash_key(self, tracer: Tracer) -> Hashable:
        if self.is_constant():
            for item in self.items:
                item.realize().hash_key(tracer)  # refuses what its class says in Python
            return ("value", tuple(self.as_constant()))
        return ("tuple", *(item.realize().hash_key(tracer) for item in self.items))

    def truth(self, tracer: Tracer) -> bool:
        return len(self.items) > 0

    def length(self, tracer: Tracer) -> int:
        return len(self.items)

    def iterate(self, tracer: Tracer) -> IteratorVariable:
        from minitorch_compile.dynamo.variables.containers.iterators import SequenceIterator

        return SequenceIterator(self)

    def like(self, items: list[Value]) -> VariableTracker:
        """A new sequence of the kind that slicing this one gives."""
        return TupleVariable(items)

    # --- operators ----------------------------------------------------------------------------------------------------

    def binary(self, tracer: Tracer, op: str, other: VariableTracker) -> Value | None:
        if op == "+" and isinstance(other, TupleVariable):
            kind = other if isinstance(other, SizeVariable) else self  # Size has an __radd__, which no other tuple has
            return kind.like([*self.items, *other.items])
        return self.reflected(tracer, op, other) if op == "*" else None

    def reflected(self, tracer: Tracer, op: str, other: VariableTracker) -> Value | None:
        if op == "*" and isinstance(other, ConstantVariable) and isinstance(other.value, int):
            return self.like(self.items * other.value)
        return None

    def compare(self, tracer: Tracer, op: str, other: VariableTracker) -> Value | None:
        if not isinstance(other, SequenceVariable) or not self.comparable_with(other):
            return None
        for a, b in zip(list(self.items), list(other.items)):
            if not tracer.same_or_equal(a, b):
                return ConstantVariable(op == "!=") if op in ("==", "!=") else tracer.compare(op, a, b)
        return ConstantVariable(COMPARE[op](len(self.items), len(other.items)))

    def comparable_with(self, other: SequenceVariable) -> bool:
        return isinstance(other, TupleVariable)

    # --- methods ------------------------------------------------------------------------------------------------------

    def call_method(self, tracer: Tracer, name: str, args: list[Value], kwargs: dict[str, Value]) -> Value:
        method = getattr(self, f"method_{name.strip('_')}", None)
        if method is None or kwargs:
            return super().call_method(tracer, name, args, kwargs)
        return tracer.checked_call(method, tracer, *args)

    def method_getitem(self, tracer: Tracer, key: Value) -> Value:
        index = tracer.index_constant(key, self.base_name)
        if isinstance(index, slice):
            return self.like(self.items[tracer.compute(slice, index.start, index.stop, index.step)])
        if not -len(self.items) <= index < len(self.items):
            tracer.raise_error(IndexError, f"{self.base_name} index out of range")
        return self.items[index]

    def method_index(self, tracer: Tracer, item: Value, *bounds: Value) -> Value:
        where = [tracer.constant(bound) for bound in bounds]
        if not all(isinstance(bound, int) for bound in where):
            tracer.raise_error(TypeError, "slice indices must be integers or have an __index__ method")
        start, stop, _ = slice(*where, *[None] * (2 - len(where))).indices(len(self.items))
        for position in range(start, stop):
            if tracer.same_or_equal(self.items[position], item):
                return ConstantVariable(position)
        self.not_found(tracer, item)

    def not_found(self, tracer: Tracer, item: Value) -> NoReturn:
        """What index() raises."""
        tracer.raise_error(ValueError, f"{self.base_name}.index(x): x not in {self.base_name}")

    @property
    def base_name(self) -> str:
        """The class that messages name: those of a Size say tuple."""
        return "tuple" if issubclass(self.cls, tuple) else self.cls.__name__

    def method_count(self, tracer: Tracer, item: Value) -> Value:
        return ConstantVariable(sum(tracer.same_or_equal(member, item) for member in list(self.items)))

    def method_len(self, tracer: Tracer) -> Value:
        return ConstantVariable(len(self.items))

    def method_iter(self, tracer: Tracer) -> Value:
        return self.iterate(tracer)

    def method_contains(self, tracer: Tracer, item: Value) -> Value:
        return self.contains(tracer, item)

    def to_text(self, tracer: Tracer, conversion: str) -> str:
        if self.is_constant():
            self.check_text(tracer)
            return str(tracer.compute(ascii if conversion == "ascii" else repr, self.as_constant()))
        return super().to_text(tracer, conversion)

    def format(self, tracer: Tracer, spec: str) -> str:
        if spec:
            tracer.raise_error(TypeError, f"unsupported format string passed to {self.cls.__name__}.__format__")
        return self.to_text(tracer, "str")


class TupleVariable(SequenceVariable):
    """A tuple."""

    def reconstruct(self, output: Output) -> Template:
        return Template("(", commas(self.items), ",)" if len(self.items) == 1 else ")")


class SizeVariable(TupleVariable):
    """The sizes of a tensor: numbers, and symbols for those that are not known."""

    cls = Size

    def like(self, items: list[Value]) -> VariableTracker:
        return SizeVariable(items)

    def method_numel(self, tracer: Tracer) -> Value:
        return ConstantVariable(self.as_constant().numel())

    def reconstruct(self, output: Output) -> Template:
        return call(Held(Size, "Size"), super().reconstruct(output))


class NamedTupleVariable(TupleVariable):
    """An instance of a class made by collections.namedtuple or typing.NamedTuple."""

    def __init__(
        self,
        cls: type,
        items: Sequence[Value] = (),
        source: Source | None = None,
        real: Any = None,
        output: Output | None = None,
    ) -> None:
        super().__init__(items, source, real, output)
        self.cls = cls
        self.fields: tuple[str, ...] = cls._fields  # type: ignore[attr-defined]

    def _wrap_items(self) -> list[Value]:
        assert self.output is not None and self.source is not None
        values = tuple.__iter__(self.real)
        return [self.output.wrap(v, AttrSource(self.source, name)) for name, v in zip(self.fields, values)]

    def as_constant(self) -> Any:
        return self.cls(*(item.realize().as_constant() for item in self.items))

    def getattr(self, tracer: Tracer, name: str) -> Value:
        from minitorch_compile.dynamo.variables.objects.class_lookup import bind_class_attribute, look_up

        if name in self.fields:
            return self.items[self.fields.index(name)]
        found = look_up(self.cls, name)
        if look_up(self.cls, "__dict__") is not None and (found is None or not found.is_data_descriptor):
            self._check_no_attribute(tracer, name)
        if found is None or found.owner in (tuple, object) or name in ("_replace", "_asdict", "_make"):
            return super().getattr(tracer, name)
        return bind_class_attribute(tracer, self, found)

    def _check_no_attribute(self, tracer: Tracer, name: str) -> None:
        """An instance of a class without `__slots__` may have attributes besides its fields."""
        if self.source is not None:
            if name in object.__getattribute__(self.real, "__dict__"):
                self.unsupported(f"the attribute '{name}', which is no field,")
            assert self.output is not None
            self.output.guards.add(content_guards.attribute_absent(self.source, name))

    def method_replace(self, tracer: Tracer, **changes: Value) -> Value:
        items = [changes.pop(name, item) for name, item in zip(self.fields, self.items)]
        if changes:
            tracer.raise_error(ValueError, f"Got unexpected field names: {list(changes)!r}")
        return NamedTupleVariable(self.cls, items)

    def call_method(self, tracer: Tracer, name: str, args: list[Value], kwargs: dict[str, Value]) -> Value:
        if name == "_replace" and not args:
            return self.method_replace(tracer, **kwargs)
        if name == "_asdict" and not args:
            return tracer.build_map([ConstantVariable(f) for f in self.fields], list(self.items))
        return super().call_method(tracer, name, args, kwargs)

    def reconstruct(self, output: Output) -> Template:
        made = output.made_classes.get(self.cls)  # made anew at each call, if the program made it
        return call(held_class(self.cls) if made is None else made, *self.items)


def is_plain_named_tuple(cls: type) -> bool:
    """Whether a class is made by namedtuple, or derives from such a class and leaves all that a tuple does alone. What
    was looked up to know it is guarded.

    >>> Point = collections.namedtuple("Point", "x y")
    >>> class Sum(Point):
    ...     def total(self): return self.x + self.y
    >>> class Fixed(Point):
    ...     def __len__(self): return 7
    >>> [is_plain_named_tuple(cls) for cls in (Point, Sum, Fixed, tuple)]
    [True, True, False, False]
    """
    if not issubclass(cls, tuple) or not hasattr(cls, "_fields"):
        return False
    methods = all(_is_left_alone(cls, name) for name in TUPLE_METHODS)
    return methods and all(_is_field(cls, name, position) for position, name in enumerate(cls._fields))


def _is_left_alone(cls: type, name: str) -> bool:
    """Whether the class has under this name what `tuple` has, or what namedtuple() defines."""
    from minitorch_compile.dynamo.variables.objects.class_lookup import look_up

    found = look_up(cls, name, exactly=True)
    if found is None or is_immutable(found.owner):
        return True
    function = getattr(found.value, "__func__", found.value)
    if not isinstance(function, FunctionType):
        return name in ("_fields", "__match_args__")
    if name == "__new__":
        return "_tuple_new" in function.__globals__
    made = vars(PATTERN).get(name)
    return function.__code__ is getattr(getattr(made, "__func__", made), "__code__", None)


def _is_field(cls: type, name: str, position: int) -> bool:
    """Whether the name reads the item at that position."""
    from minitorch_compile.dynamo.variables.objects.class_lookup import look_up

    found = look_up(cls, name, exactly=True)
    getter = None if found is None else found.value
    return type(getter) is TUPLE_GETTER and getter.__reduce__()[1][0] == position


class SliceVariable(VariableTracker):
    """slice(start, stop, step)"""

    def __init__(self, start: Value, stop: Value, step: Value) -> None:
        super().__init__()
        self.parts = {"start": start, "stop": stop, "step": step}

    def python_type(self) -> type:
        return slice

    def is_constant(self) -> bool:
        return all(part.realize().is_constant() for part in self.parts.values())

    def as_constant(self) -> Any:
        return slice(*(part.realize().as_constant() for part in self.parts.values()))

    def getattr(self, tracer: Tracer, name: str) -> Value:
        return self.parts[name] if name in self.parts else super().getattr(tracer, name)

    def call_method(self, tracer: Tracer, name: str, args: list[Value], kwargs: dict[str, Value]) -> Value:
        if name == "indices" and len(args) == 1 and self.is_constant():
            return tracer.output.from_python(tracer.compute(self.as_constant().indices, tracer.constant(args[0])))
        return super().call_method(tracer, name, args, kwargs)

    def compare(self, tracer: Tracer, op: str, other: VariableTracker) -> Value | None:
        if isinstance(other, SliceVariable) and self.is_constant() and other.is_constant():
            return ConstantVariable(tracer.compute(COMPARE[op], self.as_constant(), other.as_constant()))
        return None

    def truth(self, tracer: Tracer) -> bool:
        return True

    def reconstruct(self, output: Output) -> Template:
        return call("slice", *self.parts.values())
