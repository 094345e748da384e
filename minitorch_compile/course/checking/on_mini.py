"""An exercise whose answer is a program on `mini`: where it is judged, `import mini` finds the learner's package.

What has not passed there is the reference's. Where the answer fails on the learner's steps, it is tried on the
reference's alone.

>>> from minitorch_compile.course.checking.exercise import WrongAnswer
>>> doubling = OnMini("99.1", "doubling", answer="double", minutes=1, hints=("a", "b", "c"))
>>> @doubling.case("a tensor", points=1, section="Tensors")
... def _(answer):
...     if answer(mini.tensor.tensor([1.0])).tolist() != [2.0]:
...         raise WrongAnswer("double([1.0]) is not [2.0]")
>>> cell = "from mini import ops\\ndef double(x):\\n    return ops.add(x, x)"
>>> submission, = doubling.submissions([cell])
>>> with doubling.loaded(submission.job) as answer:
...     doubling.cases[0].judge(answer)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..mini.compose import composed
from ..mini.learner import passed_steps
from ..mini.package import Package, imported
from .exercise import Exercise, Submission

NOT_ON_OWN = "Right on the reference's steps, but not on your own."
mini = Package()  # what cases use: `mini.nn` is of the package that is judged on


class OnMini(Exercise):
    """`answer` is a name that the notebook binds, as for any exercise."""

    def submissions(self, cells: Sequence[str], work: Path | None = None) -> list[Submission]:
        """The answer, on the learner's steps that have passed, then on none of them."""
        own = passed_steps(work) if work is not None else {}
        (submission,) = super().submissions(cells, work)
        note = NOT_ON_OWN if own else ""
        return [_on(submission, texts, "" if texts else note) for texts in ([own, {}] if own else [{}])]

    def beside(self, submission: Submission, own: Mapping[str, str]) -> Submission:
        return _on(submission, own, "")

    @contextmanager
    def loaded(self, job: dict[str, Any]) -> Iterator[Any]:
        with imported(job["files"], job["owned"]), super().loaded(job) as answer:
            yield answer


def _on(submission: Submission, texts: Mapping[str, str], note: str) -> Submission:
    files = composed(texts)
    job = submission.job | {"files": files, "owned": sorted(texts)}
    depends_on = "\0".join([submission.answer, *files.values()])
    return replace(submission, job=job, depends_on=depends_on, note=note, own=texts)
