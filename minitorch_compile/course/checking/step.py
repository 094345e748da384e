"""A step: an exercise whose answer is a part of `mini`, judged among the other parts of the package.

The cases get the composed package. Of the other steps it has the learner's own, if they have passed. Where the answer
fails among these, it is tried among the reference's: one wrong step never blocks another.

>>> from minitorch_compile.course.checking.exercise import WrongAnswer
>>> loop = Step("15.9", "the loop over the rows", file="emit", minutes=5, hints=("a", "b", "c"))
>>> @loop.case("it writes a loop", points=1, section="Kernels")
... def _(mini):
...     if mini.emit.outer() != "for":
...         raise WrongAnswer(f"outer() gave {mini.emit.outer()!r}")
>>> cell = "%%mini emit 15.9\\ndef outer():\\n    return 'while'"
>>> submission, = loop.submissions([cell])
>>> with loop.loaded(submission.job) as answer:
...     try:
...         loop.cases[0].judge(answer)
...     except WrongAnswer as wrong:
...         print(wrong)
outer() gave 'while'.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..files.regular_file import Unreadable
from ..mini.compose import composed
from ..mini.learner import Written, forget_if_edited, passed_steps, remember_passed, written_steps
from ..mini.package import Package, imported
from ..mini.reference import step, steps_of
from ..mini.stages import unready_below
from ..mini.step_text import is_stub, last_cell, problem
from .exercise import Exercise, NotWritten, Submission
from .notebook_slice import CellSyntaxError

Texts = dict[str, str]  # by the step's number
NOT_BESIDE_OWN = "Right beside the reference's other steps, but not beside your own."


class Step(Exercise):
    """`file` is the one of `mini` that the step is a part of, without `.py`."""

    def __init__(
        self,
        number: str,
        title: str,
        *,
        file: str,
        minutes: int,
        hints: tuple[str, str, str],
        seconds: float = 20.0,
        megabytes: int = 2048,
    ) -> None:
        super().__init__(number, title, f"mini.{file}", minutes, hints, seconds=seconds, megabytes=megabytes)
        self.file = file

    def submissions(self, cells: Sequence[str], work: Path | None = None) -> list[Submission]:
        """What was run last as `%%mini`, and what the learner's file has if that is another; each among others."""
        if self.number not in steps_of(self.file):
            raise LookupError(f"mini/{self.file}.py has no step {self.number}")
        texts = self._texts(cells, work)
        depth = step(self.number).depth
        problems = {text: problem(text, depth) for text in texts}
        sound = [text for text in texts if problems[text] is None]
        if not sound:
            raise CellSyntaxError(f"`%%mini {self.file} {self.number}`: {problems[texts[-1]]}")
        own = passed_steps(work) if work is not None else {}
        own = {n: text for n, text in own.items() if n != self.number and text.strip() != step(n).text.strip()}
        others: list[Texts] = [own, {}] if own else [{}]
        note = NOT_BESIDE_OWN if own else ""
        return [self._submission(text, other, "" if other else note) for text in sound for other in others]

    def beside(self, submission: Submission, own: Mapping[str, str]) -> Submission:
        return self._submission(submission.answer, own, "")

    def remember(self, submission: Submission, work: Path) -> None:
        remember_passed(work, self.number, submission.answer)
        forget_if_edited(work)  # the next cell may import it

    def usable(self, work: Path | None) -> str:
        """Why the notebook can't import the file yet; empty if it can."""
        if work is None:
            return "this is not inside the course: there is no work/mini to import from"
        missing = unready_below(work / "mini", self.file)
        lessons = {number.partition(".")[0] for file in missing for number in steps_of(file)}
        borrowing = f', or borrow("{max(lessons)}")' if lessons else ""
        return f"it needs all of mini/{'.py, mini/'.join(missing)}.py{borrowing}" if missing else ""

    @contextmanager
    def loaded(self, job: dict[str, Any]) -> Iterator[Package]:
        with imported(job["files"], job["owned"]) as mini:
            getattr(mini, self.file)  # what is wrong in the file itself is told before the cases
            yield mini

    def _texts(self, cells: Sequence[str], work: Path | None) -> list[str]:
        """The learner's texts of this step; the one that is told of comes last. NotWritten, LookupError if none."""
        cell = last_cell(self.number, list(cells))
        saved, damage = self._saved(work)
        texts = [cell.rstrip()] if cell is not None and not is_stub(cell) else []
        if saved is not None and not saved.borrowed and saved.text not in texts:
            texts.append(saved.text)
        if texts:
            return texts
        if damage:
            raise LookupError(damage)
        if saved is not None:
            raise NotWritten(f"borrowed: your own begins with the cell `%%mini {self.file} {self.number}`")
        if cell is None:
            raise LookupError(f"no cell run so far is `%%mini {self.file} {self.number}`")
        raise NotWritten("not written yet")

    def _saved(self, work: Path | None) -> tuple[Written | None, str]:
        """The step in the learner's file, and what is wrong with the file."""
        try:
            return (written_steps(work, self.file).get(self.number) if work is not None else None), ""
        except Unreadable as problem:
            return None, str(problem)

    def _submission(self, text: str, others: Mapping[str, str], note: str) -> Submission:
        files = composed({**others, self.number: text})
        job = {"exercise": self.number, "file": self.file, "files": files, "owned": sorted({*others, self.number})}
        return Submission(job, text, "\0".join(files.values()), note, others)
