"""collections.deque: a list with two ends, and possibly a greatest length.

>>> import collections
>>> from minitorch_compile.dynamo.testing import generated
>>> from minitorch_compile.tensor import ones
>>> def f(x, last):
...     last.append(x + 1)
...     return len(last)
>>> print(generated(f, ones(2), collections.deque([1, 2], maxlen=2)))
(out_0,) = graph(x)
last.append(out_0)
return 2
"""

from __future__ import annotations

import collections
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from minitorch_compile.dynamo.errors import Unsupported
from minitorch_compile.dynamo.guards import content_guards, value_guards
from minitorch_compile.dynamo.guards.source import AttrSource, ItemSource, Source
from minitorch_compile.dynamo.variables.base import Value, VariableTracker
from minitorch_compile.dynamo.variables.call_rules import handles
from minitorch_compile.dynamo.variables.constant import ConstantVariable
from minitorch_compile.dynamo.variables.containers.iterators import IteratorVariable
from minitorch_compile.dynamo.variables.containers.lists import REFLECTED, ListVariable
from minitorch_compile.dynamo.variables.containers.sequences import SequenceVariable
from minitorch_compile.dynamo.variables.rebuilding import Held, Template, call, commas

if TYPE_CHECKING:
    from minitorch_compile.dynamo.variables.tracer import Output, Tracer

NONE = ConstantVariable(None)


class DequeVariable(ListVariable):
    """A deque. `changes` counts what was done to it, since iterating over a changing deque is an error."""

    cls = collections.deque  # type: ignore[assignment]
    iterator_type: type = type(iter(collections.deque[Any]()))

    def __init__(
        self,
        items: Sequence[Value] = (),
        source: Source | None = None,
        real: Any = None,
        output: Output | None = None,
        maxlen: int | None = None,
    ) -> None:
        super().__init__(items, source, real, output)
        self.maxlen = maxlen
        self.changes = 0
        if source is not None and output is not None:
            self.maxlen = real.maxlen
            output.guards.add(*value_guards.equals(AttrSource(source, "maxlen"), self.maxlen, output.names))

    def _wrap_items(self) -> list[Value]:
        assert self.output is not None and self.source is not None
        self.output.guards.add(content_guards.length(self.source, len(self.real)))
        return [self.output.wrap(item, ItemSource(self.source, i)) for i, item in enumerate(self.real)]

    def like(self, items: list[Value]) -> VariableTracker:
        return DequeVariable(self._kept(items), maxlen=self.maxlen)

    def _kept(self, items: list[Value]) -> list[Value]:
        """Those at the end that fit."""
        return items if self.maxlen is None else items[max(0, len(items) - self.maxlen) :]

    def comparable_with(self, other: SequenceVariable) -> bool:
        return isinstance(other, DequeVariable)

    def getattr(self, tracer: Tracer, name: str) -> Value:
        return ConstantVariable(self.maxlen) if name == "maxlen" else super().getattr(tracer, name)

    def to_text(self, tracer: Tracer, conversion: str) -> str:
        self.unsupported(f"{conversion}()")

    def iterate(self, tracer: Tracer) -> IteratorVariable:
        return DequeIterator(self)

    def binary(self, tracer: Tracer, op: str, other: VariableTracker) -> Value | None:
        if op == "+" and isinstance(other, DequeVariable):
            return self.like([*self.items, *other.items])
        return None

    def reflected(self, tracer: Tracer, op: str, other: VariableTracker) -> Value | None:
        return None

    def inplace(self, tracer: Tracer, op: str, other: VariableTracker) -> Value | None:
        if op != "+" or hasattr(other.python_type(), REFLECTED[op]):
            return None  # as for a list: Python asks the other one's `__radd__` first
        self.method_extend(tracer, other)
        return self

    # --- changes ------------------------------------------------------------------------------------------------------

    def _change(self, tracer: Tracer, method: str, items: list[Value], *args: Value) -> Value:
        """The items are now these; the method does it to a deque from outside."""
        self.items[:] = items
        self.changes += 1
        tracer.side_effects.method(self, method, *args)
        return NONE

    def append(self, tracer: Tracer, item: Value) -> None:
        self._change(tracer, "append", self._kept([*self.items, item]), item)

    def method_appendleft(self, tracer: Tracer, item: Value) -> Value:
        return self._change(tracer, "appendleft", [item, *self.items][: self.maxlen], item)

    def method_extendleft(self, tracer: Tracer, iterable: Value) -> Value:
        itself = iterable.realize() is self
        for item in list(self.items) if itself else tracer.each(iterable):
            self.method_appendleft(tracer, item)
        return NONE

    def method_pop(self, tracer: Tracer, *index: Value) -> Value:
        if index:
            tracer.raise_error(TypeError, f"deque.pop() takes no arguments ({len(index)} given)")
        return self._removed(tracer, "pop", -1)

    def method_popleft(self, tracer: Tracer) -> Value:
        return self._removed(tracer, "popleft", 0)

    def _removed(self, tracer: Tracer, method: str, position: int) -> Value:
        if not self.items:
            tracer.raise_error(IndexError, "pop from an empty deque")
        item = self.items[position]
        self._change(tracer, method, self.items[:-1] if position else self.items[1:])
        return item

    def method_rotate(self, tracer: Tracer, n: Value = ConstantVariable(1)) -> Value:
        turned = collections.deque(self.items)
        tracer.compute(turned.rotate, tracer.constant(n))
        return self._change(tracer, "rotate", list(turned), n)

    def method_reverse(self, tracer: Tracer) -> Value:
        return self._change(tracer, "reverse", self.items[::-1])

    def method_clear(self, tracer: Tracer) -> Value:
        return self._change(tracer, "clear", [])

    def method_copy(self, tracer: Tracer) -> Value:
        return self.like(self.items)

    def method_getitem(self, tracer: Tracer, key: Value) -> Value:
        return self.items[self._position(tracer, key)]

    def method_setitem(self, tracer: Tracer, key: Value, item: Value) -> Value:
        position = self._position(tracer, key)
        self.items[position] = item
        tracer.side_effects.store_item(self, ConstantVariable(position), item)
        return NONE

    def _position(self, tracer: Tracer, key: Value) -> int:
        index = tracer.index_constant(key, "sequence")
        if isinstance(index, slice):
            tracer.raise_error(TypeError, "sequence index must be integer, not 'slice'")
        if not -len(self.items) <= index < len(self.items):
            tracer.raise_error(IndexError, "deque index out of range")
        return int(index)

    def call_method(self, tracer: Tracer, name: str, args: list[Value], kwargs: dict[str, Value]) -> Value:
        if name in ("insert", "remove", "sort", "__delitem__", "__init__"):
            self.unsupported(f"the method {name}()")
        return super().call_method(tracer, name, args, kwargs)

    def reconstruct(self, output: Output) -> Template:
        return call(Held(collections.deque, "deque"), Template("[", commas(self.items), "]"), repr(self.maxlen))


class DequeIterator(IteratorVariable):
    """Over a deque, which may not change meanwhile."""

    cls = DequeVariable.iterator_type

    def __init__(self, owner: DequeVariable) -> None:
        super().__init__()
        self.owner = owner
        self.remaining = iter(list(owner.items))
        self.changes = owner.changes

    def next_value(self, tracer: Tracer) -> Value | None:
        item = next(self.remaining, None)
        if item is not None and self.owner.changes != self.changes:
            tracer.raise_error(RuntimeError, "deque mutated during iteration")
        return item


@handles(collections.deque)
def _deque(tracer: Tracer, iterable: Value | None = None, maxlen: Value = NONE) -> Value:
    longest = tracer.constant(maxlen)
    if longest is not None and (type(longest) is not int or longest < 0):
        raise Unsupported("wrong-arguments", "deque(maxlen=...) needs an int that is not negative.")
    made = DequeVariable(maxlen=longest)
    return made.like(tracer.unpack_all(iterable)) if iterable is not None else made
