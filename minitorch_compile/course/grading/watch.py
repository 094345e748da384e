"""`make watch`: a notebook that is saved is checked at once, in the terminal beside it.

Only answers that are not known are judged: what was changed, and at the first time what the lesson had before. Two
looks a second at the times of the files; nothing is read until one of them changes.

>>> import tempfile
>>> with tempfile.TemporaryDirectory() as place:
...     watch = Watch(Path(place))
...     _ = Path(place, "01_tensors_strides_views.ipynb").write_text('{"cells": []}')
...     [lesson.number for lesson in watch.saved()], watch.saved()
(['01'], [])
"""

from __future__ import annotations

import os
import time
from pathlib import Path

from ..checking.check_process import prepare
from ..checking.lessons import Lesson, all_lessons
from ..checking.notebook_file import NotANotebook, code_cells
from ..checking.verdicts import Verdicts
from ..mini.learner import path_of
from ..mini.reference import reference, steps_of

SECONDS = 0.5
Stamp = tuple[int, int]


class Watch:
    """A learner's folder, and how its files were when it was looked at last."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.files = {folder / f"{lesson.name}.ipynb": {lesson.number} for lesson in all_lessons()}
        for file in reference():
            self.files[path_of(folder, file)] = {number.partition(".")[0] for number in steps_of(file)}
        self.seen = self._stamps()

    def saved(self) -> list[Lesson]:
        """The lessons of which a file has changed since the last look."""
        now, before = self._stamps(), self.seen
        self.seen = now
        changed = (path for path, stamp in now.items() if stamp != before.get(path))
        numbers = set[str]().union(*(self.files[path] for path in changed))
        return [lesson for lesson in all_lessons() if lesson.number in numbers]

    def check(self, lesson: Lesson) -> str:
        """What is new about a lesson: the results of answers that weren't known, and its points."""
        path = self.folder / f"{lesson.name}.ipynb"
        try:
            cells = code_cells(path)
        except NotANotebook as problem:  # it may be in the middle of being written
            return str(problem)
        verdicts = Verdicts(self.folder)
        new = verdicts.unknown(lesson.exercises, cells)
        results = verdicts.judge_all(lesson.exercises, cells)
        verdicts.write()
        told = [str(result) for result in results if result.number in new]
        points, total = sum(result.points for result in results), sum(result.total for result in results)
        return "\n\n".join([*told, f"{lesson.title}: {points} of {total} points"])

    def _stamps(self) -> dict[Path, Stamp]:
        found = {}
        for path in self.files:
            try:
                status = os.stat(path)
            except OSError:  # not there, or not any more
                continue
            found[path] = (status.st_mtime_ns, status.st_size)
        return found


def watch_folder(folder: Path) -> None:
    """Checks until it is interrupted."""
    prepare()
    watch = Watch(folder)
    print(f"watching {folder}: save a notebook, and it is checked here. Ctrl-C ends it.", flush=True)
    try:
        while True:
            for lesson in watch.saved():
                print(f"\n{time.strftime('%H:%M:%S')}  {watch.check(lesson)}", flush=True)
            time.sleep(SECONDS)
    except KeyboardInterrupt:
        print()
