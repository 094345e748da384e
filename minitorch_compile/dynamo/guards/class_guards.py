"""What classes had, and lacked, when the trace asked them: guarded alike.

Whether `box.scale` is a property, an attribute of the instance or a call of `__getattr__`, whether `a == b` calls
`__eq__`, whether `if box:` calls `__len__`: Python asks the dictionary of each class in the order of resolution, and
most of the answers are "nothing here". Each answer decided how the trace went on. So every look-up of the trace is
noted here, and becomes guards on those dictionaries, and on the order itself, which assigning `__bases__` changes.

>>> from minitorch_compile.dynamo.eval_frame import optimize, region_of
>>> from minitorch_compile.dynamo.testing import eager
>>> from minitorch_compile.tensor import ones
>>> class Box: ...
>>> compiled = optimize(lambda x, box: x + 1 if box else x, eager)
>>> compiled(ones(2), Box())
tensor([2., 2.])
>>> print(*(guard for guard in region_of(compiled).caches[0].entries[0].guards if "Box" in guard.code), sep="\\n")
TYPE_MATCH       type(box) is Box
CLASS_ORDER      Box.__mro__ is order_of_Box
CLASS_LACKS      Box.__dict__.keys().isdisjoint(('__bool__', '__len__'))
>>> Box.__bool__ = lambda self: False
>>> compiled(ones(2), Box())
tensor([1., 1.])

Classes written in C can't be changed and need no guard. Those of one function share a structure (`structure.py`): all
their guards together cost a fraction of a microsecond a call.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from types import FunctionType
from typing import Any

from minitorch_compile.dynamo.guards import guards
from minitorch_compile.dynamo.guards.guards import About, Guard, GuardSet
from minitorch_compile.dynamo.guards.namespace import Namespace
from minitorch_compile.dynamo.guards.source import ConstantSource, InstanceDictSource, ItemSource, Source

HEAP_TYPE = 1 << 9  # Py_TPFLAGS_HEAPTYPE, of classes made by a class statement
IMMUTABLE = 1 << 8  # Py_TPFLAGS_IMMUTABLETYPE
FUNCTION_HOLDERS = (FunctionType, property, staticmethod, classmethod)  # what they hold is guarded where it is used


def is_immutable(cls: type) -> bool:
    """Whether nothing can be assigned to the class.

    >>> is_immutable(list), is_immutable(Lookups)
    (True, False)
    """
    return bool(cls.__flags__ & IMMUTABLE)


class Lookups:
    """The look-ups of one trace."""

    def __init__(self) -> None:
        self._noted: set[tuple[type, str, type | None, int]] = set()
        self._classes: dict[type, None] = {}
        self._lacks: dict[type, dict[str, None]] = {}
        self._has: dict[tuple[type, str], Any] = {}
        self._exact: set[tuple[type, str]] = set()
        self._metaclasses: dict[type, None] = {}

    def note_metaclass(self, cls: type) -> None:
        """The class's own class was asked for; one made by a class statement can be given another."""
        if not is_immutable(type(cls)):
            self._metaclasses.setdefault(cls)

    def note(self, cls: type, asked: Sequence[type], name: str, owner: type | None, exactly: bool = False) -> None:
        """`name` was looked up on `cls`: the classes `asked` had nothing, and then `owner` had it. `exactly`: the trace
        relies on what it is."""
        if exactly and owner is not None:
            self._exact.add((owner, name))
        look_up = cls, name, owner, len(asked)
        if look_up in self._noted or is_immutable(cls):
            return
        self._noted.add(look_up)
        self._classes.setdefault(cls)
        for lacking in asked:
            if not is_immutable(lacking):
                self._lacks.setdefault(lacking, {}).setdefault(name)
        if owner is not None and not is_immutable(owner):
            self._has[owner, name] = owner.__dict__[name]

    def guards(self, names: Namespace, others: GuardSet, made: Collection[type]) -> Iterator[Guard]:
        """Those that the trace has `others` for are left out. Classes that the program itself made are new at each
        call, and stay what they are."""
        for cls in self._classes.keys() - set(made) if made else self._classes:
            yield _same_order(names, cls)
        for cls in self._metaclasses.keys() - set(made):
            yield guards.type_is(constant(names, cls, cls.__name__), type(cls), names)
        for cls, lacking in self._lacks.items():
            if cls not in made:
                yield _lacks(attributes_of(names, cls), list(lacking))
        known = {guard.source for guard in others if guard.kind in ("ID_MATCH", "FUNCTION_MATCH")}
        for (cls, name), value in self._has.items():
            if cls not in made and (member := class_member(names, cls, name)) not in known:
                exactly = (cls, name) in self._exact
                yield _same(names, member, name, value) if exactly else _same_kind(names, member, name, value)


def constant(names: Namespace, value: object, hint: str) -> Source:
    """The generated code holds on to this very object."""
    return ConstantSource(names.install(value, hint))


def attributes_of(names: Namespace, cls: type) -> Source:
    """The class's own dictionary."""
    return InstanceDictSource(constant(names, cls, cls.__name__))


def class_member(names: Namespace, owner: type, name: str) -> Source:
    """What lies there under a name: a property itself and not what it gives, a function before it is bound."""
    return ItemSource(attributes_of(names, owner), name)


def _same_order(names: Namespace, cls: type) -> Guard:
    order = names.install(cls.__mro__, f"order_of_{cls.__name__}")
    shown = "its base classes"
    check = f"{{0}}.__mro__ is {order}"
    source = constant(names, cls, cls.__name__)
    return Guard(source, "CLASS_ORDER", check, shown, actual="{0}.__mro__", about=About.OBJECT)


def _lacks(attributes: Source, names: list[str]) -> Guard:
    """One guard for all names, since there are many. A dict asks for the names one by one."""
    check, actual = f"{{0}}.keys().isdisjoint({tuple(names)!r})", f"sorted({{0}}.keys() & {set(names)!r})"
    actual = actual.replace("{'", "{{'").replace("'}", "'}}")
    return Guard(attributes, "CLASS_LACKS", check, "none of them", actual=actual, about=About.ITEMS)


def _same(names: Namespace, source: Source, name: str, value: Any) -> Guard:
    return guards.identity(source, value, names, name)


def _same_kind(names: Namespace, source: Source, name: str, value: Any) -> Guard:
    """Whether it is a function, a property or data decided what Python does with it. Data is guarded where it is used;
    of other descriptors the trace knows only that they are these."""
    if isinstance(value, FUNCTION_HOLDERS) or not hasattr(type(value), "__get__"):
        return guards.type_is(source, type(value), names)
    return _same(names, source, name, value)


_noting: ContextVar[Lookups | None] = ContextVar("lookups being noted", default=None)


@contextmanager
def noting(lookups: Lookups) -> Iterator[None]:
    """Look-ups in the block are those of one trace."""
    token = _noting.set(lookups)
    try:
        yield
    finally:
        _noting.reset(token)


def note_lookup(cls: type, asked: Sequence[type], name: str, owner: type | None, exactly: bool = False) -> None:
    """Notes a look-up, if a function is being traced."""
    lookups = _noting.get()
    if lookups is not None:
        lookups.note(cls, asked, name, owner, exactly)


def note_metaclass(cls: type) -> None:
    """Notes that the class of a class was asked for."""
    lookups = _noting.get()
    if lookups is not None:
        lookups.note_metaclass(cls)


def note_order(cls: type) -> None:
    """Notes that the classes that this one derives from were asked for."""
    note_lookup(cls, (), "", None)
