"""The reference of `mini` keeps its measures: small enough to be owned, cut into steps that a sitting can write."""

from __future__ import annotations

import ast
import sys

import pytest

from minitorch_compile.course.mini.code_lines import code_lines, lines_in_step
from minitorch_compile.course.mini.reference import FOLDER, LINES, all_steps, reference, step, steps_of
from minitorch_compile.course.mini.sections import MARKER, whole
from minitorch_compile.course.mini.step_text import problem

FILES = {path.stem: path.read_text(encoding="utf-8") for path in sorted(FOLDER.glob("*.py"))}
IN_STEPS = [file for file in FILES if steps_of(file)]
IMPORTS = ast.Import | ast.ImportFrom
MAY_IMPORT = {"mini", "numpy", "numba"} | sys.stdlib_module_names


def test_all_files_have_at_most_so_many_lines_of_code_together():
    total = sum(len(code_lines(text)) for text in FILES.values())
    assert total <= LINES


@pytest.mark.parametrize("number", all_steps())
def test_a_step_is_five_to_thirty_lines_that_are_python_by_themselves(number):
    part = step(number)
    assert part.title, "a step has a title"
    assert 5 <= lines_in_step(part.text) <= 30
    assert problem(part.text, part.depth) is None


@pytest.mark.parametrize("file", IN_STEPS)
def test_three_quarters_of_a_file_but_for_its_imports_are_written_in_steps(file):
    written = sum(lines_in_step(part.text) for part in steps_of(file).values())
    head = ast.parse(reference()[file][0].text).body
    imports = sum((node.end_lineno or 0) - node.lineno + 1 for node in head if isinstance(node, IMPORTS))
    assert written >= 0.75 * (len(code_lines(FILES[file])) - imports)


@pytest.mark.parametrize("file", IN_STEPS)
def test_the_steps_of_a_file_are_of_one_lesson_each_once_and_in_order(file):
    numbers = [part.number for part in reference()[file] if part.number]
    assert len({number.partition(".")[0] for number in numbers}) == 1
    assert len(set(numbers)) == len(numbers)
    assert numbers == sorted(numbers, key=list(all_steps()).index)


def test_no_step_is_in_two_files():
    assert sum(len(steps_of(file)) for file in FILES) == len(all_steps())


@pytest.mark.parametrize("file", FILES)
def test_what_looks_like_a_mark_is_one(file):
    text = FILES[file]
    assert whole(reference()[file]) == text
    assert [line for line in text.splitlines() if "# %%" in line and not MARKER.match(line)] == []


@pytest.mark.parametrize("file", FILES)
def test_it_imports_only_itself_numpy_numba_and_pythons_own(file):
    found = set()
    for node in ast.walk(ast.parse(FILES[file])):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "its imports name the package"
            found.add((node.module or "").partition(".")[0])
    assert found <= MAY_IMPORT
