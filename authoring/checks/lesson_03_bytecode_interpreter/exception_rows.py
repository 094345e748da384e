"""Exercise 03.3: reading `co_exceptiontable`."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from minitorch_compile.course.checking.exercise import Exercise, Misconception, agree
from minitorch_compile.course.splicing.splice import original
from minitorch_compile.dynamo.bytecode.exception_table import ByteRange, encode_exception_table
from minitorch_compile.dynamo.bytecode.exception_table import parse_exception_table as parse

from .unwinding import behind, in_a_handler, in_a_loop, inside

EXCEPTION_ROWS = Exercise(
    "03.3",
    "reading the exception table",
    answer="parse_exception_table",
    minutes=15,
    hints=(
        "Do it in two steps: first bytes to numbers, then numbers, four at a time, to rows.",
        "For each byte: value = value * 64 + (byte & 63). If bit 6 (64) is not set, the number is complete.",
        "start, length, target, last = four numbers: (2 * start, 2 * (start + length), 2 * target, last >> 1,"
        " bool(last & 1)).",
    ),
    place="dynamo.parse_exception_table",
)
SECTION = "When something goes wrong"
Row = tuple[int, int, int, int, bool]
own_parse = original("dynamo.parse_exception_table")


def truth(table: bytes) -> list[Row]:
    return [tuple(row) for row in own_parse(table)]


def numbers(table: bytes, high_first: bool = True, bits: int = 6) -> list[int]:
    found, group = [], []
    for byte in table:
        group.append(byte & (1 << bits) - 1)
        if not byte & 0x40:
            ordered = group if high_first else group[::-1]
            value = 0
            for part in ordered:
                value = value << bits | part
            found.append(value)
            group = []
    return found


def in_rows(values: list[int], row: Callable[[int, int, int, int], Row]) -> list[Row]:
    return [row(*values[at : at + 4]) for at in range(0, len(values) - 3, 4)]


def right(start: int, length: int, target: int, last: int) -> Row:
    return 2 * start, 2 * (start + length), 2 * target, last >> 1, bool(last & 1)


MISTAKES = (
    Misconception(
        "A number may take more than one byte: bit 6 says that another group of six bits follows.",
        lambda table: in_rows([byte & 0x3F for byte in table], right),
    ),
    Misconception(
        "The two highest bits of a byte are marks, and no part of the number: byte & 63 takes them away.",
        lambda table: in_rows(list(table), right),
    ),
    Misconception(
        "High groups come first: what you have so far is shifted up, and the new bits go below.",
        lambda table: in_rows(numbers(table, high_first=False), right),
    ),
    Misconception(
        "The numbers count code units of two bytes; the rows are wanted in bytes.",
        lambda table: in_rows(numbers(table), lambda s, n, t, x: (s, s + n, t, x >> 1, bool(x & 1))),
    ),
    Misconception(
        "The second number is a length: the row ends at start + length.",
        lambda table: in_rows(numbers(table), lambda s, n, t, x: (2 * s, 2 * n, 2 * t, x >> 1, bool(x & 1))),
    ),
    Misconception(
        "The last number holds two things: the depth in all bits but the lowest, and `lasti` in the lowest.",
        lambda table: in_rows(numbers(table), lambda s, n, t, x: (2 * s, 2 * (s + n), 2 * t, x, bool(x & 1))),
    ),
    Misconception(
        "`lasti` is a bool: True or False, not the bit.",
        lambda table: [(*row[:4], int(row[4])) for row in in_rows(numbers(table), right)],
    ),
    Misconception(
        "Bit 7 only marks where a row begins. It is no part of the number, nor is bit 6.",
        lambda table: in_rows(numbers(table, bits=7), right),
    ),
)


def judge(answer: Callable[..., Any], rows: list[list[ByteRange]]) -> None:
    tables = [(encode_exception_table(each),) for each in rows]

    def parse_exception_table(table: bytes) -> Any:
        given = answer(table)
        return [tuple(row) for row in given] if hasattr(given, "__iter__") else given

    agree(parse_exception_table, truth, tables, MISTAKES, why=WORK_IT_OUT)


WORK_IT_OUT = "Take the first row by hand: its bytes in binary, without the two highest bits."


@EXCEPTION_ROWS.case("one row of small numbers", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    judge(answer, [[ByteRange(2 * s, 2 * (s + n), 2 * t, d, lasti)] for s, n, t, d, lasti in SMALL])


SMALL = [(1, 3, 9, 0, False), (2, 5, 10, 1, True), (0, 1, 1, 2, False), (20, 30, 60, 3, True)]


@EXCEPTION_ROWS.case("no rows, and several", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    three = [ByteRange(4, 14, 20, 0, False), ByteRange(20, 24, 40, 1, True), ByteRange(40, 44, 60, 2, True)]
    judge(answer, [[], three[:1], three[:2], three])


@EXCEPTION_ROWS.case("numbers that need more than six bits", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    sizes = (63, 64, 65, 4095, 4096, 70_000)
    judge(answer, [[ByteRange(2 * s, 2 * (s + 3), 2 * t, 1, True)] for s, t in itertools.product(sizes, sizes[:4])])


@EXCEPTION_ROWS.case("the tables of real functions", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    tables = [function.__code__.co_exceptiontable for function in (behind, in_a_loop, inside, in_a_handler)]
    judge(answer, [list(parse(table)) for table in tables])
