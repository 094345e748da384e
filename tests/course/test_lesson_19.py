"""What lesson 19 builds in its cells is right: a machine of generators, and the arithmetic of occupancy."""

from __future__ import annotations

import random

import numpy as np
import pytest

from .notebooks import ROOT, tool

build = tool("build_course")
LESSON = ROOT / "authoring" / "lessons" / "19_cuda_kernels.py"


@pytest.fixture(scope="module")
def lesson():
    """What the two cells define that need no other."""
    names = {"__name__": "lesson_19"}
    for cell in build.source_cells(LESSON):
        if "def launch(" in cell.source or "def warps_at_once(" in cell.source:
            exec(compile(cell.source.partition("\n\n\nrows = ")[0], str(LESSON), "exec"), names)
    return names


def tournament(block, thread, shared, x, out):
    shared[thread] = x[8 * block + thread]
    yield
    for step in (4, 2, 1):
        if thread < step:
            shared[thread] += shared[thread + step]
        yield
    if thread == 0:
        out[block] = shared[0]


def shuffled(running):
    return random.sample(running, len(running))


@pytest.mark.parametrize("order", [list, lambda running: running[::-1], shuffled])
def test_a_kernel_with_barriers_gives_the_same_in_any_order(lesson, order):
    x, out = np.arange(24), np.zeros(3, int)
    lesson["launch"](tournament, 3, 8, x, out, order=order)
    assert out.tolist() == x.reshape(3, 8).sum(1).tolist()


@pytest.mark.parametrize(
    ("threads", "registers", "shared", "warps"),
    [  # by the rules of NVIDIA's occupancy calculator, for compute capability 9.0
        (256, 32, 0, 64),
        (256, 33, 0, 48),
        (256, 64, 0, 32),
        (128, 255, 0, 8),
        (32, 32, 0, 32),
        (1024, 32, 0, 64),
        (1024, 33, 0, 32),
        (256, 32, 100 << 10, 16),
        (256, 32, 227 << 10, 8),
    ],
)
def test_the_warps_that_fit_are_those_of_the_architecture(lesson, threads, registers, shared, warps):
    assert lesson["warps_at_once"](threads, registers, shared)[0] == warps
