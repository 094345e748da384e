"""A class of submissions: each damaged one costs its own row, a kill costs nothing, and the tables are what is read."""

from __future__ import annotations

import csv
import dataclasses
import json
import os
import subprocess
import sys

import pytest

from minitorch_compile.course.__main__ import main
from minitorch_compile.course.checking import check_process
from minitorch_compile.course.checking.lessons import load_lesson
from minitorch_compile.course.grading import class_grades
from minitorch_compile.course.grading.class_grades import grade_class
from minitorch_compile.course.grading.class_tables import write_tables
from minitorch_compile.course.grading.roster import Learner, learners_in, read_roster

from .notebooks import ROOT

LESSON = load_lesson("01_tensors_strides_views")
STRIDES = dataclasses.replace(LESSON.exercises[0], seconds=1.0)
SHORT = dataclasses.replace(LESSON, exercises=(STRIDES,))
FILE = f"{LESSON.name}.ipynb"
RIGHT = "tuple(__import__('math').prod(max(n, 1) for n in sizes[i + 1 :]) for i in range(len(sizes)))"


def notebook(body: str) -> bytes:
    source = f"def contiguous_strides(sizes):\n    {body}"
    return json.dumps({"cells": [{"cell_type": "code", "source": source}]}).encode()


GOOD = notebook(f"return {RIGHT}")
FILES = {
    "empty": b"",
    "text": b"hello",
    "cut off": GOOD[:40],
    "cut in a character": json.dumps({"cells": "\xe9"}, ensure_ascii=False).encode()[:12],
    "latin-1": b'{"cells": "\xe9"}',
    "utf-16": GOOD.decode().encode("utf-16"),
    "binary": bytes(range(256)),
    "null": b"null",
    "a list": b"[]",
    "no cells": b"{}",
    "cells are a number": b'{"cells": 7}',
    "nested": b"[" * 200_000,
    "a number without end": b'{"cells": ' + b"9" * 10_000 + b"}",
    "a zip": b"PK\x03\x04" + bytes(100),
    "nul bytes": bytes(1000),
    "cells of nothing": b'{"cells": [null, 7, [], {}, {"cell_type": "code", "source": [1]}]}',
    "a syntax error": notebook("return ("),
    "half of a character": json.dumps({"cells": [{"cell_type": "code", "source": "'\ud83d'"}]}).encode(),
    "a source of 1 MB": notebook("return " + "(" * 1_000_000),
}
BODIES = {
    "an endless loop": "while True: pass",
    "no end of recursion": "return contiguous_strides(sizes)",
    "a result nested too deeply": "return __import__('functools').reduce(lambda x, _: [x], range(3000), 0)",
    "no end of output": "while True: print('x' * 10**6)",
    "no end of memory": "return bytearray(10**12)",
    "a crash": "__import__('ctypes').string_at(0)",
    "an exit": "__import__('os')._exit(0)",
    "processes": "[__import__('os').fork() for _ in range(6)]; return 0",
    "a deaf process": "s = __import__('signal'); s.signal(s.SIGTERM, s.SIG_IGN)\n    while True: pass",
}


def link_to_another(folder):
    (folder / FILE).symlink_to(folder.parent / "good" / FILE)


def a_pipe(folder):
    os.mkfifo(folder / FILE)


def a_folder(folder):
    (folder / FILE).mkdir()


def enormous(folder):
    with (folder / FILE).open("wb") as file:
        file.truncate(2**40)


def link_to_itself(folder):
    (folder / FILE).symlink_to(folder / FILE)


def a_linked_folder(folder):
    folder.rmdir()
    folder.symlink_to(folder.parent / "good")


def mini_is_a_pipe(folder):
    (folder / "mini").mkdir()
    os.mkfifo(folder / "mini" / "ops.py")
    (folder / FILE).write_bytes(b"x")


MADE = (link_to_another, link_to_itself, a_pipe, a_folder, enormous, a_linked_folder, mini_is_a_pipe)


@pytest.fixture
def submissions(tmp_path):
    """Two that are good, and one of each kind that isn't."""
    place = tmp_path / "submissions"
    files = {"good": GOOD, "also good": GOOD, **FILES, **{name: notebook(body) for name, body in BODIES.items()}}
    for name in [*files, *(make.__name__ for make in MADE)]:
        (place / name).mkdir(parents=True)
    for name, contents in files.items():
        (place / name / FILE).write_bytes(contents)
    for make in MADE:
        make(place / make.__name__)
    return place


def test_each_damaged_submission_costs_its_own_row(submissions, tmp_path):
    learners = learners_in(submissions)
    graded = grade_class(submissions, learners, tmp_path / "out", 2, lessons=[SHORT])
    points = {each.learner.id: each.points for each in graded}
    assert len(points) == 2 + len(FILES) + len(BODIES) + len(MADE) >= 32
    assert {name for name, value in points.items() if value} == {"good", "also good"}
    for each in graded:
        (grade,) = each.grades.values()
        told = grade.note or grade.results[0].note or grade.results[0].cases[0].fact
        assert grade.points == grade.total or told, each.learner.id
        assert "check itself failed" not in told and "could not be graded" not in told, told
    write_tables(graded, tmp_path / "out")
    with (tmp_path / "out" / "learners.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["id"] for row in rows] == [learner.id for learner in learners]


def counted(monkeypatch):
    """The exercises that are judged from now on."""
    numbers = []
    judged = class_grades.judged

    def counting(exercise, *rest):
        numbers.append(exercise.number)
        return judged(exercise, *rest)

    monkeypatch.setattr(class_grades, "judged", counting)
    return numbers


def test_what_is_graded_is_not_graded_again_unless_it_changes(submissions, tmp_path, monkeypatch):
    learners, out = [Learner("good", folder="good"), Learner("b", folder="also good")], tmp_path / "out"
    numbers = counted(monkeypatch)
    for _ in range(2):
        assert [each.points for each in grade_class(submissions, learners, out, 1, lessons=[SHORT])] == [4, 4]
    assert numbers == ["01.1"] * 2
    (submissions / "good" / FILE).write_bytes(notebook("return 0"))
    assert [each.points for each in grade_class(submissions, learners, out, 1, lessons=[SHORT])] == [0, 4]
    assert numbers == ["01.1"] * 3
    for path in (out / "graded").iterdir():  # nobody earns points by editing what is kept
        path.write_text(path.read_text().replace('"fail"', '"pass"'))
    assert [each.points for each in grade_class(submissions, learners, out, 1, lessons=[SHORT])] == [0, 4]


def test_what_could_not_be_judged_is_judged_again(submissions, tmp_path, monkeypatch):
    learners = [Learner("good", folder="good")]

    def full():
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(check_process, "a_room", full)
        (graded,) = grade_class(submissions, learners, tmp_path / "out", 1, lessons=[SHORT])
        assert graded.notes == ["the check could not start: No space left on device"]
    assert [each.points for each in grade_class(submissions, learners, tmp_path / "out", 1, lessons=[SHORT])] == [4]


def test_who_interrupts_it_waits_only_for_what_is_being_graded(submissions, tmp_path, monkeypatch):
    numbers, learners = counted(monkeypatch), [Learner(str(number), folder="good") for number in range(8)]

    def interrupted(*_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        grade_class(submissions, learners, tmp_path / "out", 1, interrupted, lessons=[SHORT])
    assert len(numbers) <= 3


SPYING = """import os
    read = []
    for path in {places}:
        try:
            open(path).close() if os.path.isfile(path) else os.listdir(path)
            read.append(path)
        except PermissionError:
            pass
    return read"""


def test_no_learner_reads_what_another_has_handed_in(tmp_path, monkeypatch):
    """Also where Python was started in the folder above, which `python -m` puts on the path."""
    folder, out = tmp_path / "in", tmp_path / "out"
    for name in ("ada", "spy"):
        (folder / name).mkdir(parents=True)
    (folder / "ada" / FILE).write_bytes(GOOD)
    places = [str(place) for place in (folder / "ada" / FILE, folder, out / "graded")]
    (folder / "spy" / FILE).write_bytes(notebook(SPYING.format(places=places)))
    monkeypatch.syspath_prepend(str(tmp_path))
    ada, spy = grade_class(folder, learners_in(folder), out, 1, lessons=[SHORT])
    assert ada.points == 4 and spy.points == 0
    assert "got []" in spy.grades["01"].results[0].cases[0].fact


def test_a_class_has_a_folder_of_its_own(capsys):
    assert main(["class", str(ROOT)]) == 2
    assert "the course itself lies in" in capsys.readouterr().err


@pytest.mark.slow
def test_a_killed_command_goes_on_where_it_was(tmp_path, monkeypatch):
    for name in "abcdef":
        (tmp_path / "in" / name).mkdir(parents=True)
        (tmp_path / "in" / name / FILE).write_bytes(GOOD)
    out = tmp_path / "out"
    command = ["-m", "minitorch_compile.course", "class", str(tmp_path / "in"), "--out", str(out), "--processes", "1"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen([sys.executable, *command], stdout=subprocess.PIPE, text=True, env=environment)
    assert any("4 of 44" in line for line in process.stdout)  # the first one is done
    process.kill()
    process.communicate()
    done = len(list((out / "graded").glob("*.json")))
    assert 1 <= done < 6
    numbers = counted(monkeypatch)
    graded = grade_class(tmp_path / "in", learners_in(tmp_path / "in"), out, 2, lessons=[LESSON])
    assert [each.points for each in graded] == [4] * 6
    assert numbers.count("01.1") == 6 - done


ROSTERS = {
    "": "expected a column `id` in its first line, got nothing",
    "name\nAda": "expected a column `id` in its first line, got name",
    "id\nada\nada": "line 3: 'ada' is there twice",
    "id,name\n,Ada": "line 2: the id is empty",
    "id\n../ada": "line 2: '../ada' is not the name of a folder",
    "id,folder\na,x\nb,x": "line 3: the folder 'x' is another one's, too",
}


@pytest.mark.parametrize("text", ROSTERS)
def test_a_roster_that_can_not_be_used_says_which_line(text, tmp_path, capsys):
    path = tmp_path / "roster.csv"
    path.write_text(text)
    assert main(["class", str(tmp_path), "--roster", str(path)]) == 2
    assert f"roster.csv{':' if ROSTERS[text].startswith('e') else ','} {ROSTERS[text]}" in capsys.readouterr().err


def test_the_tables_are_as_they_are_read(submissions, tmp_path):
    roster = tmp_path / "roster.csv"
    roster.write_bytes(
        b"\xef\xbb\xbfID,Name,Email,Section\r\ngood,Ada Lovelace,a@b,=A1\r\nnobody,Turing\\, Alan,,B\r\n"
    )
    out = tmp_path / "out"
    graded = grade_class(submissions, read_roster(roster), out, 1, lessons=[SHORT])
    tables = {
        path.stem: list(csv.reader(path.open(newline="", encoding="utf-8"))) for path in write_tables(graded, out)
    }
    title = LESSON.title
    assert tables["canvas"] == [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", title],
        ["    Points Possible", "", "", "", "", "4"],
        ["Lovelace, Ada", "", "good", "good", "'=A1", "4"],
        ["Turing\\", "", "nobody", "nobody", "", "0"],
    ]
    assert tables["moodle"][:2] == [
        ["First name", "Last name", "ID number", "Email address", title],
        ["Ada", "Lovelace", "good", "a@b", "4"],
    ]
    assert tables["nbgrader_students"][1] == ["good", "Ada", "Lovelace", "a@b"]
    assert tables["nbgrader_grades"][1][:4] == [LESSON.name, "", "", "good"]
    assert tables["nbgrader_grades"][1][-4:] == ["4", "0", "4", "4"]
    assert tables["exercises"][1][:7] == ["01.1", STRIDES.title, "4", "2.0", "1", "0", "1"]
    assert tables["learners"][1][:6] == ["good", "Ada Lovelace", "4", "4", "4", "100"]
