"""The switch that runs the whole stack on everything the learner has built so far."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from types import ModuleType
from typing import Any

from .checking.exercise import Exercise
from .checking.notebook_file import code_cells
from .checking.notebook_slice import slice_for
from .checking.run_cells import run_cells
from .files.course_folder import work_folder
from .grading.grade import Grade
from .grading.progress import grades_of
from .splicing.splice import splice_all


@contextmanager
def own_parts(folder: Path | None = None) -> Iterator[list[str]]:
    """Within the `with` block the package runs on every answer in work/ that passes its checks and has a splice point.

    Gives the names of those places. An answer that doesn't pass stays out, so one wrong lesson blocks no other.
    """
    folder = folder or work_folder()
    functions: dict[str, Callable[..., Any]] = {}
    for grade in grades_of(folder):
        functions |= _functions(grade, folder)
    with splice_all(functions):
        yield list(functions)


def _functions(grade: Grade, folder: Path) -> dict[str, Callable[..., Any]]:
    """The lesson's passing answers, by the place that each takes."""
    passing = [each for each, result in zip(grade.lesson.exercises, grade.results, strict=True) if result.passed]
    answers = [(each.place, each) for each in passing if each.place is not None]
    return {place: _load(exercise, folder / f"{grade.lesson.name}.ipynb") for place, exercise in answers}


def _load(exercise: Exercise, notebook: Path) -> Callable[..., Any]:
    module = ModuleType(f"your_{exercise.number.replace('.', '_')}")
    run_cells(module, [asdict(cell) for cell in slice_for(exercise.answer, code_cells(notebook))])
    return getattr(module, exercise.answer)
