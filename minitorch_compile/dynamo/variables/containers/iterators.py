"""Iterators: what a `for` loop asks for the next item.

They are as lazy as Python's, so that a loop over `zip(xs, f(ys))` calls things in the order that the program does, and
a list that grows while it is iterated over is seen to grow.

>>> from minitorch_compile.dynamo.testing import captured
>>> from minitorch_compile.tensor import ones
>>> print(captured(lambda xs: [x * i for i, x in enumerate(reversed(xs), start=1)], [ones(2), ones(3)]))
xs_1, xs_0 -> (xs_1 * 1, xs_0 * 2)

One that lives on after a graph break is made again, and advanced to where the program has come:

>>> from minitorch_compile.dynamo.testing import generated
>>> def second(items):
...     iterator = iter(items)
...     next(iterator)
...     return iterator
>>> print(generated(second, [1, 2, 3]))
return advanced(iter(items), 1)
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NoReturn

from minitorch_compile.dynamo.errors import Unsupported
from minitorch_compile.dynamo.variables.base import ObservedException, Value, VariableTracker
from minitorch_compile.dynamo.variables.constant import ConstantVariable
from minitorch_compile.dynamo.variables.rebuilding import Description, Held, Template, call

if TYPE_CHECKING:
    from collections.abc import Hashable

    from minitorch_compile.dynamo.variables.containers.sequences import SequenceVariable
    from minitorch_compile.dynamo.variables.tracer import Output, Tracer


def advanced(iterator: Iterator[Any], count: int) -> Iterator[Any]:
    """The iterator, after so many items.

    >>> list(advanced(iter("abc"), 1))
    ['b', 'c']
    """
    for _ in itertools.islice(iterator, count):
        pass
    return iterator


class IteratorVariable(VariableTracker):
    """`next_value` gives the next item, or None when there is none (the program's None is a ConstantVariable)."""

    cls: type = type(iter(()))
    returned: Value | None = None  # what a generator returned, once

    def python_type(self) -> type:
        return self.cls

    def next_value(self, tracer: Tracer) -> Value | None:
        raise NotImplementedError

    def as_object(self) -> VariableTracker:
        """The iterator, as what asks an iterator for an iterator again sees it."""
        return self

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

    def reconstruct(self, output: Output) -> Description:
        self.not_again()

    def not_again(self) -> NoReturn:
        raise Unsupported("unrebuildable-value", f"a {self.cls.__name__} that is in use lives on after the graph.")

    @staticmethod
    def without_taken(iterator: Template, taken: int) -> Template:
        """The iterator without the items that were taken."""
        return call(Held(advanced, "advanced"), iterator, repr(taken)) if taken else iterator


class ConstantIterator(IteratorVariable):
    """Over a range, a string, an enum: a real iterator over constants. `of`: what it iterates over."""

    def __init__(self, real: Iterator[Any], of: VariableTracker) -> None:
        super().__init__()
        self.real = real
        self.of = of
        self.taken = 0
        self.cls = type(real)

    def next_value(self, tracer: Tracer) -> Value | None:
        for item in self.real:
            self.taken += 1
            return tracer.output.from_python(item)
        return None

    def reconstruct(self, output: Output) -> Template:
        whole = self.of.as_constant() if self.of.is_constant() else None
        if type(whole) is range:
            return call("iter", repr(whole[self.taken :]))
        return self.without_taken(call("iter", self.of), self.taken)


class ItemsIterator(IteratorVariable):
    """Over items that are known and can't change."""

    def __init__(self, items: list[Value], cls: type = type(iter(()))) -> None:
        super().__init__()
        self.remaining = list(items)
        self.cls = cls

    def next_value(self, tracer: Tracer) -> Value | None:
        return self.remaining.pop(0) if self.remaining else None

    def reconstruct(self, output: Output) -> Template:
        if self.cls is not type(iter(())):
            self.not_again()
        return call("iter", Template("(", *(Template(item, ", ") for item in self.remaining), ")"))


class SequenceIterator(IteratorVariable):
    """Over a list or tuple, by position: sees what is appended meanwhile."""

    def __init__(self, sequence: SequenceVariable, step: int = 1) -> None:
        super().__init__()
        self.sequence: SequenceVariable | None = sequence
        self.step = step
        self.position = 0 if step > 0 else len(sequence.items) - 1
        self.taken = 0
        backwards: type = type(reversed([])) if sequence.iterator_type is type(iter([])) else reversed
        self.cls = sequence.iterator_type if step > 0 else backwards

    def next_value(self, tracer: Tracer) -> Value | None:
        if self.sequence is None or not 0 <= self.position < len(self.sequence.items):
            self.sequence = None  # an exhausted list iterator stays so even if the list grows
            return None
        item = self.sequence.items[self.position]
        self.position += self.step
        self.taken += 1
        return item

    def reconstruct(self, output: Output) -> Template:
        """An object from outside that was changed meanwhile is not yet in its new state when values are made."""
        start = "iter" if self.step > 0 else "reversed"
        if self.sequence is None:
            return self.without_taken(call(start, "[]"), 1)  # exhausted for good
        if self.sequence in output.side_effects.changed:
            self.not_again()
        return self.without_taken(call(start, self.sequence), self.taken)


class ReversedIterator(IteratorVariable):
    """Over an object that has `__len__` and `__getitem__`, from its end; asked for its own length, it asks again."""

    cls = reversed

    def __init__(self, tracer: Tracer, sequence: VariableTracker) -> None:
        super().__init__()
        self.sequence = sequence
        self.position = sequence.length(tracer) - 1

    def hint_length(self, tracer: Tracer) -> None:
        self.sequence.length(tracer)

    def next_value(self, tracer: Tracer) -> Value | None:
        if self.position < 0:
            return None
        self.position -= 1
        try:
            return tracer.getitem(self.sequence, ConstantVariable(self.position + 1))
        except ObservedException as error:
            if not issubclass(error.value.python_type(), (IndexError, StopIteration)):
                raise
            self.position = -1
            return None

    def reconstruct(self, output: Output) -> Description:
        self.not_again()


class DictIterator(IteratorVariable):
    """Over the keys, values or items of a dict or the members of a set, which may not change size meanwhile, nor, if it
    is an OrderedDict, their order. `entries`: the dict's. `of`: the dict or view; None if the order of a new one might
    differ."""

    def __init__(self, items: list[Any], entries: dict[Any, Any], cls: type, of: VariableTracker | None = None) -> None:
        super().__init__()
        self.items = items
        self.taken = 0
        self.entries = entries
        self.cls = cls
        self.ordered = "odict" in cls.__name__
        self.expected = self.state()
        self.last = next(reversed(entries), None)
        self.exhausted = False
        self.of = of

    def state(self) -> Any:
        """What may not change."""
        return tuple(self.entries) if self.ordered else len(self.entries)

    def next_value(self, tracer: Tracer) -> Value | None:
        at_end = self.taken == len(self.items)
        if self.exhausted or (self.ordered and at_end):  # an OrderedDict's iterator lets go of it with the last item
            return None
        if self.state() != self.expected:
            kind = "Set" if "set" in self.cls.__name__ else "dictionary"
            wrong = "OrderedDict mutated" if self.ordered else f"{kind} changed size"
            tracer.raise_error(RuntimeError, f"{wrong} during iteration")
        if "set" not in self.cls.__name__ and next(reversed(self.entries), None) != self.last:
            self.unsupported("going on after a key was taken out and another put in")  # it comes last, or is an error
        if at_end:
            self.exhausted = True
            return None
        self.taken += 1
        return self.current(tracer, self.items[self.taken - 1])

    def current(self, tracer: Tracer, item: Any) -> Value:
        """What to give for one of the items; of a view, what is there now."""
        return item

    def reconstruct(self, output: Output) -> Template:
        """A dict from outside that was changed meanwhile has still its old size when values are made."""
        whose = getattr(self.of, "owner", self.of)
        if whose is None or self.state() != self.expected or whose in output.side_effects.changed:
            self.not_again()
        assert self.of is not None
        return self.without_taken(call("iter", self.of), self.taken)


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

    def reconstruct(self, output: Output) -> Template:
        return call("enumerate", self.inner, repr(self.count))


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

    def reconstruct(self, output: Output) -> Template:
        return call("zip", *self.inner, *(["strict=True"] if self.strict else []))

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

    def reconstruct(self, output: Output) -> Template:
        return call("map", self.function, *self.inner)


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

    def reconstruct(self, output: Output) -> Template:
        return call("filter", "None" if self.function is None else self.function, self.inner)


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

    def reconstruct(self, output: Output) -> Template:
        if self.function is None:
            self.not_again()
        return call("iter", self.function, self.sentinel)
