"""Loops in strides, written by adding, run as `range` does."""

from __future__ import annotations

import pytest

from minitorch_compile.inductor.device_calls.strided_loops import by_adding

LOOPS = {
    "nested": "for i in range(a, b, s):\n for j in range(i, b, s):\n  seen.append((i, j))",
    "what a round changes": "for i in range(a, b, s):\n seen.append(i)\n i, b, s = i + 1, b + 1, 1",
    "one that goes on": "for i in range(a, b, s):\n if i == a + s:\n  continue\n seen.append(i)",
    "one that ends early": "for i in range(a, b, s):\n seen.append(i)\n if i > 3:\n  break",
    "backwards": "for i in range(b, a, -1):\n seen.append(i)",
    "by a number": "for i in range(a, b, 2):\n seen.append(i)",
}


@pytest.mark.parametrize("loop", LOOPS.values(), ids=LOOPS)
@pytest.mark.parametrize("limits", [(0, 7, 3), (2, 2, 1), (5, 1, 2), (0, 6, 2)])
def test_the_same_rounds(loop: str, limits: tuple[int, int, int]) -> None:
    rounds = []
    for text in (loop, by_adding(loop)):
        seen: list[object] = []
        exec(text, dict(zip("abs", limits)) | {"seen": seen})
        rounds.append(seen)
    assert rounds[0] == rounds[1]


def test_long_bodies_are_written_round_by_round() -> None:
    body = "".join(f"  seen.append(step * {n} + k)\n" for n in range(10))
    text = f"for step in range(3):\n for k in range(4):\n{body}"
    short = "for step in range(3):\n seen.append(step)"
    assert "for step" not in by_adding(text) and "for step" in by_adding(short)
    rounds: list[list[int]] = [[], []]
    for seen, written in zip(rounds, (text, by_adding(text))):
        exec(written, {"seen": seen})
    assert rounds[0] == rounds[1]
