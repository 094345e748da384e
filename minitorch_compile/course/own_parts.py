"""The switch that runs the whole stack on everything the learner has built so far."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from types import ModuleType
from typing import Any

from .checking.exercise import Exercise
from .checking.lessons import all_lessons
from .checking.notebook_file import NotANotebook, code_cells
from .checking.notebook_slice import slice_for
from .checking.run_cells import run_cells
from .checking.verdicts import Verdicts
from .files.course_folder import work_folder
from .splicing.splice import splice_all

SECONDS = 60.0


@contextmanager
def own_parts(folder: Path | None = None, seconds: float = SECONDS) -> Iterator[list[str]]:
    """Within the `with` block the package runs on every answer in work/ that passes its checks and has a splice point.

    Gives the names of those places. An answer that doesn't pass stays out, so one wrong lesson blocks no other. What
    has been judged before isn't judged again; after so many seconds no further lesson is begun, and a line says so.
    """
    functions = _passing(folder or work_folder(), time.monotonic() + seconds)
    with splice_all(functions):
        yield list(functions)


def _passing(folder: Path, deadline: float) -> dict[str, Callable[..., Any]]:
    """The passing answers of all lessons, by the place that each takes."""
    verdicts, functions, left_out = Verdicts(folder), dict[str, Callable[..., Any]](), list[str]()
    for lesson in all_lessons():
        exercises = [each for each in lesson.exercises if each.place is not None]
        try:
            cells = code_cells(folder / f"{lesson.name}.ipynb")
        except NotANotebook:  # `progress` says what is wrong with it
            continue
        if numbers := verdicts.unknown(exercises, cells):
            if time.monotonic() > deadline:
                left_out += numbers
                continue
            print(f"judging {', '.join(numbers)} ...", flush=True)
        results = verdicts.judge_all(exercises, cells)
        verdicts.write()
        passing = [each for each, result in zip(exercises, results, strict=True) if result.passed]
        functions |= {each.place: _load(each, cells) for each in passing if each.place is not None}
    if left_out:
        print(f"left out, as they were not judged in time: {', '.join(left_out)}. The next run goes on with them")
    return functions


def _load(exercise: Exercise, cells: list[str]) -> Callable[..., Any]:
    module = ModuleType(f"your_{exercise.number.replace('.', '_')}")
    run_cells(module, [asdict(cell) for cell in slice_for(exercise.answer, cells)])
    return getattr(module, exercise.answer)
