"""Draw what an allocator did: its steps from left to right, addresses from the bottom up, a rectangle for each block.

The colour is the stream's. A block that was freed while another stream used it is pale until it can be handed out
again; what the driver gave is grey, and where memory was out there is a red line.

>>> from minitorch_compile.cuda_runtime.allocator import CachingAllocator
>>> from minitorch_compile.cuda_runtime.fake_driver import FakeDriver
>>> allocator, history = CachingAllocator(FakeDriver(), device=0), []
>>> allocator.observers.append(history.append)
>>> first = allocator.allocate(1000, StreamHandle(0))
>>> second = allocator.allocate(600_000, StreamHandle(0))
>>> allocator.free(first)
>>> third = allocator.allocate(500, StreamHandle(0))
>>> draw_memory(history)
segment           2.00 MiB  at 0         #####
stream 0        1024 bytes  at 0         .##..
stream 0        586.00 KiB  at 1024      ..###
stream 0         512 bytes  at 0         ....#
most allocated: 587.00 KiB of 2.00 MiB
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from minitorch_compile.cuda_runtime.driver import StreamHandle
from minitorch_compile.cuda_runtime.out_of_memory import formatted
from minitorch_compile.cuda_runtime.trace import TraceEntry
from minitorch_compile.svg import INK, PALETTE, Drawing, box, element, label

LEFT, TOP, WIDTH, HEIGHT, GAP = 84, 10, 640, 280, 6
COLUMNS = 60  # of the text form, at most
SEGMENT, OUT_OF_MEMORY = "#eeeeee", "#d1495b"


@dataclass
class Life:
    """A block or a segment: from which step on it was there, from which on only other streams used it, and the end."""

    address: int
    size: int
    stream: StreamHandle
    start: int
    freed: int
    end: int
    is_segment: bool

    @property
    def name(self) -> str:
        number = self.stream.handle if not self.stream.device else f"{self.stream.device}:{self.stream.handle}"
        return "segment" if self.is_segment else f"stream {number}"


def draw_memory(history: Sequence[TraceEntry]) -> Drawing:
    """The drawing of what an allocator's observer was told. ValueError if that is nothing."""
    numbered = steps_of(history)
    lives = lives_of(numbered)
    if not lives:
        raise ValueError("draw_memory: the history has no block in it; add history.append to an allocator's observers")
    steps, bands = 1 + numbered[-1][0], list(_bands(lives))
    scale = (HEIGHT - GAP * (len(bands) - 1)) / sum(end - start for start, end in bands)
    streams = sorted({life.stream for life in lives if not life.is_segment})
    colours = {stream: PALETTE[number % len(PALETTE)] for number, stream in enumerate(streams)}
    parts = _axes(bands, scale)
    for life in sorted(lives, key=lambda life: not life.is_segment):  # blocks lie on their segments
        y = _height_of(life.address + life.size, bands, scale)
        parts += _rectangles(life, y, life.size * scale, WIDTH / steps, colours)
    for step, entry in numbered:
        if entry.action == "oom":
            x = LEFT + (step + 0.5) * WIDTH / steps
            parts.append(element("path", d=f"M{x:.1f},{TOP} V{TOP + HEIGHT}", stroke=OUT_OF_MEMORY, stroke_width=2))
            parts.append(label(x + 4, TOP + 12, f"out of memory: {formatted(entry.size)}", size=10, anchor="start"))
    parts += _legend(colours)
    return Drawing(LEFT + WIDTH + 20, TOP + HEIGHT + 48, parts, _text(lives, bands, steps))


def steps_of(history: Sequence[TraceEntry]) -> list[tuple[int, TraceEntry]]:
    """Each entry with its number. A block that is free as soon as it is freed takes one step, not two."""
    numbered: list[tuple[int, TraceEntry]] = []
    for entry in history:
        step, before = numbered[-1] if numbered else (-1, None)
        at_once = before is not None and before.action == "free_requested" and entry.action == "free_completed"
        numbered.append((step if at_once else step + 1, entry))
    return numbered


def lives_of(numbered: Sequence[tuple[int, TraceEntry]]) -> list[Life]:
    """Every block and segment. What was there before the history began starts with it; what stays ends with it."""
    lives: list[Life] = []
    there: dict[tuple[int, bool], Life] = {}
    end = 1 + numbered[-1][0] if numbered else 0
    for step, entry in numbered:
        if entry.action == "oom":
            continue
        key = (entry.address, entry.action.startswith("segment"))
        if entry.action in ("alloc", "segment_alloc") or key not in there:
            start = step if entry.action in ("alloc", "segment_alloc") else 0
            there[key] = Life(entry.address, entry.size, entry.stream, start, end, end, key[1])
            lives.append(there[key])
        if entry.action == "free_requested":
            there[key].freed = step
        elif entry.action in ("free_completed", "segment_free"):
            life = there.pop(key)
            life.freed, life.end = min(life.freed, step), step
    return lives


def _bands(lives: Sequence[Life]) -> Iterator[tuple[int, int]]:
    """The addresses that lives take, as intervals without gaps, from the lowest on."""
    start = end = None
    for first, last in sorted((life.address, life.address + life.size) for life in lives):
        if end is None or first > end:
            if start is not None and end is not None:
                yield start, end
            start, end = first, last
        end = max(end, last)
    if start is not None and end is not None:
        yield start, end


def _height_of(address: int, bands: Sequence[tuple[int, int]], scale: float) -> float:
    """Where an address lies in the picture: the bands stand on one another, with gaps between them."""
    y = float(TOP + HEIGHT)
    for start, end in bands:
        if address <= end:
            return y - (address - start) * scale
        y -= (end - start) * scale + GAP
    return y


def _rectangles(life: Life, y: float, height: float, step: float, colours: dict[StreamHandle, str]) -> list[str]:
    x = LEFT + life.start * step
    if life.is_segment:
        return [box(x, y, (life.end - life.start) * step, height, SEGMENT, stroke_width=0.5)]
    colour = colours[life.stream]
    width, waiting = (life.freed - life.start) * step, (life.end - life.freed) * step
    line = min(1.0, height / 6)  # where blocks are small, lines would be all that is seen
    parts = [box(x, y, width, height, colour, stroke_width=line)]
    if waiting:
        parts.append(box(x + width, y, waiting, height, colour, stroke_width=line, opacity=0.4))
    says = formatted(life.size)
    if height >= 12 and width >= 6.2 * len(says):
        middle = {"x": x + width / 2, "y": y + height / 2 + 4}
        parts.append(element("text", says, **middle, font_size=10, text_anchor="middle", fill=INK))
    return parts


def _axes(bands: Sequence[tuple[int, int]], scale: float) -> list[str]:
    bottom = TOP + HEIGHT
    parts = [element("path", d=f"M{LEFT},{TOP} V{bottom} H{LEFT + WIDTH}", fill="none", stroke="currentColor")]
    for start, end in bands:
        if (end - start) * scale >= 12:
            y = (_height_of(start, bands, scale) + _height_of(end, bands, scale)) / 2
            parts.append(label(LEFT - 6, y + 4, formatted(end - start), size=10, anchor="end", opacity=0.8))
    return [*parts, label(LEFT + WIDTH / 2, bottom + 16, "steps of the allocator", size=11)]


def _legend(colours: dict[StreamHandle, str]) -> list[str]:
    parts, x, y = [], float(LEFT), TOP + HEIGHT + 26
    for stream, colour in colours.items():
        says = f"stream {stream.handle}" + (f" of device {stream.device}" if stream.device else "")
        parts += [box(x, y, 12, 12, colour), label(x + 17, y + 10, says, size=11, anchor="start")]
        x += 34 + 7 * len(says)
    return parts


def _text(lives: Sequence[Life], bands: Sequence[tuple[int, int]], steps: int) -> str:
    columns = min(steps, COLUMNS)
    lines = []
    for life in lives:
        marks = "".join(_mark(life, column * steps // columns) for column in range(columns))
        offset = life.address - bands[0][0]
        lines.append(f"{life.name:<12}  {formatted(life.size):>12}  at {offset:<8}  {marks}")
    most, given = (_most(lives, steps, is_segment) for is_segment in (False, True))
    return "\n".join([*lines, f"most allocated: {formatted(most)} of {formatted(given)}"])


def _most(lives: Sequence[Life], steps: int, is_segment: bool) -> int:
    changes = [0] * (steps + 1)
    for life in lives:
        if life.is_segment == is_segment:
            changes[life.start] += life.size
            changes[life.freed] -= life.size
    return max(accumulate(changes))


def _mark(life: Life, step: int) -> str:
    if life.start <= step < life.freed:
        return "#"
    return "-" if life.freed <= step < life.end else "."
