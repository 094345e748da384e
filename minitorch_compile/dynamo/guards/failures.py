"""The guard that failed: found again where a call fits no entry, and shown with both values.

>>> import types
>>> from minitorch_compile.dynamo.guards.source import AttrSource, LocalSource
>>> sizes = Guard(AttrSource(LocalSource("x"), "sizes"), "TENSOR_MATCH", "{0} == (4, 4)", expected="(4, 4)")
>>> print(failure([sizes], {"x": types.SimpleNamespace(sizes=(8, 4))}))
x.sizes == (4, 4)  (expected (4, 4), now (8, 4))
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from minitorch_compile.dynamo.guards.checking_order import in_checking_order
from minitorch_compile.dynamo.guards.class_guards import HEAP_TYPE
from minitorch_compile.dynamo.guards.guards import READ_ERRORS, Guard, GuardSet
from minitorch_compile.dynamo.guards.source import Source
from minitorch_compile.own_builtins import ORIGINAL


@dataclass(frozen=True)
class GuardFailure:
    """The first guard of an entry that did not hold, and what was found instead."""

    guard: Guard
    actual: str

    @property
    def expected(self) -> str:
        """What was there when the entry was made."""
        return self.guard.expected.replace("{{", "{").replace("}}", "}")

    def __str__(self) -> str:
        return f"{self.guard.code}  (expected {self.expected}, now {self.actual})"


def failure(guards: Iterable[Guard], scope: Mapping[str, Any]) -> GuardFailure | None:
    """The first guard that does not hold for the variables and names in `scope`; None if all do."""
    names = {"__builtins__": ORIGINAL, **scope}
    for guard in in_checking_order(guards):
        try:
            if eval(guard.code, names):
                continue
            actual = guard.actual.format(guard.source.name())
            return GuardFailure(guard, _shown(eval(actual, names)))
        except READ_ERRORS as error:
            return GuardFailure(guard, f"not readable: {type(error).__name__}: {error}")
    return _unreadable(guards.reads, names) if isinstance(guards, GuardSet) else None


def _unreadable(sources: Iterable[Source], scope: Mapping[str, Any]) -> GuardFailure | None:
    """The first path that the program read and that does not lead anywhere now."""
    for source in sources:
        try:
            eval(source.name(), dict(scope))
        except READ_ERRORS as error:
            return GuardFailure(Guard(source, "READABLE", "{0}", "a value"), f"{type(error).__name__}: {error}")
    return None


LIBRARY = __name__.partition(".")[0]


def _shown(value: object) -> str:
    cls = type(value)  # a `__repr__` of the program would be seen to run
    is_ours = cls.__module__.partition(".")[0] in (LIBRARY, sys.modules[LIBRARY].__name__)
    is_users = cls.__flags__ & HEAP_TYPE and not is_ours and not issubclass(cls, type)
    text = value.__name__ if isinstance(value, type) else (object.__repr__ if is_users else repr)(value)
    return text if len(text) <= 120 else text[:117] + "..."
