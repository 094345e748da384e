"""Programs of tests/models train on a simulated GPU as PyTorch recorded it; `tests/cuda/models.py` tries all."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.as_torch.measure import model_files
from tests.cuda.models import difference

FILES = {file.stem: file for file in model_files()}
slow = pytest.mark.slow


@pytest.mark.filterwarnings("ignore:.* on cuda is computed in main memory")
@pytest.mark.parametrize("name", ["mixture_density", *(pytest.param(n, marks=slow) for n in ("ppo", "two_tower"))])
def test_a_program_trains_as_recorded(name: str) -> None:
    assert difference(Path(FILES[name])) == []
