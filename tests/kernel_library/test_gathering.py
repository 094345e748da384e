"""Gathering and scattering along a dimension on kernels: what the formulas give."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import minitorch_compile as torch
from minitorch_compile import config
from minitorch_compile.kernel_library import gathering_short_cuts, library
from tests.kernel_library.used_library import used_library

# The sizes of the input, the dimension, and how many places along it.
CALLS = [((8, 70, 9, 1), 1, 33), ((90, 50), 0, 120), ((90, 50), -1, 7), ((5000,), 0, 6000), ((2, 1, 3000), 1, 4)]


@pytest.fixture
def few() -> Iterator[library.Library]:
    yield from used_library(("gather_along", "scatter_along"))


def given(sizes: tuple[int, ...], dim: int, count: int) -> tuple[Any, Any, Any]:
    """Input, index, source."""
    rng, places = np.random.default_rng(0), list(sizes)
    places[dim] = count
    index = torch.tensor(rng.integers(0, sizes[dim], places))
    x, source = (torch.tensor(rng.normal(size=shape).astype(np.float32)) for shape in (sizes, places))
    return x, index, source


OPS: list[Callable[..., Any]] = [
    lambda x, dim, index, source: torch.gather(x, dim, index),
    lambda x, dim, index, source: torch.scatter_add(x, dim, index, source),
    lambda x, dim, index, source: torch.scatter(x, dim, index, source),
    lambda x, dim, index, source: x.clone().scatter_add_(dim, index, source),
]


@pytest.mark.parametrize(("sizes", "dim", "count"), CALLS)
@pytest.mark.parametrize("op", range(len(OPS)))
def test_kernels_give_what_the_formulas_do(
    few: library.Library, monkeypatch: pytest.MonkeyPatch, op: int, sizes: tuple[int, ...], dim: int, count: int
) -> None:
    x, index, source = given(sizes, dim, count)
    names: list[str] = []
    plan = gathering_short_cuts.planned
    monkeypatch.setattr(gathering_short_cuts, "planned", lambda name: (names.append(name), plan(name))[1])
    found = OPS[op](x, dim, index, source)
    assert names
    with config.patch(eager_kernels="off"):
        assert torch.allclose(found, OPS[op](x, dim, index, source), atol=1e-6)


@pytest.mark.parametrize("place", [-1, 50])
@pytest.mark.parametrize("op", range(len(OPS)))
def test_a_place_that_is_not_there_is_refused(few: library.Library, op: int, place: int) -> None:
    x, index, source = given((90, 50), 1, 7)
    index[3, 5] = place
    with pytest.raises(RuntimeError, match="index out of bounds"):
        OPS[op](x, 1, index, source)
