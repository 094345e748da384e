"""Slopes of distances and norms where they are not differentiable, beside what PyTorch 2.13 gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import minitorch_compile as torch
import minitorch_compile.nn.functional as F

INF = float("inf")
EQUAL = [[1.0, 2.0], [1.0, 2.0], [1.0, 3.0]]


def slopes(function: Callable[..., Any], *arguments: list[Any]) -> list[Any]:
    leaves = [torch.tensor(values, requires_grad=True) for values in arguments]
    function(*leaves).sum().backward()
    return [leaf.grad.flatten().tolist() for leaf in leaves]


BACKENDS = [None, "aot_eager", "inductor"]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("p", "expected"),
    [
        (0.0, [0, 0, 0, 0, 0, 0]),
        (0.5, [0, -2, 0, -2, 0, 4]),
        (1.0, [0, -2, 0, -2, 0, 4]),
        (1.5, [0, -2, 0, -2, 0, 4]),
        (2.0, [0, -2, 0, -2, 0, 4]),
        (3.0, [0, -2, 0, -2, 0, 4]),
        (INF, [0, -2, 0, -2, 0, 4]),
    ],
)
def test_cdist_of_equal_rows_has_no_slope_between_them(p: float, expected: list[float], backend: str | None) -> None:
    def distance(x: Any) -> Any:
        return torch.cdist(x, x, p=p)

    compiled = distance if backend is None else torch.compile(distance, backend=backend)
    assert slopes(compiled, EQUAL) == [expected]


@pytest.mark.parametrize("p", [0.0, 0.5, 1.0, 1.5, 2.0, 3.0])
def test_pdist_of_equal_rows_has_no_slope_between_them(p: float) -> None:
    assert slopes(lambda x: F.pdist(x, p), EQUAL) == [[0, -1, 0, -1, 0, 2] if p else [0] * 6]


def test_all_largest_components_of_a_distance_have_a_full_slope() -> None:
    assert slopes(lambda x, y: torch.cdist(x, y, p=INF), [[1.0, 2.0]], [[0.0, 1.0]]) == [[1, 1], [-1, -1]]
    assert slopes(lambda x: F.pdist(x, INF), [[1.0, 2.0], [2.0, 3.0]]) == [[-1, -1, 1, 1]]


def test_the_largest_components_of_a_norm_share_the_slope() -> None:
    assert slopes(lambda x: x.norm(INF), [1.0, -1.0, 0.0]) == [[0.5, -0.5, 0]]
    assert slopes(lambda x: F.normalize(x, INF, 0), [1.0, 1.0]) == [[0, 0]]


@pytest.mark.parametrize("p", [0.5, 1.0, 2.0, 3.0, INF])
def test_distances_far_away_are_infinite(p: float) -> None:
    assert torch.cdist(torch.tensor([[INF, 0.0]]), torch.zeros(1, 2), p=p).tolist() == [[INF]]


@pytest.mark.parametrize("p", [0.5, 1.0, 1.5, 2.0, 3.0, INF])
def test_pairwise_distance_of_equal_rows(p: float) -> None:
    assert slopes(lambda x, y: F.pairwise_distance(x, y, p, eps=0.0), [[1.0, 2.0]], [[1.0, 2.0]]) == [[0, 0], [0, 0]]


@pytest.mark.parametrize(("x", "y", "cosine"), [(12.0, 12.0, 1.0), (12.0, -3.0, -1.0), (12.0, 0.0, 0.0)])
def test_the_cosine_of_two_numbers(x, y, cosine):
    found = torch.nn.functional.cosine_similarity(torch.tensor(x), torch.tensor(y), dim=-1)
    assert found.shape == () and abs(found.item() - cosine) < 1e-6
