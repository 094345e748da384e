"""`borrow("05")`: the reference's steps of a lesson in the learner's package, so that the next lesson can begin."""

from __future__ import annotations

from pathlib import Path

from ..files.course_folder import work_folder
from ..files.regular_file import Unreadable
from .learner import Written, passed_steps, save, title, written_steps
from .reference import all_steps, file_of, place, step


def borrow(lesson: str) -> None:
    """Take the reference's text for all steps of the lesson, and for what is missing of the lessons before it.

    Steps of yours that have passed stay. One that hasn't is set aside, and named. What is borrowed earns no points.
    """
    lessons = sorted({number.partition(".")[0] for number in all_steps()})
    if lesson not in lessons:
        raise LookupError(f"mini has no steps in lesson {lesson!r}. There are: {', '.join(lessons)}")
    work = work_folder()
    try:
        for line in _borrowed(work, lesson):
            print(line)
    except Unreadable as problem:
        print(f"nothing is borrowed: {problem}")
    except OSError as error:
        print(f"nothing is borrowed: work/mini can't be written ({error.strerror or error})")


def _borrowed(work: Path, lesson: str) -> list[str]:
    """Does it, and says what was done."""
    written = {n: each for file in set(all_steps().values()) for n, each in written_steps(work, file).items()}
    mine = {number: each for number, each in written.items() if not each.borrowed}
    passed = passed_steps(work)
    here = [number for number in all_steps() if number.partition(".")[0] == lesson]
    before = [number for number in all_steps() if place(number)[0] < int(lesson) and number not in written]
    aside = [number for number in here if number in mine and number not in passed]
    taken = [number for number in here if number not in passed]
    for number in aside:
        path = _aside(work, number)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(mine[number].text + "\n", encoding="utf-8")
    if taken or before:
        save(work, {number: Written(step(number).text.rstrip(), borrowed=True) for number in [*before, *taken]})
    said = [f"borrowed: {', '.join(map(title, taken))}"] if taken else []
    for file in dict.fromkeys(map(file_of, before)):
        numbers = ", ".join(number for number in before if file_of(number) == file)
        said.append(f"borrowed of earlier lessons: {file}.py ({numbers})")
    said += [f"set aside, as it has not passed: {title(n)}, in work/mini/set_aside/{n}.py" for n in aside]
    said += [f"yours stays: {title(number)}" for number in here if number in passed]
    return said


def _aside(work: Path, number: str) -> Path:
    return work / "mini" / "set_aside" / f"{number}.py"
