"""Guards: what must still hold for a compiled function to be used again.

A guard is a source, a check on it written as Python text, and what was seen when it was made:

>>> from minitorch_compile.dynamo.guards.source import AttrSource, LocalSource
>>> sizes = Guard(AttrSource(LocalSource("x"), "sizes"), "TENSOR_MATCH", "{0} == (4, 4)", expected="(4, 4)")
>>> sizes.code
'x.sizes == (4, 4)'

All guards of a cache entry become the first lines of its generated function (`guard_code.py`). When one fails, it is
found again and shown with both values (`failures.py`).

Here are also the guards on which object a source leads to. Those on its value are in `value_guards.py`, on what is in
it, or lacks, in `content_guards.py`, on tensors in `tensor_guards.py`, on classes in `class_guards.py`.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from minitorch_compile.dynamo.guards.namespace import Namespace
from minitorch_compile.dynamo.guards.source import Source

# What reading a source of a changed program may raise: a missing attribute, key, item or cell content; a size that is
# now the divisor 0, a number too large for its power.
READ_ERRORS = (AttributeError, LookupError, TypeError, ValueError, NameError, ArithmeticError)


class About(enum.Enum):
    """What a guard's answer depends on."""

    OBJECT = "which object it is, its class, its value if that can't change, and the properties of a tensor"
    ITEMS = "which items are in the dict or the tuple"
    ANYTHING = "more than that, such as the items of a list, or values of other paths"


@dataclass(frozen=True)
class Guard:
    """`check` is the text of the condition, {0} standing for the source and {1} for `other`, a second source if there
    is one. `cls` is the class that it demands, if that is what it is about; `about` says what can make it fail,
    `place` which line of the user's asked for it, where that is known."""

    source: Source
    kind: str
    check: str
    expected: str = ""
    other: Source | None = None
    actual: str = "{0}"
    cls: type | None = None
    about: About = About.ANYTHING
    place: str = ""

    @property
    def code(self) -> str:
        """The condition as a reader sees it."""
        return self.check.format(self.source.name(), self.other.name() if self.other else "")

    @property
    def reason(self) -> str:
        return f"{self.kind}: {self.code}"

    def __str__(self) -> str:
        return f"{self.kind:<16} {self.code}{self.place and f'    # {self.place}'}"


class _Miss:
    """What a generated function returns if its guards fail."""

    def __repr__(self) -> str:
        return "MISS"


MISS: Any = _Miss()


class GuardSet:
    """The guards of one traced frame, in the order they were needed, each once; and the sources that must be
    readable."""

    def __init__(self) -> None:
        self._guards: dict[Guard, None] = {}
        self.reads: dict[Source, None] = {}

    def add(self, *guards: Guard) -> None:
        for guard in guards:
            self._guards.setdefault(guard)

    def must_read(self, source: Source) -> None:
        """The program read this path: if it can't be read at a later call, the entry does not apply."""
        self.reads.setdefault(source)

    def __iter__(self) -> Iterator[Guard]:
        return iter(self._guards)

    def __len__(self) -> int:
        return len(self._guards)

    def __repr__(self) -> str:
        return "\n".join(map(str, self))


# --- guards on which object it is -------------------------------------------------------------------------------------


def type_is(source: Source, cls: type, names: Namespace) -> Guard:
    """The object's class, exactly."""
    name = names.install(cls, cls.__name__)
    return Guard(
        source, "TYPE_MATCH", f"type({{0}}) is {name}", cls.__name__, actual="type({0})", cls=cls, about=About.OBJECT
    )


def identity(source: Source, value: object, names: Namespace, hint: str, kind: str = "ID_MATCH") -> Guard:
    """The very same object: functions, modules, classes, enum members, None."""
    if value is None or value is True or value is False or value is Ellipsis:
        kind = "CONSTANT_MATCH" if kind == "ID_MATCH" else kind
        return Guard(source, kind, f"{{0}} is {value!r}", repr(value), about=About.OBJECT)
    check = f"{{0}} is {names.install(value, hint)}"
    return Guard(source, kind, check, f"the same {hint}", about=About.OBJECT)


def same_object(source: Source, other: Source) -> Guard:
    """Two paths lead to one object, as when the function was traced."""
    return Guard(source, "DUPLICATE_INPUT", "{0} is {1}", "the same object", other, about=About.OBJECT)


def different_object(source: Source, other: Source) -> Guard:
    """Two paths lead to two objects: needed where one of them is written to, or `is` compared them."""
    return Guard(source, "NO_ALIAS", "{0} is not {1}", "different objects", other, about=About.OBJECT)


def function_match(source: Source, function: Any, names: Namespace) -> list[Guard]:
    """A function with the same code and globals: a lambda made anew at each call still matches."""
    code, scope = function.__code__, function.__globals__
    same_code = f"{{0}}.__code__ is {names.install(code, 'code_' + code.co_name)}"
    same_module = f"{{0}}.__globals__ is {names.install(scope, 'globals_' + function.__name__)}"
    return [
        Guard(source, "FUNCTION_MATCH", same_code, code.co_qualname),
        Guard(source, "FUNCTION_MATCH", same_module, "the same module"),
    ]
