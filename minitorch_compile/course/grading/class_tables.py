"""What is known of a class, as files: by learner, by exercise, and as Canvas, Moodle and nbgrader read it.

A table is a list of rows, the first of which names the columns.

>>> safe("=HYPERLINK(0)"), safe("\\r=1"), safe("Ada")
("'=HYPERLINK(0)", "'\\r=1", 'Ada')
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..checking.result import Result, readable
from .class_grades import Submission
from .grade import percent

Table = list[list[Any]]
CANVAS = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")
NBGRADER = (
    "assignment",
    "duedate",
    "timestamp",
    "student_id",
    "last_name",
    "first_name",
    "email",
    "raw_score",
    "late_submission_penalty",
    "score",
    "max_score",
)


def write_tables(submissions: Sequence[Submission], out: Path) -> list[Path]:
    """All of them; the paths of the files."""
    tables = {
        "learners": by_learner(submissions),
        "exercises": by_exercise(submissions),
        "canvas": canvas(submissions),
        "moodle": moodle(submissions),
        "nbgrader_students": nbgrader_students(submissions),
        "nbgrader_grades": nbgrader_grades(submissions),
    }
    paths = []
    for name, table in tables.items():
        path = out / f"{name}.csv"
        write_table(table, path)
        paths.append(path)
    return paths


def write_table(table: Table, path: Path) -> None:
    """A CSV file in which a spreadsheet computes nothing. Where it can't be written, the one before stays."""
    new = path.with_name(f"{path.name}.new")
    with new.open("w", newline="", encoding="utf-8", errors="backslashreplace") as file:
        csv.writer(file).writerows([[safe(cell) for cell in row] for row in table])
    new.replace(path)


def safe(cell: Any) -> Any:
    """A text that a spreadsheet would compute gets a mark before it: it may be a learner's."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(("=", "+", "-", "@", "\t", "\r")) else cell


def by_learner(submissions: Sequence[Submission]) -> Table:
    """A row for each learner: points of each lesson and of all, and what is wrong with the files."""
    lessons = list(submissions[0].grades.values()) if submissions else []
    rows: Table = [["id", "name", *(g.lesson.title for g in lessons), "points", "of", "percent", "notes"]]
    for each in submissions:
        points = [grade.points for grade in each.grades.values()]
        notes = readable("; ".join(each.notes)).replace("\n", " ")
        share = percent(each.points, each.total)
        rows.append([each.learner.id, each.learner.name, *points, each.points, each.total, share, notes])
    return rows


def by_exercise(submissions: Sequence[Submission]) -> Table:
    """A row for each exercise: how many have passed, have begun, and what most of the others are told."""
    header = ["exercise", "title", "of", "mean points", "passed", "begun", "not begun", "told most often", "times"]
    rows: Table = [header]
    by_number: dict[str, list[Result]] = {}
    for result in (result for each in submissions for grade in each.grades.values() for result in grade.results):
        by_number.setdefault(result.number, []).append(result)
    for number, results in by_number.items():
        passed, started = sum(r.passed for r in results), sum(r.started for r in results)
        told = Counter(case.why or case.fact for r in results for case in r.cases if case.verdict == "fail")
        ((most, times),) = told.most_common(1) or [("", 0)]
        mean = round(sum(r.points for r in results) / len(results), 2)
        counts = [passed, started - passed, len(results) - started]
        first = results[0]
        rows.append([number, first.title, first.total, mean, *counts, readable(most).replace("\n", " "), times])
    return rows


def canvas(submissions: Sequence[Submission]) -> Table:
    """As Canvas's gradebook imports it: a column for each lesson; the second row has the points possible."""
    lessons = list(submissions[0].grades.values()) if submissions else []
    rows: Table = [[*CANVAS, *(grade.lesson.title for grade in lessons)]]
    rows.append(["    Points Possible", "", "", "", "", *(grade.total for grade in lessons)])
    for each in submissions:
        first, last = each.learner.names
        name = f"{last}, {first}" if first else each.learner.name or each.learner.id
        known = {"Student": name, "SIS User ID": each.learner.id, "SIS Login ID": each.learner.id}
        known.update({column: each.learner.others[column] for column in CANVAS if each.learner.others.get(column)})
        rows.append([*(known.get(c, "") for c in CANVAS), *(grade.points for grade in each.grades.values())])
    return rows


def moodle(submissions: Sequence[Submission]) -> Table:
    """As Moodle's grade import reads it: map "ID number" or "Email address" to the user, the others to grade items."""
    lessons = list(submissions[0].grades.values()) if submissions else []
    rows: Table = [["First name", "Last name", "ID number", "Email address", *(g.lesson.title for g in lessons)]]
    for each in submissions:
        points = [grade.points for grade in each.grades.values()]
        rows.append([*each.learner.names, each.learner.id, each.learner.email, *points])
    return rows


def nbgrader_students(submissions: Sequence[Submission]) -> Table:
    """As `nbgrader db student import` reads it."""
    rows: Table = [["id", "first_name", "last_name", "email"]]
    return [*rows, *([each.learner.id, *each.learner.names, each.learner.email] for each in submissions)]


def nbgrader_grades(submissions: Sequence[Submission]) -> Table:
    """As `nbgrader export` writes it, for what reads that: a row for each lesson of each learner."""
    rows: Table = [list(NBGRADER)]
    for each in submissions:
        first, last = each.learner.names
        for grade in each.grades.values():
            known = {"assignment": grade.lesson.name, "student_id": each.learner.id, "email": each.learner.email}
            known |= {"first_name": first, "last_name": last}
            scores = {"raw_score": grade.points, "late_submission_penalty": 0, "score": grade.points}
            row: dict[str, Any] = {**known, **scores, "max_score": grade.total}
            rows.append([row.get(column, "") for column in NBGRADER])
    return rows
