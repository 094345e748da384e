"""Draw where buffers live: steps from left to right, addresses from the bottom up, a rectangle for each buffer.

>>> draw_lives([("a", 0, 1, 0, 64), ("b", 1, 2, 64, 64), ("c", 2, 3, 0, 64)])
a  ##..  bytes 0 to 64
b  .##.  bytes 64 to 128
c  ..##  bytes 0 to 64
128 bytes for 192 bytes of buffers
"""

from __future__ import annotations

from collections.abc import Sequence

from minitorch_compile.svg import INK, PALETTE, Drawing, box, element, label

LEFT, TOP, WIDTH, HEIGHT = 74, 10, 560, 220

Placed = tuple[str, int, int, int, int]
"""A name, the first and the last step, the offset, and how many bytes."""


def draw_lives(buffers: Sequence[Placed]) -> Drawing:
    """Each buffer over the steps in which it is alive, at its offset. ValueError if there is none."""
    if not buffers:
        raise ValueError("draw_lives: expected at least one buffer")
    steps = 1 + max(last for _, _, last, _, _ in buffers)
    total = max(offset + nbytes for *_, offset, nbytes in buffers) or 1
    step = WIDTH / steps
    parts = _axes(steps, total)
    for number, (name, first, last, offset, nbytes) in enumerate(buffers):
        x, y = LEFT + first * step, TOP + HEIGHT * (1 - (offset + nbytes) / total)
        width, height = (last - first + 1) * step, HEIGHT * nbytes / total
        parts.append(box(x, y, width, height, PALETTE[number % len(PALETTE)]))
        if height >= 11 and width >= 7 * len(name):
            middle = x + width / 2
            parts.append(
                element("text", name, x=middle, y=y + height / 2 + 4, font_size=11, text_anchor="middle", fill=INK)
            )
    return Drawing(LEFT + WIDTH + 20, TOP + HEIGHT + 42, parts, _text(buffers, steps, total))


def _axes(steps: int, total: int) -> list[str]:
    bottom = TOP + HEIGHT
    parts = [element("path", d=f"M{LEFT},{TOP} V{bottom} H{LEFT + WIDTH}", fill="none", stroke="currentColor")]
    parts += [
        label(
            LEFT - 6, bottom - HEIGHT * part / 4 + 4, f"{round(total * part / 4):,}", size=10, anchor="end", opacity=0.8
        )
        for part in range(5)
    ]
    every = -(-steps // 16)
    for number in range(0, steps, every):
        parts.append(label(LEFT + (number + 0.5) * WIDTH / steps, bottom + 15, str(number), size=10, opacity=0.8))
    parts.append(label(LEFT + WIDTH / 2, bottom + 32, "step"))
    return parts


def _text(buffers: Sequence[Placed], steps: int, total: int) -> str:
    width = max(len(name) for name, *_ in buffers)
    lines = []
    for name, first, last, offset, nbytes in buffers:
        bar = ("." * first + "#" * (last - first + 1)).ljust(steps, ".")
        lines.append(f"{name:<{width}}  {bar}  bytes {offset:,} to {offset + nbytes:,}")
    return "\n".join([*lines, f"{total:,} bytes for {sum(nbytes for *_, nbytes in buffers):,} bytes of buffers"])
