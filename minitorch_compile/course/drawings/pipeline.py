"""Draw the way of a function through the house: the stages, what passes between them, and where each is taught."""

from __future__ import annotations

from dataclasses import dataclass

from minitorch_compile.svg import INK, PALETTE, Drawing, arrow, box, label

WIDTH, HEIGHT, GAP, LEFT = 168, 64, 34, 8
COLUMNS = 4


@dataclass(frozen=True)
class Stage:
    """`gives` is what comes out; `lessons` is where it is built."""

    name: str
    gives: str
    lessons: str


STAGES = (
    Stage("your function", "Python bytecode", "03"),
    Stage("dynamo", "a graph + guards", "04 - 07"),
    Stage("aot autograd", "joint graph", "08 - 11"),
    Stage("decompose", "the same, over prims", "12"),
    Stage("partition", "forward | backward", "11"),
    Stage("lower", "loops", "13"),
    Stage("schedule", "fused groups", "14"),
    Stage("generate", "Numba kernels", "15 - 17"),
)


def draw_pipeline() -> Drawing:
    """Two lines of four stages, read like text."""
    parts = []
    for number, stage in enumerate(STAGES):
        x, y = _corner(number)
        parts += [
            box(x, y, WIDTH, HEIGHT, PALETTE[number % len(PALETTE)], rx=6),
            label(x + WIDTH / 2, y + 20, stage.name, size=12, fill=INK, font_weight="bold"),
            label(x + WIDTH / 2, y + 38, stage.gives, size=12, fill=INK),
            label(x + WIDTH / 2, y + 55, f"lesson {stage.lessons}", size=10, fill=INK, opacity=0.75),
        ]
        if number + 1 < len(STAGES):
            parts.append(arrow(_way(number), 1))
    rows = -(-len(STAGES) // COLUMNS)
    text = "\n".join(f"{stage.name:<24} -> {stage.gives:<20} lesson {stage.lessons}" for stage in STAGES)
    return Drawing(LEFT * 2 + COLUMNS * (WIDTH + GAP) - GAP, 8 + rows * (HEIGHT + GAP), parts, text)


def _corner(number: int) -> tuple[float, float]:
    row, column = divmod(number, COLUMNS)
    return LEFT + column * (WIDTH + GAP), 4 + row * (HEIGHT + GAP)


def _way(number: int) -> str:
    """From a stage to the next: to the right, or down and back to the left end."""
    (x, y), (next_x, next_y) = _corner(number), _corner(number + 1)
    if next_y == y:
        return f"M{x + WIDTH},{y + HEIGHT / 2} L{next_x},{y + HEIGHT / 2}"
    middle = y + HEIGHT + GAP / 2
    return f"M{x + WIDTH / 2},{y + HEIGHT} V{middle} H{next_x + WIDTH / 2} V{next_y}"
