"""Commands, as many at a time as there are processors: what `make course-check` does.

A task may need another one to have ended well; of those that can begin, the first in the list does. A line is printed
as each ends, with its seconds by the clock and those that processors worked on it. The latter say what it would take on
a machine with nothing else to do.

>>> tasks = [Task("3.11", "a task", ["true"]), Task("3.11", "a wrong one", ["false"], needs="a task")]
>>> done = Queue(tasks, processes=2, say=lambda line: None).run()
>>> [(each.task.name, each.failed) for each in done]
[('a task', False), ('a wrong one', True)]
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Condition, Thread

ROOT = Path(__file__).resolve().parent.parent
LONGEST = 6000  # characters of what a failed task printed


@dataclass(frozen=True)
class Task:
    """`group` is what its times are added up under; `needs` is the name of a task of the same group."""

    group: str
    name: str
    command: Sequence[str | Path]
    needs: str = ""
    environment: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Done:
    """A task that ended, from `begun` to `ended` by the clock. Processors worked `processor` seconds on it."""

    task: Task
    failed: bool
    printed: str
    begun: float
    ended: float
    processor: float

    def line(self) -> str:
        took = f"{self.ended - self.begun:6.1f} s {self.processor:6.1f} s of processors"
        return f"{self.task.group:<5} {self.task.name:<44} {took}  {'FAILED' if self.failed else 'ok'}"


class Queue:
    """The tasks that wait, and those that have ended. Each of `processes` threads waits for a process at a time."""

    def __init__(self, tasks: Sequence[Task], processes: int, say: Callable[[str], None]) -> None:
        names = {(task.group, task.name) for task in tasks}
        assert all((task.group, task.needs) in names for task in tasks if task.needs), (
            "a task needs one that isn't there"
        )
        self.waiting = list(tasks)
        self.done: list[Done] = []
        self.processes, self.say = processes, say
        self.changed = Condition()

    def run(self) -> list[Done]:
        threads = [Thread(target=self._work, daemon=True) for _ in range(self.processes)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return self.done

    def _work(self) -> None:
        while (task := self._next()) is not None:
            done = run_task(task)
            with self.changed:
                self.done.append(done)
                self.say(done.line() + (f"\n{done.printed}" if done.failed else ""))
                self.changed.notify_all()

    def _next(self) -> Task | None:
        """The first task that can begin; waits while there may be one later; None if there won't be."""
        with self.changed:
            while self._drop_the_hopeless():
                passed = {(done.task.group, done.task.name) for done in self.done if not done.failed}
                for task in self.waiting:
                    if not task.needs or (task.group, task.needs) in passed:
                        self.waiting.remove(task)
                        return task
                self.changed.wait()
            return None

    def _drop_the_hopeless(self) -> bool:
        """A task that needs a failed one never begins; the failed one has been told of. Whether others are waiting."""
        failed = {(done.task.group, done.task.name) for done in self.done if done.failed}
        hopeless = [task for task in self.waiting if (task.group, task.needs) in failed]
        if hopeless:
            self.waiting = [task for task in self.waiting if task not in hopeless]
            self.say(f"{hopeless[0].group:<5} left out: {len(hopeless)} tasks that need {hopeless[0].needs!r}")
            self.changed.notify_all()
        return bool(self.waiting)


def run_task(task: Task) -> Done:
    """Runs it from the checkout's folder, away from the terminal."""
    begun = time.monotonic()
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            list(map(str, task.command)),
            cwd=ROOT,
            env={**os.environ, **task.environment},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        _, status, usage = os.wait4(process.pid, 0)  # the usage is that of all that it waited for, too
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        printed = output.read().decode(errors="replace")[-LONGEST:].strip()
    return Done(task, process.returncode != 0, printed, begun, time.monotonic(), usage.ru_utime + usage.ru_stime)
