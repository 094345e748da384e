"""Iterators: what a `for` loop asks for the next item.

They are as lazy as Python's, so that a loop over `zip(xs, f(ys))` calls things in the order that the program does, and
a list that grows while it is iterated over is seen to grow.

>>> from minitorch_compile.dynamo.testing import captured
>>> from minitorch_compile.tensor import ones
>>> print(captured(lambda xs: [x * i for i, x in enumerate(reversed(xs), start=1)], [ones(2), ones(3)]))
xs_1, xs_0 -> (xs_1 * 1, xs_0 * 2)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from minitorch_compile.dynamo.errors import Unsupported
from minitorch_compile.dynamo.variables.base import Value, VariableTracker
from minitorch_compile.dynamo.variables.constant import ConstantVariable

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from minitorch_compile.dynamo.codegen import Codegen
    from minitorch_compile.dynamo.tracer import Tracer
    from minitorch_compile.dynamo.variables.sequences import SequenceVariable


class IteratorVariable(VariableTracker):
    """`next_value` gives the next item, or None when there is none (the program's None is a ConstantVariable)."""

    cls: type = type(iter(()))
    returned: Value | None = None  # what a generator returned, once

    def python_type(self) -> type:
        return self.cls

    def next_value(self, tracer: Tracer) -> Value | None:
        raise NotImplementedError

    def iterate(self, tracer: Tracer) -> IteratorVariable:
        return self

    def truth(self, tracer: Tracer) -> bool:
        return True

    def hash_key(self, tracer: Tracer) -> Hashable:
        return ("identity", id(self))

    def call_method(self, tracer: Tracer, name: str, args: list[Value], kwargs: dict[str, Value]) -> Value:
        if name == "__iter__":
            return self
        if name == "__next__":
            return tracer.next_or_raise(self)
        return super().call_method(tracer, name, args, kwargs)

    def reconstruct(self, codegen: Codegen) -> str:
        raise Unsupported("unrebuildable-value", f"a {self.cls.__name__} that is in use lives on after the graph.")


class ConstantIterator(IteratorVariable):
    """Over a range, a string, an enum: a real iterator over constants."""

    def __init__(self, real: Iterator[Any]) -> None:
        super().__init__()
        self.real = real
        self.cls = type(real)

    def next_value(self, tracer: Tracer) -> Value | None:
        for item in self.real:
            return tracer.output.from_python(item)
        return None


class ItemsIterator(IteratorVariable):
    """Over items that are known and can't change."""

    def __init__(self, items: list[Value], cls: type = type(iter(()))) -> None:
        super().__init__()
        self.remaining = iter(items)
        self.cls = cls

    def next_value(self, tracer: Tracer) -> Value | None:
        return next(self.remaining, None)


class SequenceIterator(IteratorVariable):
    """Over a list or tuple, by position: sees what is appended meanwhile."""

    def __init__(self, sequence: SequenceVariable, step: int = 1) -> None:
        super().__init__()
        self.sequence: SequenceVariable | None = sequence
        self.step = step
        self.position = 0 if step > 0 else len(sequence.items) - 1
        self.cls = sequence.iterator_type if step > 0 else reversed

    def next_value(self, tracer: Tracer) -> Value | None:
        if self.sequence is None or not 0 <= self.position < len(self.sequence.items):
            self.sequence = None  # an exhausted list iterator stays so even if the list grows
            return None
        item = self.sequence.items[self.position]
        self.position += self.step
        return item


class DictIterator(IteratorVariable):
    """Over the keys, values or items of a dict or the members of a set, which may not change size meanwhile."""

    def __init__(self, items: list[Value], size: Callable[[], int], cls: type) -> None:
        super().__init__()
        self.remaining = iter(items)
        self.size = size
        self.expected = size()
        self.cls = cls

    def next_value(self, tracer: Tracer) -> Value | None:
        if self.size() != self.expected:
            kind = "Set" if "set" in self.cls.__name__ else "dictionary"
            tracer.raise_error(RuntimeError, f"{kind} changed size during iteration")
        return next(self.remaining, None)


class EnumerateIterator(IteratorVariable):
    """enumerate(inner, start)"""

    cls = enumerate

    def __init__(self, inner: VariableTracker, start: int) -> None:
        super().__init__()
        self.inner = inner
        self.count = start

    def next_value(self, tracer: Tracer) -> Value | None:
        item = tracer.next_or_none(self.inner)
        if item is None:
            return None
        self.count += 1
        return tracer.build("tuple", [ConstantVariable(self.count - 1), item])


class ZipIterator(IteratorVariable):
    """zip(*inner, strict=strict)"""

    cls = zip

    def __init__(self, inner: list[VariableTracker], strict: bool) -> None:
        super().__init__()
        self.inner = inner
        self.strict = strict

    def next_value(self, tracer: Tracer) -> Value | None:
        items: list[Value] = []
        for iterator in self.inner:
            item = tracer.next_or_none(iterator)
            if item is None:
                self._check_all_ended(tracer, len(items))
                return None
            items.append(item)
        return tracer.build("tuple", items) if items else None

    def _check_all_ended(self, tracer: Tracer, ended: int) -> None:
        if not self.strict:
            return
        if ended:
            raise Unsupported("raised-exception", "zip(strict=True) met iterables of different lengths.")
        if any(tracer.next_or_none(iterator) is not None for iterator in self.inner[1:]):
            raise Unsupported("raised-exception", "zip(strict=True) met iterables of different lengths.")


class MapIterator(IteratorVariable):
    """map(function, *inner)"""

    cls = map

    def __init__(self, function: Value, inner: list[VariableTracker]) -> None:
        super().__init__()
        self.function = function
        self.inner = inner

    def next_value(self, tracer: Tracer) -> Value | None:
        items: list[Value] = []
        for iterator in self.inner:
            item = tracer.next_or_none(iterator)
            if item is None:
                return None
            items.append(item)
        return tracer.call(self.function, items, {})


class FilterIterator(IteratorVariable):
    """filter(function, inner); the program's None as function keeps what is true"""

    cls = filter

    def __init__(self, function: Value | None, inner: VariableTracker) -> None:
        super().__init__()
        self.function = function
        self.inner = inner

    def next_value(self, tracer: Tracer) -> Value | None:
        while True:
            item = tracer.next_or_none(self.inner)
            if item is None:
                return None
            if tracer.truth(item if self.function is None else tracer.call(self.function, [item], {})):
                return item


class SentinelIterator(IteratorVariable):
    """iter(function, sentinel)"""

    cls = type(iter(int, 1))

    def __init__(self, function: Value, sentinel: Value) -> None:
        super().__init__()
        self.function: Value | None = function
        self.sentinel = sentinel

    def next_value(self, tracer: Tracer) -> Value | None:
        if self.function is None:
            return None
        item = tracer.call(self.function, [], {})
        if tracer.same_or_equal(item, self.sentinel):
            self.function = None
            return None
        return item
