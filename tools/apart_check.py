"""Judges every solution and every planted wrong answer as a learner's are: in processes of their own.

`tools/apart_check.py [NN or NN.N ...]`

A line each: whether the exercise is judged apart or beside its checks, and what is not as it should be. The tests judge
most of these in one process, which is quicker; here the way through the other process is walked, too. With `--try` the
exercises of `checking/beside.py` are judged apart as well: one that ends in "ok" needs no place in that list.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tools")]

import build_course  # noqa: E402

from minitorch_compile.course.checking import check_process  # noqa: E402
from minitorch_compile.course.checking.beside import how  # noqa: E402
from minitorch_compile.course.checking.exercise import Exercise  # noqa: E402
from minitorch_compile.course.checking.lessons import all_lessons  # noqa: E402

SOURCES = ROOT / "authoring" / "exercises"


def main(arguments: list[str]) -> int:
    wanted = [each for each in arguments if not each.startswith("--")]
    if "--try" in arguments:
        check_process.how = lambda number: "apart"
    failed = 0
    for lesson in all_lessons():
        chosen = [e for e in lesson.exercises if not wanted or e.number in wanted or lesson.number in wanted]
        if not chosen:
            continue
        source = SOURCES / f"{lesson.name}.py"
        solution = [cell.source for cell in build_course.solution_notebook(source).cells if cell.cell_type == "code"]
        wrong = [(number, cell, says) for number, cell, says in build_course.wrong_answers(source)]
        for exercise in chosen:
            begun = time.monotonic()
            problems = faults(exercise, solution, [(c, says) for number, c, says in wrong if number == exercise.number])
            seconds = time.monotonic() - begun
            print(f"{exercise.number:<6} {how(exercise.number):<6} {problems or 'ok'}  {seconds:.1f} s", flush=True)
            failed += bool(problems)
    return int(failed > 0)


def faults(exercise: Exercise, solution: list[str], wrong: list[tuple[str, str]]) -> str:
    """The first answer that isn't judged as it should be."""
    result = check_process.judge(exercise, solution)
    if not result.passed:
        return f"the solution doesn't pass: {result}"
    for cell, says in wrong:
        result = check_process.judge(exercise, [*solution, cell])
        if result.passed or says not in " ".join(case.why for case in result.cases if case.verdict == "fail"):
            return f"expected to be told {says!r}: {result}"
    return ""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
