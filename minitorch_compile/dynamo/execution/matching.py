"""The tests of a `match` statement, on plain values, as CPython makes them.

>>> match_keys({"a": 1, "b": 2}, ("b", "a"))
(2, 1)
>>> match_keys({"a": 1}, ("b",)) is None
True
>>> match_class(1 + 2j, complex, 0, ("real", "imag"))
(1.0, 2.0)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# Bits of type.__flags__ that the `match` statement reads.
IS_SEQUENCE, IS_MAPPING, MATCHES_ITSELF = 1 << 5, 1 << 6, 1 << 22


def match_sequence(subject: object) -> bool:
    return bool(type(subject).__flags__ & IS_SEQUENCE)


def match_mapping(subject: object) -> bool:
    return bool(type(subject).__flags__ & IS_MAPPING)


def match_keys(subject: Mapping[Any, Any], keys: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """The values of the keys, None if one is missing. Asks `get`, so a defaultdict makes no entries."""
    missing = object()
    values = []
    for position, key in enumerate(keys):
        if key in keys[:position]:
            raise ValueError(f"mapping pattern checks duplicate key ({key!r})")
        value = subject.get(key, missing)
        if value is missing:
            return None
        values.append(value)
    return tuple(values)


def match_class(subject: object, cls: type, positional: int, names: tuple[str, ...]) -> tuple[Any, ...] | None:
    """The attributes that the patterns of `cls(p1, ..., name=q1, ...)` look at, None if subject is no instance or
    lacks one."""
    if not isinstance(cls, type):
        match subject:
            case cls():  # CPython's own error: each version words it differently
                raise AssertionError(f"{cls!r} is no class and yet was matched")
    if not isinstance(subject, cls):
        return None
    if positional and matches_itself(cls):
        check_positional(cls, positional, 1)
        first: tuple[Any, ...] = (subject,)
        wanted = names
    else:
        first = ()
        wanted = (*positional_names(cls, positional), *names)
    check_different(cls, wanted)
    missing = object()
    found = tuple(getattr(subject, name, missing) for name in wanted)
    return None if any(value is missing for value in found) else first + found


def matches_itself(cls: type) -> bool:
    """Whether the one pattern in `cls(pattern)` is for the object itself, as in `int(n)`."""
    return not hasattr(cls, "__match_args__") and bool(cls.__flags__ & MATCHES_ITSELF)


def positional_names(cls: type, positional: int) -> tuple[str, ...]:
    """The attributes that so many patterns without a name look at: the first of `__match_args__`."""
    if not positional:
        return ()
    match_args = getattr(cls, "__match_args__", ())
    if type(match_args) is not tuple:
        raise TypeError(f"{cls.__name__}.__match_args__ must be a tuple (got {type(match_args).__name__})")
    check_positional(cls, positional, len(match_args))
    for name in match_args[:positional]:
        if not isinstance(name, str):
            raise TypeError(f"__match_args__ elements must be strings (got {type(name).__name__})")
    return match_args[:positional]


def check_positional(cls: type, given: int, allowed: int) -> None:
    """Raises Python's TypeError for too many patterns without a name."""
    if given > allowed:
        plural = "" if allowed == 1 else "s"
        raise TypeError(f"{cls.__name__}() accepts {allowed} positional sub-pattern{plural} ({given} given)")


def check_different(cls: type, names: tuple[str, ...]) -> None:
    """Raises Python's TypeError for two patterns of the same attribute."""
    for position, name in enumerate(names):
        if name in names[:position]:
            raise TypeError(f"{cls.__name__}() got multiple sub-patterns for attribute {name!r}")
