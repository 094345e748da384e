"""The exception table of a code object, read and written.

Since 3.11 a `try` costs nothing until something is raised: a table says, for each range of instructions, where to go
on. An entry is four numbers, `start, length, target, depth * 2 + lasti`, counted in code units of two bytes. A number
is stored in groups of six bits, high groups first; bit 6 of a byte says that more follow, bit 7 that an entry starts
here.

>>> rows = [ByteRange(start=4, end=14, target=20, depth=1, lasti=True)]
>>> encode_exception_table(rows).hex()
'82050a03'
>>> list(parse_exception_table(bytes.fromhex("82050a03"))) == rows
True
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple


class ByteRange(NamedTuple):
    """An entry in byte offsets: an exception raised at `start <= offset < end` goes on at `target` with the stack cut
    to `depth`, then the raising offset pushed if `lasti`, then the exception."""

    start: int
    end: int
    target: int
    depth: int
    lasti: bool


def parse_exception_table(table: bytes) -> Iterator[ByteRange]:
    """The entries of `co_exceptiontable`."""
    numbers = _numbers(table)
    for start in numbers:
        length, target, depth_and_lasti = next(numbers), next(numbers), next(numbers)
        yield ByteRange(2 * start, 2 * (start + length), 2 * target, depth_and_lasti >> 1, bool(depth_and_lasti & 1))


def encode_exception_table(ranges: Iterable[ByteRange]) -> bytes:
    """`co_exceptiontable` with these entries, which must be sorted and must not overlap."""
    table = bytearray()
    for entry in ranges:
        first = len(table)
        for number in (entry.start // 2, (entry.end - entry.start) // 2, entry.target // 2):
            table += _varint(number)
        table += _varint(entry.depth << 1 | entry.lasti)
        table[first] |= 0x80
    return bytes(table)


def _numbers(table: bytes) -> Iterator[int]:
    value = 0
    for byte in table:
        value = value << 6 | byte & 0x3F
        if not byte & 0x40:
            yield value
            value = 0


def _varint(value: int) -> bytes:
    groups = [value & 0x3F]
    while value := value >> 6:
        groups.append(value & 0x3F | 0x40)
    return bytes(reversed(groups))
