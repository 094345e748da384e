"""Guards on values that can't change: numbers, text, ranges.

>>> from minitorch_compile.dynamo.guards.source import LocalSource
>>> [guard.code for guard in equals(LocalSource("x"), 0.0, Namespace())]
['type(x) is float', "repr(x) == '0.0'"]
"""

from __future__ import annotations

import math
import struct
from typing import Any

from minitorch_compile.dynamo.guards.guards import About, Guard, type_is
from minitorch_compile.dynamo.guards.namespace import Namespace
from minitorch_compile.dynamo.guards.source import Source


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
    return _constant(source, f"{{0}} == {escaped(repr(value))}", escaped(repr(value)))


def bits_of(number: complex) -> bytes:
    """A float's bits, or those of both parts of a complex number: of NaN only these tell the sign.

    >>> bits_of(float("nan")) == bits_of(-float("nan"))
    False
    """
    return struct.pack("<dd", number.real, number.imag)


def same_range(source: Source, value: range, names: Namespace) -> list[Guard]:
    """The numbers that a range stands for: range(0, 3, 2) equals range(0, 4, 2)."""
    return [type_is(source, range, names), _constant(source, f"{{0}} == {value!r}", repr(value), "RANGE_MATCH")]


def _constant(source: Source, check: str, expected: str, kind: str = "CONSTANT_MATCH") -> Guard:
    """Of a value that can't change."""
    return Guard(source, kind, check, expected, about=About.OBJECT)


def escaped(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")
