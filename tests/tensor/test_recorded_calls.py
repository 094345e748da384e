"""Creation, views, indexing, joining and products do what PyTorch does, also with awkward arguments."""

from __future__ import annotations

import pytest

from minitorch_compile import config
from tests.tensor.recorded_calls import calls, differences, evaluate, families, stand_in_torch

CALLS = [(line, result) for family in families() for line, result in calls(family).items()]


@pytest.mark.parametrize(("line", "recorded"), CALLS, ids=[line for line, _ in CALLS])
def test_a_call_gives_what_pytorch_recorded(line: str, recorded: object) -> None:
    with config.patch(random_stream="mt19937"):  # PyTorch's numbers
        ours = evaluate(line, stand_in_torch())
    assert list(differences(recorded, ours)) == []
