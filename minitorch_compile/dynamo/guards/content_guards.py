"""Guards on what is in a container, an object's dict, a slot or a cell, and on what is not.

>>> from minitorch_compile.dynamo.guards.source import LocalSource
>>> length(LocalSource("x"), 2).code, dict_contains(LocalSource("x"), "'a'", present=False).code
('len(x) == 2', "'a' not in x")
"""

from __future__ import annotations

from types import CellType, MemberDescriptorType
from typing import Any

from minitorch_compile.dynamo.guards.guards import About, Guard
from minitorch_compile.dynamo.guards.namespace import Namespace
from minitorch_compile.dynamo.guards.source import InstanceDictSource, SlotSource, Source
from minitorch_compile.dynamo.guards.value_guards import escaped


def length(source: Source, size: int) -> Guard:
    check = f"len({{0}}) == {size}" if size else "not {0}"
    return Guard(source, "LENGTH", check, str(size), actual="len({0})", about=About.ITEMS)


def same_members(kind: str, source: Source, members: list[Any], names: Namespace) -> Guard:
    """What iterating gives, in order: text and numbers. 1, 1.0 and True are equal but not the same."""
    if all(type(member) is str for member in members):
        return attribute_names(kind, source, members)
    typed = ", ".join(f"({names.install(type(m), type(m).__name__)}, {m!r})" for m in members)
    check = f"[(type(m), m) for m in {{0}}] == [{escaped(typed)}]"
    return Guard(source, kind, check, escaped(repr(members)), actual="list({0})", about=About.ITEMS)


def attribute_names(kind: str, source: Source, members: list[str]) -> Guard:
    """The same where all are text."""
    shown = escaped(repr(members))
    return Guard(source, kind, f"list({{0}}) == {shown}", shown, actual="list({0})", about=About.ITEMS)


def dict_contains(
    source: Source, key: str, present: bool, kind: str = "DICT_CONTAINS", about: About = About.ITEMS
) -> Guard:
    """Whether a key, told by its text, is there. `about`: ANYTHING if the text is a path that leads to the key."""
    relation = "in" if present else "not in"
    check = f"{escaped(key)} {relation} {{0}}"
    return Guard(source, kind, check, relation, actual="list({0})", about=about)


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
