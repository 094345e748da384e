"""Values of a program's own classes, in files without code: dataclasses, named tuples, enums, and str and its kin.

A file names the class, which must be imported already: nothing is imported for a file. And it must be what the file
says that it is. The value is made without the class's own code: no `__init__`, `__new__`, `__setattr__` or
`__setstate__` runs, its attributes are set as they were. Of other classes only those come back that add_safe_globals()
allowed, their attributes set likewise.

>>> import uuid
>>> name_of(uuid.SafeUUID), kinds_of(uuid.SafeUUID)
('uuid:SafeUUID', ['enum'])
>>> kinds_of(uuid.UUID), class_problem(print)
([], 'is a builtin_function_or_method')
"""

from __future__ import annotations

import enum
import inspect
import sys
import types
from collections import OrderedDict
from typing import Any

from minitorch_compile.serialization.allowed_names import is_added
from minitorch_compile.serialization.unreadable_file import refuse

BASES: dict[str, Any] = {
    kind.__name__: kind for kind in (OrderedDict, dict, list, set, frozenset, tuple, str, bytes, int, float)
}


def name_of(cls: type) -> str:
    return f"{cls.__module__}:{cls.__qualname__}"


def class_problem(cls: Any) -> str | None:
    """Why a class can't be named in a file; None if it can."""
    if not isinstance(cls, type):
        return f"is a {type(cls).__name__}"
    if "<locals>" in cls.__qualname__:
        return f"is of the class {cls.__qualname__}, which was made in a function, where load() can't find it"
    if look_up(name_of(cls)) is not cls:
        return f"is of the class {cls.__qualname__}, which is not what its module {cls.__module__} has under that name"
    return None


def look_up(name: str) -> Any:
    """What an imported module has under a name, "module:outer.inner", found without running any code; or None."""
    module, _, path = name.partition(":")
    found: Any = sys.modules.get(module)
    for part in path.split("."):
        found = vars(found).get(part) if isinstance(found, (types.ModuleType, type)) else None
    return found


def class_named(name: Any, what: str) -> type:
    """The class of that name, if it is imported and `what` it is said to be. UnreadableFileError otherwise."""
    found = look_up(name) if isinstance(name, str) else None
    if not isinstance(found, type):
        raise refuse(
            f"the file holds a {what} of the class {str(name)[:200]!r}, which is not imported; import it and load again"
        )
    if what not in kinds_of(found):
        raise refuse(
            f"the file holds a {what} of the class {name!r}, which is none; if you trust the file:"
            " add_safe_globals([...])"
        )
    return found


def kinds_of(cls: type) -> list[str]:
    """As what a value of this class may be read, without running code of the class."""
    if is_added(cls):
        return [kind for kind, fits in KINDS.items() if fits(cls)]
    if inspect.getattr_static(cls, "__del__", None) is not None:
        return []
    return [kind for kind, fits in KINDS.items() if fits(cls) and kind != "object"]


def _is_named_tuple(cls: type) -> bool:
    names = vars(cls).get("_fields")
    return cls.__base__ is tuple and isinstance(names, tuple) and all(isinstance(name, str) for name in names)


KINDS = {
    "enum": lambda cls: issubclass(cls, enum.Enum),
    "dataclass": lambda cls: "__dataclass_fields__" in vars(cls) and base_of(cls) is None,
    "namedtuple": _is_named_tuple,
    "subclass": lambda cls: base_of(cls) is not None and not issubclass(cls, enum.Enum) and not _is_named_tuple(cls),
    "object": lambda cls: base_of(cls) is None,
}


def base_of(cls: type) -> Any:
    """Which of Python's own types a class is made on; None if it is on none."""
    return next((base for base in BASES.values() if issubclass(cls, base)), None)


# ------------------------------------------------------------------------------------------------ attributes


def attributes_of(value: Any) -> list[tuple[str, Any]]:
    """The attributes of an object, those in slots, too."""
    attributes = dict(getattr(value, "__dict__", {}))
    for cls in type(value).__mro__:
        names = vars(cls).get("__slots__", ())
        for name in (names,) if isinstance(names, str) else names:
            if isinstance(vars(cls).get(name), types.MemberDescriptorType) and hasattr(value, name):
                attributes[name] = getattr(value, name)
    return list(attributes.items())


def set_attributes(value: Any, attributes: list[Any]) -> None:
    """Sets attributes as they were: into the object itself, past properties and `__setattr__`."""
    for name, item in attributes:
        descriptor = inspect.getattr_static(type(value), name, None) if type(name) is str else refuse
        if hasattr(type(descriptor), "__set__") and not isinstance(descriptor, types.MemberDescriptorType):
            raise refuse(f"an object of the class {type(value).__name__} gets an attribute {name!r:.100}")
        object.__setattr__(value, name, item)


# ------------------------------------------------------------------------------------------------ enums


def enum_name(member: Any) -> str | int:
    """A member by name; a combination of flags by its number."""
    name = vars(member).get("_name_")
    return name if name in type(member)._member_map_ else int(member.value)


def enum_member(cls: Any, name: Any) -> Any:
    """The member of that name, or the combination of that number."""
    if type(name) is str and name in cls._member_map_:
        return cls._member_map_[name]
    own_rule = inspect.getattr_static(cls, "_missing_", None) is inspect.getattr_static(enum.Flag, "_missing_")
    if type(name) is int and issubclass(cls, enum.Flag) and own_rule:
        return cls(name)
    raise refuse(f"the file holds a member {name!r:.100} of {cls.__name__}, which has none of that name")
