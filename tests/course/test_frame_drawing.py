"""The drawing of the frames of a run: one bar each, deeper ones further right, one colour for each verdict."""

import re

from minitorch_compile.course.drawings.frames import draw_frames

ROWS = [(0, "main", "runs as it is"), (1, "step", "captured"), (2, "inner", "captured")]


def bars(drawing):
    return re.findall(r'<rect x="([\d.]+)" y="([\d.]+)"[^>]* fill="(#\w+)"[^>]*rx', drawing.svg())


def test_deeper_frames_lie_further_right_and_later_ones_further_down():
    places = [(float(x), float(y)) for x, y, _ in bars(draw_frames(ROWS))]
    assert places == sorted(places) and len({x for x, _ in places}) == 3


def test_each_verdict_has_its_colour():
    colours = [colour for _, _, colour in bars(draw_frames(ROWS))]
    assert colours[0] != colours[1] == colours[2]


def test_the_text_says_the_same():
    assert repr(draw_frames(ROWS)).splitlines() == [
        "main         runs as it is",
        "  step       captured",
        "    inner    captured",
    ]
