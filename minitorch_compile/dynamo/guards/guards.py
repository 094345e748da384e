"""Guards: what must still hold for a compiled function to be used again.

A guard is a source, a check on it written as Python text, and what was seen when it was made:

>>> from minitorch_compile.dynamo.guards.source import AttrSource, LocalSource
>>> sizes = Guard(AttrSource(LocalSource("x"), "sizes"), "TENSOR_MATCH", "{0} == (4, 4)", expected="(4, 4)")
>>> sizes.code
'x.sizes == (4, 4)'

All guards of a cache entry become the first lines of its generated function (`guard_code.py`). When one fails, it is
found again and shown with both values (`failures.py`).
"""

from __future__ import annotations

import enum
import math
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from types import CellType, MemberDescriptorType
from typing import Any

from minitorch_compile.dynamo.guards.namespace import Namespace
from minitorch_compile.dynamo.guards.source import InstanceDictSource, SlotSource, Source

# What reading a source of a changed program may raise: a missing attribute, key, item or cell content; a size that is
# now the divisor 0.
READ_ERRORS = (AttributeError, LookupError, TypeError, ValueError, NameError, ZeroDivisionError)


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


# --- the kinds of guards ----------------------------------------------------------------------------------------------


def type_is(source: Source, cls: type, names: Namespace) -> Guard:
    """The object's class, exactly."""
    name = names.install(cls, cls.__name__)
    return Guard(
        source, "TYPE_MATCH", f"type({{0}}) is {name}", cls.__name__, actual="type({0})", cls=cls, about=About.OBJECT
    )


def identity(source: Source, value: object, names: Namespace, hint: str, kind: str = "ID_MATCH") -> Guard:
    """The very same object: functions, modules, classes, enum members, None."""
    if value is None or value is True or value is False or value is Ellipsis:
        return _constant(source, f"{{0}} is {value!r}", repr(value), "CONSTANT_MATCH" if kind == "ID_MATCH" else kind)
    check = f"{{0}} is {names.install(value, hint)}"
    return Guard(source, kind, check, f"the same {hint}", about=About.OBJECT)


def _constant(source: Source, check: str, expected: str, kind: str = "CONSTANT_MATCH") -> Guard:
    """Of a value that can't change."""
    return Guard(source, kind, check, expected, about=About.OBJECT)


def equals(source: Source, value: Any, names: Namespace) -> list[Guard]:
    """The type and the value of a number or string. 0.0 and -0.0 are told apart, and NaN by its sign."""
    return [type_is(source, type(value), names), _same_value(source, value, names)]


def _same_value(source: Source, value: Any, names: Namespace) -> Guard:
    if value != value:
        same = f"{names.install(bits_of, 'bits_of')}({{0}}) == {bits_of(value)!r}"
        return _constant(source, f"{{0}} != {{0}} and {same}", repr(value))
    if isinstance(value, complex) or (isinstance(value, float) and (value == 0 or math.isinf(value))):
        return _constant(source, f"repr({{0}}) == {repr(value)!r}", repr(value))
    if isinstance(value, int) and value.bit_length() > 4096:
        return _constant(source, f"{{0}} == {names.install(value, 'big_int')}", "the same number")
    return _constant(source, f"{{0}} == {_escaped(repr(value))}", _escaped(repr(value)))


def bits_of(number: complex) -> bytes:
    """A float's bits, or those of both parts of a complex number: of NaN only these tell the sign.

    >>> bits_of(float("nan")) == bits_of(-float("nan"))
    False
    """
    return struct.pack("<dd", number.real, number.imag)


def same_range(source: Source, value: range, names: Namespace) -> list[Guard]:
    """The numbers that a range stands for: range(0, 3, 2) equals range(0, 4, 2)."""
    return [type_is(source, range, names), _constant(source, f"{{0}} == {value!r}", repr(value), "RANGE_MATCH")]


def _escaped(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


def length(source: Source, size: int) -> Guard:
    check = f"len({{0}}) == {size}" if size else "not {0}"
    return Guard(source, "LENGTH", check, str(size), actual="len({0})", about=About.ITEMS)


def same_members(kind: str, source: Source, members: list[Any], names: Namespace) -> Guard:
    """What iterating gives, in order: text and numbers. 1, 1.0 and True are equal but not the same."""
    if all(type(member) is str for member in members):
        return attribute_names(kind, source, members)
    typed = ", ".join(f"({names.install(type(m), type(m).__name__)}, {m!r})" for m in members)
    check = f"[(type(m), m) for m in {{0}}] == [{_escaped(typed)}]"
    return Guard(source, kind, check, _escaped(repr(members)), actual="list({0})", about=About.ITEMS)


def attribute_names(kind: str, source: Source, members: list[str]) -> Guard:
    """The same where all are text."""
    shown = _escaped(repr(members))
    return Guard(source, kind, f"list({{0}}) == {shown}", shown, actual="list({0})", about=About.ITEMS)


def dict_contains(
    source: Source, key: str, present: bool, kind: str = "DICT_CONTAINS", about: About = About.ITEMS
) -> Guard:
    """Whether a key, told by its text, is there. `about`: ANYTHING if the text is a path that leads to the key."""
    relation = "in" if present else "not in"
    check = f"{_escaped(key)} {relation} {{0}}"
    return Guard(source, kind, check, relation, actual="list({0})", about=about)


def same_object(source: Source, other: Source) -> Guard:
    """Two paths lead to one object, as when the function was traced."""
    return Guard(source, "DUPLICATE_INPUT", "{0} is {1}", "the same object", other, about=About.OBJECT)


def different_object(source: Source, other: Source) -> Guard:
    """Two paths lead to two objects: needed where one of them is written to, or `is` compared them."""
    return Guard(source, "NO_ALIAS", "{0} is not {1}", "different objects", other, about=About.OBJECT)


def function_match(source: Source, function: Any, names: Namespace) -> list[Guard]:
    """A function with the same code and globals: a lambda made anew at each call still matches."""
    code, scope = function.__code__, function.__globals__
    return [
        Guard(
            source,
            "FUNCTION_MATCH",
            f"{{0}}.__code__ is {names.install(code, 'code_' + code.co_name)}",
            code.co_qualname,
        ),
        Guard(
            source,
            "FUNCTION_MATCH",
            f"{{0}}.__globals__ is {names.install(scope, 'globals_' + function.__name__)}",
            "the same module",
        ),
    ]


def attribute_absent(source: Source, name: str) -> Guard:
    """The instance has no attribute of that name, so that its class's, or `__getattr__`, answers."""
    return dict_contains(InstanceDictSource(source), repr(name), False, "ATTRIBUTE_ABSENT")


def slot_empty(source: SlotSource, names: Namespace) -> Guard:
    """The instance has no value in that slot."""
    check = f"{names.install(is_empty, 'is_empty')}({source.descriptor}, {{0}})"
    return Guard(source.origin, "ATTRIBUTE_ABSENT", check, f"no {source.attribute}", actual=source.name())


def is_empty(slot: MemberDescriptorType, instance: object) -> bool:
    """Whether nothing was stored in the slot, or it was deleted."""
    try:
        slot.__get__(instance)
    except AttributeError:
        return True
    return False


def cell_empty(source: Source, names: Namespace) -> Guard:
    """The variable has no value: it was deleted, or not assigned yet."""
    check = f"{names.install(is_empty_cell, 'is_empty_cell')}({{0}})"
    return Guard(source, "CELL_EMPTY", check, "no value", actual="{0}.cell_contents")


def is_empty_cell(cell: CellType) -> bool:
    """Whether nothing was assigned to the variable that functions share, or it was deleted.

    >>> is_empty_cell(CellType()), is_empty_cell(CellType(None))
    (True, False)
    """
    try:
        cell.cell_contents
    except ValueError:
        return True
    return False
