"""Judge an exercise in a fresh process with a time limit: an endless loop or a crash becomes a message.

The process is started anew, not forked: a fork of a process that ever ran a threaded Numba kernel is killed by the
OpenMP library.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from typing import IO

from .check_worker import Event
from .exercise import Exercise
from .notebook_slice import CellSlice, CellSyntaxError, is_unwritten, slice_for
from .result import CaseResult, Result

START_SECONDS = 60.0
"""For the interpreter and its imports, which the exercise's own limit doesn't count."""


def judge(exercise: Exercise, cells: Sequence[str]) -> Result:
    """The result of an exercise in a notebook whose code cells, in the order in which they ran, are `cells`."""
    try:
        needed = slice_for(exercise.answer, cells)
    except (LookupError, CellSyntaxError) as problem:
        return unjudged(exercise, str(problem.args[0]))
    if is_unwritten(exercise.answer, needed):  # most of a fresh clone is: no process has to say so
        return unjudged(exercise, "not written yet")
    with tempfile.TemporaryFile() as printed:
        events, ending = _run(exercise, needed, printed)
        printed.seek(0)
        text = printed.read(4000).decode(errors="replace")
    return result_of(exercise, events, ending, text)


def judge_all(exercises: Sequence[Exercise], cells: Sequence[str]) -> list[Result]:
    """The results of several exercises in one notebook, a process each, as many at a time as there are processors."""
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        return list(pool.map(lambda exercise: judge(exercise, cells), exercises))


def unjudged(exercise: Exercise, note: str) -> Result:
    """Nothing to judge: every case is still to do."""
    cases = tuple(CaseResult(case.title, case.points, "todo", section=case.section) for case in exercise.cases)
    return Result(exercise.number, exercise.title, cases, note)


def _run(exercise: Exercise, needed: list[CellSlice], printed: IO[bytes]) -> tuple[list[Event], str]:
    """The events that the worker sent, and how it ended: "end", "slow" or a crash in words."""
    worker = subprocess.Popen(
        [sys.executable, "-c", f"from {__package__}.check_worker import main; main()"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=printed,
        encoding="utf-8",
        start_new_session=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    try:
        assert worker.stdin is not None
        json.dump({"exercise": exercise.number, "cells": [asdict(cell) for cell in needed]}, worker.stdin)
        worker.stdin.close()
        return _listen(worker, exercise.seconds)
    finally:
        _end(worker)


def _listen(worker: subprocess.Popen[str], seconds: float) -> tuple[list[Event], str]:
    lines: queue.Queue[str | None] = queue.Queue()
    threading.Thread(target=_read_lines, args=(worker, lines), daemon=True).start()
    events: list[Event] = []
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            line = lines.get(timeout=max(0.0, deadline - time.monotonic()))
        except queue.Empty:
            return events, "slow"
        if line is None:
            return events, _death(worker.wait())
        events.append(json.loads(line))
        if events[-1]["event"] == "ready":
            deadline = time.monotonic() + seconds
        if events[-1]["event"] == "end":
            return events, "end"


def _read_lines(worker: subprocess.Popen[str], lines: queue.Queue[str | None]) -> None:
    assert worker.stdout is not None
    for line in worker.stdout:
        lines.put(line)
    lines.put(None)


def _death(code: int) -> str:
    if code < 0:
        return f"your code ended its process with the signal {signal.Signals(-code).name}"
    return f"your code ended its process with exit code {code}"


def _end(worker: subprocess.Popen[str]) -> None:
    """Stop the worker and whatever it started."""
    if worker.poll() is None:
        if hasattr(os, "killpg"):
            os.killpg(worker.pid, signal.SIGKILL)
        else:
            worker.kill()
    worker.wait()


def result_of(exercise: Exercise, events: list[Event], ending: str, printed: str = "") -> Result:
    """The events, read as a result. `ending` is "end", "slow" or how the process died."""
    verdicts = {event["index"]: event for event in events if event["event"] == "verdict"}
    setup = next((event for event in events if event["event"] == "setup"), None)
    if not any(event["event"] == "ready" for event in events):
        return unjudged(exercise, f"the check could not start: {ending}\n{printed.strip()[-800:]}")
    if setup is None or setup["verdict"] != "pass":
        return unjudged(exercise, _setup_note(setup, exercise, ending))
    running = next((e["index"] for e in events if e["event"] == "case" and e["index"] not in verdicts), None)
    cases = []
    for index, case in enumerate(exercise.cases):
        if index in verdicts:
            cases.append(_judged(case.title, case.points, case.section, verdicts[index]))
        elif index == running:
            verdict, fact = ("slow", _slow(exercise)) if ending == "slow" else ("crash", ending)
            cases.append(CaseResult(case.title, case.points, verdict, f"{case.title}: {fact}", "", case.section))
        else:
            cases.append(CaseResult(case.title, case.points, "skip", f"{case.title}: not judged", "", ""))
    note = "not written yet" if all(case.verdict == "todo" for case in cases) else ""
    return Result(exercise.number, exercise.title, tuple(cases), note, "" if note else printed)


def _judged(title: str, points: int, section: str, event: Event) -> CaseResult:
    fact = event["fact"] + (f"\nyour {event['line']}" if event["line"] and event["verdict"] == "fail" else "")
    return CaseResult(title, points, event["verdict"], fact, event["why"], section)


def _setup_note(setup: Event | None, exercise: Exercise, ending: str) -> str:
    if setup is None:
        return f"while defining `{exercise.answer}`: {_slow(exercise) if ending == 'slow' else ending}"
    if setup["verdict"] == "todo":
        return "not written yet"
    return f"while defining `{exercise.answer}`: {setup['fact']}\nyour {setup['line']}"


def _slow(exercise: Exercise) -> str:
    return f"still running after {exercise.seconds:g} s. Is there an endless loop?"
