"""Draw a block of threads at work, step by step: which thread touches which address, and where all wait.

A step is one access as the simulator recorded it, or a barrier. Above are the threads, below the array, 32 words of 4
bytes in a row: of global memory these are four sectors of 32 bytes, of shared memory the 32 banks. Where scripts run,
one step is shown at a time, with buttons; else all of them stand one below the other.

>>> import numpy as np
>>> from minitorch_compile.cuda_simulator import Recorder, cuda, simulate
>>> def every_second(out, x):
...     i = cuda.threadIdx.x
...     out[i] = x[2 * i]
>>> recorder = Recorder()
>>> x = np.zeros(64, np.float32)
>>> _ = simulate(every_second, counts=recorder)[1, 32](x[:32].copy(), x)
>>> draw_block(recorder.events)
1  load x     8 sectors, 4 would do  out[i] = x[2 * i]
2  store out  4 sectors, coalesced   out[i] = x[2 * i]
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from minitorch_compile.cuda_simulator.counts import BANKS, SECTOR, WARP, WORD, global_sectors, shared_passes
from minitorch_compile.cuda_simulator.recorder import BARRIER, Event
from minitorch_compile.svg import FONT, INK, PALETTE, Drawing, box, element, label

CELL, LEFT, GAP = 18, 96, 46  # of a word; of the names; between threads and memory, for the lines
HEAD, ROW, FOOT = 28, 20, 16
MOST_STEPS, MOST_WARPS, MOST_ROWS = 40, 2, 8
TOUCHED, BEYOND = PALETTE[2], "#d1495b"
WAITING = PALETTE[1]


def draw_block(events: Sequence[Event]) -> Steps:
    """The steps of one block, from `Recorder.events`. ValueError for none, for too many, or for a large block."""
    if not events:
        raise ValueError("draw_block: no event was recorded; launch with simulate(kernel, counts=Recorder())")
    if len(events) > MOST_STEPS:
        raise ValueError(f"draw_block: at most {MOST_STEPS} steps can be read, got {len(events)}; draw a slice of them")
    warps = 1 + max((int(event.threads.max()) // WARP for event in events if event.threads.size), default=0)
    if warps > MOST_WARPS:
        raise ValueError(f"draw_block: at most {MOST_WARPS} warps can be drawn, the block has {warps}")
    steps = [step_of(event) for event in events]
    parts: list[str] = []
    top, heights = 0, list[int]()
    for number, step in enumerate(steps, 1):
        drawn, height = picture(number, step, warps)
        parts.append(f'<g class="mtc-step" transform="translate(0 {top})">{"".join(drawn)}</g>')
        heights.append(height)
        top += height
    return Steps(LEFT + BANKS * CELL + 2, top, parts, text_of(steps), tuple(heights))


@dataclass(frozen=True)
class Step:
    """An event, and in words what it costs; `beyond` is whether less would have done."""

    event: Event
    title: str
    cost: str
    beyond: bool


def step_of(event: Event) -> Step:
    if event.what == BARRIER:
        return Step(event, BARRIER, "all wait for all", False)
    title = f"{event.what} {event.array}"
    if event.what == "atomic":
        several = event.threads.size > 1
        return Step(event, title, f"{event.threads.size} in turn" if several else "one thread", several)
    if event.space == "shared":
        _, passes, needed = shared_passes(event.threads, event.addresses, event.itemsize)
        return Step(event, title, said(passes, needed, "pass", "passes", "no conflict"), passes > needed)
    _, sectors, ideal = global_sectors(event.threads, event.addresses, event.itemsize)
    return Step(event, title, said(sectors, ideal, "sector", "sectors", "coalesced"), sectors > ideal)


def said(real: int, ideal: int, one: str, many: str, well: str) -> str:
    """
    >>> said(4, 4, "sector", "sectors", "coalesced"), said(8, 4, "sector", "sectors", "coalesced")
    ('4 sectors, coalesced', '8 sectors, 4 would do')
    """
    counted = f"{real} {one if real == 1 else many}"
    return f"{counted}, {ideal} would do" if real > ideal else f"{counted}, {well}"


# ------------------------------------------------------------------------------------------ the picture of a step


def picture(number: int, step: Step, warps: int) -> tuple[list[str], int]:
    """A step's elements, and its height."""
    code = step.event.place.text.replace(" ", "\N{NO-BREAK SPACE}")
    parts = [label(0, 16, f"{number}  {code}", size=13, anchor="start")]
    if step.event.what == BARRIER:
        parts.append(box(LEFT, HEAD, BANKS * CELL, ROW, WAITING))
        parts.append(label(LEFT + BANKS * CELL / 2, HEAD + 14, "all threads of the block meet", size=11, fill=INK))
        return parts, HEAD + ROW + FOOT
    memory = HEAD + warps * ROW + GAP
    rows = all_rows(step.event)[:MOST_ROWS]
    more = len(all_rows(step.event)) - len(rows)
    foot = memory + len(rows) * ROW + (ROW if more else 0)
    words = f"{step.title}: {step.cost}"
    return [
        *parts,
        label(LEFT + BANKS * CELL, 16, words, anchor="end", fill=BEYOND if step.beyond else "currentColor"),
        *threads_drawn(step.event, warps),
        *memory_drawn(step.event, memory, rows),
        *lines_drawn(step.event, memory, rows),
        *([label(LEFT, foot - 6, f"and {more} rows more", size=11, anchor="start")] if more else []),
    ], foot + FOOT


def threads_drawn(event: Event, warps: int) -> list[str]:
    """A row of boxes for each warp; those that take part are coloured and numbered."""
    here, parts = event.threads.tolist(), list[str]()
    for warp in range(warps):
        y = HEAD + warp * ROW
        mine = [thread for thread in here if thread // WARP == warp]
        parts.append(label(LEFT - 8, y + 14, f"warp {warp}", size=11, anchor="end"))
        parts += cells(y, {thread % WARP for thread in mine}, PALETTE[warp])
        parts += [label(middle(thread % WARP), y + 14, str(thread), size=9, fill=INK) for thread in mine]
    return parts


def middle(column: int) -> float:
    return LEFT + (column + 0.5) * CELL


def cells(y: float, filled: set[int], colour: str) -> list[str]:
    """A row of 32 cells; a rectangle for each run of filled ones, and one path for all lines between."""
    parts, column = list[str](), 0
    while column < BANKS:
        end = column
        while end in filled:
            end += 1
        if end > column:
            parts.append(
                element("rect", x=LEFT + column * CELL, y=y, width=(end - column) * CELL, height=ROW, fill=colour)
            )
        column = max(end, column + 1)
    between = "".join(f"M{LEFT + column * CELL} {y}v{ROW}" for column in range(1, BANKS))
    return [
        *parts,
        element("path", d=between, stroke="currentColor", stroke_width=0.4),
        box(LEFT, y, BANKS * CELL, ROW, stroke_width=0.7),
    ]


def all_rows(event: Event) -> list[int]:
    """The rows of 32 words that are touched."""
    return sorted({int(address) // (WORD * BANKS) for address in event.addresses})


def words_touched(event: Event) -> set[int]:
    each = max(1, event.itemsize // WORD)
    return {int(address) // WORD + more for address in event.addresses for more in range(each)}


def memory_drawn(event: Event, top: int, rows: list[int]) -> list[str]:
    """The array's words; around global memory the sectors that are fetched, of which a part may be for nobody."""
    touched, parts = words_touched(event), list[str]()
    for place, row in enumerate(rows):
        y = top + place * ROW
        name = f"{event.array} [{row * BANKS * WORD // event.itemsize}]"
        columns = {word % BANKS for word in touched if word // BANKS == row}
        parts.append(label(LEFT - 8, y + 14, name, size=11, anchor="end"))
        parts += cells(y, columns, TOUCHED)
        words = SECTOR // WORD
        if event.space == "global":
            for sector in sorted({column // words for column in columns}):
                parts.append(box(LEFT + sector * words * CELL, y, words * CELL, ROW, stroke_width=2.5))
    return parts


def lines_drawn(event: Event, top: int, rows: list[int]) -> list[str]:
    """From each thread to its word."""
    path = ""
    for thread, address in zip(event.threads.tolist(), event.addresses.tolist()):
        row, column = divmod(address // WORD, BANKS)
        if row in rows:
            end = top + rows.index(row) * ROW + ROW // 2
            path += f"M{middle(thread % WARP):g} {HEAD + (thread // WARP + 1) * ROW}L{middle(column):g} {end}"
    return [element("path", d=path, stroke="currentColor", stroke_width=0.8, fill="none", opacity=0.7)]


def text_of(steps: Sequence[Step]) -> str:
    rows = [(str(n), step.title, step.cost, step.event.place.text) for n, step in enumerate(steps, 1)]
    widths = [max(map(len, column)) for column in zip(*rows)]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows)


# ------------------------------------------------------------------------------------------ one step at a time

SCRIPT = """
for (const root of document.querySelectorAll(".NAME:not([data-ready])")) {
  root.dataset.ready = "yes";
  const svg = root.querySelector("svg"), steps = [...svg.querySelectorAll(".mtc-step")], heights = HEIGHTS;
  const width = WIDTH, controls = root.querySelector(".mtc-controls");
  const [back, next, play, all] = controls.querySelectorAll("button"), where = controls.querySelector("span");
  let at = 0, timer = null;
  const resize = height => {
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    svg.setAttribute("height", height);
  };
  const show = number => {
    at = Math.max(0, Math.min(steps.length - 1, number));
    steps.forEach((step, n) => {
      step.style.display = n === at ? "" : "none";
      step.setAttribute("transform", "translate(0 0)");
    });
    resize(Math.max(...heights));
    where.textContent = ` step ${at + 1} of ${steps.length}`;
    back.disabled = at === 0;
    next.disabled = at === steps.length - 1;
  };
  const stop = () => { clearInterval(timer); timer = null; play.textContent = "play"; };
  back.onclick = () => { stop(); show(at - 1); };
  next.onclick = () => { stop(); show(at + 1); };
  play.onclick = () => {
    if (timer !== null) { stop(); return; }
    if (at === steps.length - 1) show(0);
    play.textContent = "stop";
    timer = setInterval(() => { show(at + 1); if (at === steps.length - 1) stop(); }, 900);
  };
  all.onclick = () => {
    stop();
    let top = 0;
    steps.forEach((step, n) => {
      step.style.display = "";
      step.setAttribute("transform", `translate(0 ${top})`);
      top += heights[n];
    });
    resize(top);
    where.textContent = " all steps";
    back.disabled = next.disabled = false;
  };
  controls.hidden = false;
  show(0);
}
"""
BUTTONS = "".join(f'<button type="button">{name}</button> ' for name in ("back", "next", "play", "all"))


@dataclass(frozen=True, repr=False)
class Steps(Drawing):
    """All steps one below the other, each so high; with buttons that show one at a time where scripts run."""

    heights: tuple[int, ...] = ()

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        svg = self.svg()
        name = f"mtc-block-{hashlib.sha256(svg.encode()).hexdigest()[:12]}"
        script = SCRIPT.replace("NAME", name).replace("HEIGHTS", str(list(self.heights)))
        script = script.replace("WIDTH", f"{self.width:g}")
        controls = f'<p class="mtc-controls" style="font-family: {FONT}" hidden>{BUTTONS}<span></span></p>'
        html = f'<div class="mtc-drawing {name}">{controls}{svg}<script>{script}</script></div>'
        return {"text/html": html, "text/plain": self.text}
