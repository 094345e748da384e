"""Whatever a learner's cell does, the check answers with a message."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
from pathlib import Path

import pytest

import minitorch_compile
from minitorch_compile.course import check, passed
from minitorch_compile.course.checking.check_process import judge
from minitorch_compile.course.checking.check_worker import CHECKS, attempt, learners_call
from minitorch_compile.course.checking.exercise import Exercise
from minitorch_compile.course.checking.lessons import find_exercise
from minitorch_compile.course.checking.result import Result

STRIDES = dataclasses.replace(find_exercise("01.1"), seconds=100.0)
RIGHT_BODY = "import math; return tuple(math.prod(max(n, 1) for n in sizes[i + 1 :]) for i in range(len(sizes)))"
SHORT = dataclasses.replace(STRIDES, seconds=2.0)


def told(body: str, exercise: Exercise = STRIDES) -> tuple[Result, str]:
    result = judge(exercise, [f"def contiguous_strides(sizes):\n    {body}"])
    return result, str(result)


def test_an_endless_loop_is_stopped_and_named():
    result, text = told("while True: pass", SHORT)
    assert result.points == 0
    assert "slow   rows lie one after the other: still running after 2 s. Is there an endless loop?" in text


def test_an_endless_native_loop_is_stopped_too():
    cells = [
        "import numba",
        "@numba.njit\ndef spin(x):\n    while True:\n        x += 1\n    return x",
        "def contiguous_strides(sizes):\n    return spin(1)",
    ]
    assert "Is there an endless loop?" in str(judge(SHORT, cells))


def test_an_endless_loop_does_not_outlive_a_parent_that_was_killed():
    """Nobody stops the worker then; it must not run for ever."""
    text = told("import resource; raise ValueError(0 < resource.getrlimit(resource.RLIMIT_CPU)[0] < 10_000)")[1]
    assert "ValueError: True" in text


def test_what_raises_is_told_with_the_call_that_the_check_made():
    scope = {}
    exec(compile("def f(x, y=None):\n    return g(y)\n\ndef g(x):\n    return 1 / 0", "cell 1", "exec"), scope)
    for given, shown in ((3, "3"), (NoRepr(), "<NoRepr instance")):
        with pytest.raises(ZeroDivisionError) as caught:
            scope["f"](given)
        assert learners_call(caught.value).startswith(f"f(x={shown}")
    assert learners_call(caught.value).endswith(", y=None): ")
    assert learners_call(ValueError("of the check itself")) == ""


class NoRepr:
    """As an object whose __init__ failed halfway may be."""

    def __repr__(self):
        return self.missing


def test_a_crash_is_named_by_its_signal():
    result, text = told("import ctypes; ctypes.string_at(0)")
    assert result.points == 0 and "crash" in text and "SIGSEGV" in text


def test_leaving_the_process_is_named():
    assert "exit code 3" in told("import os; os._exit(3)")[1]


def test_asking_to_exit_is_named():
    assert "asked the program to exit" in told("raise SystemExit")[1]


def test_memory_without_end_is_named():
    assert "asked for more memory than the limit" in told("return bytearray(2**33)")[1]


def test_recursion_without_end_is_named_with_the_learners_line():
    text = told("return contiguous_strides(sizes)")[1]
    assert "called itself too many times" in text and "cell 1, line 2" in text


def test_an_exception_shows_the_learners_line():
    text = told("return sizes[7]")[1]
    assert "IndexError" in text and "your cell 1, line 2: return sizes[7]" in text


def test_where_the_check_itself_stops_its_line_is_shown():
    code = compile("None.tolist()", str(CHECKS / "lesson_00" / "stops.py"), "exec")
    verdict = attempt(lambda: exec(code))
    assert verdict["fact"].startswith("AttributeError: 'NoneType'") and not verdict["line"]
    assert "the check could not go on with what your code gave: " in verdict["fact"]


def test_printing_is_shown_apart_from_the_verdicts():
    text = told(f"print('at', sizes); {RIGHT_BODY}")[1]
    assert "4 of 4 points" in text and "printed by your code" in text and "at (2, 3, 4)" in text


def test_of_a_long_print_the_end_is_shown():
    lines = told(f"print(*range(5000), sep=chr(10)); print(sizes); {RIGHT_BODY}")[1].split("printed by your code:")[1]
    assert lines.split()[:2] == ["...", "4991"] and lines.rstrip().endswith("(2, 3, 4)")


def test_printing_without_end_does_not_fill_the_disk():
    result, text = told("\n    ".join(["", "while True:", "    print('x' * 10000)"]), SHORT)
    assert result.points == 0 and len(text) < 10_000


def test_a_syntax_error_is_shown():
    text = str(judge(STRIDES, ["def contiguous_strides(sizes:\n  return"]))
    assert "0 of 4 points" in text and "in cell 1, line 1" in text


def test_no_answer_is_no_points():
    assert "no cell run so far defines `contiguous_strides`" in str(judge(STRIDES, []))


def test_an_error_while_defining_the_answer_is_shown():
    text = str(judge(STRIDES, ["table = {}['missing']", "contiguous_strides = table"]))
    assert "while defining `contiguous_strides`: KeyError: 'missing'" in text and "cell 1, line 1" in text


@pytest.mark.parametrize("before", ["", "sizes += (); "])  # the second one takes a process to find out
def test_a_stub_is_not_written_yet(before):
    result, text = told(f"{before}raise NotImplementedError('your code here')")
    assert not result.started and "not written yet" in text and "pass" not in text


@pytest.mark.parametrize("answer", ["contiguous_strides = 5", "contiguous_strides = None", "contiguous_strides = [1]"])
def test_an_answer_of_the_wrong_kind_is_an_error_in_words(answer):
    result = judge(STRIDES, [answer])
    assert result.points == 0 and "expected (2, 1)" in str(result) and "not callable" in str(result)


RIGHT = f"def contiguous_strides(sizes):\n    {RIGHT_BODY}"


def test_check_prints_the_result_and_nothing_else(capsys):
    check("01.1", [RIGHT])
    first, *others = capsys.readouterr().out.splitlines()
    assert first == "01.1 strides of a new tensor    4 of 4 points"
    assert [line[:9] for line in others] == ["  pass   "] * 4


def test_the_same_explanation_is_not_given_twice(capsys):
    check(
        "01.1",
        ["import math\ndef contiguous_strides(sizes): return tuple(math.prod(sizes[:i]) for i in range(len(sizes)))"],
    )
    shown = capsys.readouterr().out
    assert shown.count("These are column-major strides") == 1 and "The reason is the same as above." in shown


def test_passed_is_quiet_about_a_right_answer_and_speaks_about_a_wrong_one(capsys):
    assert passed("01.1", [RIGHT])
    assert capsys.readouterr().out == ""
    assert not passed("01.1", ["def contiguous_strides(sizes): return 1"])
    assert 'check("01.1") says why' in capsys.readouterr().out


def test_an_unknown_exercise_is_an_error_that_lists_them():
    with pytest.raises(LookupError, match=r"no exercise '01.99'. There are: 01.1, 01.2"):
        check("01.99")


def test_a_script_is_judged_up_to_the_line_that_checks(tmp_path):
    script = tmp_path / "answers.py"
    imports = "from minitorch_compile.course import check"
    script.write_text(f'{imports}\n{RIGHT}\ncheck("01.1")\ncontiguous_strides = None\n')
    shown = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True, timeout=600).stdout
    assert "4 of 4 points" in shown


def test_a_file_beside_the_notebook_is_no_part_of_the_judge(tmp_path):
    (tmp_path / "authoring.py").write_text("raise SystemExit('the learner is asked')")
    program = """
from minitorch_compile.course.checking.check_process import judge
from minitorch_compile.course.checking.lessons import find_exercise
print(judge(find_exercise("01.1"), ["def contiguous_strides(sizes):\\n    BODY"]).points)
"""
    root = str(Path(minitorch_compile.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-P", "-c", program.replace("BODY", RIGHT_BODY)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": root},
        capture_output=True,
        text=True,
    )
    assert done.stdout.split() == [str(STRIDES.points)], done.stderr
