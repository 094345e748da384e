"""Exercise 15.5: how long a chunk of a range is."""

from __future__ import annotations

import os
from typing import Any

from minitorch_compile.course.checking.exercise import Exercise, Misconception, agree
from minitorch_compile.course.splicing.splice import original

CHUNKS = Exercise(
    "15.5",
    "chunks for threads",
    answer="chunk_length",
    minutes=10,
    hints=(
        "Find the number of chunks first, between its limits; then their length, rounded up; then the multiple.",
        "-(-a // b) is a / b rounded up, for whole numbers.",
        "chunks = min(64, max(2, int(nanoseconds / 10_000))), and the length is -(-extent // chunks).",
    ),
    place="inductor.chunk_length",
)
SECTION = "Threads"


def length(extent: int, chunks: int, multiple: int = 256) -> int:
    pieces = -(-extent // chunks)
    return -(-pieces // multiple) * multiple if extent > 1024 else pieces


def number(nanoseconds: float) -> int:
    return min(64, max(2, int(nanoseconds / 10_000)))


IDEAS = (
    Misconception(
        "Waking a thread takes longer than this kernel.",
        lambda extent, nanoseconds: length(extent, number(nanoseconds)),
    ),
    Misconception(
        "The last chunk is too long now, or there is one more than you counted: round the length up, not down.",
        lambda extent, nanoseconds: extent // number(nanoseconds),
    ),
    Misconception(
        "A range of elements is cut at multiples of 256: else a number may be computed by other instructions.",
        lambda extent, nanoseconds: length(extent, number(nanoseconds), 1),
    ),
    Misconception(
        "A range of up to 1024 is one of rows, each of which is long. There is nothing to round there.",
        lambda extent, nanoseconds: -(-length(extent, number(nanoseconds), 1) // 256) * 256,
    ),
    Misconception(
        "This depends on how many cores there are, so a sum would have another last digit on another machine.",
        lambda extent, nanoseconds: length(extent, os.cpu_count() or 1),
    ),
    Misconception(
        "More than 64 chunks cost more to hand out than they bring.",
        lambda extent, nanoseconds: length(extent, max(2, int(nanoseconds / 10_000))),
    ),
)


def judge(answer: Any, inputs: list[tuple[int, float]]) -> None:
    agree(answer, original("inductor.chunk_length"), inputs, IDEAS)


@CHUNKS.case("rows", points=0, section=SECTION)
def _(answer: Any) -> None:
    judge(answer, [(100, 40_000.0), (1000, 95_000.0), (1024, 300_000.0), (7, 50_000.0)])


@CHUNKS.case("elements", points=1, section=SECTION)
def _(answer: Any) -> None:
    judge(answer, [(4096, 200_000.0), (100_000, 35_000.0), (1 << 20, 500_000.0), (1025, 40_000.0)])


@CHUNKS.case("not too many", points=1, section=SECTION)
def _(answer: Any) -> None:
    judge(answer, [(1 << 20, 5_000_000.0), (1 << 24, 90_000_000.0)])


@CHUNKS.case("not worth cutting", points=1, section=SECTION)
def _(answer: Any) -> None:
    judge(answer, [(4096, 2_000.0), (1, 1e9), (1 << 20, 29_999.0), (100, 30_000.0)])
