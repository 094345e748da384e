"""A whole class: each lesson of each learner is graded once, whatever happens meanwhile.

What was graded lies in a file for each learner, with a fingerprint of the notebook, of the learner's `mini` and of the
checks: after a kill the same command goes on where it was, and a submission that came in anew is graded anew. The unit
is a lesson of one learner, and as many are graded at a time as there are processors. Nothing is written into a
submission, and no link in it is followed: it might lead to somebody else's.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ..checking.check_process import is_of_the_answer, judged, unjudged
from ..checking.lessons import Lesson, all_lessons
from ..checking.notebook_file import MOST_BYTES, NotANotebook, code_cells
from ..checking.result import Result
from ..checking.verdicts import judges_text
from ..files.kept_file import read_kept, write_kept
from ..files.regular_file import read_regular_file
from ..files.seal import seal
from ..sandbox.places import hiding
from .grade import Grade, ungraded
from .roster import Learner

MOST_MINI_BYTES = 2**20
Report = Callable[[Learner, Grade, int, int], None]


@dataclass
class Submission:
    """A learner's folder, and what is known of it."""

    learner: Learner
    folder: Path
    kept_in: Path
    grades: dict[str, Grade] = field(default_factory=dict)
    kept: dict[str, Any] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def points(self) -> int:
        return sum(grade.points for grade in self.grades.values())

    @property
    def total(self) -> int:
        return sum(grade.total for grade in self.grades.values())

    @property
    def notes(self) -> list[str]:
        """What is wrong with its files, or kept them from being judged."""
        return [grade.note for grade in self.grades.values() if grade.note]


def grade_class(
    folder: Path,
    learners: Sequence[Learner],
    out: Path,
    processes: int,
    report: Report = lambda *_: None,
    lessons: Sequence[Lesson] = (),
) -> list[Submission]:
    """The submissions of all learners, graded. `report` is told of each lesson, how many are done, and of how many."""
    lessons = lessons or all_lessons()
    (out / "graded").mkdir(parents=True, exist_ok=True)
    submissions = [_begin(folder, learner, out / "graded") for learner in learners]
    units = [(submission, lesson) for submission in submissions for lesson in lessons]
    with hiding(folder, out), ThreadPoolExecutor(max_workers=processes) as pool:
        running = {pool.submit(_grade, *unit): unit for unit in units}
        try:
            for done, future in enumerate(as_completed(running), 1):
                submission, lesson = running[future]
                submission.grades[lesson.number] = future.result()
                report(submission.learner, submission.grades[lesson.number], done, len(units))
        finally:
            pool.shutdown(cancel_futures=True)  # who interrupts it waits for what is being graded, not for all
    for submission in submissions:
        submission.grades = {lesson.number: submission.grades[lesson.number] for lesson in lessons}
    return submissions


def _begin(folder: Path, learner: Learner, graded: Path) -> Submission:
    name = hashlib.sha256(learner.id.encode(errors="backslashreplace")).hexdigest()[:16]  # an id may be no file's name
    path = graded / f"{name}.json"
    return Submission(learner, folder / learner.folder, path, kept=read_kept(path))


def _grade(submission: Submission, lesson: Lesson) -> Grade:
    """Never raises: what can't be graded has no points, and says why."""
    path = submission.folder / f"{lesson.name}.ipynb"
    try:
        if link := next((part for part in (submission.folder, path) if part.is_symlink()), None):
            raise NotANotebook(f"{link.name} is a link; hand in the file itself")
        mini = _mini(submission.folder)
        key = _key(lesson, path, mini)
        known = _recalled(lesson, submission.kept.get(lesson.number), key)
        if known is not None:
            return known
        cells = code_cells(path)
        work = submission.folder if mini else None
        grade = Grade(lesson, tuple(judged(exercise, cells, work)[0] for exercise in lesson.exercises))
    except NotANotebook as problem:
        return ungraded(lesson, path, str(problem))
    except Exception as error:  # noqa: BLE001 (one submission must not keep the others from being graded)
        note = f"{path.name} could not be graded: {type(error).__name__}: {error}"
        return Grade(lesson, tuple(unjudged(exercise, note) for exercise in lesson.exercises), note)
    if note := next((result.note for result in grade.results if not is_of_the_answer(result)), ""):
        return replace(grade, note=note)  # and not kept: the same command judges it again
    with submission.lock:
        submission.kept[lesson.number] = _sealed(key, grade)
        write_kept(submission.kept_in, submission.kept)
    return grade


def _mini(folder: Path) -> dict[str, bytes]:
    """The learner's own files of `mini`; none if a link is among them."""
    own = folder / "mini"
    if own.is_symlink() or not own.is_dir():
        return {}
    found = sorted(path for path in own.iterdir() if path.suffix in (".py", ".json"))
    if any(path.is_symlink() for path in found):
        return {}
    return dict(_read(found))


def _read(paths: Sequence[Path]) -> Iterator[tuple[str, bytes]]:
    for path in paths:
        try:
            yield path.name, read_regular_file(path, MOST_MINI_BYTES)
        except (OSError, ValueError):  # it is told of where a step would be read from it
            yield path.name, b""


def _key(lesson: Lesson, path: Path, mini: dict[str, bytes]) -> str:
    """Changes with all on which the grade of a lesson depends."""
    text = hashlib.sha256()
    try:
        text.update(read_regular_file(path, MOST_BYTES))
    except (OSError, ValueError) as problem:
        text.update(str(problem).encode())
    for name, contents in mini.items():
        text.update(f"\0{name}\0".encode(errors="backslashreplace") + contents)
    text.update(judges_text(lesson.exercises[0]).encode())
    return text.hexdigest()


def _sealed(key: str, grade: Grade) -> dict[str, Any]:
    results = [result.to_json() for result in grade.results]
    return {"key": key, "seal": seal(key, json.dumps(results, sort_keys=True)), "results": results}


def _recalled(lesson: Lesson, kept: Any, key: str) -> Grade | None:
    """What was graded, if it was of the same files and by the same checks."""
    try:
        if kept["key"] != key or kept["seal"] != seal(key, json.dumps(kept["results"], sort_keys=True)):
            return None
        results = tuple(Result.from_json(data) for data in kept["results"])
    except (TypeError, KeyError):
        return None
    fits = [result.number for result in results] == [exercise.number for exercise in lesson.exercises]
    return Grade(lesson, results) if fits else None
