"""The capstone: a whole `mini` without writing anything, answers on it, lines counted; and what the lesson showed."""

from __future__ import annotations

import importlib
import re

import nbformat
import pytest

from minitorch_compile.course import own_mini
from minitorch_compile.course.checking.exercise import WrongAnswer
from minitorch_compile.course.checking.on_mini import OnMini
from minitorch_compile.course.drawings.table import RECORDS
from minitorch_compile.course.mini import learner
from minitorch_compile.course.mini import own_mini as own_mini_module
from minitorch_compile.course.mini.package import forget_modules
from minitorch_compile.course.mini.reference import all_steps, reference, step, steps_of
from minitorch_compile.course.mini.stack_lines import STAGES, lines_below, torch_lines

from .notebooks import ROOT, tool

outputs = tool("lesson_outputs")
NUMBER, FILE = next(iter(all_steps().items()))


@pytest.fixture(autouse=True)
def imported_no_more():
    yield
    own_mini_module._imported.close()
    forget_modules()


def passed_step(work, text: str) -> None:
    learner.save(work, {NUMBER: learner.Written(text)})
    learner.remember_passed(work, NUMBER, text)


def test_all_of_mini_can_be_imported_and_nothing_is_written(course, capsys):
    files = own_mini()
    assert importlib.import_module("mini.tensor").tensor([1.0]).tolist() == [1.0]
    assert set(files) == set(reference()) and not list((course / "work").iterdir())
    assert capsys.readouterr().out.startswith("mini: 0 of ")


def test_called_again_it_imports_anew_only_what_has_changed(course):
    own_mini()
    first = importlib.import_module("mini.tensor")
    own_mini()
    assert importlib.import_module("mini.tensor") is first
    passed_step(course / "work", step(NUMBER).text.rstrip() + "\n\nMINE = True")
    own_mini()
    assert importlib.import_module("mini.tensor") is not first


def test_a_step_that_has_passed_is_the_learners(course, capsys):
    passed_step(course / "work", step(NUMBER).text.rstrip() + "\n\nMINE = True")
    files = own_mini()
    assert "MINE = True" in files[FILE] and importlib.import_module(f"mini.{FILE}").MINE
    assert capsys.readouterr().out.startswith("mini: 1 of ")


def test_a_step_that_has_not_passed_is_the_references(course):
    learner.save(course / "work", {NUMBER: learner.Written("raise RuntimeError('not yet')")})
    assert not any("not yet" in text for text in own_mini().values())


def test_an_answer_on_mini_is_tried_on_the_learners_steps_and_then_without_them(course):
    exercise = OnMini("99.1", "one", answer="one", minutes=1, hints=("a", "b", "c"))

    @exercise.case("is there", points=1, section="x")
    def _(answer):
        if answer() != 1:
            raise WrongAnswer("not 1")

    passed_step(course / "work", step(NUMBER).text.rstrip() + "\n\nMINE = True")
    cells = [f"from mini import {FILE}\ndef one():\n    return 1 + hasattr({FILE}, 'MINE')"]
    on_own, on_reference = exercise.submissions(cells, course / "work")
    with exercise.loaded(on_own.job) as answer, pytest.raises(WrongAnswer):
        exercise.cases[0].judge(answer)
    with exercise.loaded(on_reference.job) as answer:
        exercise.cases[0].judge(answer)
    assert "not on your own" in on_reference.note and not on_own.note


def test_each_file_of_mini_that_is_written_in_steps_is_in_one_stage():
    named = [file for stage in STAGES for file in stage.mini]
    assert sorted(named) == sorted(file for file in reference() if steps_of(file))


def test_the_lines_of_pytorch_are_stored_with_their_version():
    assert re.fullmatch(r"\d+\.\d+\.\d+", torch_lines()["version"])
    assert all(count > 1000 for count in torch_lines()["lines"].values())


def test_lines_of_code_are_counted_below_a_folder_each_file_once(tmp_path):
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "one.py").write_text('"""Doc."""\n\n# why\nx = 1\ny = 2\n')
    (tmp_path / "a" / "b" / "two.py").write_text("z = 3\n")
    assert lines_below(tmp_path, ["a", "a/one.py"]) == 3
    assert lines_below(tmp_path, ["a"], but=["a/b"]) == 2
    with pytest.raises(FileNotFoundError):
        lines_below(tmp_path, ["c"])


@pytest.fixture(scope="module")
def shown() -> list[nbformat.NotebookNode]:
    notebook = nbformat.read(ROOT / "notebooks" / "18_capstone.ipynb", as_version=4)
    return [output for cell in outputs.code_cells(notebook) for output in cell.outputs]


def test_the_committed_lesson_reads_97_percent_of_the_digits_with_equal_losses(shown):
    printed = "".join(output.text for output in shown if output.output_type == "stream")
    reached = [float(n) for n in re.findall(r"([\d.]+) percent of the images", printed)]
    assert len(reached) == 3 and min(reached) >= 97
    apart = [float(n) for n in re.findall(r"by ([\d.e+-]+) at most", printed)]
    assert len(apart) == 2 and max(apart) < 1e-3


def test_the_committed_lesson_is_at_least_twice_as_fast_compiled_as_eager(shown):
    tables = [output.data[RECORDS] for output in shown if RECORDS in output.get("data", {})]
    (rows,) = [table for table in tables if "times faster" in table[0]]
    assert {row["model"] for row in rows} == {"MLP", "CNN", "GPT"}
    assert all(row["times faster"] >= 2 for row in rows)
