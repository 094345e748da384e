"""What a course check does at the same time, in which order, and what becomes of what can't begin."""

from __future__ import annotations

import sys
import time

import course_check
import pytest
from task_queue import Queue, Task


def run(tasks: list[Task], processes: int = 2) -> tuple[list[str], list[str]]:
    """The tasks that ended, in the order of their ends, and what was said."""
    said: list[str] = []
    return [each.task.name for each in Queue(tasks, processes, said.append).run()], said


def python(name: str, program: str, **others: str) -> Task:
    return Task("3.11", name, [sys.executable, "-S", "-c", program], **others)


def test_one_after_another_in_the_order_of_the_list():
    assert run([python("first", "import time; time.sleep(0.2)"), python("second", "")], processes=1)[0] == [
        "first",
        "second",
    ]


def test_as_many_at_a_time_as_there_are_processes(tmp_path):
    """Each ends only when the other has begun."""
    waits = "import os, time\nopen({!r}, 'w')\nwhile not os.path.exists({!r}): time.sleep(0.01)"
    one, other = str(tmp_path / "one"), str(tmp_path / "other")
    names, _ = run([python("one", waits.format(one, other)), python("other", waits.format(other, one))])
    assert sorted(names) == ["one", "other"]


def test_a_task_waits_for_the_one_that_it_needs_and_others_go_before_it(tmp_path):
    made = str(tmp_path / "made")
    tasks = [
        python("needs it", f"open({made!r})", needs="makes it"),
        python("makes it", f"import time; time.sleep(0.3); open({made!r}, 'w')"),
        python("needs nothing", ""),
    ]
    assert run(tasks)[0] == ["needs nothing", "makes it", "needs it"]


def test_what_needs_a_failed_task_is_left_out_but_not_in_another_group():
    tasks = [
        python("set-up", "raise SystemExit('no network')"),
        python("a lesson", "", needs="set-up"),
        python("another", "", needs="set-up"),
        Task("3.12", "set-up", ["true"]),
        Task("3.12", "a lesson", ["true"], needs="set-up"),
    ]
    names, said = run(tasks)
    assert sorted(names) == ["a lesson", "set-up", "set-up"]
    assert "3.11  left out: 2 tasks that need 'set-up'" in said
    assert [line for line in said if "FAILED" in line and line.endswith("no network")]


def test_a_task_that_needs_one_that_is_not_there_is_refused():
    with pytest.raises(AssertionError, match="isn't there"):
        Queue([python("a", "", needs="b")], 1, print)


def test_seconds_of_processors_are_those_of_all_its_processes():
    works = "import time\nwhile time.process_time() < 0.3: pass"
    program = f"import subprocess, sys; subprocess.run([sys.executable, '-S', '-c', {works!r}], check=True)"
    begun = time.monotonic()
    (done,) = Queue([python("a", program)], 1, lambda line: None).run()
    assert 0.3 < done.processor and done.ended - done.begun <= time.monotonic() - begun


def test_every_lesson_solution_and_answer_is_a_task_under_each_python():
    tasks = course_check.under("3.12", "python", [], 60)
    names = [task.name for task in tasks]
    assert names[0] == "set-up" and {task.needs for task in tasks[1:]} == {"set-up"}
    assert len([name for name in names if name.startswith("notebooks/")]) == 20
    assert len([name for name in names if name.startswith("solutions/")]) == 19
    assert [name for name in names if name.startswith("answers/")] == [
        "answers/01-06",
        "answers/07-12",
        "answers/13-18",
        "answers/19-19",
    ]
    assert all("--all-points" in task.command for task in tasks if task.name.startswith("solutions/"))
    assert not any("--as-stored" in task.command for task in tasks)
    stored = [task for task in course_check.under("3.11", "python", [], 60) if "--as-stored" in task.command]
    assert len(stored) == 20 and all(task.name.startswith("notebooks/") for task in stored)
    assert "mini" in names and len(set(names)) == len(names)


def test_a_lesson_that_adds_nothing_to_mini_has_no_test_of_it():
    assert [task.name for task in course_check.under("3.12", "python", ["19"], 60)] == [
        "set-up",
        "answers/19-19",
        "notebooks/19_cuda_kernels",
        "solutions/19_cuda_kernels",
    ]
    assert "mini" in [task.name for task in course_check.under("3.12", "python", ["15", "19"], 60)]


def test_the_longest_come_first():
    assert [course_check.rank(name) for name in ("mini", "notebooks/01_a")] == [1, len(course_check.LONGEST_FIRST)]
