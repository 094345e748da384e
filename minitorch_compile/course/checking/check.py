"""`check("01.1")` and `passed("01.1")` in a notebook cell: judge what the cells run so far define."""

from __future__ import annotations

import sys
import tokenize
from collections.abc import Sequence
from pathlib import Path

from ..files.course_folder import work_folder_or_none
from .check_process import judged, prepare
from .exercise import Exercise
from .lessons import find_exercise
from .result import Result
from .verdicts import Verdicts


def check(number: str, cells: Sequence[str] | None = None) -> None:
    """Judge exercise `number` and print the result. `cells` defaults to the sources of the cells run so far."""
    cells = cells if cells is not None else executed_cells(sys._getframe(1).f_lineno)
    print(_judged(find_exercise(number), cells, explain=True))


def passed(number: str, cells: Sequence[str] | None = None) -> bool:
    """Whether the answer passes all its cases; says so if not. It guards cells that would run the answer right here.

    What has been judged before isn't judged again.
    """
    exercise, work = find_exercise(number), work_folder_or_none()
    cells = cells if cells is not None else executed_cells(sys._getframe(1).f_lineno)
    known = Verdicts(work).recall(exercise, cells) if work is not None else None
    result = known or _judged(exercise, cells)
    if not result.passed:
        print(f'{number} does not pass yet, so this cell does nothing: check("{number}") says why')
    elif why_not := exercise.usable(work):
        print(f"{number} passes, but this cell does nothing yet: {why_not}")
        return False
    return result.passed


def expect_checks() -> None:
    """In a notebook whose running cell speaks of checks, the first one will find its process there."""
    record = vars(sys.modules["__main__"]).get("In")
    if isinstance(record, list) and record and "check" in str(record[-1]):
        prepare()


def _judged(exercise: Exercise, cells: Sequence[str], explain: bool = False) -> Result:
    work = work_folder_or_none()
    result, passed = judged(exercise, cells, work, explain)
    if work is not None:
        verdicts = Verdicts(work)
        verdicts.remember(exercise, cells, result, passed)
        verdicts.write()
    return result


def executed_cells(line: int) -> list[str]:
    """The cells that this notebook ran, in the order of running; of a plain script, its text up to the calling line."""
    main = sys.modules["__main__"]
    if isinstance(record := vars(main).get("In"), list):  # IPython's own; it holds the running cell, too
        return [cell for cell in record if isinstance(cell, str)]  # it is a plain list, and anybody can add to it
    script = Path(getattr(main, "__file__", None) or "")
    if not script.is_file():
        return []
    with tokenize.open(script) as file:
        return ["".join(file.readlines()[:line])]
