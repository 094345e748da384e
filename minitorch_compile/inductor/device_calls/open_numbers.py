"""Python floats of eager calls: a step size that changes from call to call is a number that each launch is given.

The first call is made ready for its float, as if that never changed. When another float comes, the call is made ready
once more, for a mark instead of the float. Are both the same but for this number, then all floats of that class are
served: nothing is traced or compiled again. A float may decide what is computed (x ** 2.0 is a product), so those that
are likely to (0, 1, 2, their like and what isn't finite) keep kernels of their own, and only ops that compute with
floats element by element are asked.

>>> class_of(0.25), class_of(-3.5), class_of(2.0), class_of(float("inf"))
((1, False), (-1, True), None, None)
>>> mark_of((-1, True), 0), mark_of((1, False), 1)
(-3.141592653589793, 0.15915494309189535)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from minitorch_compile.inductor.device_calls.device_call import DeviceCall
from minitorch_compile.tensor.dispatch.op import Op

OPENED_OPS = frozenset(("full", "full_strided", "fill"))  # beside all that are pointwise
OF_THEIR_OWN = frozenset((0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0))
LEAST, MOST = 2.0**-100, 2.0**15  # what is beyond may not be a number of the tensor's dtype
ATTEMPTS = 3  # to find that two calls are the same but for their floats
MOST_VALUES = 64  # for which a call that doesn't let its floats be opened is kept

Class = tuple[int, bool]


def class_of(x: float) -> Class | None:
    """The sign of a float, and whether it is 1 or more; None for one that may decide what is computed."""
    size = abs(x)
    if size in OF_THEIR_OWN or not LEAST < size < MOST:
        return None
    return (1 if x > 0 else -1), size > 1


def mark_of(kind: Class, place: int) -> float:
    """What stands for a float of that class, the one at this place among those of a call."""
    sign, is_large = kind
    return sign * (math.pi + place if is_large else 1 / (math.pi * (place + 1)))


def opens(op: Op) -> bool:
    """Whether the op only computes with the floats that it is given."""
    return op.kind == "pointwise" or op.name in OPENED_OPS


def with_floats(bound: Sequence[Any], floats: Sequence[float]) -> list[Any]:
    """The arguments with other floats in the places of those that have a class."""
    others = iter(floats)
    return [next(others) if type(x) is float and class_of(x) is not None else x for x in bound]


class NumberedCalls:
    """Calls that are the same but for their floats. `make` makes one ready, given the floats and which are open."""

    def __init__(self, make: Callable[[Sequence[float], Sequence[float]], DeviceCall | None]) -> None:
        self.make = make
        self.by_value: dict[tuple[float, ...], DeviceCall | None] = {}
        self.open: DeviceCall | None = None
        self.attempts = 0

    def call_for(self, floats: Sequence[float]) -> DeviceCall | None:
        """What serves these floats, and is given them; None if nothing does."""
        if self.open is not None:
            return self.open
        values = tuple(floats)
        if values not in self.by_value:
            known = next(iter(self.by_value.values()), None)
            self.by_value[values] = self.make(floats, ())
            if known is not None and self.attempts < ATTEMPTS:
                self.attempts += 1
                self.try_to_open(values)
            if len(self.by_value) > MOST_VALUES:
                del self.by_value[next(iter(self.by_value))]
        return self.open or self.by_value[values]

    def at_hand(self, floats: Sequence[float]) -> DeviceCall | None:
        """What was made ready for these floats before, if something was."""
        return self.open or self.by_value.get(tuple(floats))

    def try_to_open(self, values: tuple[float, ...]) -> None:
        known = self.by_value[values]
        marks = [mark_of(kind, place) for place, x in enumerate(values) if (kind := class_of(x)) is not None]
        found = self.make(marks, marks)
        if known is not None and found is not None and same_but_for(found, known, dict(zip(marks, values))):
            self.open = found
            self.by_value.clear()


def same_but_for(marked: DeviceCall, known: DeviceCall, meant: dict[float, float]) -> bool:
    """Whether two calls run the same kernels with the same numbers, where each mark stands for what it means.

    A mark that is no number of theirs may have become another one, as 3.5 and pi do where whole numbers are filled in.
    """
    if [kernel.text for kernel in marked.described] != [kernel.text for kernel in known.described]:
        return False
    pairs = [
        pair
        for one, other in zip(marked.described, known.described, strict=True)
        for pair in zip(one.numbers, other.numbers, strict=True)
    ]
    alike = all(repr(meant.get(a, a) if type(a) is float else a) == repr(b) for a, b in pairs)
    return alike and meant.keys() <= {a for a, _ in pairs if type(a) is float}
