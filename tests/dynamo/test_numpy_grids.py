"""NumPy functions that are written out in others, for arrays of the graph."""

from __future__ import annotations

import numpy as np
import pytest

import minitorch_compile as torch


@pytest.mark.parametrize(
    "program",
    [
        lambda a, b: np.meshgrid(a, b),
        lambda a, b: np.meshgrid(a, b, indexing="ij", sparse=True),
        lambda a, b: np.meshgrid(a, b, a),
        lambda a, b: np.meshgrid(a),
        lambda a, b: [np.fft.fftshift(a), np.fft.ifftshift(b), np.fft.fftshift(np.outer(a, b), axes=1)],
    ],
)
def test_as_numpy(program):
    a, b = np.arange(3.0), np.arange(4.0) * 2
    found, wanted = torch.compile(program, backend="eager", fullgraph=True)(a, b), program(a, b)
    assert type(found) is type(wanted) and len(found) == len(wanted)
    for x, y in zip(found, wanted):
        np.testing.assert_array_equal(x, y)
