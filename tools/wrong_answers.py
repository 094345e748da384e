"""Writes docs/teaching/wrong_answers.md: each planted wrong answer, what it is told, and how many cases catch it.

    python tools/wrong_answers.py [NN ...]    judge all planted answers, or those of some lessons, and write the page
    python tools/wrong_answers.py --check     fail if the page is about other answers than those that are planted

What was found lies in authoring/recorded/wrong_answers.json: an entry for each answer, under what it must be told.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tools")]

import build_course  # noqa: E402

from minitorch_compile.course.checking.check_process import result_of  # noqa: E402
from minitorch_compile.course.checking.check_worker import events  # noqa: E402
from minitorch_compile.course.checking.exercise import Exercise  # noqa: E402
from minitorch_compile.course.checking.lessons import Lesson, all_lessons  # noqa: E402

PAGE = ROOT / "docs" / "teaching" / "wrong_answers.md"
RECORD = ROOT / "authoring" / "recorded" / "wrong_answers.json"
SOURCES = ROOT / "authoring" / "exercises"
Found = dict[str, dict[str, dict[str, int]]]
"""By exercise, then by what it is told: how many cases `fail`, `of` how many, and the `points` that are left."""

HEAD = """# Wrong answers, and what catches them

Written by `tools/wrong_answers.py`, which judges every planted answer. An answer is planted where learners go wrong; it
must fail, and must be told what stands here, which no other answer to the exercise is told first. *caught* is how many
of the exercise's cases don't pass it: where it is one of many, the idea is nearly right, and the points that are left
say so.
"""


def main(arguments: list[str]) -> int:
    found: Found = json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.exists() else {}
    if "--check" in arguments:
        up_to_date = planted() == [(number, says) for number in found for says in found[number]]
        up_to_date = up_to_date and PAGE.read_text(encoding="utf-8") == page(found)
        print("" if up_to_date else "docs/teaching/wrong_answers.md is out of date: run tools/wrong_answers.py")
        return int(not up_to_date)
    for lesson in all_lessons():
        if not arguments or lesson.number in arguments:
            found = {number: entry for number, entry in found.items() if number.partition(".")[0] != lesson.number}
            found |= judged(lesson)
            print(lesson.title, flush=True)
            found = dict(sorted(found.items(), key=lambda item: place(item[0])))
            RECORD.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    PAGE.write_text(page(found), encoding="utf-8")
    return 0


def place(number: str) -> list[int]:
    return [int(part) for part in number.split(".")]


def planted() -> list[tuple[str, str]]:
    """Exercise and message of each, in the order of the course."""
    answers = [(number, says) for lesson in all_lessons() for number, _, says in wrong_answers(lesson)]
    return sorted(answers, key=lambda answer: place(answer[0]))


def wrong_answers(lesson: Lesson) -> list[tuple[str, str, str]]:
    return build_course.wrong_answers(SOURCES / f"{lesson.name}.py")


def judged(lesson: Lesson) -> Found:
    """Those of one lesson, judged in this process: they are known to end."""
    notebook = build_course.solution_notebook(SOURCES / f"{lesson.name}.py")
    solution = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    exercises: dict[str, Exercise] = {exercise.number: exercise for exercise in lesson.exercises}
    results: Found = {}
    for number, cell, says in wrong_answers(lesson):
        exercise = exercises[number]
        (submission,) = exercise.submissions([*solution, cell])
        result = result_of(exercise, list(events(exercise, submission.job)), "end")
        if says not in " ".join(case.why for case in result.cases if case.verdict == "fail"):
            raise AssertionError(f"expected to be told {says!r}: {result}")
        failing = sum(case.verdict != "pass" for case in result.cases)
        entry = {"fail": failing, "of": len(result.cases), "points": result.points, "total": result.total}
        results.setdefault(number, {})[says] = entry
    return results


def page(found: Found) -> str:
    entries = [entry for answers in found.values() for entry in answers.values()]
    shares = [entry["fail"] / entry["of"] for entry in entries]
    by_all, by_one = sum(share == 1 for share in shares), sum(entry["fail"] == 1 for entry in entries)
    lines = [HEAD]
    lines.append(
        f"{len(entries)} answers to {len(found)} exercises: every one is caught, {by_all} by all cases of their"
    )
    lines.append(
        f"exercise, {by_one} by a single one; on average {100 * sum(shares) / len(shares):.0f} of 100 cases do it."
    )
    for lesson in all_lessons():
        lines += ["", f"## {lesson.title}", "", "| exercise | what the wrong answer is told | caught | points left |"]
        lines.append("| --- | --- | --- | --- |")
        for exercise in lesson.exercises:
            for says, entry in found.get(exercise.number, {}).items():
                caught = f"{entry['fail']} of {entry['of']}"
                text = says.replace("|", "\\|")
                name = f"{exercise.number} {exercise.title}"
                lines.append(f"| {name} | {text} | {caught} | {entry['points']} of {entry['total']} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
