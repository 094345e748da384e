"""Writes docs/teaching/syllabus.md and lesson_plans.md: hours and exercises, as the course has them now.

python tools/lesson_plans.py            write the pages
python tools/lesson_plans.py --check    fail if they are out of date
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from minitorch_compile.course.checking.exercise import Exercise  # noqa: E402
from minitorch_compile.course.checking.lessons import Lesson, all_lessons  # noqa: E402
from minitorch_compile.course.checking.step import Step  # noqa: E402
from minitorch_compile.course.drawings.concept_map import NEEDS  # noqa: E402
from minitorch_compile.course.lesson_minutes import FOLDER, LessonTime, in_hours, lesson_times  # noqa: E402

PAGES = ROOT / "docs" / "teaching"
IN_CLASS = 45  # minutes of exercises that a session has room for
TWELVE = ("00 01", "02 03", "04", "05", "06 07", "08", "09 10", "11", "12 13", "14 15", "16 17", "18 19")
SIX = ("00 01 02", "03 04", "05 06 07", "08 09 10 11", "12 13 14", "15 16 17 18")
CLASS, HOME = "in class", "at home"

SYLLABUS = """# A syllabus of six weeks, and one of twelve

Written by `tools/lesson_plans.py`; the hours are those of the lessons (150 words and six lines of code a minute) and of
the sheets. What stands on what is drawn in [lesson 00](../../notebooks/00_tour.ipynb): a week may be left out if no
later one needs it. What happens in each session: [lesson plans](lesson_plans.md).
"""
OF_TWELVE = """## Twelve weeks: learners build the stack

Every exercise, `mini` among them: at the end each learner has a stack of some 2,000 lines of their own, on which lesson
18 trains a model. Two sessions a week of 90 minutes: the lesson, read and run together, and the first exercises; the
others at home. Who falls behind in `mini` takes what is missing with `borrow("05")`, and loses only its points.
"""
OF_SIX = """## Six weeks: learners understand the stack

The exercises that stand alone; the steps of `mini` are borrowed (`borrow("05")`), so every check runs on a whole stack.
Lesson 19 is an extra for who has a GPU, or likes puzzles. Two sessions a week of 90 minutes, and the rest of the hours
at home.
"""
PLANS = """# Lesson plans

Written by `tools/lesson_plans.py`. For each lesson: what it needs, what it goes through, and its exercises. *In class*
are the first exercises that fit into {minutes} minutes, those that a teacher sees being solved; a step is a part of the
learner's own `mini`. What learners get wrong, and what they are told, stands in [wrong answers](wrong_answers.md).

A session of 90 minutes: 10 for the questions left from last time (the table by exercise of `make class` says which), 35
for the lesson, run cell by cell, each `predict` answered by all before the next cell is run, 45 for the exercises.
"""


def main(arguments: Sequence[str]) -> int:
    pages = {"syllabus.md": syllabus(), "lesson_plans.md": lesson_plans()}
    stale = [name for name, text in pages.items() if not is_there(PAGES / name, text)]
    if "--check" in arguments:
        print("".join(f"docs/teaching/{name} is out of date: run tools/lesson_plans.py\n" for name in stale), end="")
        return int(bool(stale))
    PAGES.mkdir(exist_ok=True)
    for name in stale:
        (PAGES / name).write_text(pages[name], encoding="utf-8")
    return 0


def is_there(path: Path, text: str) -> bool:
    return path.exists() and path.read_text(encoding="utf-8") == text


# ---------------------------------------------------------------------------------------------------- syllabus


def syllabus() -> str:
    whole = "\n".join(weeks(TWELVE, with_steps=True))
    short = "\n".join(weeks(SIX, with_steps=False))
    return f"{SYLLABUS}\n{OF_TWELVE}\n{whole}\n\n{OF_SIX}\n{short}\n"


def weeks(plan: Sequence[str], with_steps: bool) -> Iterator[str]:
    """A table; the last row has the sums."""
    known, sums = lesson_times(), [0, 0]
    yield "| week | lessons | to read | exercises |"
    yield "| --- | --- | --- | --- |"
    for week, numbers in enumerate(plan, 1):
        lessons = numbers.split()
        reading = sum(known[number].reading for number in lessons)
        doing = sum(known[number].others + with_steps * known[number].steps for number in lessons)
        sums = [sums[0] + reading, sums[1] + doing]
        titles = ", ".join(f"{number} {known[number].title}" for number in lessons)
        yield f"| {week} | {titles} | {in_hours(reading)} | {in_hours(doing)} |"
    yield f"| | all | {in_hours(sums[0])} | {in_hours(sums[1])} |"


# ---------------------------------------------------------------------------------------------------- plans


def lesson_plans() -> str:
    known = lesson_times()
    parts = [PLANS.format(minutes=IN_CLASS)]
    parts += ["\n".join(plan(lesson, known[lesson.number])) for lesson in all_lessons()]
    return "\n".join(parts)


def plan(lesson: Lesson, time: LessonTime) -> Iterator[str]:
    needs = ", ".join(NEEDS[lesson.number]) or "none"
    points = sum(exercise.points for exercise in lesson.exercises)
    yield f"## {lesson.title}"
    yield ""
    lead = f"[Lesson](../../notebooks/{lesson.name}.ipynb), [sheet](../../exercises/{lesson.name}.ipynb)."
    yield f"{lead} Needs lessons: {needs}."
    yield f"To read {in_hours(time.reading)}; exercises {in_hours(time.others + time.steps)}, {points} points."
    yield ""
    yield f"Goes through: {'; '.join(sections(lesson))}."
    yield ""
    yield "| exercise | | minutes | points | where |"
    yield "| --- | --- | --- | --- | --- |"
    for exercise, place in placed(lesson.exercises):
        kind = "step of `mini`" if isinstance(exercise, Step) else ""
        yield f"| {exercise.number} {exercise.title} | {kind} | {exercise.minutes} | {exercise.points} | {place} |"
    yield ""


def sections(lesson: Lesson) -> list[str]:
    text = (FOLDER / f"{lesson.name}.py").read_text(encoding="utf-8")
    return [title for title in re.findall(r"^# ## (.*)$", text, re.MULTILINE) if not title.startswith("Exercises")]


def placed(exercises: Sequence[Exercise]) -> Iterator[tuple[Exercise, str]]:
    """The first ones, as long as they fit, are for the session."""
    left, place = IN_CLASS, CLASS
    for exercise in exercises:
        left -= exercise.minutes
        place = CLASS if left >= 0 and place == CLASS else HOME
        yield exercise, place


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
