"""The steps of a block: all of them as one picture, and one at a time where scripts run."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import numpy as np
import pytest

from minitorch_compile.course.drawings.block_steps import BEYOND, TOUCHED, draw_block
from minitorch_compile.cuda_simulator import Recorder, cuda, simulate

from .notebooks import tool

SVG = "{http://www.w3.org/2000/svg}"


def strided(x, out):
    tile = cuda.shared.array(64, np.float32)
    thread = cuda.threadIdx.x
    tile[2 * thread] = x[2 * thread]
    cuda.syncthreads()
    out[thread] = tile[2 * thread]


def events(kernel=strided, threads=32):
    recorder = Recorder()
    simulate(kernel, counts=recorder)[1, threads](np.zeros(256, np.float32), np.zeros(256, np.float32))
    return recorder.events


def test_each_step_says_what_it_costs():
    assert [re.split("  +", line)[1:3] for line in repr(draw_block(events())).splitlines()] == [
        ["load x", "8 sectors, 4 would do"],
        ["store tile", "2 passes, 1 would do"],
        ["barrier", "all wait for all"],
        ["load tile", "2 passes, 1 would do"],
        ["store out", "4 sectors, coalesced"],
    ]


def test_what_is_touched_is_filled_and_what_costs_too_much_is_red():
    steps = ElementTree.fromstring(draw_block(events()).svg()).findall(f"{SVG}g")
    load, _, barrier, _, store = steps
    filled = [[rect for rect in step.iter(f"{SVG}rect") if rect.get("fill") == TOUCHED] for step in steps]
    assert [len(each) for each in filled] == [32, 32, 0, 32, 1]  # every second word; side by side it is one run
    assert any(text.get("fill") == BEYOND for text in load.iter(f"{SVG}text"))
    assert not any(text.get("fill") == BEYOND for each in (barrier, store) for text in each.iter(f"{SVG}text"))
    assert load.findall(f"{SVG}path")[-1].get("d").count("L") == 32  # a line from each thread


def test_a_notebook_gets_buttons_and_a_viewer_without_scripts_all_steps():
    html = draw_block(events())._repr_mimebundle_()["text/html"]
    assert html.count("<button") == 4 and "hidden>" in html  # the script shows them
    stored = tool("stored_pictures").standalone(html)
    assert stored.count('class="mtc-step"') == 5 and "<script" not in stored and "<button" not in stored
    heights = [int(number) for number in re.findall(r"heights = \[(.*)\]", html)[0].split(", ")]
    tops = [int(number) for number in re.findall(r"translate\(0 (\d+)\)", stored)]
    assert tops == [sum(heights[:n]) for n in range(5)]


@pytest.mark.parametrize(
    "wanted, message",
    [
        (lambda: [], "no event was recorded"),
        (lambda: 9 * events(), "at most 40 steps can be read, got 45"),
        (lambda: events(far, 96), "at most 2 warps can be drawn, the block has 3"),
    ],
)
def test_what_can_not_be_read_is_refused(wanted, message):
    with pytest.raises(ValueError, match=message):
        draw_block(wanted())


def far(x, out):
    out[cuda.grid(1)] = x[cuda.grid(1)]
