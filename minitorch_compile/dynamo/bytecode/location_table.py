"""The location table of a code object, written: which source range each instruction came from (`co_linetable`).

Tracebacks, debuggers and `co_positions()` read it. An entry covers up to eight code units (of two bytes): a byte `1
form(4 bits) units-1 (3 bits)`, then numbers of six bits a byte, *low* groups first, bit 6 meaning that more follow.
Of CPython's sixteen forms three are enough here: 15 no location, 13 a line (relative to the entry before), 14 a line
and columns.

>>> from dis import Positions
>>> here = Positions(lineno=7, end_lineno=7, col_offset=4, end_col_offset=9)
>>> table = encode_location_table([(here, 3), (None, 1)], first_line=5)
>>> source = compile("pass", "example", "exec")
>>> code = source.replace(co_linetable=table, co_firstlineno=5, co_code=bytes(8))
>>> list(code.co_positions())
[(7, 7, 4, 9), (7, 7, 4, 9), (7, 7, 4, 9), (None, None, None, None)]
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dis import Positions

NO_LOCATION, LINE_ONLY, LINE_AND_COLUMNS = 15, 13, 14
UNITS_PER_ENTRY = 8


def encode_location_table(spans: Iterable[tuple[Positions | None, int]], first_line: int) -> bytes:
    """`co_linetable` for spans of (positions, number of code units), in order."""
    table = bytearray()
    line = first_line
    for positions, units in spans:
        for length in _pieces(units):
            form, numbers = _entry(positions, line)
            table.append(0x80 | form << 3 | length - 1)
            for number in numbers:
                table += _varint(number)
            if positions is not None and positions.lineno is not None:
                line = positions.lineno
    return bytes(table)


def _pieces(units: int) -> Iterator[int]:
    while units > 0:
        yield min(units, UNITS_PER_ENTRY)
        units -= UNITS_PER_ENTRY


def _entry(positions: Positions | None, line: int) -> tuple[int, list[int]]:
    """The form and its numbers; lines are signed and relative, columns are stored plus one."""
    if positions is None or positions.lineno is None:
        return NO_LOCATION, []
    delta = _zigzag(positions.lineno - line)
    end_line, column, end_column = positions.end_lineno, positions.col_offset, positions.end_col_offset
    if end_line is None or column is None or end_column is None:
        return LINE_ONLY, [delta]
    return LINE_AND_COLUMNS, [delta, end_line - positions.lineno, column + 1, end_column + 1]


def _zigzag(number: int) -> int:
    return -number << 1 | 1 if number < 0 else number << 1


def _varint(value: int) -> bytes:
    groups = []
    while value > 0x3F:
        groups.append(value & 0x3F | 0x40)
        value >>= 6
    return bytes([*groups, value])
