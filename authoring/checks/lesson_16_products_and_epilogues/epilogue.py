"""Exercise 16.3: an epilogue that comes too early."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minitorch_compile.course.checking.exercise import Exercise, NotWritten, WrongAnswer

EPILOGUE = Exercise(
    "16.3",
    "find the bug: an epilogue on blocks",
    answer="linear",
    minutes=15,
    hints=(
        "Write down the calls for rows=4, inner=4, tall=2, deep=2. When are the first two rows complete?",
        "A block of rows must get all of its products before it is finished, and be finished before the next begins.",
        "The loop over rows goes outside; and the end of a block is min(top + tall, rows).",
    ),
)
SECTION = "While it's hot"


class Recorder:
    """Takes the calls for a product of (rows, inner), and objects to the first one that is wrong."""

    def __init__(self, rows: int, inner: int) -> None:
        self.rows, self.inner = rows, inner
        self.added: list[set[int]] = [set() for _ in range(rows)]  # for each row, which part of the sum is there
        self.finished: set[int] = set()
        self.hot: set[int] = set()  # the rows of the last products

    def product(self, top: int, bottom: int, start: int, end: int) -> None:
        text = f"product({top}, {bottom}, {start}, {end})"
        self.check_range(text, bottom, self.rows, "rows")
        self.check_range(text, end, self.inner, "columns of x")
        rows = set(range(top, bottom))
        self.hot = rows if self.hot.isdisjoint(rows) else self.hot | rows
        for row in rows:
            if row in self.finished:
                raise WrongAnswer(
                    f"{text} comes after row {row} was finished",
                    "gelu of a part of a sum is not a part of gelu of the sum. Finish rows when all of it is there.",
                )
            again = self.added[row].intersection(range(start, end))
            if again:
                raise WrongAnswer(f"{text} adds column {min(again)} to row {row} again", "Each part once.")
            self.added[row].update(range(start, end))

    def finish(self, top: int, bottom: int) -> None:
        text = f"finish({top}, {bottom})"
        self.check_range(text, bottom, self.rows, "rows")
        for row in range(top, bottom):
            if row in self.finished:
                raise WrongAnswer(f"{text} finishes row {row} again", "gelu of gelu is another function.")
            if len(self.added[row]) < self.inner:
                raise WrongAnswer(
                    f"{text}: row {row} has {len(self.added[row])} of {self.inner} columns of x",
                    "gelu of a part of a sum is not a part of gelu of the sum. Finish rows when all of it is there.",
                )
            if row not in self.hot:
                raise WrongAnswer(
                    f"{text}: row {row} was multiplied before other rows were",
                    "It's right, and cold: those rows have left the cache. Finish a block before the next begins.",
                )
        self.finished.update(range(top, bottom))

    def check_range(self, text: str, end: int, size: int, what: str) -> None:
        if end > size:
            raise WrongAnswer(f"{text}: there are only {size} {what}", "The last block is shorter than the others.")

    def end(self, text: str) -> None:
        for row in range(self.rows):
            if row not in self.finished:
                why = "The rest that is no whole block must be done, too."
                raise WrongAnswer(f"{text}: row {row} was never finished", why)


def judge(answer: Callable[..., Any], rows: int, inner: int, tall: int, deep: int) -> None:
    recorder = Recorder(rows, inner)
    text = f"rows={rows}, inner={inner}, tall={tall}, deep={deep}"
    try:
        answer(recorder.product, recorder.finish, rows, inner, tall, deep)
        recorder.end(text)
    except NotImplementedError as error:
        raise NotWritten(str(error)) from error
    except WrongAnswer as wrong:
        raise WrongAnswer(f"{text}: {wrong.fact}", wrong.why) from wrong
    except Exception as error:
        raise WrongAnswer(f"{text}: linear raised {type(error).__name__}: {error}") from error


@EPILOGUE.case("a single block", points=0, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    judge(answer, 2, 2, 2, 2)


@EPILOGUE.case("the whole sum first", points=2, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    judge(answer, 4, 4, 4, 2)
    judge(answer, 4, 6, 2, 2)


@EPILOGUE.case("the last blocks", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    judge(answer, 4, 4, 2, 2)
    for shape in ((5, 4, 2, 2), (4, 5, 2, 2), (7, 9, 3, 4), (2, 3, 8, 8)):
        judge(answer, *shape)
