"""An answer passes beside the reference's steps of `mini`, but not beside the learner's own: which of these is it?

The learner's steps are exchanged for the reference's, the latest first, then by halves, until those are left whose
exchange makes the answer pass. Each try is a process, so there is a limit of time; what could not be tried is said.

>>> search(["01.7", "02.7", "02.8", "05.9"], lambda exchanged: "02.8" in exchanged)
Found(steps=['02.8'], among=[], enough=True)
>>> search(["01.7", "02.7", "02.8", "05.9"], lambda exchanged: {"01.7", "02.8"} <= set(exchanged))
Found(steps=['01.7', '02.8'], among=[], enough=True)
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..mini.reference import place
from .exercise import Exercise, Submission
from .result import Result

SECONDS = 45.0
FIRST = 4  # so many steps are exchanged at first, then each time as many times more: most often it is a late one
MOST_NAMED = 6
Judge = Callable[[Exercise, Submission, float], Result]


@dataclass(frozen=True)
class Found:
    """`steps` are to be exchanged, and one more `among` those which there was no time to try.

    `enough`: that the answer passes then was seen.
    """

    steps: list[str]
    among: list[str]
    enough: bool = True


def blame(exercise: Exercise, failed: Submission, result: Result, judge: Judge, seconds: float = SECONDS) -> str:
    """What is said of a submission that failed beside the learner's steps, and passes beside the reference's."""
    print(
        f"{exercise.number} is right beside the reference's other steps, {result.points} of {result.total} points"
        f" beside"
        f" your own: looking for which of these it is, {seconds:g} s at most ...",
        flush=True,
    )
    deadline = time.monotonic() + seconds

    def passes(exchanged: Sequence[str]) -> bool | None:
        left = deadline - time.monotonic()
        if left <= 0:
            return None
        kept = {number: text for number, text in failed.own.items() if number not in exchanged}
        got = judge(exercise, exercise.beside(failed, kept), min(left, exercise.seconds))
        timed_out = any(case.verdict == "slow" for case in got.cases) and left < exercise.seconds
        return None if timed_out else got.passed

    return f"{_said(search(sorted(failed.own, key=place, reverse=True), passes), seconds)}\n{_failure(result)}".strip()


def search(steps: Sequence[str], passes: Callable[[Sequence[str]], bool | None]) -> Found:
    """The steps to exchange. With none of them the answer fails, with all it passes; None: there is no time to try."""
    found: list[str] = []
    rest = list(steps)
    while True:
        fails_below, enough = 0, len(rest)  # how many of the rest, from the first on
        grown = FIRST
        while enough - fails_below > 1:
            middle = grown if grown < enough == len(rest) else (fails_below + enough) // 2
            grown = FIRST * middle
            verdict = passes([*found, *rest[:middle]])
            if verdict is None:
                return Found(sorted(found, key=place), rest[fails_below:enough], enough=False)
            fails_below, enough = (fails_below, middle) if verdict else (middle, enough)
        found.append(rest[enough - 1])
        rest = rest[: enough - 1]
        verdict = passes(found) if rest else True
        if verdict is not False:
            return Found(sorted(found, key=place), [], enough=bool(verdict))


def _said(found: Found, seconds: float) -> str:
    numbers = ", ".join(found.steps[:-2] + [" and ".join(found.steps[-2:])])
    if found.steps and found.enough:
        return f"With the reference's {numbers} in place of yours it passes: look at {numbers} again."
    said = f"Look at {numbers} again; the reference's in its place is not enough, or was not tried. " if numbers else ""
    rest = sorted(found.among, key=place)
    short = ", ".join(rest) if len(rest) <= MOST_NAMED else f"your {len(rest)} steps from {rest[0]} to {rest[-1]}"
    among = f"It is among {short}: " if rest else ""
    return f"{said}{among}{'m' if among else 'M'}ore was not tried in {seconds:g} s."


def _failure(result: Result) -> str:
    """What went wrong beside the learner's steps, told as for any answer that fails."""
    case = next((case for case in result.cases if case.verdict != "pass"), None)
    if case is None or (result.note and case.verdict in ("todo", "skip")):
        return f"Beside your own: {result.note}" if result.note else ""
    return f"Beside your own: {case.fact or case.title}\n{case.why}".strip()
