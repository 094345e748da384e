"""The drawing of counts: a bar for what a line needs, a red one for what it costs beyond."""

from xml.etree import ElementTree

import numpy as np
import pytest

from minitorch_compile.cuda_simulator import Counts, cuda, simulate
from minitorch_compile.cuda_simulator.counts_drawing import BEYOND, WIDTH, draw_counts
from minitorch_compile.svg import PALETTE


def strided(out, x):
    i = cuda.grid(1)
    if i % 2 == 0:
        out[i] = x[4 * i]  # a < b


def drawn(kernel):
    counts = simulate(kernel, counts=True)[1, 64](np.zeros(64, np.float32), np.zeros(256, np.float32)).counts
    return draw_counts(counts)


def test_bars_show_what_is_needed_and_what_is_beyond():
    svg = ElementTree.fromstring(drawn(strided).svg())
    widths = {}
    for rect in svg.iter("{http://www.w3.org/2000/svg}rect"):
        widths.setdefault(rect.get("fill"), []).append(float(rect.get("width")))
    # Half of the threads work on the last line; 8 of its 40 sectors are needed; each warp diverges at the `if`.
    assert widths[PALETTE[0]] == [WIDTH, WIDTH, WIDTH / 2, WIDTH * 8 / 40]
    assert widths[BEYOND] == [WIDTH / 2, WIDTH * 32 / 40, WIDTH]


def test_the_source_stands_beside_and_the_text_form_is_the_table():
    drawing = drawn(strided)
    assert "        out[i] = x[4 * i]  # a &lt; b</text>" in drawing.svg().replace("\N{NO-BREAK SPACE}", " ")
    assert "2 of 2" in drawing.svg() and "sectors of 32 bytes" in drawing.svg()
    assert "passes over banks" not in drawing.svg()  # there is no shared memory
    assert repr(drawing).split("\n")[0].split()[:2] == ["steps", "threads"]


def test_nothing_counted_is_an_error():
    with pytest.raises(ValueError, match=r"nothing was counted; launch with simulate\(kernel, counts=True\)"):
        draw_counts(Counts())
    with pytest.raises(ValueError, match="nothing was counted"):
        draw_counts(None)


def test_launches_can_add_up():
    counts = Counts()
    for _ in range(3):
        simulate(strided, counts=counts)[1, 64](np.zeros(64, np.float32), np.zeros(256, np.float32))
    assert counts.of("if").divergent_branches == 3 * 2
