"""Calls of all sheets give on a simulated GPU what they give on the CPU; `tests/cuda/sheets.py` tries all of them."""

from __future__ import annotations

import pytest

from tests.battery.sheet import FOLDER
from tests.cuda.sheets import cases, difference

SHEETS = sorted(path.stem for path in FOLDER.glob("*.txt"))


def different(sheet: str, every: int) -> list[str]:
    found = [(call, difference(call, layout, gradients)) for call, layout, gradients in cases([sheet], every)]
    return [f"{call.text}: {problem}" for call, problem in found if problem is not None]


@pytest.mark.filterwarnings("ignore:.* on cuda is computed in main memory")
@pytest.mark.parametrize("sheet", SHEETS)
def test_some_calls(sheet: str) -> None:
    assert not different(sheet, 127)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.* on cuda is computed in main memory")
@pytest.mark.parametrize("sheet", SHEETS)
def test_more_calls(sheet: str) -> None:
    assert not different(sheet, 11)
