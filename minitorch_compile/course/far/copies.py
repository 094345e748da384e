"""What the judge gives of its world, rebuilt in the learner's process: classes, objects, methods, cells, code.

Programs live among objects of all kinds, and a tracer looks into all of them, so they have to lie where it looks. Both
keep the same number, so that what comes back is the judge's own. Only the judge sends such things.
"""

from __future__ import annotations

import base64
import copyreg
import marshal
import sys
from types import (
    BuiltinMethodType,
    CellType,
    CodeType,
    FunctionType,
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodType,
    ModuleType,
)
from typing import TYPE_CHECKING, Any

from .programs import described, is_program, of_machinery, rebuilt

if TYPE_CHECKING:
    from .codec import Codec

OUR_CHECKS = "authoring"
NOT_OF_A_CLASS = (
    "__dict__",
    "__slots__",
    "__weakref__",
    "__module__",
    "__qualname__",
    "__annotations__",
    "__firstlineno__",
)


def of_checks(value: Any) -> bool:
    return str(getattr(value, "__module__", "")).partition(".")[0] == OUR_CHECKS


def copied(codec: Codec, value: Any) -> dict[str, Any] | None:
    """How the learner's process makes its own of it; None for what stays here and is asked from afar."""
    if isinstance(value, FunctionType):
        if not is_program(value):
            return None
        return {"fn": codec.register(value), "is": described(value, codec.encode)}
    if isinstance(value, CodeType):
        return {"code": codec.register(value), "is": base64.b64encode(marshal.dumps(value)).decode()}
    if isinstance(value, CellType):
        return {"cell": codec.register(value), "of": _contents(codec, value)}
    if isinstance(value, MethodType):
        return {"method": codec.register(value), "of": [codec.encode(value.__func__), codec.encode(value.__self__)]}
    if isinstance(value, BuiltinMethodType) and not isinstance(value.__self__, ModuleType | type(None)):
        return {"builtin": codec.register(value), "of": [codec.encode(value.__self__), value.__name__]}
    if isinstance(value, type):
        return _class(codec, value)
    if of_machinery(type(value)):
        return None
    return _object(codec, value)


def scope_of(value: dict[Any, Any]) -> str | None:
    """Of which module of the checks this dictionary is the globals."""
    name = value.get("__name__")
    module = sys.modules.get(name) if isinstance(name, str) else None
    return name if module is not None and vars(module) is value and of_checks_name(name) else None


def of_checks_name(name: Any) -> bool:
    return str(name).partition(".")[0] == OUR_CHECKS


def _contents(codec: Codec, cell: CellType) -> list[Any]:
    try:
        return [codec.encode(cell.cell_contents)]
    except ValueError:
        return []


def _class(codec: Codec, value: type) -> dict[str, Any] | None:
    if type(value) is not type or not of_checks(value):
        return None
    functions = [each for each in vars(value).values() if isinstance(each, FunctionType)]
    if not all(map(is_program, functions)):
        return None
    number = codec.register(value)
    kept = {
        name: each
        for name, each in vars(value).items()
        if name not in NOT_OF_A_CLASS and not isinstance(each, GetSetDescriptorType | MemberDescriptorType)
    }
    return {
        "class": number,
        "name": [value.__module__, value.__name__, value.__qualname__],
        "bases": [codec.encode(base) for base in value.__bases__],
        "slots": list(vars(value).get("__slots__", ())) if "__slots__" in vars(value) else None,
        "has": [[name, *_member(codec, each)] for name, each in kept.items()],
    }


WRAPPERS = {"static": staticmethod, "class": classmethod, "property": property}


def _member(codec: Codec, value: Any) -> list[Any]:
    if isinstance(value, property):
        return ["property", *[codec.encode(each) for each in (value.fget, value.fset, value.fdel)]]
    for name, wrapper in (("static", staticmethod), ("class", classmethod)):
        if isinstance(value, wrapper):
            return [name, codec.encode(value.__func__)]
    return ["", codec.encode(value)]


NEW: Any = object.__new__
REDUCE: tuple[Any, Any] = (object.__reduce_ex__, object.__reduce__)


def _object(codec: Codec, value: Any) -> dict[str, Any] | None:
    kind: Any = type(value)
    plain = kind.__reduce_ex__ is REDUCE[0] and kind.__reduce__ is REDUCE[1]
    if type(kind) is not type or not plain or copyreg.dispatch_table.get(kind) or not _simple(kind):
        return _reduced(codec, value)
    told = _told_unless_far(codec, kind)
    if told is None:
        return None
    number = codec.register(value)
    data = {"object": number, "of": told, "has": codec.contents(value) if hasattr(value, "__dict__") else []}
    if hasattr(value, "__dict__"):
        codec.mirror(number)
    return data


def _told_unless_far(codec: Codec, value: Any) -> Any:
    """How a value is told; None, and nothing has been told, if the other process would not get a copy of it."""
    before = codec.state()
    told = codec.encode(value)
    if "far" in told:
        codec.restore(before)
        return None
    return told


OF_PYTHON = 1 << 9  # Py_TPFLAGS_HEAPTYPE: a class that a class statement has made


def _simple(kind: Any) -> bool:
    """Whether its objects are made by object.__new__ and have nothing but a dictionary."""
    if not kind.__flags__ & OF_PYTHON:  # frames and generators say so, too
        return False
    own = getattr(kind, "__getstate__", None)
    slots = any(vars(base).get("__slots__") for base in kind.__mro__)
    return kind.__new__ is NEW and own in (None, getattr(object, "__getstate__", None)) and not slots


def _reduced(codec: Codec, value: Any) -> dict[str, Any] | None:
    """As pickle has it: what to call to make one, and its state."""
    try:
        parts = value.__reduce_ex__(2)
    except Exception:  # noqa: BLE001 (it says that it can't be taken apart: generators, locks, views)
        return None
    if not isinstance(parts, tuple):
        return None
    make, args, state, items, pairs = (*parts, None, None, None)[:5]
    made = _told_unless_far(codec, make)
    if made is None:
        return None
    number = codec.register(value)
    mirrored = isinstance(state, dict) and state is getattr(value, "__dict__", None)
    told = {
        "made": number,
        "mirrored": mirrored,
        "by": made,
        "with": [codec.encode(each) for each in args],
        "state": codec.contents(value) if mirrored else codec.encode(state),
        "items": [codec.encode(each) for each in items or ()],
        "pairs": [[codec.encode(key), codec.encode(each)] for key, each in pairs or ()],
    }
    if mirrored:
        codec.mirror(number)
    return told


class Rebuilding:
    """The other side. Each method gets the number and the description."""

    def __init__(self, codec: Codec) -> None:
        self.codec = codec
        self.scopes: dict[str, dict[str, Any]] = {}

    def scope(self, name: str) -> dict[str, Any]:
        """The globals of the programs of one module."""
        return self.scopes.setdefault(name, {"__name__": name, "__builtins__": __builtins__})

    def fn(self, number: int, data: Any) -> None:
        scope = self.scope(data["is"]["module"])
        rebuilt(data["is"], scope, self.codec.decode, lambda function: self.codec.register(function, number))

    def code(self, number: int, data: Any) -> None:
        self.codec.register(marshal.loads(base64.b64decode(data["is"])), number)

    def cell(self, number: int, data: Any) -> None:
        cell = CellType()
        self.codec.register(cell, number)
        for contents in data["of"]:
            cell.cell_contents = self.codec.decode(contents)

    def method(self, number: int, data: Any) -> None:
        self.codec.register(MethodType(*map(self.codec.decode, data["of"])), number)

    def builtin(self, number: int, data: Any) -> None:
        owner, name = data["of"]
        self.codec.register(getattr(self.codec.decode(owner), name), number)

    def class_(self, number: int, data: Any) -> None:
        module, name, qualified = data["name"]
        bases = tuple(map(self.codec.decode, data["bases"]))
        slots = {} if data["slots"] is None else {"__slots__": tuple(data["slots"])}
        made = type(name, bases, {"__module__": module, "__qualname__": qualified, **slots})
        self.codec.register(made, number)
        for attribute, wrapper, *parts in data["has"]:
            values = [self.codec.decode(each) for each in parts]
            setattr(made, attribute, WRAPPERS[wrapper](*values) if wrapper else values[0])

    def object(self, number: int, data: Any) -> None:
        made = object.__new__(self.codec.decode(data["of"]))
        self.codec.register(made, number)
        if hasattr(made, "__dict__"):
            self.codec.fill(made, data["has"])
            self.codec.mirror(number)

    def made(self, number: int, data: Any) -> None:
        made = self.codec.decode(data["by"])(*map(self.codec.decode, data["with"]))
        self.codec.register(made, number)
        if data["mirrored"]:
            self.codec.fill(made, data["state"])
            self.codec.mirror(number)
            return
        state = self.codec.decode(data["state"])
        if isinstance(state, dict):
            set_state(made, state)
        elif state is not None and hasattr(made, "__setstate__"):
            made.__setstate__(state)
        elif isinstance(state, tuple):
            for each in filter(None, state):
                set_state(made, each)
        if data["items"]:
            made.extend(map(self.codec.decode, data["items"]))
        for key, each in data["pairs"]:
            made[self.codec.decode(key)] = self.codec.decode(each)


def set_state(value: Any, state: dict[str, Any]) -> None:
    if hasattr(type(value), "__setstate__"):
        value.__setstate__(state)
        return
    for name, each in state.items():
        object.__setattr__(value, name, each)
