"""What a check found, and how it is told.

>>> passed = CaseResult("the guard holds when nothing changed", 1, "pass")
>>> fact, why = "SCALE was 3, the code multiplied by 2.", "What else did the trace read?"
>>> failed = CaseResult("a global changed", 2, "fail", fact, why, section="Guards")
>>> print(Result("05.3", "guards for a global", (passed, failed)))
05.3 guards for a global        1 of 3 points
  pass   the guard holds when nothing changed
  fail   SCALE was 3, the code multiplied by 2.
         What else did the trace read?  (lesson 05, "Guards")
"""

from __future__ import annotations

import textwrap
from dataclasses import asdict, dataclass
from typing import Any

WIDTH = 100  # columns: what a notebook shows in a window of 1280 pixels without breaking lines
MARGIN = " " * 9
VERDICTS = ("pass", "fail", "todo", "slow", "crash", "skip")
LONGEST_TEXT = 4000  # characters


def readable(text: str) -> str:
    """The text without what a terminal would obey, or could not print; not more of it than somebody reads.

    >>> print(readable("red \\x1b[31m and half a character \\ud83d"))
    red \\x1b[31m and half a character \\ud83d
    """
    shown = (c if c.isprintable() or c in "\n\t" else c.encode("unicode_escape").decode() for c in text[:LONGEST_TEXT])
    return "".join(shown) + ("..." if len(text) > LONGEST_TEXT else "")


@dataclass(frozen=True)
class CaseResult:
    """`verdict` is one of VERDICTS; todo: not written yet; skip: not judged."""

    title: str
    points: int
    verdict: str
    fact: str = ""
    why: str = ""
    section: str = ""

    def lines(self, lesson: str, said: set[str]) -> list[str]:
        """As told to the learner. An explanation in `said` isn't given twice."""
        if self.verdict == "pass":
            return [f"  pass   {self.title}"]
        where = f'  (lesson {lesson}, "{self.section}")' if self.section else ""
        why = "The reason is the same as above." if self.why in said else self.why + where
        said.add(self.why or "-")
        wrapped = [line for part in (self.fact or self.title, why.strip()) if part for line in _wrap(readable(part))]
        return [f"  {self.verdict:<5}  {wrapped[0]}", *(MARGIN + line for line in wrapped[1:])]


@dataclass(frozen=True)
class Result:
    """All cases of one exercise.

    `note` is said first: a missing answer, a syntax error. `printed` is what the learner's code wrote.
    """

    number: str
    title: str
    cases: tuple[CaseResult, ...]
    note: str = ""
    printed: str = ""

    @property
    def total(self) -> int:
        return sum(case.points for case in self.cases)

    @property
    def points(self) -> int:
        """Earned points; none if a condition (a case of 0 points) isn't met."""
        if any(case.points == 0 and case.verdict != "pass" for case in self.cases):
            return 0
        return sum(case.points for case in self.cases if case.verdict == "pass")

    @property
    def passed(self) -> bool:
        return bool(self.cases) and all(case.verdict == "pass" for case in self.cases)

    @property
    def started(self) -> bool:
        return any(case.verdict not in ("todo", "skip") for case in self.cases)

    def __str__(self) -> str:
        lesson = self.number.partition(".")[0]
        lines = [f"{self.number + ' ' + self.title:<30}  {self.points} of {self.total} points"]
        lines += [MARGIN + line for line in _wrap(readable(self.note))] if self.note else []
        said: set[str] = set()
        for case in self.cases:
            if not (self.note and case.verdict in ("todo", "skip")):
                lines += case.lines(lesson, said)
        if self.printed:
            lines += ["  printed by your code:", *(MARGIN + line for line in _last_lines(readable(self.printed)))]
        return "\n".join(lines)

    __repr__ = __str__

    def is_well_formed(self) -> bool:
        """Whether everything in it has the right type: it may come from a file."""
        texts = [self.note, self.printed]
        for case in self.cases:
            texts += [case.fact, case.why, case.section]
        return all(isinstance(text, str) for text in texts) and all(case.verdict in VERDICTS for case in self.cases)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Result:
        return cls(**{**data, "cases": tuple(CaseResult(**case) for case in data["cases"])})


def _last_lines(text: str, most: int = 10) -> list[str]:
    """What was printed last stands nearest to what went wrong.

    >>> _last_lines("first\\nsecond\\nthird", most=2)
    ['...', 'second', 'third']
    """
    lines = text.splitlines()
    return lines if len(lines) <= most else ["...", *lines[-most:]]


def _wrap(text: str) -> list[str]:
    """Wrap at the width, keeping the text's own line breaks and double spaces."""
    return [
        line
        for part in text.splitlines()
        for line in textwrap.wrap(part, WIDTH - len(MARGIN), break_long_words=False, break_on_hyphens=False) or [""]
    ]
