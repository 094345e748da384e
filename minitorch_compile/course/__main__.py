"""`python -m minitorch_compile.course grade [folder]`: a table of points; `... progress`: every exercise's state;
`... class FOLDER`: the submissions of a class; `... watch`: what you save, checked as you save it.
"""

from __future__ import annotations

import argparse
import csv
import io
import os
import sys
from pathlib import Path

from .checking.result import readable
from .files.course_folder import course_folder, work_folder
from .grading.class_grades import grade_class
from .grading.class_tables import write_tables
from .grading.grade import Grade, grade_folder, percent, table
from .grading.progress import progress
from .grading.roster import Learner, learners_in, read_roster
from .grading.watch import watch_folder
from .sandbox.places import holds_course


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="course", description="Grade the exercises, or see how far you are.")
    commands = parser.add_subparsers(dest="command", required=True)
    grading = commands.add_parser("grade", help="judge every exercise of every notebook in a folder")
    grading.add_argument("folder", nargs="?", type=Path, help="default: work/")
    grading.add_argument("--details", action="store_true", help="print each exercise's cases, too")
    grading.add_argument("--csv", type=Path, help="write one line an exercise to this file")
    following = commands.add_parser("progress", help="what is done and what is next")
    following.add_argument("lesson", nargs="?", help="a number such as 01; default: all")
    commands.add_parser("watch", help="check each notebook in work/ when it is saved")
    of_all = commands.add_parser("class", help="grade the submissions of a class; the same command again goes on")
    of_all.add_argument("folder", type=Path, help="has a folder for each learner, as work/ is one")
    of_all.add_argument("--roster", type=Path, help="a CSV file with the columns id, name, email, folder; default: all")
    of_all.add_argument("--out", type=Path, default=Path("build/class"), help="where the tables go: build/class")
    of_all.add_argument("--processes", type=int, default=os.cpu_count(), help="how many lessons at a time")
    options = parser.parse_args(arguments)
    try:
        return run(options)
    except BrokenPipeError:  # whoever reads has seen enough, as in `make grade | head -3`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        print(f"{options.command}: interrupted", file=sys.stderr)
        return 130
    except (OSError, LookupError, ValueError) as error:  # a file or folder that can't be used; no such lesson
        print(f"{options.command}: {error.args[0] if isinstance(error, LookupError) else error}", file=sys.stderr)
        return 2


def run(options: argparse.Namespace) -> int:
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # no terminal is too simple for what a learner wrote
    if options.command == "progress":
        progress(options.lesson)
        return 0
    if options.command == "watch":
        watch_folder(work_folder())
        return 0
    if options.command == "class":
        return grade_all(options)
    return grade(options.folder, options.details, options.csv)


def grade_all(options: argparse.Namespace) -> int:
    """Grade a class; the last lines say where the tables are."""
    if not options.folder.is_dir():
        raise NotADirectoryError(f"{options.folder} is not a folder")
    if holds_course(options.folder):
        raise ValueError(f"the course itself lies in {options.folder}: give the submissions a folder of their own")
    learners = read_roster(options.roster) if options.roster else learners_in(options.folder)

    def report(learner: Learner, graded: Grade, done: int, of: int) -> None:
        text = f"{learner.id}, {graded.lesson.title}: {graded.points} of {graded.total}  {graded.note}"
        print(f"{done:>5} of {of}  {readable(text).rstrip()}", flush=True)

    submissions = grade_class(options.folder, learners, options.out, max(1, options.processes), report)
    for path in write_tables(submissions, options.out):
        print(path)
    return 0


def grade(folder: Path | None, details: bool, csv_path: Path | None) -> int:
    """Print the table. A notebook that isn't there scores nothing, but a folder that isn't there is an error."""
    if folder is None:
        folder = course_folder() / "work"
        folder.mkdir(exist_ok=True)
    if not folder.is_dir():
        lesson = f"; `progress {folder}` is about a lesson" if str(folder).isdecimal() else ""
        print(f"grade: {folder} is not a folder{lesson}", file=sys.stderr)
        return 2
    grades = grade_folder(folder)
    if details:
        for result in (result for each in grades for result in each.results):
            print(f"{result}\n")
    print(table(grades))
    if csv_path is not None:
        write_csv(grades, csv_path)
    return 0


def write_csv(grades: list[Grade], path: Path) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["exercise", "title", "points", "of", "percent"])
        for result in (result for each in grades for result in each.results):
            writer.writerow(
                [result.number, result.title, result.points, result.total, percent(result.points, result.total)]
            )


if __name__ == "__main__":
    sys.exit(main())
