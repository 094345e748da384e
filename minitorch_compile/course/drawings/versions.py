"""Draw the cache of a compiled function: its versions in the order in which they are asked.

Guards that all versions share are left out; each version shows what sets it apart.

>>> shared = ["x.dtype is float32"]
>>> draw_versions([([*shared, "k == 2"], "x * 2"), ([*shared, "k == 3"], "x * 3")])
call
asked 1st: k == 2
    all hold: x * 2
asked 2nd: k == 3
    all hold: x * 3
none holds: trace again
(and 1 guard that all versions share)
"""

from __future__ import annotations

from collections.abc import Sequence

from minitorch_compile.svg import INK, PALETTE, Drawing, arrow, box, label

Version = tuple[Sequence[str], str]
"""The guards and the graph, as text."""

LEFT, TOP, LINE, PAD, ARROW, BETWEEN = 12, 46, 16, 10, 96, 34
CHARACTER = 7.4
ORDINALS = ("1st", "2nd", "3rd")


def draw_versions(versions: Sequence[Version]) -> Drawing:
    """One box of guards a version, from the first asked down; to its right, the graph that runs if they hold."""
    shared = _shared(versions)
    apart = [([guard for guard in guards if guard not in shared], graph) for guards, graph in versions]
    checks_width = _width([guard for guards, _ in apart for guard in guards])
    graph_width = _width([graph for _, graph in apart])
    parts = [label(LEFT + checks_width / 2, 18, "call", font_weight="bold")]
    parts.append(_down(LEFT + checks_width / 2, 24, TOP))
    y: float = TOP
    for number, (guards, graph) in enumerate(apart):
        height = 2 * PAD + LINE * max(len(guards), 1)
        middle, right = y + height / 2, LEFT + checks_width
        parts += _box_of(LEFT, y, checks_width, guards or ["(no other guard)"], number)
        parts.append(arrow(f"M{right},{middle} H{right + ARROW - 2}", 1))
        parts.append(label(right + ARROW / 2, middle - 7, "all hold", size=11))
        parts += _box_of(right + ARROW, middle - LINE / 2 - PAD, graph_width, [graph], number)
        parts.append(_down(LEFT + checks_width / 2, y + height, y + height + BETWEEN))
        parts.append(label(LEFT + checks_width / 2 + 8, y + height + BETWEEN / 2 + 4, "miss", size=11, anchor="start"))
        y += height + BETWEEN
    parts.append(label(LEFT + checks_width / 2, y + 16, "trace again", font_weight="bold"))
    return Drawing(LEFT + checks_width + ARROW + graph_width + LEFT, y + 28, parts, _text(apart, len(shared)))


def _shared(versions: Sequence[Version]) -> list[str]:
    """The guards that all of several versions have."""
    if len(versions) < 2:
        return []
    return [guard for guard in versions[0][0] if all(guard in guards for guards, _ in versions)]


def _width(texts: Sequence[str]) -> float:
    return 2 * PAD + CHARACTER * max(map(len, [*texts, "(no other guard)"]))


def _box_of(x: float, y: float, width: float, lines: Sequence[str], number: int) -> list[str]:
    """Lines of text in a box in the version's colour."""
    parts = [box(x, y, width, 2 * PAD + LINE * len(lines), PALETTE[number % len(PALETTE)], rx=5)]
    for row, line in enumerate(lines):
        parts.append(label(x + PAD, y + PAD + LINE * row + 12, line, anchor="start", fill=INK))
    return parts


def _down(x: float, y: float, end: float) -> str:
    return arrow(f"M{x},{y} V{end - 2}", 0)


def _text(apart: Sequence[Version], shared: int) -> str:
    lines = ["call"]
    for number, (guards, graph) in enumerate(apart):
        ordinal = ORDINALS[number] if number < len(ORDINALS) else f"{number + 1}th"
        lines += [f"asked {ordinal}: {' and '.join(guards) or '(no other guard)'}", f"    all hold: {graph}"]
    lines.append("none holds: trace again")
    if shared:
        lines.append(f"(and {shared} guard{'s' * (shared > 1)} that all versions share)")
    return "\n".join(lines)
