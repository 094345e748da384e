"""torch.gradient, beside what PyTorch 2.13 gives."""

from __future__ import annotations

from typing import Any

import pytest

import minitorch_compile as torch

T = torch.tensor
INF = float("inf")
NAN = float("nan")
UNEVEN = (T([0.0, 1.0, 3.0, 4.0, 6.0]),)


@pytest.mark.parametrize(
    ("values", "how", "expected"),
    [
        ([1.0, INF, 2.0, 3.0], {}, [INF, 0.5, -INF, 1.0]),
        ([1.0, 2.0, -INF, INF], {"edge_order": 2}, [INF, -INF, INF, INF]),
        ([1.0, 2.0, 4.0, INF, 5.0], {"spacing": UNEVEN, "edge_order": 2}, [1.0, 1.0, INF, INF, -INF]),
        ([1.0, 2.0, 4.0, INF, NAN], {"spacing": UNEVEN}, [1.0, 1.0, INF, NAN, NAN]),
        ([1.0, 2.0, 4.0], {"spacing": INF}, [0.0, 0.0, 0.0]),
        ([1.0, 2.0, 4.0], {"spacing": 0.0}, [INF, INF, INF]),
        ([1.0, 2.0, 4.0], {"spacing": T(2.0)}, [0.5, 0.75, 1.0]),
        ([3e38, -3e38, 3e38], {"edge_order": 2}, [-INF, 0.0, INF]),
    ],
)
def test_a_point_has_no_part_in_its_own_slope(values: list[float], how: dict[str, Any], expected: list[float]) -> None:
    (slopes,) = torch.gradient(T(values), **how)
    torch.testing.assert_close(slopes, T(expected), equal_nan=True)


def test_the_spacing_may_be_complex() -> None:
    assert torch.gradient(T([1.0, 2.0, 4.0]), spacing=1j)[0].tolist() == [-1j, -1.5j, -2j]


@pytest.mark.parametrize(
    ("how", "error"),
    [
        ({"spacing": [T(2.0)]}, RuntimeError),
        ({"spacing": T([0.0, 1.0, 2.0])}, TypeError),
        ({"dim": (0, 0)}, RuntimeError),
        ({"edge_order": 3}, RuntimeError),
    ],
)
def test_what_is_refused(how: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        torch.gradient(T([1.0, 2.0, 4.0]), **how)


@pytest.mark.parametrize("edge_order", [1, 2])
@pytest.mark.parametrize("spacing", [2.0, UNEVEN])
def test_a_compiled_gradient_gives_the_same(edge_order: int, spacing: Any) -> None:
    def slope(x: Any) -> Any:
        return torch.gradient(x, spacing=spacing, edge_order=edge_order)[0]

    x = T([1.0, 2.0, 4.0, 7.0, 5.0])
    torch.testing.assert_close(torch.compile(slope)(x), slope(x))
