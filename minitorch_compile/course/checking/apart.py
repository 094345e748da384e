"""The learner's code in a process of its own, from the judge's side.

    with Apart() as apart:            # forked before the checks are imported, so that it has never seen them
        with apart.loaded(job) as answer:
            ...                       # the answer, from afar

It has two pipes to the judge and nothing else that was open there.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..far.far import Far, text
from ..far.link import Broken, Link
from ..mini.package import Package

MOST_FILES = 4096


class Apart:
    """`child` is its process id, `holds` what it can't do."""

    def __init__(self, room: Path, megabytes: int, seconds: float) -> None:
        to_runner, of_judge = os.pipe()
        to_judge, of_runner = os.pipe()
        self.child = os.fork()
        if self.child == 0:
            _become_runner(to_runner, of_runner, room, megabytes, seconds)
        os.close(to_runner)
        os.close(of_runner)
        self.link = Link(os.fdopen(to_judge, "rb"), os.fdopen(of_judge, "wb"), trusted=False)

    def __enter__(self) -> Apart:
        return self

    def __exit__(self, *error: object) -> None:
        try:
            os.kill(self.child, signal.SIGKILL)
        except ProcessLookupError:
            pass

    @contextmanager
    def loaded(self, job: dict[str, Any]) -> Iterator[Any]:
        answer = self.link.ask("load", job)
        try:
            if "files" in job and "cells" in job:
                Package.elsewhere = self.link.ask("mini")
            yield answer
        finally:
            Package.elsewhere = None

    def where(self) -> str:
        """The line on which the learner's function begins that was called last; empty if there is none."""
        try:
            return text(self.link.ask("where", self.link.called)) if isinstance(self.link.called, Far) else ""
        except (Broken, Exception):  # noqa: BLE001 (a verdict is not lost since a line can't be told)
            return ""

    def ended(self) -> int | None:
        """Its exit code, or minus the signal that ended it; None if it hasn't ended."""
        for _ in range(100):
            pid, status = os.waitpid(self.child, os.WNOHANG)
            if pid:
                return os.waitstatus_to_exitcode(status)
            signal.sigtimedwait([], 0.01)
        return None


def _become_runner(reading: int, writing: int, room: Path, megabytes: int, seconds: float) -> None:
    """In the new process; never returns."""
    code = 1
    try:
        from ..sandbox.enter import enter
        from ..sandbox.limits import limit_resources
        from .check_runner import Runner

        os.setpgid(0, 0)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(2, 1)
        os.closerange(3, min(reading, writing))
        os.closerange(min(reading, writing) + 1, max(reading, writing))
        os.closerange(max(reading, writing) + 1, MOST_FILES)
        enter(room)
        limit_resources(megabytes, seconds)
        Runner(reading, writing).serve()
        code = 0
    finally:
        os._exit(code)
