"""Guards: what must still hold for a compiled function to be used again.

A guard is a source, a check on it written as Python text, and what was seen when it was made:

>>> from minitorch_compile.dynamo.guards.source import AttrSource, LocalSource
>>> sizes = Guard(AttrSource(LocalSource("x"), "sizes"), "TENSOR_MATCH", "{0} == (4, 4)", expected="(4, 4)")
>>> sizes.code
'x.sizes == (4, 4)'

All guards of a cache entry become the first lines of its generated function (`guard_code.py`). When one fails, it is
found again and shown with both values:

>>> import types
>>> print(failure([sizes], {"x": types.SimpleNamespace(sizes=(8, 4))}))
x.sizes == (4, 4)  (expected (4, 4), now (8, 4))
"""

from __future__ import annotations

import enum
import math
import struct
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import CellType, MemberDescriptorType
from typing import Any

from minitorch_compile.dynamo.guards.checking_order import in_checking_order
from minitorch_compile.dynamo.guards.namespace import Namespace
from minitorch_compile.dynamo.guards.source import InstanceDictSource, SlotSource, Source
from minitorch_compile.own_builtins import ORIGINAL
from minitorch_compile.tensor.tensor_base import TensorBase

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


def dict_contains(source: Source, key: str, present: bool, kind: str = "DICT_CONTAINS") -> Guard:
    relation = "in" if present else "not in"
    check = f"{_escaped(key)} {relation} {{0}}"
    return Guard(source, kind, check, relation, actual="list({0})", about=About.ITEMS)


def same_object(source: Source, other: Source) -> Guard:
    """Two paths lead to one object, as when the function was traced."""
    return Guard(source, "DUPLICATE_INPUT", "{0} is {1}", "the same object", other, about=About.OBJECT)


def different_object(source: Source, other: Source) -> Guard:
    """Two paths lead to two objects: needed where one of them is written to, or `is` compared them."""
    return Guard(source, "NO_ALIAS", "{0} is not {1}", "different objects", other, about=About.OBJECT)


# What autograd knows of a tensor. A view whose base was overwritten learns only when it is used that it has a history.
REQUIRES_GRAD = "({0}._requires_grad or {0}.requires_grad)"
# Which writes autograd allows depends on the tensor that a view shows: it is asked about where there is one.
NO_GRAD = "{0}._requires_grad is False"
REQUIRES_NO_GRAD = f"{NO_GRAD} and ({{0}}.base is None or not ({{0}}.is_outdated or {{0}}.base._requires_grad))"
VIEW_REQUIRES_NO_GRAD = f"{NO_GRAD} and {{0}}.base is not None and {{0}}.base._requires_grad"
LEAF = "{0}.grad_fn is None and {0}.base is None"
VIEW_LEAF = "{0}.grad_fn is None and {0}.base is not None and not {0}.is_outdated"
NO_LEAF = "({0}.grad_fn is not None or {0}.is_outdated)"


def tensor_match(source: Source, x: TensorBase, names: Namespace, layout: Any = None) -> list[Guard]:
    """Everything a graph depends on: class, sizes, strides, dtype, device, requires_grad. Most often failing first.

    `layout` has the sizes and strides if some are not known; those are guarded when the frame has been traced.
    """
    dtype = names.install(x.dtype, x.dtype.name)
    device = names.install(x.device, str(x.device))
    checks = [
        (f"type({{0}}) is {names.install(type(x), type(x).__name__)}", "", type(x).__name__),
        *(_known_checks(x, layout) if layout is not None else _layout_checks(x, names)),
        (f"{{0}}.dtype is {dtype}", "dtype", repr(x.dtype)),
        (_gradient_check(x), "requires_grad", str(bool(x.requires_grad))),
        (f"({{0}}.device is {device} or {{0}}.device == {device})", "device", str(x.device)),
    ]
    if x.requires_grad and not _is_parameter(x):  # a parameter is always a leaf
        leaf = LEAF if x.base is None else VIEW_LEAF
        checks.append((leaf if x.is_leaf else NO_LEAF, "is_leaf", str(x.is_leaf)))
    return [
        Guard(source, "TENSOR_MATCH", check, expected, actual=_property_text(field), about=About.OBJECT)
        for check, field, expected in checks
    ]


def _gradient_check(x: TensorBase) -> str:
    if x.requires_grad:
        return REQUIRES_GRAD
    return VIEW_REQUIRES_NO_GRAD if x.base is not None and x.base.requires_grad else REQUIRES_NO_GRAD


def _property_text(field: str) -> str:
    return f"{{0}}.{field}" if field else "type({0})"


def _is_parameter(x: TensorBase) -> bool:
    return type(x) is not TensorBase.concrete


def _layout_checks(x: TensorBase, names: Namespace) -> list[tuple[str, str, str]]:
    return [(_layout_check(x, field, names), field, str(tuple(getattr(x, field)))) for field in ("sizes", "strides")]


def _known_checks(x: TensorBase, layout: Any) -> list[tuple[str, str, str]]:
    """The number of dimensions, and those sizes and strides that are known."""
    checks = [(f"len({{0}}.sizes) == {len(x.sizes)}", "sizes", f"{len(x.sizes)} dimensions")]
    for field, values in (("sizes", layout.sizes), ("strides", layout.strides)):
        known = [(dim, value) for dim, value in enumerate(values) if type(value) is int]
        checks += [(f"{{0}}.{field}[{dim}] == {value}", f"{field}[{dim}]", str(value)) for dim, value in known]
    return checks


def _layout_check(x: TensorBase, field: str, names: Namespace) -> str:
    """Equal sizes or strides. Those of a parameter stay the same object, which is quicker to see."""
    value = getattr(x, field)
    equal = f"{{0}}.{field} == {tuple(value)}"
    return f"({{0}}.{field} is {names.install(value, field)} or {equal})" if _is_parameter(x) else equal


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


# --- finding the guard that failed ------------------------------------------------------------------------------------


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
HEAP_TYPE = 1 << 9  # Py_TPFLAGS_HEAPTYPE, of classes made by a class statement


def _shown(value: object) -> str:
    cls = type(value)  # a `__repr__` of the program would be seen to run
    is_users = cls.__flags__ & HEAP_TYPE and not cls.__module__.startswith(LIBRARY) and not issubclass(cls, type)
    text = value.__name__ if isinstance(value, type) else (object.__repr__ if is_users else repr)(value)
    return text if len(text) <= 120 else text[:117] + "..."
