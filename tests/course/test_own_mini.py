"""The learner's own package in work/mini: saved by `%%mini`, edited by hand, borrowed, shown, and judged from there."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys

import pytest

from minitorch_compile.course import borrow, mini_map
from minitorch_compile.course.checking import check_process, culprits
from minitorch_compile.course.checking.check_process import result_of
from minitorch_compile.course.checking.check_worker import events
from minitorch_compile.course.files.regular_file import Unreadable
from minitorch_compile.course.mini import learner, reference
from minitorch_compile.course.mini.magic import mini as save_cell
from minitorch_compile.course.mini.package import forget_modules

from . import small_mini
from .notebooks import ROOT
from .small_mini import BOX, GROW, TWICE

REFERENCES = 'def twice(x):\n    """Twice as much."""\n    return 2 * x'
OWN = "def twice(x):\n    return x + x"
OWN_BOX = "class Box:\n    def __init__(self, value):\n        self.value = +value"


@pytest.fixture(autouse=True)
def small(course, tmp_path_factory, monkeypatch):
    small_mini.install(tmp_path_factory.mktemp("reference"), monkeypatch)
    monkeypatch.syspath_prepend(str(course / "work"))
    forget_modules()
    yield course / "work"
    reference.reference.cache_clear()
    forget_modules()


def text(work, file: str) -> str:
    return (work / "mini" / f"{file}.py").read_text()


def texts(exercise, cells, work) -> list[str]:
    return [each.answer for each in exercise.submissions(cells, work)]


def test_a_cell_is_saved_and_can_be_imported_at_once(small, capsys):
    save_cell("first 01.7", OWN + "\n")
    assert capsys.readouterr().out == ("01.7 twice is saved in work/mini/first.py; that file has all its steps\n")
    assert importlib.import_module("mini.first").twice(4) == 8
    save_cell("first 01.7", OWN + " + 1\n")
    assert importlib.import_module("mini.first").twice(4) == 9
    assert text(small, "first") == small_mini.FIRST.replace(REFERENCES, OWN + " + 1")


def test_a_missing_step_is_named_where_it_is_used(small, capsys):
    save_cell("second 02.8", "    def grow(self):\n        return 7")
    assert "still to write there: 02.7" in capsys.readouterr().out
    module = importlib.import_module("mini.second")
    with pytest.raises(ImportError, match=r"step 02.7 of mini/second.py \(a box\) is not written yet; borrow\('02'\)"):
        module.Box(1)
    with pytest.raises(ImportError, match="step 02.7"):
        type("Derived", (module.Box,), {})
    with pytest.raises(ImportError, match=r"step 01.7 of mini/first.py \(twice\) is not written yet; borrow\('01'\)"):
        module.twice(1)
    save_cell("second 02.7", OWN_BOX)
    assert "not written yet" not in text(small, "second")
    assert importlib.import_module("mini.second").Box(2).grow() == 7


def test_where_the_beginning_of_a_class_is_missing_its_methods_stand_in_one_that_says_so(small):
    save_cell("second 02.8", "    def grow(self):\n        return 7")
    assert "class Box:  # not written yet\n" in text(small, "second")
    compile(text(small, "second"), "second.py", "exec")


def test_a_cell_that_uses_a_step_waits_for_the_files_below(small, capsys):
    save_cell("second 02.7", OWN_BOX)
    assert BOX.usable(small) == 'it needs all of mini/first.py, or borrow("01")'
    save_cell("first 01.7", OWN)
    assert BOX.usable(small) == ""
    assert "not inside the course" in BOX.usable(None)


@pytest.mark.parametrize(
    ("line", "cell", "said"),
    [
        ("", "", "%%mini takes a file and a step"),
        ("third 01.7", OWN, "mini has no file 'third'. There are: __init__, first, second"),
        ("first 02.7", OWN, "mini/first.py has no step 02.7; it has 01.7"),
        ("first 01.7", "def twice(x):\n    return (x", "01.7 is not saved: '(' was never closed in line 3"),
        ("first 01.7", 'def twice(x):\n    raise NotImplementedError("your code here")', "still to write in this cell"),
    ],
)
def test_what_can_not_be_saved_is_told(small, capsys, line, cell, said):
    save_cell(line, cell)
    assert said in capsys.readouterr().out
    assert not (small / "mini").exists()


def test_running_the_stub_again_keeps_what_was_written(small, capsys):
    save_cell("first 01.7", OWN)
    save_cell("first 01.7", 'def twice(x):\n    raise NotImplementedError("your code here")')
    assert "work/mini/first.py keeps what it has" in capsys.readouterr().out
    assert OWN in text(small, "first")


def test_outside_the_course_nothing_is_saved(small, capsys, monkeypatch, tmp_path_factory):
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    save_cell("first 01.7", OWN)
    assert "not inside the course" in capsys.readouterr().out


def test_what_was_written_with_an_editor_is_judged(small):
    save_cell("first 01.7", OWN)
    path = small / "mini" / "first.py"
    path.write_text(path.read_text().replace("x + x", "x * 2"))
    stub = '%%mini first 01.7\ndef twice(x):\n    raise NotImplementedError("your code here")'
    assert texts(TWICE, [stub], small) == ["def twice(x):\n    return x * 2"]
    assert texts(TWICE, [], small) == ["def twice(x):\n    return x * 2"]
    assert texts(TWICE, [f"%%mini first 01.7\n{OWN}"], small) == [OWN, "def twice(x):\n    return x * 2"]


def test_of_other_steps_the_learners_are_taken_if_they_have_passed_and_the_references_if_all_fails(small):
    save_cell("second 02.7", OWN_BOX)
    cell = "%%mini second 02.8\n    def grow(self):\n        return self.value + self.value"
    (alone,) = GROW.submissions([cell], small)
    assert "+value" not in alone.job["files"]["second"] and alone.note == ""
    (box,) = BOX.submissions([], small)
    BOX.remember(box, small)
    own, references = GROW.submissions([cell], small)
    assert "+value" in own.job["files"]["second"] and own.job["owned"] == ["02.7", "02.8"]
    assert "+value" not in references.job["files"]["second"] and "not beside your own." in references.note
    save_cell("second 02.7", OWN_BOX + " + 1")  # another text has not passed
    assert len(GROW.submissions([cell], small)) == 1


def judge_here(exercise, submission, seconds):
    return result_of(exercise, list(events(exercise, submission.job)), "end")


def test_where_a_step_fails_beside_the_learners_own_the_culprit_is_named(small, monkeypatch, capsys):
    monkeypatch.setattr(check_process, "_judge", judge_here)
    save_cell("first 01.7", OWN)
    save_cell("second 02.7", "class Box:\n    value = property(lambda self: 3)\n    def __init__(self, value): pass")
    for passing in (TWICE, BOX):
        result, submission = check_process.judged(passing, [], small)
        assert result.passed
        passing.remember(submission, small)
    cell = "%%mini second 02.8\n    def grow(self):\n        self.value += self.value\n        return self.value"
    result, _ = check_process.judged(GROW, [cell], small, explain=True)
    assert result.passed and "not beside your own" in result.note
    assert "With the reference's 02.7 in place of yours it passes: look at 02.7 again." in result.note
    assert "has no setter\nyour step 02.8, line 3: self.value += self.value" in result.note
    (own, _) = GROW.submissions([cell], small)
    said = culprits.blame(GROW, own, judge_here(GROW, own, 1.0), judge_here, seconds=0.0)
    assert "It is among 01.7, 02.7: more was not tried in 0 s." in said
    capsys.readouterr()


def test_steps_are_exchanged_in_the_order_of_the_course():
    tried = []
    found = culprits.search(["05.9", "05.10", "13.2"], lambda steps: tried.append(steps) or "05.10" in steps)
    assert found.steps == ["05.10"] and found.enough and tried == [["05.9"], ["05.9", "05.10"], ["05.10"]]


def test_a_late_culprit_is_found_in_few_tries():
    steps, tried = [f"13.{n}" for n in range(90)], []
    for culprit in (2, 60, 89):
        tried.clear()
        found = culprits.search(steps, lambda given, at=culprit: tried.append(given) or f"13.{at}" in given)
        assert found == culprits.Found([f"13.{culprit}"], [])
        assert len(tried) <= (4 if culprit == 2 else 11)


def test_borrowing_fills_up_and_keeps_what_has_passed(small, capsys):
    save_cell("second 02.7", OWN_BOX)
    BOX.remember(BOX.submissions([], small)[0], small)
    save_cell("second 02.8", "    def grow(self):\n        return 7")
    capsys.readouterr()
    borrow("02")
    assert capsys.readouterr().out.splitlines() == [
        "borrowed: 02.8 a box that grows",
        "borrowed of earlier lessons: first.py (01.7)",
        "set aside, as it has not passed: 02.8 a box that grows, in work/mini/set_aside/02.8.py",
        "yours stays: 02.7 a box",
    ]
    assert "# %% 02.8 a box that grows (borrowed)" in text(small, "second") and "+value" in text(small, "second")
    assert importlib.import_module("mini.second").Box(2).grow() == 4
    assert "return 7" in (small / "mini" / "set_aside" / "02.8.py").read_text()
    assert GROW.submissions(["%%mini second 02.8\n    def grow(self):\n        return 7"], small)
    with pytest.raises(Exception, match="borrowed: your own begins with the cell `%%mini second 02.8`"):
        GROW.submissions([], small)
    save_cell("second 02.8", "    def grow(self):\n        return 7")
    assert "(borrowed)" not in text(small, "second")


def test_borrowing_for_no_lesson_lists_them():
    with pytest.raises(LookupError, match="mini has no steps in lesson '09'. There are: 01, 02"):
        borrow("09")


def test_the_map_says_whose_each_step_is(small, capsys):
    save_cell("second 02.7", OWN_BOX)
    BOX.remember(BOX.submissions([], small)[0], small)
    save_cell("second 02.8", "    def grow(self):\n        return 7")
    capsys.readouterr()
    mini_map()
    assert capsys.readouterr().out == (
        "mini: 5 lines of code are yours, 0 are borrowed, of at most 2,000\n"
        "  file              own lent   steps\n"
        "  first.py            0    0   missing 01.7\n"
        "  second.py           5    0   passed 02.7; written 02.8\n"
    )
    borrow("02")
    capsys.readouterr()
    mini_map()
    assert "  second.py           3    3   passed 02.7; borrowed 02.8\n" in capsys.readouterr().out


def folder(path):
    path.unlink()
    path.mkdir()


def enormous(path):
    with path.open("wb") as file:
        file.truncate(2**40)


def pipe(path):
    path.unlink()
    os.mkfifo(path)


def link(path):
    path.unlink()
    path.symlink_to("nowhere")


DAMAGED = {
    "not UTF-8": (lambda path: path.write_bytes(b"\xff\xfe"), "byte 0 is not UTF-8 text"),
    "a folder": (folder, "it is not a file"),
    "a pipe": (pipe, "it is not a file"),
    "enormous": (enormous, "it has more than 1,048,576 bytes"),
    "a link to nothing": (link, "it is a link to nothing"),
    "two marks": (lambda path: path.write_text("# %% 01.7 a\nx = 1\n# %% 01.7 a\nx = 1\n"), "it has two marks"),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_file_is_told_of_and_left_as_it_is(small, capsys, name):
    damage, said = DAMAGED[name]
    save_cell("first 01.7", OWN)
    damage(small / "mini" / "first.py")
    sentence = f"work/mini/first.py can't be used: {said}"
    capsys.readouterr()
    save_cell("first 01.7", OWN)
    assert f"01.7 is not saved: {sentence}" in capsys.readouterr().out
    borrow("02")
    assert f"nothing is borrowed: {sentence}" in capsys.readouterr().out
    mini_map()
    assert sentence in capsys.readouterr().out
    with pytest.raises(LookupError, match=said):
        TWICE.submissions([], small)
    assert texts(TWICE, [f"%%mini first 01.7\n{OWN}"], small) == [OWN]
    with pytest.raises(Unreadable):
        learner.written_steps(small, "first")


def test_an_empty_file_and_one_without_marks_have_no_steps(small, capsys):
    save_cell("first 01.7", OWN)
    for contents in (b"", b"x = 1\n", b"\xef\xbb\xbf", b"# %% 99.1 other\r\nx = 1\r\n"):
        (small / "mini" / "first.py").write_bytes(contents)
        assert learner.written_steps(small, "first") == {}
    save_cell("first 01.7", OWN)
    assert OWN in text(small, "first")


@pytest.mark.parametrize("contents", [b"", b"{", b"[]", b'{"01.7": 3}', b"\xff", b'{"99.9": "x"}'])
def test_a_damaged_record_of_what_has_passed_counts_as_none(small, contents):
    save_cell("first 01.7", OWN)
    (small / "mini" / ".passed.json").write_bytes(contents)
    assert learner.passed_steps(small) == {}


def test_a_file_in_the_place_of_the_folder_is_told_of(small, capsys):
    (small / "mini").write_text("")
    save_cell("first 01.7", OWN)
    assert "01.7 is not saved: " in capsys.readouterr().out
    mini_map()
    borrow("01")
    assert "nothing is borrowed: " in capsys.readouterr().out


def test_in_ipython_the_cell_is_saved_and_imported(course):
    """The real reference, in a process of its own: `import mini` finds work/mini."""
    number, file = next((n, f) for n, f in reference.all_steps().items())
    program = """
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
shell.run_cell("from minitorch_compile.course import borrow, mini_map", store_history=True)
shell.run_cell("%%mini first 01.7\\nx = 1", store_history=True)
shell.run_cell("borrow('15')\\nmini_map()\\nimport mini.emit; print(mini.emit.__file__)", store_history=True)
"""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "HOME": str(course), "IPYTHONDIR": str(course / "ipython")}
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=course / "work",
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert "01.7 is not saved: mini has no file 'first'" in done.stdout, done.stderr
    assert str(course / "work" / "mini" / "emit.py") in done.stdout and "borrowed 15." in done.stdout
