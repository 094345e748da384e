"""An exercise: what the learner must bind, which cases judge it, and what each wrong turn is told.

A case is a function that gets the learner's answer and raises `WrongAnswer` if it is wrong. Most cases compare a
function with an oracle on inputs ordered from the smallest up, so that the first disagreement is the smallest one; a
`Misconception` is an oracle for one particular wrong idea, and is recognised by giving the learner's results.

>>> doubling = Exercise("99.1", "doubling", answer="double", minutes=1, hints=("a", "b", "c"))
>>> squares = Misconception("You squared the number. Doubling adds it to itself.", lambda x: x * x)
>>> @doubling.case("small numbers", points=2, section="Doubling")
... def _(answer):
...     agree(answer, oracle=lambda x: 2 * x, inputs=[(0,), (1,), (2,), (3,)], misconceptions=[squares])
>>> def double(x):
...     return x * x
>>> try:
...     doubling.cases[0].judge(double)
... except WrongAnswer as wrong:
...     print(wrong)
double(1): expected 2, got 1. You squared the number. Doubling adds it to itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from .notebook_slice import is_unwritten, slice_for
from .run_cells import run_cells

MODULE_NAME = "your_notebook"
Arguments = tuple[Any, ...]
Trial = tuple[Arguments, Any, Any]
"""What was tried, expected and got."""


class WrongAnswer(Exception):
    """`fact`: what was tried, expected and got. `why`: the misconception behind it, or a question that leads out."""

    def __init__(self, fact: str, why: str = "") -> None:
        super().__init__(fact if fact.endswith((".", "?")) else fact + ".", why)

    @property
    def fact(self) -> str:
        return self.args[0]

    @property
    def why(self) -> str:
        return self.args[1]

    def __str__(self) -> str:
        return f"{self.fact} {self.why}".strip()


class NotWritten(Exception):
    """The answer is still the stub."""


@dataclass(frozen=True)
class Submission:
    """What travels to the process that judges. `job` is for JSON, `answer` is the learner's text.

    `depends_on` is all text on which the verdict depends, but for the cases; `note` is said if it passes. `own` has the
    learner's steps of `mini` that it is judged beside, by number.
    """

    job: dict[str, Any]
    answer: str
    depends_on: str
    note: str = ""
    own: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Case:
    """One judgement. `points` 0 marks a condition for all the others: if it fails, the exercise is worth nothing."""

    title: str
    points: int
    section: str
    judge: Callable[[Any], None]


@dataclass
class Exercise:
    """`answer` is the name that the learner's notebook binds; `place` the splice point that a right answer can fill."""

    number: str
    title: str
    answer: str
    minutes: int
    hints: tuple[str, str, str]
    place: str | None = None
    seconds: float = 10.0
    megabytes: int = 1024
    cases: list[Case] = field(default_factory=list)

    @property
    def lesson(self) -> str:
        return self.number.partition(".")[0]

    @property
    def points(self) -> int:
        return sum(case.points for case in self.cases)

    def submissions(self, cells: Sequence[str], work: Path | None = None) -> list[Submission]:
        """What of the cells that ran is judged, in turn until one passes; `work` is the learner's folder.

        NotWritten, LookupError or CellSyntaxError if there is nothing to judge.
        """
        needed = slice_for(self.answer, cells)
        if is_unwritten(self.answer, needed):  # most of a fresh clone is: no process has to say so
            raise NotWritten("not written yet")
        text = "\n".join(cell.kept_source() for cell in needed)
        return [
            Submission(
                {"exercise": self.number, "answer": self.answer, "cells": [asdict(cell) for cell in needed]}, text, text
            )
        ]

    def beside(self, submission: Submission, own: Mapping[str, str]) -> Submission:
        """The same answer beside these steps of the learner's; only what stands on `mini` has others beside it."""
        return submission

    @contextmanager
    def loaded(self, job: dict[str, Any]) -> Iterator[Any]:
        """The answer, in the process that judges it."""
        module = ModuleType(MODULE_NAME)
        run_cells(module, job["cells"])
        yield getattr(module, self.answer)

    def usable(self, work: Path | None) -> str:
        """Why a notebook cell can't use a right answer yet; empty if it can."""
        return ""

    def remember(self, submission: Submission, work: Path) -> None:
        """Called when a submission has passed."""

    def case(
        self, title: str, *, points: int, section: str
    ) -> Callable[[Callable[[Any], None]], Callable[[Any], None]]:
        """Decorator: adds a case; cases are judged in the order of their declaration."""

        def declare(judge: Callable[[Any], None]) -> Callable[[Any], None]:
            self.cases.append(Case(title, points, section, judge))
            return judge

        return declare


@dataclass(frozen=True)
class Misconception:
    """`gives` computes what this idea would compute; `message` says what the idea is and why it fails."""

    message: str
    gives: Callable[..., Any]


class _Raised:
    """The outcome of a call that raised; equal to nothing but itself."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    def __repr__(self) -> str:
        return f"{type(self.error).__name__}: {self.error}"


def outcome(function: Callable[..., Any], arguments: Arguments) -> Any:
    """What a call gives. An exception is a result, too, but for those that mean "not written yet" or "too deep"."""
    try:
        return function(*arguments)
    except NotImplementedError as error:
        raise NotWritten(str(error)) from error
    except (MemoryError, RecursionError):
        raise
    except Exception as error:  # noqa: BLE001 (whatever the learner's code raises is reported)
        return _Raised(error)


def own_copy(value: Any, known: dict[int, Any] | None = None) -> Any:
    """Lists, dictionaries, sets and arrays anew, all the way down; what was one object stays one. All else is itself.

    >>> row = [1, 2]
    >>> a, b = own_copy((row, {"rows": [row]}))
    >>> a == row, a is row, b["rows"][0] is a
    (True, False, True)
    """
    known = {} if known is None else known
    if id(value) in known:
        return known[id(value)]
    if type(value) is tuple:
        return tuple(own_copy(each, known) for each in value)
    if type(value) is np.ndarray or type(value) is set:
        known[id(value)] = value.copy()
    elif type(value) is list:
        known[id(value)] = made = list[Any]()
        made += [own_copy(each, known) for each in value]
    elif type(value) is dict:
        known[id(value)] = items = dict[Any, Any]()
        items.update((key, own_copy(each, known)) for key, each in value.items())
    return known.get(id(value), value)


def call_text(name: str, arguments: Arguments) -> str:
    return f"{name}({', '.join(map(repr, arguments))})"


def same(expected: Any, got: Any) -> bool:
    """Equality that doesn't take True for 1, nor a list for a tuple, nor what says that it equals everything.

    >>> class Any:
    ...     __eq__ = lambda self, other: True
    >>> same((1, {"a": 2}), (1, {"a": 2})), same({"a": 2}, {"a": Any()}), same((1,), (True,))
    (True, False, False)
    """
    if isinstance(expected, tuple | list) and type(expected) is type(got):
        return len(expected) == len(got) and all(map(same, expected, got))
    if isinstance(expected, dict) and type(expected) is type(got):
        return expected.keys() == got.keys() and all(same(value, got[key]) for key, value in expected.items())
    return type(expected) is type(got) and bool(expected == got)


def agree(
    answer: Callable[..., Any],
    oracle: Callable[..., Any],
    inputs: Iterable[Arguments],
    misconceptions: Sequence[Misconception] = (),
    why: str = "",
) -> None:
    """Compare on each input, smallest first. A disagreement is told with the misconception behind it.

    `why` is what is said if none explains the first disagreement. What the answer writes into lists, dictionaries and
    arrays that it is given changes neither what is expected nor what is told.
    """
    expecting = [(arguments, oracle(*arguments)) for arguments in inputs]
    trials = [(arguments, expected, outcome(answer, own_copy(arguments))) for arguments, expected in expecting]
    wrong = next((trial for trial in trials if not same(*trial[1:])), None)
    if wrong is None:
        return
    arguments, expected, got = wrong
    fact = f"{call_text(getattr(answer, '__name__', 'answer'), arguments)}: expected {expected!r}"
    if isinstance(got, _Raised):
        raise WrongAnswer(f"{fact}, but it raised {got!r}", why) from got.error
    raise WrongAnswer(f"{fact}, got {got!r}", diagnose(wrong, trials, misconceptions) or why)


def diagnose(wrong: Trial, trials: Sequence[Trial], misconceptions: Sequence[Misconception]) -> str | None:
    """The message of the misconception that explains the wrong trial; of several, of the one that fits most trials."""

    def fits(idea: Misconception) -> int:
        if not _gives_the_same(idea, wrong):
            return 0
        return sum(_gives_the_same(idea, trial) for trial in trials)

    best = max(misconceptions, key=fits, default=None)
    return best.message if best is not None and fits(best) else None


def _gives_the_same(idea: Misconception, trial: Trial) -> bool:
    arguments, _, got = trial
    try:
        return same(idea.gives(*arguments), got)
    except (ValueError, TypeError, LookupError, ArithmeticError):
        return False
