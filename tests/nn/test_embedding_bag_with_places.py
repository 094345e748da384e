"""torch.embedding_bag, with its four results, as recorded from PyTorch 2.13."""

from __future__ import annotations

import pytest

import minitorch_compile as torch

WEIGHT, INDICES, OFFSETS = torch.arange(12.0).reshape(6, 2), torch.tensor([0, 1, 2, 4]), torch.tensor([0, 2])


@pytest.mark.parametrize(
    ("more", "wanted"),
    [
        ((), ([[2.0, 4.0], [12.0, 14.0]], [], [0, 0], [0, 0])),
        ((False, 1), ([[1.0, 2.0], [6.0, 7.0]], [0, 0, 1, 1], [2, 2], [2, 2])),
        ((False, 2), ([[2.0, 3.0], [8.0, 9.0]], [0, 0, 1, 1], [2, 2], [[1, 1], [4, 4]])),
        ((False, 1, False, None, False, 1), ([[0.0, 1.0], [6.0, 7.0]], [0, 0, 1, 1], [1, 2], [1, 2])),
    ],
)
def test_results(more, wanted):
    assert tuple(x.tolist() for x in torch.embedding_bag(WEIGHT, INDICES, OFFSETS, *more)) == wanted


def test_another_mode_is_refused():
    with pytest.raises(ValueError, match="mode must be 0"):
        torch.embedding_bag(WEIGHT, INDICES, OFFSETS, False, 3)
