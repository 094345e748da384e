"""A scatter into a single element: no loop separates the initial store from the additions."""

from __future__ import annotations

import pytest

import minitorch_compile as torch


@pytest.mark.parametrize("backend", ["loops", "inductor"])
def test_additions_come_after_the_initial_value(backend: str) -> None:
    x = torch.tensor([2.0], requires_grad=True)
    chosen = torch.compile(lambda x, i: torch.index_select(x, 0, i), backend=backend)(x, torch.tensor([0, 0, 0]))
    chosen.sum().backward()
    assert x.grad.tolist() == [3.0]
