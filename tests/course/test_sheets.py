"""The sheets of exercises: what they say of themselves is so, and they have the cells that a learner needs."""

from __future__ import annotations

import ast
import re

import pytest

from minitorch_compile.course.checking.lessons import Lesson, all_lessons
from minitorch_compile.course.checking.step import Step
from minitorch_compile.course.lesson_minutes import in_words, lesson_time
from minitorch_compile.course.mini.reference import step

from .notebooks import AUTHORING, ROOT, tool

build = tool("build_course")
NUMBERS = ["No", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine", "Ten", "Eleven", "Twelve"]
NUMBERS += ["Thirteen", "Fourteen", "Fifteen", "Sixteen"]
each_sheet = pytest.mark.parametrize("lesson", all_lessons(), ids=lambda lesson: lesson.number)


def cells(lesson: Lesson, kind: str) -> list[str]:
    notebook = build.exercise_notebook(AUTHORING / f"{lesson.name}.py")
    return [cell.source for cell in notebook.cells if cell.cell_type == kind]


@each_sheet
def test_the_introduction_says_how_many_exercises_there_are_and_where_hints_begin(lesson: Lesson) -> None:
    introduction = " ".join(cells(lesson, "markdown")[0].split())
    assert f"{NUMBERS[len(lesson.exercises)]} exercises, " in introduction
    steps = sum(isinstance(exercise, Step) for exercise in lesson.exercises)
    assert not steps or f" {NUMBERS[steps].lower()} " in introduction
    assert f'`hint("{lesson.number}.1")`' in introduction


@each_sheet
def test_it_imports_what_a_learner_is_told_to_call_and_ends_with_what_stands(lesson: Lesson) -> None:
    first, *others = cells(lesson, "code")
    imported = {
        alias.name for node in ast.walk(ast.parse(first)) if isinstance(node, ast.ImportFrom) for alias in node.names
    }
    assert {"check", "hint", "progress"} <= imported
    assert f'progress("{lesson.number}")' in "\n".join(others)
    if any(exercise.place for exercise in lesson.exercises):
        assert "with own_parts()" in "\n".join(others)


HOUR = r"hours?(?: and (?:a quarter|a half|three quarters))?"
DURATION = re.compile(
    rf"(?<!\w)(?:(?:an|two|three|four|five) {HOUR}|half an hour|(?:a quarter|three quarters) of an hour|[\w-]+ minutes)"
)


@each_sheet
def test_it_says_the_hours_that_the_first_page_says(lesson: Lesson) -> None:
    """Together, and of its two kinds of exercises: all are counted up from the exercises themselves."""
    time = lesson_time(ROOT / "authoring" / "lessons" / f"{lesson.name}.py")
    parts = [in_words(part) for part in (time.others, time.steps) if part and part != time.exercises]
    introduction = " ".join(cells(lesson, "markdown")[0].split())
    assert DURATION.findall(introduction) == [in_words(time.exercises), *parts]
    assert f"({time})" in " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())


@each_sheet
def test_the_lesson_says_the_same_hours_at_its_end(lesson: Lesson) -> None:
    path = ROOT / "authoring" / "lessons" / f"{lesson.name}.py"
    time, text = lesson_time(path), re.sub(r"\n# ?", " ", path.read_text(encoding="utf-8"))
    end = text[text.index("## What PyTorch does differently") :]
    assert {*DURATION.findall(end)} <= {in_words(time.others), in_words(time.steps)}


@each_sheet
def test_an_exercise_has_one_title_everywhere(lesson: Lesson) -> None:
    headings = dict(re.findall(r"^## (\d\d\.\d+) (.*)$", "\n".join(cells(lesson, "markdown")), re.MULTILINE))
    assert {number: title.lower() for number, title in headings.items()} == {
        exercise.number: exercise.title.lower() for exercise in lesson.exercises
    }
    for exercise in lesson.exercises:
        assert not isinstance(exercise, Step) or step(exercise.number).title.lower() == exercise.title.lower()


BLANKS = re.compile(r"[a-z,;] {2,}[a-z]")


@each_sheet
def test_no_sentence_has_blanks_in_a_row(lesson: Lesson) -> None:
    lines = [line for text in cells(lesson, "markdown") if "```" not in text for line in text.splitlines()]
    sentences = [line for line in lines if not line.startswith("    ")] + texts_of_the_checks(lesson)
    assert [sentence for sentence in sentences if BLANKS.search(sentence)] == []


def texts_of_the_checks(lesson: Lesson) -> list[str]:
    """All texts of one line in the modules that judge: hints, and what wrong answers are told."""
    modules = (ROOT / "authoring" / "checks" / f"lesson_{lesson.name}").glob("*.py")
    nodes = [node for module in modules for node in ast.walk(ast.parse(module.read_text()))]
    texts = [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    return [text for text in texts if "\n" not in text]


def test_only_lessons_that_exist_are_cited() -> None:
    known = {path.name[:2] for path in (ROOT / "authoring" / "lessons").glob("*.py")}
    sources = [path for folder in ("lessons", "exercises") for path in (ROOT / "authoring" / folder).glob("*.py")]
    for path in [ROOT / "README.md", *(ROOT / "docs").glob("*.md"), *sources]:
        text = re.sub(r"\n#? ?", " ", path.read_text(encoding="utf-8"))
        cited = re.findall(r"\blessons? (\d\d(?:(?:,| and| to| or) \d\d)*)", text)
        assert not set(re.findall(r"\d\d", " ".join(cited))) - known, path.name
