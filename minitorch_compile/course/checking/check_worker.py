"""The process that judges one exercise: reads a job from standard input, writes one line of JSON an event.

Its `main` is run by `check_process`, in a fresh process, never by hand. It limits its own memory,
runs the learner's statements in a module of their own, then the cases one by one. Each case is announced before it
runs, so that the parent knows which one was running if this process dies or has to be killed. This protects the
notebook from mistakes; it isn't a sandbox against malice.
"""

from __future__ import annotations

import json
import os
import reprlib
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import authoring

from ..mini.package import learners_line
from .check_events import Event
from .exercise import Case, Exercise, NotWritten, WrongAnswer
from .lessons import find_exercise

CHECKS = Path(authoring.__path__[0]) / "checks"
FILE_BYTES = 64 * 2**20
SPARE_SECONDS = 100  # more processor time than any exercise takes


def main() -> None:
    """Judge the job on standard input. What the learner's code prints goes to standard error, away from the events."""
    job = json.load(sys.stdin)
    channel = os.fdopen(os.dup(sys.stdout.fileno()), "w", buffering=1)
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    exercise = find_exercise(job["exercise"])
    limit_resources(exercise.megabytes, exercise.seconds)
    for event in events(exercise, job):
        channel.write(json.dumps(event) + "\n")
        sys.stdout.flush()


def events(exercise: Exercise, job: dict[str, Any]) -> Iterator[Event]:
    """Everything that happens, in order: ready, setup, then for each case that it begins and its verdict, then end."""
    yield {"event": "ready"}
    with ExitStack() as stack:
        answers: list[Any] = []
        setup = attempt(lambda: answers.append(stack.enter_context(exercise.loaded(job))))
        yield {"event": "setup", **setup}
        for index, case in enumerate(exercise.cases if answers else ()):
            yield {"event": "case", "index": index}
            yield {"event": "verdict", "index": index, **attempt(partial(judge, case, answers[0]))}
    yield {"event": "end"}


def judge(case: Case, answer: Any) -> None:
    if answer is ...:
        raise NotWritten("still `...`")
    case.judge(answer)


def attempt(action: Callable[[], Any]) -> dict[str, str]:
    """Run the action; what it raises becomes a verdict."""
    try:
        action()
    except (NotWritten, NotImplementedError) as unwritten:
        return {"verdict": "todo", "fact": "", "why": "", "line": str(unwritten)}
    except WrongAnswer as wrong:
        return {"verdict": "fail", "fact": wrong.fact, "why": wrong.why, "line": learner_line(wrong.__cause__)}
    except MemoryError:
        return {"verdict": "fail", "fact": "your code asked for more memory than the limit", "why": "", "line": ""}
    except RecursionError as error:
        fact = "your code called itself too many times: which call is the last one?"
        return {"verdict": "fail", "fact": fact, "why": "", "line": learner_line(error)}
    except SystemExit:
        return {"verdict": "fail", "fact": "your code asked the program to exit", "why": "", "line": ""}
    except Exception as error:  # noqa: BLE001 (whatever the learner's code raises is reported)
        fact, line = f"{learners_call(error)}{type(error).__name__}: {error}", learner_line(error)
        return {"verdict": "fail", "fact": fact if line else f"{fact}{checks_line(error)}", "why": "", "line": line}
    return {"verdict": "pass", "fact": "", "why": "", "line": ""}


def learner_line(error: BaseException | None) -> str:
    """The innermost line of the learner's own code in a traceback; empty if there is none."""
    frames = traceback.extract_tb(error.__traceback__) if error is not None else []
    own = filter(None, map(_own_line, reversed(frames)))
    return next(own, "")


def checks_line(error: BaseException) -> str:
    """Where the check itself could not go on: what it would do with what the learner's code had given it."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if CHECKS in Path(frame.filename).parents]
    return f"\nthe check could not go on with what your code gave: {frames[-1].line}" if frames else ""


def learners_call(error: BaseException) -> str:
    """The function of the learner that the check called, and with what: `at(value=3, batch=None): `; else empty."""
    for frame, line in traceback.walk_tb(error.__traceback__):
        code = frame.f_code
        if _own_line(traceback.FrameSummary(code.co_filename, line, code.co_name)) and code.co_name != "<module>":
            names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
            given = [f"{name}={reprlib.repr(frame.f_locals[name])}" for name in names if name in frame.f_locals]
            return f"{code.co_name}({', '.join(given)}): "
    return ""


def _own_line(frame: traceback.FrameSummary) -> str | None:
    if frame.filename.startswith("cell "):
        return f"{frame.filename}, line {frame.lineno}: {frame.line}"
    return learners_line(frame.filename, frame.lineno or 0)


def limit_resources(megabytes: int, seconds: float) -> None:
    """Allow this much memory beyond what the imports mapped, and no endless output. Windows has no such limits.

    The parent stops what takes longer than `seconds`; the limit of processor time is for when the parent itself was
    killed: an endless loop would go on for ever.
    """
    try:
        import resource
    except ImportError:
        return
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_BYTES, FILE_BYTES))
    processor_seconds = int(time.process_time() + (seconds + SPARE_SECONDS) * (os.cpu_count() or 1))
    resource.setrlimit(resource.RLIMIT_CPU, (processor_seconds, processor_seconds))
    statistics = Path("/proc/self/statm")
    if statistics.exists():
        mapped = int(statistics.read_text(encoding="utf-8").split()[0]) * resource.getpagesize()
        limit = mapped + megabytes * 2**20
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
