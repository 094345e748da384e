"""Lists. What the program does to a list from outside is noted, and done again after the graph has run.

>>> from minitorch_compile.dynamo.testing import generated
>>> from minitorch_compile.tensor import ones
>>> def f(x, items):
...     items.append(x + 1)
...     items[0] = items.pop()
>>> print(generated(f, ones(2), [1]))
(out_0,) = graph(x)
items.append(out_0)
items.pop(-1)
items[0] = out_0
return None
"""

from __future__ import annotations

import sys
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, NoReturn

from minitorch_compile.dynamo.errors import Unsupported
from minitorch_compile.dynamo.variables.base import ObservedException, Value, VariableTracker
from minitorch_compile.dynamo.variables.constant import ConstantVariable
from minitorch_compile.dynamo.variables.containers.sequences import SequenceVariable
from minitorch_compile.dynamo.variables.containers.sorting import sorted_items
from minitorch_compile.dynamo.variables.rebuilding import Template, commas

if TYPE_CHECKING:
    from minitorch_compile.dynamo.variables.tracer import Output, Tracer


REFLECTED = {"+": "__radd__"}


class ListVariable(SequenceVariable):
    """A list. `append` needs no look at what is in it, so a list that only grows is not guarded by its length."""

    cls = list
    iterator_type: type = type(iter([]))

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._appended: list[Value] = []

    def _wrap_items(self) -> list[Value]:
        return [*super()._wrap_items(), *self._appended]

    def is_constant(self) -> bool:
        return False  # it may change after the question

    def hash_key(self, tracer: Tracer) -> Hashable:
        tracer.raise_error(TypeError, "unhashable type: 'list'")

    def like(self, items: list[Value]) -> VariableTracker:
        return ListVariable(items)

    def not_found(self, tracer: Tracer, item: Value) -> NoReturn:
        if sys.version_info >= (3, 14):
            super().not_found(tracer, item)
        tracer.raise_error(ValueError, f"{item.realize().to_text(tracer, 'repr')} is not in {self.cls.__name__}")

    def comparable_with(self, other: SequenceVariable) -> bool:
        return issubclass(other.python_type(), list)  # no deque

    def to_text(self, tracer: Tracer, conversion: str) -> str:
        items = [item.realize() for item in self.items]
        if all(item.is_constant() for item in items):
            self.check_text(tracer)
            return str(tracer.compute(ascii if conversion == "ascii" else repr, [item.as_constant() for item in items]))
        return super().to_text(tracer, conversion)

    def binary(self, tracer: Tracer, op: str, other: VariableTracker) -> Value | None:
        if op != "+":
            return super().binary(tracer, op, other)
        if isinstance(other, ListVariable) and self.comparable_with(other):
            return ListVariable([*self.items, *other.items])
        return None

    def inplace(self, tracer: Tracer, op: str, other: VariableTracker) -> Value | None:
        if hasattr(other.python_type(), REFLECTED.get(op, "")) and not isinstance(other, ListVariable):
            return None  # a sum with a list is not a number's: Python asks the other one first
        if op == "+":
            self.method_extend(tracer, other)
            return self
        if op == "*" and isinstance(other, ConstantVariable) and isinstance(other.value, int):
            self.replace_all(tracer, self.items * other.value)
            return self
        return None

    # --- changes ------------------------------------------------------------------------------------------------------

    def replace_all(self, tracer: Tracer, items: list[Value]) -> None:
        """Any change that is not one of the simple ones."""
        self.items[:] = items
        tracer.side_effects.replace_items(self, items)

    def append(self, tracer: Tracer, item: Value) -> None:
        (self._appended if self._items is None else self._items).append(item)
        tracer.side_effects.method(self, "append", item)

    def method_init(self, tracer: Tracer, *iterable: Value) -> Value:
        """What was in it goes first, so that `items.__init__(items)` leaves nothing."""
        if self.items:
            self.method_clear(tracer)
        return self.method_extend(tracer, *iterable) if iterable else ConstantVariable(None)

    def method_append(self, tracer: Tracer, item: Value) -> Value:
        self.append(tracer, item)
        return ConstantVariable(None)

    def method_extend(self, tracer: Tracer, iterable: Value) -> Value:
        itself = iterable.realize() is self
        for item in list(self.items) if itself else tracer.each_sized(iterable):
            self.append(tracer, item)
        return ConstantVariable(None)

    def method_insert(self, tracer: Tracer, index: Value, item: Value) -> Value:
        position = tracer.index_constant(index, "list")
        self.items.insert(position, item)
        tracer.side_effects.method(self, "insert", ConstantVariable(position), item)
        return ConstantVariable(None)

    def method_pop(self, tracer: Tracer, *index: Value) -> Value:
        position = tracer.index_constant(index[0], "list") if index else -1
        if not self.items:
            tracer.raise_error(IndexError, "pop from empty list")
        if not -len(self.items) <= position < len(self.items):
            tracer.raise_error(IndexError, "pop index out of range")
        tracer.side_effects.method(self, "pop", ConstantVariable(position))
        return self.items.pop(position)

    def method_remove(self, tracer: Tracer, item: Value) -> Value:
        for position, member in enumerate(self.items):
            if tracer.same_or_equal(member, item):
                del self.items[position]
                tracer.side_effects.method(self, "pop", ConstantVariable(position))
                return ConstantVariable(None)
        tracer.raise_error(ValueError, "list.remove(x): x not in list")

    def method_clear(self, tracer: Tracer) -> Value:
        self.items.clear()
        tracer.side_effects.method(self, "clear")
        return ConstantVariable(None)

    def method_reverse(self, tracer: Tracer) -> Value:
        self.replace_all(tracer, self.items[::-1])
        return ConstantVariable(None)

    def method_copy(self, tracer: Tracer) -> Value:
        return ListVariable(self.items)

    def method_setitem(self, tracer: Tracer, key: Value, item: Value) -> Value:
        index = tracer.index_constant(key, "list")
        if isinstance(index, slice):
            return self._set_slice(tracer, index, self._assigned(tracer, index, item))
        if not -len(self.items) <= index < len(self.items):
            tracer.raise_error(IndexError, "list assignment index out of range")
        self.items[index] = item
        tracer.side_effects.store_item(self, ConstantVariable(index), item)
        return ConstantVariable(None)

    def _assigned(self, tracer: Tracer, index: slice, values: Value) -> list[Value]:
        """The values for a slice. C makes an iterator first, and asks that one for its length."""
        try:
            iterator = tracer.as_iterator(values)
        except ObservedException as error:
            if not issubclass(error.value.python_type(), TypeError):
                raise
            whole = index.step in (None, 1)
            tracer.raise_error(
                TypeError, "can only assign an iterable" if whole else "must assign iterable to extended slice"
            )
        return tracer.unpack_sized(iterator.as_object())

    def _set_slice(self, tracer: Tracer, index: slice, values: list[Value]) -> Value:
        changed = list(self.items)
        tracer.compute(changed.__setitem__, index, values)
        self.replace_all(tracer, changed)
        return ConstantVariable(None)

    def method_delitem(self, tracer: Tracer, key: Value) -> Value:
        index = tracer.index_constant(key, "list")
        if isinstance(index, int) and not -len(self.items) <= index < len(self.items):
            tracer.raise_error(IndexError, "list assignment index out of range")
        del self.items[index]
        tracer.side_effects.delete_item(self, ConstantVariable(index) if isinstance(index, int) else key)
        return ConstantVariable(None)

    def call_method(self, tracer: Tracer, name: str, args: list[Value], kwargs: dict[str, Value]) -> Value:
        if name == "sort" and not args:
            if not kwargs.keys() <= {"key", "reverse"}:
                raise Unsupported("wrong-arguments", f"sort() is called with {', '.join(kwargs)}.")
            self.replace_all(tracer, sorted_items(tracer, list(self.items), **kwargs))
            return ConstantVariable(None)
        return super().call_method(tracer, name, args, kwargs)

    def reconstruct(self, output: Output) -> Template:
        return Template("[", commas(self.items), "]")
