"""What wants points without the answer gets none, and leaves the machine as it was."""

from __future__ import annotations

import dataclasses
import os
import socket

import pytest

from minitorch_compile.course.checking.beside import BESIDE, how
from minitorch_compile.course.checking.check_keeper import ON_LINUX
from minitorch_compile.course.checking.check_process import judge
from minitorch_compile.course.checking.lessons import all_lessons, find_exercise
from minitorch_compile.course.sandbox import landlock

from . import cheats
from .notebooks import ROOT

STRIDES = dataclasses.replace(find_exercise("01.1"), seconds=30.0)
KERNEL = dataclasses.replace(find_exercise("19.2"), seconds=30.0)
PREDICTION = dataclasses.replace(find_exercise("01.2"), seconds=30.0)
STRIDES_TITLE = "def contiguous_strides(sizes):\n    "
pytestmark = pytest.mark.slow
confined = pytest.mark.skipif(landlock.version() < 6, reason="the kernel can't say what processes may do to files")


@pytest.fixture(scope="module")
def port():
    """Somebody who listens."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@pytest.fixture(scope="module", autouse=True)
def _the_machine_stays_as_it_was():
    before = state()
    yield
    assert state() == before


def state():
    """Names, lengths and times of all files of the course, and what lies beside them."""
    folders = ("authoring", "solutions", "exercises", "minitorch_compile/course", "notebooks")
    files = [path for name in folders for path in (ROOT / name).rglob("*") if "__pycache__" not in path.parts]
    found = {str(path): (path.stat().st_size, path.stat().st_mtime_ns) for path in files}
    beside = [name for name in os.listdir("/tmp") if name.startswith("cheat")] if ON_LINUX else []
    return found, sorted(path.name for path in ROOT.iterdir() if path.name != ".coverage"), beside


@confined
@pytest.mark.parametrize("name", cheats.ATTACKS)
def test_what_it_would_need_is_out_of_reach(name, port):
    result = judge(STRIDES, cheats.submission(cheats.ATTACKS[name], str(ROOT), port))
    assert result.points == 0, str(result)


def test_the_right_answer_of_these_submissions_is_right(port):
    assert judge(STRIDES, cheats.submission("True", str(ROOT), port)).passed


@pytest.mark.parametrize("name", cheats.LOOKING)
def test_the_judge_is_not_in_its_memory(name):
    lines = cheats.submission(cheats.LOOKING[name], str(ROOT), 0)
    used = [
        lines[0],
        cheats.LOOKING_HELPERS,
        lines[1].replace("    ctypes", "    frames, readable, everything, ctypes"),
    ]
    result = judge(STRIDES, used)
    assert result.points == 0, str(result)


@pytest.mark.parametrize("name", cheats.DESCRIPTORS)
def test_whatever_it_writes_to_descriptors(name):
    lines = "\n    ".join(cheats.DESCRIPTORS[name].splitlines())
    result = judge(STRIDES, [cheats.DESCRIPTORS_HELPER, f"{STRIDES_TITLE}{lines}\n    return True"])
    assert result.points == 0 and "check itself failed" not in str(result), str(result)


@pytest.mark.parametrize("name", cheats.EQUALS)
def test_an_object_that_equals_everything(name):
    cells = [cheats.EQUALS[name], f"{STRIDES_TITLE}return Equal()"]
    assert judge(STRIDES, cells).points == 0
    assert judge(STRIDES, [cheats.EQUALS[name], "contiguous_strides = Equal()"]).points == 0
    assert judge(PREDICTION, [cheats.EQUALS[name], "prediction = Equal()"]).points == 0
    assert judge(PREDICTION, [cheats.EQUALS[name], f"prediction = dict.fromkeys({QUESTIONS}, Equal())"]).points == 0


QUESTIONS = ["x.t()", "x[1]", "x[:, 1]", "x[:, ::2]", "x[:1].expand(3, 4)", "x[1:].reshape(8)", "x.t().reshape(12)"]
QUESTIONS += ["x[:, 1:].reshape(9)"]


@pytest.mark.parametrize("name", cheats.RAISES)
def test_what_it_raises_or_rebinds(name):
    result = judge(STRIDES, ["import os", f"{STRIDES_TITLE}os\n    {cheats.RAISES[name]}\n    return 0"])
    assert result.points == 0 and "check itself failed" not in str(result), str(result)


@pytest.mark.parametrize("name", cheats.KERNELS)
def test_a_kernel_is_read_and_not_run(name):
    result = judge(KERNEL, [cheats.KERNELS[name]])
    assert result.points == 0 and "check itself failed" not in str(result), str(result)


@pytest.mark.parametrize("name", cheats.TEXTS)
def test_a_text_of_python_is_not_run_in_the_judge(name):
    number, cell = cheats.TEXTS[name]
    result = judge(find_exercise(number), [cell])
    assert result.points == 0 and "check itself failed" not in str(result), str(result)
    assert not os.path.exists("/tmp/cheat-of-a-text")


@pytest.mark.parametrize("number", cheats.MEASURED)
def test_where_it_is_measured_there_is_nothing_to_find(number):
    exercise = find_exercise(number)
    for cells in (
        [cheats.LOOKER.format(answer=exercise.answer)],
        [cheats.EQUALS["equal to everything, object, says it is type"], f"{exercise.answer} = Equal()"],
    ):
        result = judge(exercise, cells)
        assert result.points == 0 and "check itself failed" not in str(result), str(result)


def test_there_are_ninety_and_more():
    kinds = (cheats.ATTACKS, cheats.LOOKING, cheats.DESCRIPTORS, cheats.RAISES, cheats.KERNELS)
    assert sum(map(len, kinds)) + 4 * len(cheats.EQUALS) >= 90


def test_the_page_counts_the_exercises_that_are_judged_apart():
    numbers = [exercise.number for lesson in all_lessons() for exercise in lesson.exercises]
    apart = sum(how(number) == "apart" for number in numbers)
    page = " ".join((ROOT / "docs" / "grading.md").read_text().split())
    assert f"Of the {len(numbers)} exercises {apart} are judged so. The checks of {len(BESIDE)} need" in page
    assert set(BESIDE) <= set(numbers)
