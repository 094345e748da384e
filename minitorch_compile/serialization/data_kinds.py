"""What a file's structure can hold besides tensors, numbers and strings: each kind of value is a row of a table.

A row says how a value of exactly that type is written as JSON, and how it is made of it again; making it runs no code
but that of Python's own types. `LEAVES` hold no other values. `PARTED` are made of parts, all at once. `FILLED` are
made empty and filled then, so that they may hold themselves.

>>> kind, leaf = leaf_of(datetime.timedelta(1, 2))
>>> kind, leaf.write(datetime.timedelta(1, 2)), leaf.make([1, 2, 0])
('timedelta', [1, 2, 0], datetime.timedelta(days=1, seconds=2))
"""

from __future__ import annotations

import argparse
import base64
import datetime
import decimal
import fractions
import pathlib
import types
import uuid
import zoneinfo
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from minitorch_compile.nn import UninitializedBuffer, UninitializedParameter
from minitorch_compile.serialization.checked_tensor import counts
from minitorch_compile.serialization.plain_data import check_key
from minitorch_compile.serialization.unreadable_file import refuse
from minitorch_compile.tensor import Size, device, dtype
from minitorch_compile.tensor.numerics.dtype import FROM_NAME, bfloat16


@dataclass(frozen=True)
class Leaf:
    """A type whose values hold no others: to JSON, and back."""

    type: type
    write: Callable[[Any], Any]
    make: Callable[[Any], Any]


@dataclass(frozen=True)
class Parted:
    """A type whose values are made of parts, all at once: to a list of them, and back."""

    type: type
    parts: Callable[[Any], Any]
    make: Callable[[list[Any]], Any]


def base64_of(content: Any) -> str:
    return base64.b64encode(content).decode()


def bytes_of(text: str) -> bytes:
    return base64.b64decode(text, validate=True)


def number_of(text: Any) -> int:
    """A whole number of more digits than JSON's readers take."""
    return int(text, 16) if isinstance(text, str) else _misfit(text)


def _short_number(text: Any) -> int:
    """One of those of a fraction: what they have in common takes time to find."""
    return number_of(text) if len(text) < LONGEST_FRACTION else _misfit(text)


def _misfit(content: Any) -> Any:
    raise TypeError(f"got {type(content).__name__}")


def _integers(*values: Any) -> list[int]:
    return [v if type(v) is int else _misfit(v) for v in values]


def _of_integers(make: Callable[..., Any]) -> Callable[[Any], Any]:
    return lambda content: make(*_integers(*content))


def _of_string(make: Callable[..., Any]) -> Callable[[Any], Any]:
    return lambda content: make(content) if isinstance(content, str) else _misfit(content)


def numpy_dtype(name: Any) -> np.dtype:
    """A dtype of plain numbers, strings or dates, by name."""
    if name == "bfloat16":
        return bfloat16.numpy
    found = np.dtype(name) if isinstance(name, str) and len(name) < 40 else _misfit(name)
    return found if is_plain(found) else _misfit(name)


def numpy_name(element: np.dtype) -> str:
    return "bfloat16" if element == bfloat16.numpy else element.str


def is_plain(element: np.dtype) -> bool:
    """Whether a dtype's elements are bytes without references or fields."""
    return element == bfloat16.numpy or (element.kind in "biufcSUmM" and not element.hasobject)


def _number_from_numpy(content: Any) -> Any:
    name, text = content
    element, raw = numpy_dtype(name), bytes_of(text)
    if len(raw) != element.itemsize:
        raise refuse(f"a number of {len(raw)} bytes is no {element}")
    return np.frombuffer(raw, element)[0] if raw else element.type()


def _uninitialized(cls: type) -> Leaf:
    def make(content: Any) -> Any:
        name, requires_grad = content
        return cls(bool(requires_grad), dtype=FROM_NAME[name])

    return Leaf(cls, lambda value: [value.dtype.name, value.requires_grad], make)


LONGEST_FRACTION = 10_000  # digits

# The types that a defaultdict may call, and that may be values themselves.
BUILTIN_TYPES = {
    kind.__name__: kind
    for kind in (bool, bytes, complex, dict, float, frozenset, int, list, object, set, str, tuple, Counter, OrderedDict)
}

LEAVES: dict[str, Leaf] = {
    "Size": Leaf(Size, list, lambda sizes: Size(counts("sizes", sizes))),
    "complex": Leaf(complex, lambda z: [z.real, z.imag], lambda parts: complex(*map(float, parts))),
    "bytes": Leaf(bytes, base64_of, bytes_of),
    "bytearray": Leaf(bytearray, base64_of, lambda text: bytearray(bytes_of(text))),
    "range": Leaf(range, lambda r: [r.start, r.stop, r.step], _of_integers(range)),
    "dtype": Leaf(dtype, lambda value: value.name, lambda name: FROM_NAME[name]),
    "device": Leaf(device, str, _of_string(device)),
    "Ellipsis": Leaf(type(...), lambda value: [], lambda content: ...),
    "date": Leaf(datetime.date, lambda d: [d.year, d.month, d.day], _of_integers(datetime.date)),
    "timedelta": Leaf(
        datetime.timedelta, lambda d: [d.days, d.seconds, d.microseconds], _of_integers(datetime.timedelta)
    ),
    "ZoneInfo": Leaf(zoneinfo.ZoneInfo, lambda zone: zone.key, _of_string(zoneinfo.ZoneInfo)),
    "Path": Leaf(type(pathlib.Path()), str, _of_string(pathlib.Path)),
    "PurePosixPath": Leaf(pathlib.PurePosixPath, str, _of_string(pathlib.PurePosixPath)),
    "PureWindowsPath": Leaf(pathlib.PureWindowsPath, str, _of_string(pathlib.PureWindowsPath)),
    "Decimal": Leaf(decimal.Decimal, str, _of_string(decimal.Decimal)),
    "Fraction": Leaf(
        fractions.Fraction,
        lambda f: [hex(f.numerator), hex(f.denominator)],
        lambda parts: fractions.Fraction(*map(_short_number, parts)),
    ),
    "UUID": Leaf(uuid.UUID, str, _of_string(uuid.UUID)),
    "numpy_dtype": Leaf(np.dtype, numpy_name, numpy_dtype),
    "UninitializedParameter": _uninitialized(UninitializedParameter),
    "UninitializedBuffer": _uninitialized(UninitializedBuffer),
}
# Kinds that earlier versions wrote, and kinds whose values are of more than one type.
TYPE = Leaf(type, lambda kind: kind.__name__, lambda name: BUILTIN_TYPES[name])
NUMBER = Leaf(np.generic, lambda x: [numpy_name(x.dtype), base64_of(x.tobytes())], _number_from_numpy)
READ_AS: dict[str, Callable[[Any], Any]] = {
    **{kind: leaf.make for kind, leaf in LEAVES.items()},
    "scalar": NUMBER.make,
    "number": lambda number: number if type(number) in (int, float, bool) else _misfit(number),
    "int": number_of,
    "type": TYPE.make,
}


def _time_parts(t: Any) -> list[Any]:
    return [t.hour, t.minute, t.second, t.microsecond, t.fold, t.tzinfo]


def _make_time(parts: list[Any]) -> datetime.time:
    *numbers, fold, zone = parts
    hour, minute, second, microsecond = _integers(*numbers)
    return datetime.time(hour, minute, second, microsecond, zone, fold=fold)


def _make_datetime(parts: list[Any]) -> datetime.datetime:
    *numbers, fold, zone = parts
    year, month, day, hour, minute, second, microsecond = _integers(*numbers)
    return datetime.datetime(year, month, day, hour, minute, second, microsecond, zone, fold=fold)


PARTED: dict[str, Parted] = {
    "tuple": Parted(tuple, list, tuple),
    "frozenset": Parted(
        frozenset, lambda items: sorted(items, key=repr), lambda items: frozenset(map(check_key, items))
    ),
    "slice": Parted(slice, lambda s: [s.start, s.stop, s.step], lambda parts: slice(*parts)),
    "time": Parted(datetime.time, _time_parts, _make_time),
    "datetime": Parted(datetime.datetime, lambda d: [d.year, d.month, d.day, *_time_parts(d)], _make_datetime),
    "timezone": Parted(
        datetime.timezone, lambda zone: list(zone.__getinitargs__()), lambda parts: datetime.timezone(*parts)
    ),
}


@dataclass(frozen=True)
class Filled:
    """A type whose values are made empty and filled then: their items, how they are put in, and what it takes to make.

    `pairs`: whether the items are pairs. `head` is what an empty one is made of, in JSON, and `make` makes it.
    """

    type: type
    items: Callable[[Any], Any]
    fill: Callable[[Any, list[Any]], Any]
    pairs: bool = False
    head: Callable[[Any], Any] | None = None
    make: Callable[[Any], Any] | None = None


def _put_items(made: Any, items: list[Any]) -> None:
    for key, value in items:
        made[check_key(key)] = value


def _put_members(made: Any, items: list[Any]) -> None:
    made.update(map(check_key, items))


def _put_attributes(made: Any, items: list[Any]) -> None:
    for name, value in items:
        vars(made)[name if type(name) is str else _misfit(name)] = value


def _attributes(value: Any) -> Any:
    return vars(value).items()


def _factory_name(value: Any) -> str | None:
    factory = value.default_factory
    if factory is not None and BUILTIN_TYPES.get(getattr(factory, "__name__", "")) is not factory:
        raise TypeError(f"has the factory {getattr(factory, '__qualname__', factory)}, which is code")
    return factory and factory.__name__


def _empty_deque(longest: Any) -> Any:
    return deque((), longest if longest is None else _integers(longest)[0])


FILLED: dict[str, Filled] = {
    "list": Filled(list, list, list.extend),
    "dict": Filled(dict, dict.items, _put_items, pairs=True),
    "OrderedDict": Filled(OrderedDict, OrderedDict.items, _put_items, pairs=True),
    "Counter": Filled(Counter, dict.items, _put_items, pairs=True),
    "defaultdict": Filled(
        *(defaultdict, dict.items, _put_items),
        pairs=True,
        head=_factory_name,
        make=lambda name: defaultdict(None if name is None else BUILTIN_TYPES[name]),
    ),
    "deque": Filled(deque, list, deque.extend, head=lambda value: value.maxlen, make=_empty_deque),
    "set": Filled(set, lambda value: sorted(value, key=repr), _put_members),
    "Namespace": Filled(argparse.Namespace, _attributes, _put_attributes, pairs=True),
    "SimpleNamespace": Filled(types.SimpleNamespace, _attributes, _put_attributes, pairs=True),
}

_LEAF_KINDS = {leaf.type: kind for kind, leaf in LEAVES.items()}
_PARTED_KINDS = {row.type: kind for kind, row in PARTED.items()}
_FILLED_KINDS = {row.type: kind for kind, row in FILLED.items()}


def register_parted(kind: str, row: Parted) -> None:
    """A kind of values whose type is of a floor above."""
    PARTED[kind], _PARTED_KINDS[row.type] = row, kind


def leaf_of(value: Any) -> tuple[str, Leaf] | None:
    """The kind of a value that holds no others, and its row; None for other values."""
    if isinstance(value, np.generic):
        return ("scalar", NUMBER) if is_plain(value.dtype) else None
    if isinstance(value, np.dtype):
        return ("numpy_dtype", LEAVES["numpy_dtype"]) if is_plain(value) else None
    if isinstance(value, type):
        return ("type", TYPE) if BUILTIN_TYPES.get(value.__name__) is value else None
    kind = _LEAF_KINDS.get(type(value))
    return None if kind is None else (kind, LEAVES[kind])


def parted_of(value: Any) -> tuple[str, Parted] | None:
    """The kind of a value that is made of parts, and its row; None for other values."""
    kind = _PARTED_KINDS.get(type(value))
    return None if kind is None else (kind, PARTED[kind])


def filled_of(value: Any) -> tuple[str, Filled] | None:
    """The kind of a value that is filled after it was made, and its row; None for other values."""
    kind = _FILLED_KINDS.get(type(value))
    return None if kind is None else (kind, FILLED[kind])
