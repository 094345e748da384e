"""The learner's package grows by lessons: after each, what is there is imported, and its examples and tests hold."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from minitorch_compile.course.mini.compose import composed, write_package
from minitorch_compile.course.mini.reference import all_steps, reference, steps_of
from minitorch_compile.course.mini.stages import files_in, ready, runnable

from .notebooks import ROOT

LESSONS = sorted({number.partition(".")[0] for number in all_steps()})
# Until which lesson: a graph is run on sizes that are known, and a trace guards what it reads; lesson 05 writes both.
WAITS = {"graph": "05", "tracer": "05"}
TESTS = ROOT / "tests" / "mini"
EXAMPLES = """
import doctest, importlib, sys
for file in sys.argv[1:]:
    module = importlib.import_module(f"mini.{file}")
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    found = doctest.testmod(module, optionflags=flags, extraglobs={"__name__": "example"})  # they are a program's own
    assert found.failed == 0, file
foreign = [name for name in sys.modules if name.startswith(("minitorch_compile", "authoring"))]
assert not foreign, foreign
"""


def stage(folder, lesson: str) -> list[str]:
    """Makes the package as it is after a lesson, of what is given as a whole and the snapshots; names its files."""
    texts = composed({})
    write_package(folder, {file: texts[file] for file in reference() if not steps_of(file)})
    for number in (number for number in LESSONS if number <= lesson):
        for path in (ROOT / "solutions" / "mini" / number).glob("*.py"):
            (folder / "mini" / path.name).write_text(path.read_text())
    return ready(files_in(folder / "mini"))


@pytest.mark.parametrize("lesson", LESSONS)
def test_after_each_lesson_the_files_so_far_import_no_other_and_their_examples_hold(lesson, tmp_path):
    files = stage(tmp_path, lesson)
    written = {file for number, file in all_steps().items() if number.partition(".")[0] <= lesson}
    waiting = {file for file, until in WAITS.items() if lesson < until}
    assert written - set(files) <= waiting, "a file imports one of a later lesson"
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    names = [file for file in files if file != "__init__"]
    done = subprocess.run([sys.executable, "-c", EXAMPLES, *names], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("lesson", LESSONS)
def test_after_each_lesson_the_tests_of_its_files_pass(lesson, tmp_path):
    before = stage(tmp_path, LESSONS[LESSONS.index(lesson) - 1]) if lesson != LESSONS[0] else []
    earlier = set(runnable(TESTS, before))
    new = [str(path) for path in runnable(TESTS, stage(tmp_path, lesson)) if path not in earlier]
    if new:
        environment = {**os.environ, "MINI": str(tmp_path / "mini")}
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "not slow", *new]
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout


def test_every_file_of_the_reference_is_in_a_snapshot_or_given_as_a_whole():
    snapshots = {path.stem for path in (ROOT / "solutions" / "mini").glob("*/*.py")}
    assert snapshots == {file for file in reference() if steps_of(file)}


def test_mini_test_lists_what_is_missing_and_tests_what_is_whole(course):
    """Run by hand on a learner's folder in which one file of the first lesson is whole."""
    program = (
        "from pathlib import Path; import mini_test; from minitorch_compile.course.mini import learner;"
        f"from minitorch_compile.course.mini.reference import step; work = Path({str(course)!r}) / 'work';"
        "missing = mini_test.main(work.parent); print('first', missing)"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "tools")])}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
    assert "mini: 0 lines of code are yours, 0 are borrowed, of at most 2,000" in done.stdout, done.stderr
    assert "No file has all its steps so far." in done.stdout and "first 0" in done.stdout
