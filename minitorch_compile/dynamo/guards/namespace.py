"""The objects that a piece of generated code refers to by name: its global namespace, filled as names are needed.

>>> names = Namespace(reserved={"x"})
>>> names.install(float, "float"), names.install(float, "float"), names.install("text", "x"), names.fresh("t")
('float', 'float', 'x_1', 't_0')
>>> sorted(names.values)
['float', 'x_1']
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterable, Iterator
from itertools import count
from typing import Any

from minitorch_compile.own_builtins import ORIGINAL


class Namespace:
    """Gives every object one name, readable and not yet taken by a local of the function that is generated."""

    def __init__(self, reserved: Iterable[str] = ()) -> None:
        self.reserved = frozenset(reserved)
        self.taken = {*self.reserved, *keyword.kwlist, *ORIGINAL}  # generated code says slice(...) and means it
        self.values: dict[str, Any] = {}
        self._name_of: dict[int, str] = {}
        self._numbers: dict[str, Iterator[int]] = {}  # of each prefix, those not yet tried

    def install(self, value: object, hint: str) -> str:
        """The name of `value`, made from `hint` the first time. The namespace keeps the object alive."""
        known = self._name_of.get(id(value))
        if known is not None:
            return known
        is_itself = ORIGINAL.get(hint) is value and hint not in self.reserved
        name = hint if is_itself else self.unused(hint)
        self.values[name] = value
        self._name_of[id(value)] = name
        return name

    def fresh(self, prefix: str) -> str:
        """A name for a new local variable: t_0, t_1, ..."""
        numbers = self._numbers.setdefault(prefix, count())
        name = next(name for i in numbers if (name := f"{prefix}_{i}") not in self.taken)
        self.taken.add(name)
        return name

    def unused(self, hint: str) -> str:
        """A name like the hint that nothing has, for whatever the caller defines under it."""
        clean = re.sub(r"\W", "_", hint) or "constant"
        if clean[0].isdigit():
            clean = "_" + clean
        name = clean
        for number in count(1):
            if name not in self.taken:
                self.taken.add(name)
                return name
            name = f"{clean}_{number}"
        raise AssertionError("unreachable")
