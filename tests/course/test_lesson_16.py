"""What lesson 16 builds in its cells is right: a linear layer in blocks of rows."""

from __future__ import annotations

import numpy as np
import pytest

import minitorch_compile as torch
from minitorch_compile.nn import functional as F

from .notebooks import ROOT, tool

build = tool("build_course")
LESSON = ROOT / "authoring" / "lessons" / "16_products_and_epilogues.py"


@pytest.fixture(scope="module")
def lesson():
    """What the lesson's cells define, without those that measure time."""
    threads, names = torch.get_num_threads(), {"__name__": "lesson_16"}
    try:
        for cell in build.source_cells(LESSON):
            if cell.cell_type == "code" and "varies" not in cell.metadata.get("tags", []):
                exec(compile(cell.source, str(LESSON), "exec"), names)
    finally:
        torch.set_num_threads(threads)
    return names


def normal(*sizes):
    return np.random.default_rng(0).normal(size=sizes).astype(np.float32)


@pytest.mark.parametrize("block", [5, 16, 40])
def test_a_linear_layer_in_blocks_of_rows_has_its_gelu_once(lesson, block):
    x, w, bias = normal(40, 24), normal(24, 32), normal(32)
    product, out = np.zeros((40, 32), np.float32), np.zeros((40, 32), np.float32)
    lesson["linear_gelu"](0, 40, block, 24, 32, x, w, bias, product, out)
    expected = F.gelu(torch.tensor(x) @ torch.tensor(w) + torch.tensor(bias))
    np.testing.assert_allclose(out, expected.numpy(), rtol=1e-4, atol=1e-4)
