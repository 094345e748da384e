"""fill_diagonal_ on tensors in any memory layout, beside what PyTorch 2.13 gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import minitorch_compile as torch

WRAPPED = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
LAYOUTS = {
    "row-major": lambda: torch.zeros(7, 3),
    "transposed": lambda: torch.zeros(3, 7).t(),
    "every second column": lambda: torch.zeros(7, 6)[:, ::2],
    "every second row": lambda: torch.zeros(14, 3)[::2],
    "offset": lambda: torch.zeros(8, 3)[1:],
}


@pytest.mark.parametrize("made", LAYOUTS.values(), ids=LAYOUTS)
def test_a_wrapped_diagonal_begins_again_below_a_row(made: Callable[[], Any]) -> None:
    assert made().fill_diagonal_(1, wrap=True).tolist() == WRAPPED


@pytest.mark.parametrize("made", LAYOUTS.values(), ids=LAYOUTS)
def test_a_plain_diagonal_ends(made: Callable[[], Any]) -> None:
    assert made().fill_diagonal_(1).tolist() == WRAPPED[:3] + [[0, 0, 0]] * 4


def test_wrapping_where_there_is_nothing_or_no_room() -> None:
    assert torch.zeros(4, 0).fill_diagonal_(1, wrap=True).tolist() == [[]] * 4
    assert torch.zeros(3, 1).fill_diagonal_(1, wrap=True).flatten().tolist() == [1, 0, 1]
    assert torch.zeros(2, 3).fill_diagonal_(1, wrap=True).tolist() == [[1, 0, 0], [0, 1, 0]]


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_a_compiled_wrapped_diagonal_and_its_gradient(backend: str) -> None:
    def filled(x: Any) -> Any:
        return (x * 2).t().fill_diagonal_(1, wrap=True)

    x = torch.ones(3, 7, requires_grad=True)
    result = torch.compile(filled, backend=backend)(x)
    result.sum().backward()
    assert result.tolist() == [[2 - entry for entry in row] for row in WRAPPED]
    assert x.grad.t().tolist() == [[2 - 2 * entry for entry in row] for row in WRAPPED]
