"""How many threads have a row, and how much of it each, where rows are held in registers (`held_rows.py`).

Memory is busy if enough is on its way from it: about 64 bytes a thread of each array. A warp has up to 1,024 elements,
and needs no barrier; part of a warp is enough for less than a few vectors each. The figures are those with which an
H200 was busiest.

>>> shape_of(4096, 4, [4], [4], 0, 256), shape_of(4096, 8, [2], [4], 0, 256), shape_of(16384, 4, [4], [4], 0, 256)
((1, 4), (0.5, 4), (4, 4))
>>> shape_of(16384, 8, [2], [4], 0, 256)
(1, 8)
>>> part_of_warp(1024, 4, only_reduces=False), part_of_warp(64, 4, only_reduces=True)
(32, 4)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from minitorch_compile.inductor.codegen.cuda.strategies.lanes import widest_along, width_along
from minitorch_compile.inductor.ir.buffer import Buffer
from minitorch_compile.inductor.ir.iteration import Axis
from minitorch_compile.inductor.schedule.group import Group

WARP = 32
LONGEST_OF_WARP = 1024  # elements of a row; 32 a thread
MOST_OF_THREAD = 64  # elements of a row
STEPS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64)  # few, so that not every length has a kernel of its own
FEW_STEPS, FEW_TO_REDUCE = 2, 4  # vectors of a thread, with fewer of which a row is left to a part of a warp
MOST_AHEAD = 32  # elements that a thread fetches of the next row
SHORTEST_WITH_ENDS = 256  # elements of a row of odd length: shorter ones would be mostly ends
TIMES = (0.5, 1, 2, 4)  # the usual number of threads
FEWEST_THREADS = 64  # of a block
ENOUGH_BYTES = 64  # of an array that a thread has under way: of more, a row takes more threads
ENOUGH_SMALL = 128  # the same of a single array of elements of two bytes, in blocks of the usual threads and more
MOST_REGISTERS = {0.5: 160, 1: 160, 2: 80, 4: 40}  # for rows, by the multiple of threads, which share them


def row_width(group: Group, axis: Axis, internal: Iterable[Buffer]) -> tuple[int, bool]:
    """How many elements a thread takes of a row at once, and whether rows begin anywhere and so have ends."""
    width = width_along(group, axis, internal)
    if width > 1 and axis.size % width == 0:
        return width, False
    width = widest_along(group, axis, internal)
    return (width, True) if width > 1 and axis.size >= SHORTEST_WITH_ENDS else (1, False)


def shape_of(
    length: int, width: int, inputs: Sequence[int], later: Sequence[int], part: int, threads: int
) -> tuple[float, int] | None:
    """The multiple of threads and how many vectors each has, for rows of a length of which each element takes so many
    bytes of these arrays; None if they are too long."""
    words = sum(max(1, size // 4) for size in (*inputs, *later))
    fitting = []
    for times in (1,) if part else TIMES:
        together = part or int(threads * times)
        steps = next((steps for steps in STEPS if steps * width * together >= length), 0)
        held = steps * width
        if not steps or held > MOST_OF_THREAD or held * words > MOST_REGISTERS[times]:
            continue
        under_way = (sum if times < 1 else max)([0, *(held * size for size in inputs)])
        if together >= FEWEST_THREADS or times >= 1:
            fitting.append((times, steps))
            is_small = times >= 1 and len(inputs) == 1 and inputs[0] <= 2
            if under_way <= (ENOUGH_SMALL if is_small else ENOUGH_BYTES):
                break
    return fitting[-1] if fitting else None


def sizes_of(arrays: Iterable[tuple[Buffer, object]]) -> list[int]:
    return [buffer.dtype.itemsize for buffer, _ in arrays]


def registers_left(held: int, width: int, times: float) -> int:
    """How many blocks a multiprocessor has at the least, so that few registers are left beside a row's."""
    return 0 if times > 1 else 2 if held > 32 else 3 if width == 1 and held > 8 else 0


def reason_of(length: int, part: int, times: float, steps: int, width: int, has_ends: bool, has_ahead: bool) -> str:
    whose = "a warp" if part == WARP else f"{part} threads" if part else "a block"
    whose += "" if times == 1 else f" of {times} times the usual threads"
    text = f"rows of {length} in the registers of {whose}: {steps} x {width} elements a thread"
    return f"{text}{', ends apart' if has_ends else ''}{', the next row under way' if has_ahead else ''}"


def part_of_warp(length: int, width: int, only_reduces: bool) -> int:
    """How many threads of a warp have a row: so few that each has several vectors of it; all, where there are none."""
    if width == 1:
        return WARP
    part, few = WARP, FEW_TO_REDUCE if only_reduces else FEW_STEPS
    while part > 2 and length < few * width * part:
        part //= 2
    return part
