"""Calls of all sheets, in all dtypes, give on a simulated GPU what they give on the CPU; `tests/cuda/sheets.py` tries
all of them."""

from __future__ import annotations

import pytest

from tests.battery.sheet import FOLDER
from tests.cuda.sheets import difference, in_turns

SHEETS = sorted(path.stem for path in FOLDER.glob("*.txt"))


def different(sheet: str, every: int) -> list[str]:
    found = [(case, difference(*case)) for case in in_turns([sheet], every)]
    return [f"{call.text} in {element}: {problem}" for (call, _, _, element), problem in found if problem is not None]


@pytest.mark.filterwarnings("ignore:.* on cuda is computed in main memory")
@pytest.mark.parametrize("sheet", SHEETS)
def test_some_calls(sheet: str) -> None:
    assert not different(sheet, 127)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.* on cuda is computed in main memory")
@pytest.mark.parametrize("sheet", SHEETS)
def test_more_calls(sheet: str) -> None:
    assert not different(sheet, 11)
