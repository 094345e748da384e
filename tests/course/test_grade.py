"""Whole notebooks: no work scores nothing, the solutions score everything, one broken cell costs its exercise only."""

from __future__ import annotations

import csv
import json

import pytest

import minitorch_compile as torch
from minitorch_compile.course import check, own_parts, passed
from minitorch_compile.course.__main__ import main
from minitorch_compile.course.checking import check_process
from minitorch_compile.course.checking.lessons import all_lessons
from minitorch_compile.course.files.course_folder import course_folder
from minitorch_compile.course.grading.grade import Grade, grade_folder, grade_notebook, percent, table
from minitorch_compile.course.grading.hints import hint, read_hints
from minitorch_compile.course.grading.progress import grades_of, progress
from minitorch_compile.course.grading.watch import Watch
from minitorch_compile.course.mini.reference import steps_of

from .notebooks import ROOT

LESSON = "01_tensors_strides_views.ipynb"


def save(folder, *cells: str) -> None:
    data = {"cells": [{"cell_type": "code", "source": cell} for cell in cells], "metadata": {}}
    (folder / "work" / LESSON).write_text(json.dumps(data))


def points(folder) -> list[int]:
    return [result.points for grade in grade_folder(folder) for result in grade.results if grade.lesson.number == "01"]


RIGHT = """import math
def contiguous_strides(sizes):
    return tuple(math.prod(max(n, 1) for n in sizes[i + 1 :]) for i in range(len(sizes)))"""
GRADED = ("01", "08")  # of all exercises, test_every_exercise says the same, and test_in_a_kernel in a process each


def graded(name: str) -> list[Grade]:
    folder = ROOT / name
    return [
        grade_notebook(lesson, folder / f"{lesson.name}.ipynb") for lesson in all_lessons() if lesson.number in GRADED
    ]


def test_exercises_without_any_work_score_nothing():
    assert all(grade.points == 0 < grade.total for grade in graded("exercises"))


@pytest.mark.slow
def test_the_solutions_score_everything():
    grades = graded("solutions")
    assert len(grades) == len(GRADED) and all(grade.points == grade.total for grade in grades)
    assert table(grades).splitlines()[-1].endswith("100%")


def test_a_saved_notebook_is_checked_where_it_has_changed(course):
    watch = Watch(course / "work")
    save(course, RIGHT, "def place_of(index, strides, offset): return 0")
    (lesson,) = watch.saved()
    assert watch.saved() == [] and "4 of 4 points" in (told := watch.check(lesson))
    assert "01 tensors, strides, views: 4 of 44 points" in told
    save(course, "def contiguous_strides(sizes):\n    return 0")
    (lesson,) = watch.saved()
    assert "contiguous_strides((2, 2)): expected (2, 1), got 0" in watch.check(lesson)
    (course / "work" / LESSON).write_text("{")
    assert watch.check(*watch.saved()).startswith(f"{LESSON} is not a notebook")
    (course / "work" / "mini").mkdir()
    (course / "work" / "mini" / "guards.py").write_text("")
    assert {lesson.number for lesson in watch.saved()} == {number[:2] for number in steps_of("guards")}


def test_a_fresh_clone_scores_nothing(course, capsys):
    assert main(["grade"]) == 0
    assert capsys.readouterr().out.splitlines()[-1].split()[-1] == "0%"


def test_a_folder_that_is_not_there_is_an_error(course, capsys):
    assert main(["grade", "nowhere"]) == 2
    assert "nowhere is not a folder" in capsys.readouterr().err


def test_a_file_that_is_not_a_notebook_costs_one_row_with_the_reason(course, capsys):
    (course / "work" / LESSON).write_text("not json")
    assert main(["grade"]) == 0
    rows = [row for row in capsys.readouterr().out.splitlines() if "is not a notebook" in row]
    assert len(rows) == 1 and f"0%  {LESSON} is not a notebook: Expecting value" in rows[0]


def test_a_broken_cell_and_an_endless_one_cost_nothing_elsewhere(course):
    save(course, "1 / 0", "while True: pass", "def (", RIGHT, 'check("01.1")')
    assert points(course / "work")[0] == 4 == sum(points(course / "work"))


def test_details_and_csv(course, capsys):
    save(course, "contiguous_strides = None")
    assert main(["grade", "--details", "--csv", "points.csv"]) == 0
    assert "01.1 strides of a new tensor    0 of 4 points" in capsys.readouterr().out
    rows = list(csv.reader((course / "points.csv").open()))
    assert rows[0] == ["exercise", "title", "points", "of", "percent"] and rows[1][:1] == ["01.1"]


def test_only_full_points_are_a_hundred_percent():
    assert (percent(999, 1000), percent(1000, 1000), percent(0, 5)) == (99, 100, 0)


def test_progress_is_recomputed_and_its_file_is_only_a_cache(course):
    save(course, RIGHT)
    first = [str(result) for grade in grades_of(course / "work", "01") for result in grade.results]
    cache = course / "work" / ".progress.json"
    assert cache.exists()
    again = [str(result) for grade in grades_of(course / "work", "01") for result in grade.results]
    cache.unlink()
    fresh = [str(result) for grade in grades_of(course / "work", "01") for result in grade.results]
    assert first == again == fresh


def test_progress_notices_a_changed_answer(course):
    save(course, "def contiguous_strides(sizes):\n    return 0")
    assert grades_of(course / "work", "01")[0].results[0].points == 0
    save(course, RIGHT)
    assert grades_of(course / "work", "01")[0].results[0].points == 4


def test_progress_says_what_is_done_and_which_hints_were_read(course, capsys):
    hint("01.1")
    progress("01")
    text = capsys.readouterr().out
    assert "to do  01.1 strides of a new tensor" in text and "1 of 3 hints read" in text


def test_progress_names_the_first_exercise_that_is_not_done(course, capsys):
    save(course, RIGHT)
    progress("01")
    assert f"next: 01.2 view or copy: predict, in {course / 'work' / LESSON}" in capsys.readouterr().out


def test_progress_of_an_unknown_lesson_lists_the_lessons(course):
    with pytest.raises(LookupError, match="no exercises for lesson '77'. There are: 01"):
        progress("77")


def test_hints_come_one_after_the_other_and_are_remembered(course, capsys):
    for level in (1, 2, 3, 3):
        hint("01.2")
        assert f"hint {level} of 3" in capsys.readouterr().out
    assert read_hints() == {"01.2": 3}
    hint("01.2", 1)
    assert "hint 1 of 3" in capsys.readouterr().out
    assert read_hints() == {"01.2": 3}


def test_a_hint_of_an_unknown_exercise_or_level_is_an_error_in_words(course):
    with pytest.raises(LookupError, match=r"no exercise '01.99'. There are: 01.1, 01.2"):
        hint("01.99")
    with pytest.raises(ValueError, match="level must be 1, 2 or 3, got 4"):
        hint("01.1", 4)


def test_outside_the_course_hints_work_and_progress_says_where_it_looked(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    hint("01.1", 2)
    assert "hint 2 of 3" in capsys.readouterr().out
    with pytest.raises(FileNotFoundError, match="not inside the course"):
        progress()


def test_the_course_folder_is_found_from_inside(course):
    assert course_folder(course / "work") == course.resolve()


@pytest.mark.slow
def test_the_whole_stack_runs_on_the_learners_own_passing_parts(course):
    (course / "work" / LESSON).write_text((ROOT / "solutions" / LESSON).read_text())
    with own_parts() as places:
        assert places == ["tensor.contiguous_strides", "tensor.is_contiguous"]
        assert torch.arange(6).reshape(2, 3).t().reshape(6).tolist() == [0, 3, 1, 4, 2, 5]


def test_a_part_that_does_not_pass_stays_out(course):
    save(course, "def contiguous_strides(sizes):\n    return sizes")
    with own_parts() as places:
        assert places == [] and torch.zeros(2, 3).stride() == (3, 1)


def test_what_was_checked_is_not_judged_again(course, capsys, monkeypatch):
    save(course, RIGHT)
    check("01.1", [RIGHT])
    judged = []
    monkeypatch.setattr(check_process, "_judge", lambda exercise, *_: judged.append(exercise.number))
    assert passed("01.1", [RIGHT])
    capsys.readouterr()
    with own_parts() as places:
        assert places == ["tensor.contiguous_strides"]
    assert capsys.readouterr().out == "" and judged == []


def test_own_parts_say_what_they_judge_and_stop_in_time(course, capsys):
    save(course, RIGHT, "def twice(x): return 2 * x")
    with own_parts(seconds=-1.0) as places:
        assert places == []
    assert "left out, as they were not judged in time: 01.1" in capsys.readouterr().out
    with own_parts() as places:
        assert places == ["tensor.contiguous_strides"]
    assert capsys.readouterr().out == "judging 01.1 ...\n"


def test_a_hint_begins_with_the_case_that_failed_first(course, capsys):
    hint("01.1")
    assert "Your last check" not in capsys.readouterr().out
    check("01.1", ["def contiguous_strides(sizes):\n    return (*sizes[1:], 1) if len(sizes) < 3 else sizes"])
    capsys.readouterr()
    hint("01.1")
    shown = capsys.readouterr().out.splitlines()
    assert shown[0].endswith("hint 2 of 3") and shown[1].startswith("Your last check fails first at: ")
    assert '(lesson 01, "' in shown[1]
    check("01.1", [RIGHT])
    capsys.readouterr()
    hint("01.1")
    assert "Your last check" not in capsys.readouterr().out
