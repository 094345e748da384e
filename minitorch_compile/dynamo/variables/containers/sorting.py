"""Sorting while tracing: what `sorted` and `list.sort` share.

>>> from minitorch_compile.dynamo.testing import captured
>>> from minitorch_compile.tensor import ones
>>> print(captured(lambda x, order: [x * k for k in sorted(order, reverse=True)], ones(2), [1, 3, 2]))
x -> (x * 3, x * 2, x * 1)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from minitorch_compile.dynamo.variables.base import Value
from minitorch_compile.dynamo.variables.constant import ConstantVariable

if TYPE_CHECKING:
    from minitorch_compile.dynamo.variables.tracer import Tracer


def key_of(tracer: Tracer, key: Value | None, item: Value) -> Value:
    """What the item is compared by: itself, or what the function `key` gives for it."""
    return item if key is None or tracer.is_none(key) else tracer.call(key, [item], {})


def sorted_items(
    tracer: Tracer, items: list[Value], key: Value | None = None, reverse: Value = ConstantVariable(False)
) -> list[Value]:
    """The items in order of their keys."""
    keys: list[Any] = [key_of(tracer, key, item).realize() for item in items]
    if all(k.is_constant() and k.is_literal() for k in keys):
        keys = [tracer.constant(k) for k in keys]
    else:
        keys = [_Compared(tracer, k) for k in keys]
    order = tracer.compute(sorted, range(len(items)), key=keys.__getitem__, reverse=tracer.truth(reverse))
    return [items[i] for i in order]


class _Compared:
    """A key that is no constant, such as a name with a tensor: the tracer is asked which of two is less."""

    def __init__(self, tracer: Tracer, key: Value) -> None:
        self.tracer = tracer
        self.key = key

    def __lt__(self, other: _Compared) -> bool:
        return self.tracer.truth(self.tracer.compare("<", self.key, other.key))
