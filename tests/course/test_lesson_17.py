"""What lesson 17 builds in its cells is right: blocks of keys, places in memory, a choice."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import minitorch_compile as torch
from authoring.checks.lesson_14_fusion_and_scheduling.memory import check_pair
from minitorch_compile.inductor.schedule.memory_plan import Life
from minitorch_compile.nn import functional as F

from .notebooks import ROOT, tool

build = tool("build_course")
LESSON = ROOT / "authoring" / "lessons" / "17_memory_attention_autotune.py"


@pytest.fixture(scope="module")
def lesson():
    """What the lesson's cells define, without those that measure time."""
    threads, names = torch.get_num_threads(), {"__name__": "lesson_17"}
    try:
        for cell in build.source_cells(LESSON):
            if cell.cell_type == "code" and "varies" not in cell.metadata.get("tags", []):
                exec(compile(cell.source, str(LESSON), "exec"), names)
    finally:
        torch.set_num_threads(threads)
    return names


def normal(*sizes):
    return np.random.default_rng(0).normal(size=sizes).astype(np.float32)


@pytest.mark.parametrize("block", [1, 7, 64, 300])
def test_attention_in_blocks_of_keys_is_attention(lesson, block):
    q, k, v = normal(3, 200, 16)
    expected = F.scaled_dot_product_attention(*(torch.tensor(each)[None] for each in (q, k, v)))[0]
    np.testing.assert_allclose(lesson["attention_in_blocks"](q, k, v, block), expected.numpy(), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("fit", ["first_fit", "best_fit"])
@pytest.mark.parametrize("seed", range(20))
def test_its_planner_puts_no_two_buffers_that_are_alive_into_the_same_place(lesson, fit, seed):
    lives = lesson["random_lives"](seed)
    offsets = {life.name: at for life, at in lesson["plan"](lives, lambda life: -life.nbytes, lesson[fit]).items()}
    assert len(offsets) == len(lives)
    for number, first in enumerate(lives):
        for second in lives[:number]:
            check_pair(offsets, first, second)


def test_its_planner_takes_the_tightest_gap_that_is_wide_enough(lesson):
    lives = [Life(name, 0, 1, size) for name, size in (("a", 64), ("b", 192), ("c", 64), ("d", 128), ("e", 64))]
    placed = dict(zip(lives, (0, 64, 256, 320, 448)))
    del placed[lives[1]], placed[lives[3]]
    gap = lesson["best_fit"]([g for g in lesson["gaps"](Life("new", 0, 1, 100), placed) if g[1] >= 100])
    assert gap == (320, 128)


def test_a_choice_is_measured_once_for_each_key(lesson, tmp_path, monkeypatch):
    measured = []
    monkeypatch.setitem(lesson, "candidates", lambda *shape: {"a": lambda: measured.append("a")})
    file = tmp_path / "choices.json"
    answers = [lesson["chosen"](shape, file)[1] for shape in ((1, 1, 1), (1, 1, 1), (2, 2, 2))]
    assert answers == ["measured", "remembered", "measured"]
    assert len(measured) == 2 * (7 + 1)


def test_its_candidates_compute_the_same(lesson, monkeypatch):
    x, w, out = normal(300, 24), normal(24, 40), np.zeros((300, 40), np.float32)
    given = [SimpleNamespace(astype=lambda _, each=each: each) for each in (x, w, out)]
    monkeypatch.setitem(lesson, "rng", SimpleNamespace(normal=lambda size: given.pop(0)))
    calls = lesson["candidates"](300, 24, 40)
    assert len(calls) == 4
    for name, call in calls.items():
        out[:] = np.nan
        call()
        np.testing.assert_allclose(out, np.tanh(x @ w), rtol=1e-4, atol=1e-5, err_msg=name)
