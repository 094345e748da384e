"""Charts: where buffers live, and how kernels are shared out. Items with a place of their own, and no arrows.

>>> import minitorch_compile as torch
>>> from minitorch_compile.compiler.viewer.lowered import Lowered
>>> seen = torch.compiler.inspect(lambda x: (x @ x).exp() @ x, torch.ones(8, 8))
>>> for item in memory_chart(Lowered(seen.prim_stretches[0]), "loops"):
...     print(item.label, item.kind)
buf0 buffer
0 axis
1 axis
2 axis
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from minitorch_compile.compiler.viewer.lowered import Lowered, operations_of
from minitorch_compile.compiler.viewer.report import Item, merged
from minitorch_compile.inductor.ir.buffer import Buffer
from minitorch_compile.inductor.schedule.memory_plan import last_uses

STEP_WIDTH, HEIGHT = 46.0, 320.0  # of the chart of memory
ROW, LABELS, WIDTH = 26.0, 60.0, 640.0  # of the chart of threads
PIECES = re.compile(r"(Chunks|InTurns)\((\d+), (\d+)")  # in the source of a step
RANGE = re.compile(r"\(\w+, (\d+), (\d+)")


def memory_chart(view: Lowered, loops: str) -> Iterator[Item]:
    """A box for each temporary, from the step that makes it to its last use, at its offset in the block."""
    plan = view.writer.plan
    scale = HEIGHT / plan.total if plan.total else 0
    for buffer, (first, last, sharing) in lives(view).items():
        offset = plan.offsets[buffer]
        height = max(buffer.nbytes * scale, 3)
        box = (first * STEP_WIDTH, HEIGHT - offset * scale - height, (last - first + 1) * STEP_WIDTH, height)
        text = f"bytes {offset:,} to {offset + buffer.nbytes:,}, steps {first} to {last}"
        also = f"\nalso {', '.join(sharing[1:])}, in its place" if sharing[1:] else ""
        item = Item(view.number + buffer.name, buffer.name, "buffer", code=text + also, box=box)
        item.detail = f"{buffer.nbytes:,} bytes"
        made = [op for step in view.schedule.steps for op in operations_of(step) if op.outputs[0].name in sharing]
        nodes = [node for operation in made for node in view.nodes_of(operation)]
        item.place = view.place(nodes)
        item.origins = merged([view.origins(nodes), {loops: [view.number + name for name in sharing]}])
        yield item
    if plan.total:
        for step in range(len(view.schedule.steps)):
            box = (step * STEP_WIDTH, HEIGHT + 4, STEP_WIDTH, 14)
            yield Item(f"{view.number}step {step}", str(step), "axis", box=box)


def lives(view: Lowered) -> dict[Buffer, tuple[int, int, list[str]]]:
    """The first and last step of each buffer in the block, and the names of those that use its memory."""
    plan, last = view.writer.plan, last_uses(view.schedule)
    found: dict[Buffer, tuple[int, int, list[str]]] = {}
    for number, step in enumerate(view.schedule.steps):
        for buffer in step.outputs:
            root = plan.same.get(buffer, buffer)
            if root in plan.offsets:
                first, until, names = found.get(root, (number, number, []))
                found[root] = (first, max(until, last.get(buffer, number)), [*names, buffer.name])
    return found


def threads_chart(view: Lowered, reasons: str) -> Iterator[Item]:
    """A row for each kernel, with a box for each piece of its range."""
    for number, step in enumerate(view.schedule.steps):
        name = f"{view.number}kernel{number}"
        nodes = view.nodes_of_step(step)
        origins = merged([view.origins(nodes), {reasons: [name]}])
        y = number * ROW
        yield Item(f"{name} label", f"kernel {number}", "axis", box=(0, y, LABELS, ROW - 6), origins=origins)
        pieces, word = pieces_of(view.writer.step(number))
        for piece, (begin, end) in enumerate(pieces):
            width = WIDTH / len(pieces)
            box = (LABELS + piece * width, y, max(width - 2, 2), ROW - 6)
            item = Item(f"{name}.{piece}", f"{begin}–{end}", "kernel", box=box, origins=origins)
            item.code, item.place = f"{word} {piece + 1} of {len(pieces)}: [{begin}, {end})", view.place(nodes)
            yield item


def pieces_of(step: str) -> tuple[list[tuple[int, int]], str]:
    """The pieces of a step's range, from its source, and what they are called.

    >>> pieces_of('(fused_0, Chunks(10, 4), "buf0")')
    ([(0, 4), (4, 8), (8, 10)], 'piece')
    >>> pieces_of('(fused_0, 0, 8, "buf0")')
    ([(0, 8)], 'one thread, piece')
    """
    found = PIECES.search(step)
    if found is None:
        whole = RANGE.search(step)
        return [(int(whole[1]), int(whole[2])) if whole else (0, 1)], "one thread, piece"
    extent, length = int(found[2]), int(found[3])
    pieces = [(begin, min(begin + length, extent)) for begin in range(0, extent, length)]
    return pieces, "piece" if found[1] == "Chunks" else "turn of product and epilogue"
