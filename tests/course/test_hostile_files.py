"""Whatever lies in work/, grading and progress end with a table: a damaged file costs one row, which says why."""

from __future__ import annotations

import json
import os
import re

import pytest

from minitorch_compile.course.__main__ import main
from minitorch_compile.course.checking.check_process import judge
from minitorch_compile.course.checking.lessons import find_exercise, load_lesson
from minitorch_compile.course.checking.notebook_file import NotANotebook, code_cells
from minitorch_compile.course.grading.grade import grade_notebook, table
from minitorch_compile.course.grading.hints import hint, read_hints

LESSON = load_lesson("01_tensors_strides_views")
FILE = f"{LESSON.name}.ipynb"


def notebook(*cells: object) -> bytes:
    return json.dumps({"cells": list(cells)}).encode()


DAMAGED = {
    "empty": (b"", "it is empty"),
    "no JSON": (b"hello", "Expecting value"),
    "cut off": (notebook({"cell_type": "code", "source": "x = 1"})[:40], "Unterminated string|Expecting"),
    "no UTF-8": (b"\xff\xfe{\x00}\x00", "byte 0 is not UTF-8 text"),
    "Latin-1": (b'{"cells": "\xe9"}', "byte 11 is not UTF-8 text"),
    "null": (b"null", "it has no list of cells"),
    "a list": (b"[]", "it has no list of cells"),
    "a number": (b"1e999", "it has no list of cells"),
    "cells: null": (b'{"cells": null}', "it has no list of cells"),
    "cells: a dict": (b'{"cells": {"a": 1}}', "it has no list of cells"),
    "no cells": (b"{}", "it has no list of cells"),
    "deep": (b"[" * 200_000, "it is nested too deeply"),
    "deep objects": (b'{"cells":' * 200_000, "it is nested too deeply"),
    "a number without end": (b'{"cells": ' + b"9" * 10_000 + b"}", "integer string conversion"),
    "binary": (bytes(range(256)) * 10, "byte 128 is not UTF-8 text"),
}


def reason(folder) -> str:
    with pytest.raises(NotANotebook) as problem:
        code_cells(folder / "work" / FILE)
    grade = grade_notebook(LESSON, folder / "work" / FILE)
    assert grade.points == 0 and str(problem.value) in table([grade])
    assert len(table([grade]).splitlines()) == 3
    return str(problem.value)


@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_notebook_says_why(course, name):
    contents, why = DAMAGED[name]
    (course / "work" / FILE).write_bytes(contents)
    assert re.search(f"^{FILE} is not a notebook: .*({why})", reason(course))


def test_what_is_no_file_says_so(course):
    path = course / "work" / FILE
    path.mkdir()
    assert reason(course) == f"{FILE} can't be read: it is not a file"
    path.rmdir()
    os.mkfifo(path)
    assert reason(course) == f"{FILE} can't be read: it is not a file"
    path.unlink()
    path.symlink_to("nowhere")
    assert reason(course) == f"{FILE} can't be read: No such file or directory"
    path.unlink()
    path.symlink_to(path)
    assert reason(course).startswith(f"{FILE} can't be read: Too many levels")


def test_an_unreadable_file_says_so(course, monkeypatch):
    path = course / "work" / FILE
    path.write_bytes(notebook())
    path.chmod(0)
    if os.access(path, os.R_OK):  # whoever is root may read everything

        def denied(*arguments, **options):
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr(type(path), "open", denied)
    assert reason(course) == f"{FILE} can't be read: Permission denied"


def test_an_enormous_file_is_not_read(course):
    with (course / "work" / FILE).open("wb") as file:
        file.truncate(2**40)
    assert reason(course) == f"{FILE} is not a notebook: it has more than 67,108,864 bytes"


def test_more_code_than_anybody_types_is_not_looked_through(course):
    cells = [{"cell_type": "code", "source": "x = 1"}] * 400_000
    (course / "work" / FILE).write_bytes(notebook(*cells))
    assert reason(course).startswith(f"{FILE} is too long: it has 2,400,000 characters of code")


def test_a_mark_at_the_beginning_is_read_over(course):
    path = course / "work" / FILE
    path.write_bytes(b"\xef\xbb\xbf" + notebook({"cell_type": "code", "source": "x = 1"}))
    assert code_cells(path) == ["x = 1"]


def test_a_damaged_cell_costs_only_itself(course):
    cells = [None, 7, [], {}, {"cell_type": "code"}, {"cell_type": "code", "source": [1]}]
    cells += [{"cell_type": "markdown", "source": None}, {"cell_type": "code", "source": ["a", "b"]}]
    (course / "work" / FILE).write_bytes(notebook(*cells))
    assert code_cells(course / "work" / FILE) == ["", "", "", "", "", "ab"]  # {} is no code cell


DEEP = 20_000
CELLS = {
    "half a character": ("contiguous_strides = '\ud83d'", "holds half of a character"),
    "a null byte": ("contiguous_strides = '\0'", "null byte"),
    "parentheses": ("contiguous_strides = " + "(" * DEEP, "too many nested parentheses"),
    "signs": ("contiguous_strides = " + "-" * DEEP + "1", "nested too deeply"),
    "a sum": ("contiguous_strides = 1" + "+1" * DEEP, "nested too deeply"),
    "attributes": ("contiguous_strides = a" + ".b" * DEEP, "nested too deeply"),
    "calls": ("contiguous_strides = f" + "()" * DEEP, "nested too deeply"),
    "conditions": ("contiguous_strides = " + "1 if 1 else " * (DEEP // 2) + "1", "nested too deeply"),
    "lambdas": ("contiguous_strides = " + "lambda:" * DEEP + "1", "nested too deeply"),
    "a number": ("contiguous_strides = " + "9" * 10_000, "integer string conversion"),
    "blocks": ("".join(" " * i + "if 1:\n" for i in range(200)) + " " * 200 + "contiguous_strides = 1", "too many"),
    "a cell without end": ("contiguous_strides = 1\n" * DEEP, "more than a cell can have"),
}


@pytest.mark.parametrize("name", CELLS)
def test_a_cell_that_no_parser_takes_is_told_of(name):
    cell, why = CELLS[name]
    result = judge(find_exercise("01.1"), ["x = 1", cell, "y = 2"])
    assert result.points == 0 and why in result.note and "check itself failed" not in result.note
    str(result).encode()


def test_such_a_cell_costs_nothing_elsewhere():
    stub = "def contiguous_strides(sizes):\n    raise NotImplementedError"
    cells = [cell.replace("contiguous_strides", "other") for cell, _ in CELLS.values()]
    assert judge(find_exercise("01.1"), [*cells, stub]).note == "not written yet"


KEPT = [b"", b"{", b"null", b"[]", b"7", b"\xff", b"[" * 200_000, b'{"01.1": null}', b'{"01.1": "many", "01.2": 99}']


@pytest.mark.parametrize("contents", KEPT)
def test_a_damaged_file_of_hints_is_made_anew(course, contents, capsys):
    (course / "work" / ".hints.json").write_bytes(contents)
    hint("01.1")
    assert "hint 1 of 3" in capsys.readouterr().out
    assert read_hints() == {"01.1": 1}


@pytest.mark.parametrize("contents", KEPT)
def test_a_damaged_file_of_progress_is_made_anew(course, contents, capsys):
    stub = {"cell_type": "code", "source": "def contiguous_strides(sizes):\n    raise NotImplementedError"}
    (course / "work" / FILE).write_bytes(notebook(stub))
    (course / "work" / ".progress.json").write_bytes(contents)
    assert main(["progress", "01"]) == 0
    assert "to do  01.1" in capsys.readouterr().out
    assert isinstance(json.loads((course / "work" / ".progress.json").read_text()), dict)


@pytest.mark.parametrize(
    "damage",
    [
        None,
        7,
        [],
        {},
        {"number": "01.1"},
        {"cases": None},
        {"cases": [7]},
        {"cases": [{}]},
        {"note": 7},
        {"title": "x"},
    ],
)
def test_a_damaged_result_is_judged_again(course, damage):
    stub = {"cell_type": "code", "source": "def contiguous_strides(sizes):\n    raise NotImplementedError"}
    (course / "work" / FILE).write_bytes(notebook(stub))
    kept = course / "work" / ".progress.json"
    main(["progress", "01"])
    whole = json.loads(kept.read_text())
    changed = {
        key: {**value, "result": {**value["result"], **damage}} if isinstance(damage, dict) and damage else damage
        for key, value in whole.items()
    }
    kept.write_text(json.dumps(changed))
    assert main(["progress", "01"]) == 0
    assert json.loads(kept.read_text()) == whole


def test_a_forged_file_of_progress_is_not_believed(course, capsys):
    """It has the right keys, and the result says that all has passed."""
    stub = {"cell_type": "code", "source": "def contiguous_strides(sizes):\n    return 0"}
    (course / "work" / FILE).write_bytes(notebook(stub))
    kept = course / "work" / ".progress.json"
    main(["progress", "01"])
    forged = json.loads(kept.read_text())
    for value in forged.values():
        for case in value["result"]["cases"]:
            case.update(verdict="pass", fact="", why="")
    kept.write_text(json.dumps(forged))
    capsys.readouterr()
    assert main(["progress", "01"]) == 0
    assert "begun  01.1" in capsys.readouterr().out


def test_folders_in_the_place_of_the_files_that_remember(course, capsys):
    for name in (".hints.json", ".progress.json"):
        (course / "work" / name).mkdir()
    hint("01.1")
    assert main(["progress", "01"]) == 0
    told = capsys.readouterr().out
    assert (
        "hint 1 of 3" in told and "note: .hints.json can't be written (Is a directory); nothing is remembered" in told
    )
    assert "note: .progress.json can't be used (it is not a file)" in told
    assert not [path for path in (course / "work").iterdir() if path.is_file()]


@pytest.mark.parametrize("arguments", [["progress", "77"], ["grade", "--csv", "nowhere/points.csv"], ["grade", FILE]])
def test_a_command_that_cannot_be_done_says_why(course, capsys, arguments):
    (course / FILE).write_text("a file, not a folder")
    assert main(arguments) == 2
    assert capsys.readouterr().err.startswith(f"{arguments[0]}: ")


def test_outside_the_course_commands_say_where_they_looked(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert (main(["grade"]), main(["progress"])) == (2, 2)
    assert capsys.readouterr().err.count("is not inside the course") == 2


@pytest.mark.parametrize("contents", [b"", b"\xff\xfe", None, b"def", b"# %% 01.7 a\n# %% 01.7 b\n", b"x" * 2**21])
def test_a_damaged_file_of_ones_own_package_costs_its_steps_only(course, capsys, contents):
    stub = {"cell_type": "code", "source": "def contiguous_strides(sizes):\n    raise NotImplementedError"}
    (course / "work" / FILE).write_bytes(notebook(stub))
    (course / "work" / "mini").mkdir()
    path = course / "work" / "mini" / "tensor.py"
    path.mkdir() if contents is None else path.write_bytes(contents)
    assert main(["progress", "01"]) == 0
    told = capsys.readouterr().out
    assert "to do  01.1 " in told and "to do  01.5 " in told and "Traceback" not in told
    result = judge(find_exercise("01.5"), [], course / "work")
    assert "work/mini/tensor.py can't be used" in result.note or "no cell run so far is" in result.note
