"""The process that judges one exercise: reads a job from standard input, writes one line of JSON an event.

Its `main` is run by `check_process`, in a fresh process, never by hand. Before it knows the checks it starts another
one, in which the learner's code is (`apart.py`); then it judges the cases, one by one. Each case is announced before it
runs, so that the parent knows which one was running if a process dies or has to be killed. An event carries the job's
nonce, which the learner's code doesn't know.

The checks of some exercises look where only the same process can look (`beside.py`). Their answers run here, beside the
checks, with as little access to the machine as all others.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import authoring

from ..far.link import NESTED, Broken
from ..sandbox.enter import enter
from ..sandbox.limits import limit_resources
from ..sandbox.places import hiding
from .apart import Apart
from .check_events import Event
from .exercise import Case, Exercise, NotWritten, WrongAnswer
from .learners_line import bound_at, learner_line, learners_call
from .lessons import find_exercise

CHECKS = Path(authoring.__path__[0]) / "checks"
CALLED_ITSELF = "your code called itself too many times: which call is the last one?"
PR_SET_DUMPABLE = 4  # from linux/prctl.h
Load = Callable[[dict[str, Any]], AbstractContextManager[Any]]


def main() -> None:
    judge_job(*sys.argv[1:])


def judge_job(mode: str, folder: str, most_megabytes: str, most_seconds: str, *hidden: str) -> None:
    """Judge the job on standard input. What the learner's code prints goes to standard error, away from the events."""
    with hiding(*map(Path, hidden)):
        _judge_job(mode, Path(folder), int(most_megabytes), float(most_seconds))


def _judge_job(mode: str, room: Path, megabytes: int, seconds: float) -> None:
    apart = Apart(room, megabytes, seconds) if mode == "apart" else None
    hide()
    job = json.load(sys.stdin)
    channel = os.fdopen(os.dup(sys.stdout.fileno()), "w", buffering=1)
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    nonce, exercise = job.pop("nonce"), find_exercise(job["exercise"])

    def say(event: Event) -> None:
        channel.write(json.dumps(event | {"nonce": nonce}) + "\n")
        sys.stdout.flush()

    if apart is None:
        enter(room)
    limit_resources(megabytes, seconds)  # the judge's, too: it computes with what the answer's process gives
    if apart is None:
        for event in events(exercise, job):
            say(event)
        return
    with apart:
        try:
            for event in events(exercise, job, apart.loaded, apart.where):
                say(event)
        except Broken as end:
            say(ending(apart, end))


def hide() -> None:
    """Other processes of this user don't see into this one's memory and files (Linux)."""
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0)


def ending(apart: Apart, end: Broken) -> Event:
    """How the conversation ended: with the other process, or by what it wrote."""
    if end.wrote is not None:
        return {"event": "garbage", "text": end.wrote}
    code = apart.ended()
    return {"event": "died", "code": code} if code is not None else {"event": "closed"}


def events(
    exercise: Exercise, job: dict[str, Any], load: Load | None = None, where: Callable[[], str] = str
) -> Iterator[Event]:
    """Everything that happens, in order: ready, setup, then for each case that it begins and its verdict, then end.

    `where` says which line of the learner's to look at, for an answer that is wrong and has raised nothing.
    """
    yield {"event": "ready"}
    with ExitStack() as stack:
        answers: list[Any] = []
        setup = attempt(lambda: answers.append(stack.enter_context((load or exercise.loaded)(job))))
        yield {"event": "setup", **setup}
        for index, case in enumerate(exercise.cases if answers else ()):
            yield {"event": "case", "index": index}
            verdict = attempt(partial(judge, case, answers[0]))
            if verdict["verdict"] == "fail" and not verdict["line"]:
                verdict["line"] = where() or bound_at(job)
            yield {"event": "verdict", "index": index, **verdict}
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
        fact = (
            NESTED if error.args == (NESTED,) else "your code called itself too many times: which call is the last one?"
        )
        return {"verdict": "fail", "fact": fact, "why": "", "line": learner_line(error)}
    except SystemExit:
        return {"verdict": "fail", "fact": "your code asked the program to exit", "why": "", "line": ""}
    except Exception as error:  # noqa: BLE001 (whatever the learner's code raises is reported)
        fact, line = f"{learners_call(error)}{type(error).__name__}: {error}", learner_line(error)
        return {"verdict": "fail", "fact": fact if line else f"{fact}{checks_line(error)}", "why": "", "line": line}
    return {"verdict": "pass", "fact": "", "why": "", "line": ""}


def checks_line(error: BaseException) -> str:
    """Where the check itself could not go on: what it would do with what the learner's code had given it."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if CHECKS in Path(frame.filename).parents]
    return f"\nthe check could not go on with what your code gave: {frames[-1].line}" if frames else ""
