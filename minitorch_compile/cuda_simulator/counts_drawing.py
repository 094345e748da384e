"""Draw what each line of a kernel costs: the source on the left, bars on the right of it.

A bar's pale part is what the line would cost at best: all threads of its warps at work, bytes side by side, no bank
asked twice. The red part is what it costs beyond.

>>> from minitorch_compile.cuda_simulator import cuda, simulate
>>> @cuda.jit
... def every_second(out, x):
...     i = cuda.grid(1)
...     out[i] = x[2 * i]
>>> import numpy as np
>>> x = np.ones(128, np.float32)
>>> draw_counts(simulate(every_second, counts=True)[1, 64](np.zeros(64, np.float32), x).counts)
steps  threads  diverge  sectors  ideal  passes  conflicts
                                                            --- every_second
    2     100%                                                 3     i = cuda.grid(1)
    2     100%                24     16                        4     out[i] = x[2 * i]
    4     100%                24     16                          all lines
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from minitorch_compile.cuda_simulator.counts import WARP, Counts, LineCounts
from minitorch_compile.svg import INK, PALETTE, Drawing, box, label

LETTER, LINE, TOP, GAP = 7.3, 20, 30, 14
WIDTH = 140  # of a column of bars
BEYOND = "#d1495b"


@dataclass(frozen=True)
class Column:
    """A kind of cost: what a line needs at best, what it costs, and how that is said."""

    heading: str
    needed: Callable[[LineCounts], float]
    real: Callable[[LineCounts], float]
    says: Callable[[LineCounts], str]


COLUMNS = (
    Column(
        "threads at work",
        lambda line: line.thread_steps / WARP,
        lambda line: line.warp_steps,
        lambda line: f"{line.efficiency:.0%} of {line.warp_steps}",
    ),
    Column(
        "sectors of 32 bytes",
        lambda line: line.ideal_load_sectors + line.ideal_store_sectors,
        lambda line: line.load_sectors + line.store_sectors,
        lambda line: f"{line.load_sectors + line.store_sectors}",
    ),
    Column(
        "passes over banks",
        lambda line: line.shared_passes - line.bank_conflicts,
        lambda line: line.shared_passes,
        lambda line: f"{line.shared_passes}",
    ),
    Column(
        "divergent branches",
        lambda line: 0,
        lambda line: line.divergent_branches,
        lambda line: f"{line.divergent_branches} of {line.branches}",
    ),
)


def draw_counts(counts: Counts | None) -> Drawing:
    """The drawing of a launch's counts. ValueError if there are none."""
    if counts is None or not counts.lines:
        raise ValueError("draw_counts: nothing was counted; launch with simulate(kernel, counts=True)")
    rows = [row for name, lines in counts.functions().items() for row in [(0, f"--- {name}", None), *lines]]
    letters = max(len(text) for _, text, _ in rows) + 5
    left = letters * LETTER + GAP
    used = [column for column in COLUMNS if any(column.real(line) for line in counts.lines.values())]
    parts: list[str] = []
    for place, column in enumerate(used):
        most = max(column.real(line) for line in counts.lines.values())
        x = left + place * (WIDTH + GAP)
        parts.append(label(x, TOP - 12, column.heading, size=11, anchor="start"))
        for number, (_, _, line) in enumerate(rows):
            if line is not None and column.real(line):
                parts += bar(x, TOP + number * LINE, column, line, WIDTH / most)
    parts += [written(TOP + number * LINE + 14, *row[:2]) for number, row in enumerate(rows)]
    return Drawing(left + len(used) * (WIDTH + GAP), TOP + len(rows) * LINE + 8, parts, counts.table())


def bar(x: float, y: float, column: Column, line: LineCounts, scale: float) -> list[str]:
    """What a line needs, what it costs beyond, and the number."""
    needed, real = column.needed(line) * scale, column.real(line) * scale
    parts = [box(x, y + 2, needed, LINE - 4, PALETTE[0], stroke_width=0.5)] if needed else []
    if real > needed:
        parts.append(box(x + needed, y + 2, real - needed, LINE - 4, BEYOND, stroke_width=0.5))
    text = column.says(line)
    inside = real > 6.2 * len(text) + 6
    at = x + (4 if inside else real + 4)
    return [*parts, label(at, y + 14, text, size=10, anchor="start", fill=INK if inside else "currentColor")]


def written(y: float, number: int, text: str) -> str:
    """A line of source, its spaces kept: SVG joins those that may be broken."""
    shown = f"{number:4} {text}" if number else text
    return label(0, y, shown.replace(" ", "\N{NO-BREAK SPACE}"), anchor="start")
