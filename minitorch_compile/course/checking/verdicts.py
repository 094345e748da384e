"""What was found of answers that haven't changed since: `work/.progress.json`, which can be deleted without loss.

An answer that has passed has passed: its text, the checks and the reference's steps decide, whatever else of `mini` the
learner has written meanwhile. What has not passed is looked up with all that it was judged beside. Each result is
sealed (`files/seal.py`): one that somebody wrote by hand is not believed.
"""

from __future__ import annotations

import hashlib
import hmac
import inspect
import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from ..files.kept_file import read_kept, write_kept
from ..files.seal import seal
from .check_process import is_of_the_answer, judged_all
from .exercise import Exercise, NotWritten, Submission
from .notebook_slice import CellSyntaxError
from .result import Result

UNJUDGED = (LookupError, CellSyntaxError, NotWritten)


class Verdicts:
    """Those of one learner's folder."""

    def __init__(self, work: Path) -> None:
        self.work, self.path = work, work / ".progress.json"
        self.kept: dict[str, Any] = read_kept(self.path)

    def recall(self, exercise: Exercise, cells: Sequence[str]) -> Result | None:
        """The result of this answer, if it is known."""
        passed = [_recalled(exercise, key, self.kept) for key in _answer_keys(exercise, cells, self.work)]
        whole = _recalled(exercise, _whole_key(exercise, cells, self.work), self.kept)
        return next((result for result in [*passed, whole] if result is not None), None)

    def last(self, exercise: Exercise) -> Result | None:
        """What was found of it last, whatever has become of the answer since."""
        keys = [key for key in self.kept if key.startswith(f"{exercise.number} ")]
        return _recalled(exercise, keys[0], self.kept) if keys else None

    def remember(self, exercise: Exercise, cells: Sequence[str], result: Result, passed: Submission | None) -> None:
        """Notes the result; `passed` is what of the answer has."""
        if not is_of_the_answer(result):
            return
        whole = _whole_key(exercise, cells, self.work)
        for stale in [key for key in self.kept if key.startswith(f"{exercise.number} ") and key != whole]:
            del self.kept[stale]
        self.kept[whole] = _sealed(whole, result)
        if passed is not None and result.passed:
            key = _answer_key(exercise, exercise.beside(passed, {}))
            self.kept[key] = _sealed(key, result)
            exercise.remember(passed, self.work)

    def write(self) -> None:
        if self.work.is_dir():
            write_kept(self.path, self.kept)

    def judge_all(self, exercises: Sequence[Exercise], cells: Sequence[str]) -> list[Result]:
        """The results: what is not known is judged, and remembered."""
        known = {exercise.number: self.recall(exercise, cells) for exercise in exercises}
        fresh = [exercise for exercise in exercises if known[exercise.number] is None]
        for exercise, (result, passed) in zip(fresh, judged_all(fresh, cells, self.work), strict=True):
            self.remember(exercise, cells, result, passed)
            known[exercise.number] = result
        return [result for result in known.values() if result is not None]

    def unknown(self, exercises: Sequence[Exercise], cells: Sequence[str]) -> list[str]:
        """The numbers of those which a process would have to judge."""
        return [each.number for each in exercises if self.recall(each, cells) is None and self._is_there(each, cells)]

    def _is_there(self, exercise: Exercise, cells: Sequence[str]) -> bool:
        try:
            return bool(exercise.submissions(cells, self.work))
        except UNJUDGED:
            return False


def _sealed(key: str, result: Result) -> dict[str, Any]:
    data = result.to_json()
    return {"result": data, "seal": seal(key, json.dumps(data, sort_keys=True))}


def _recalled(exercise: Exercise, key: str, kept: dict[str, Any]) -> Result | None:
    """A remembered result; None if there is none, or what was remembered is no result of this exercise, or forged."""
    try:
        data, mark = kept[key]["result"], kept[key]["seal"]
        if not hmac.compare_digest(mark, seal(key, json.dumps(data, sort_keys=True))):
            return None
        result = Result.from_json(data)
    except (TypeError, KeyError, AttributeError):
        return None
    remembered = [exercise.number, exercise.title, *((case.title, case.points) for case in exercise.cases)]
    fits = remembered == [result.number, result.title, *((case.title, case.points) for case in result.cases)]
    return result if fits and result.is_well_formed() else None


def _whole_key(exercise: Exercise, cells: Sequence[str], work: Path) -> str:
    """Changes with the answer's text, with all that stands beside it, and with the checks that judge it."""
    try:
        answer = "\0".join(each.depends_on for each in exercise.submissions(cells, work))
    except UNJUDGED as problem:
        answer = str(problem)
    return f"{exercise.number} {_fingerprint(exercise, answer)}"


def _answer_keys(exercise: Exercise, cells: Sequence[str], work: Path) -> list[str]:
    try:
        answers = {each.answer: each for each in exercise.submissions(cells, work)}
    except UNJUDGED:
        return []
    return [_answer_key(exercise, exercise.beside(each, {})) for each in answers.values()]


def _answer_key(exercise: Exercise, alone: Submission) -> str:
    """Changes with the answer's text, the reference's steps and the checks."""
    return f"passed {exercise.number} {_fingerprint(exercise, alone.depends_on)}"


def _fingerprint(exercise: Exercise, answer: str) -> str:
    text = f"{answer}\0{judges_text(exercise)}".encode(errors="backslashreplace")
    return hashlib.sha256(text).hexdigest()[:16]


def judges_text(exercise: Exercise) -> str:
    """All that judges the exercise's lesson."""
    return _texts(Path(inspect.getfile(exercise.cases[0].judge)).parent)


@cache
def _texts(folder: Path) -> str:
    """What this process has imported doesn't change under it."""
    return "\n".join(path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.py")))
