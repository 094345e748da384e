"""Judge an exercise in a fresh process with a time limit: an endless loop or a crash becomes a message.

Between the two stands a keeper (`check_keeper`), which ends all that the learner's code has started. The process is
started anew, not forked: a fork of a process that ever ran a threaded Numba kernel is killed by the
OpenMP library.
"""

from __future__ import annotations

import json
import os
import queue
import secrets
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

from minitorch_compile.environment_variables import COMPILE_THREADS, EAGER_KERNELS, without_wrong_values

from ..sandbox.places import others
from ..sandbox.room import a_room
from . import check_keeper, warm
from .beside import how
from .check_events import Event, checked, listen, told
from .check_keeper import ON_LINUX, PATIENCE, is_of, processes, send
from .culprits import blame
from .exercise import Exercise, NotWritten, Submission
from .notebook_slice import CellSyntaxError
from .result import CaseResult, Result

KEEPER = [sys.executable, "-I", "-S", check_keeper.__file__] if os.name == "posix" else []
TOKEN = "MTC_CHECK_TOKEN"  # in the environment of all that a check starts
START_SECONDS = 60.0
"""For the interpreter and its imports, which the exercise's own limit doesn't count."""
WORKER = f"from {__package__}.check_worker import main; main()"
NOT_STARTED, NOT_FINISHED = "the check could not start", "the check itself failed, please report this"
CLOSED = "your code closed the channel of the check"
Keeper = subprocess.Popen[bytes] | warm.ForkedKeeper
MOST_PRINTED = 4000  # bytes of what the learner's code prints


def judge(exercise: Exercise, cells: Sequence[str], work: Path | None = None) -> Result:
    """The result of an exercise in a notebook whose code cells, in the order in which they ran, are `cells`."""
    return judged(exercise, cells, work)[0]


def judged(
    exercise: Exercise, cells: Sequence[str], work: Path | None = None, explain: bool = False
) -> tuple[Result, Submission | None]:
    """The result, and the submission that passed. `work` is the learner's folder, for what lies there.

    `explain`: where an answer passes beside the reference's steps only, take the time to find out why (`culprits`).
    """
    try:
        return _judged_in_turn(exercise, exercise.submissions(cells, work), explain)
    except (LookupError, CellSyntaxError, NotWritten) as problem:
        return unjudged(exercise, str(problem.args[0])), None
    except Exception as error:  # noqa: BLE001 (one exercise that can't be judged must not keep the others from it)
        note = f"{NOT_FINISHED}: {type(error).__name__}: {error}"
        return unjudged(exercise, note), None


def _judged_in_turn(
    exercise: Exercise, submissions: Sequence[Submission], explain: bool
) -> tuple[Result, Submission | None]:
    """The first that passes, or else the best; of equals the last."""
    failed: list[tuple[Submission, Result]] = []
    for submission in submissions:
        result = _judge(exercise, submission, exercise.seconds)
        if result.passed:
            note = submission.note
            beside_own = [each for each in failed if each[0].own and each[0].answer == submission.answer]
            if note and beside_own and explain:
                note = f"{note} {blame(exercise, *beside_own[-1], _judge)}"
            return (replace(result, note=note) if note else result), submission
        failed.append((submission, result))
    return max((result for _, result in reversed(failed)), key=lambda result: result.points), None


def _judge(exercise: Exercise, submission: Submission, seconds: float) -> Result:
    try:
        with tempfile.TemporaryFile() as printed, a_room() as room:
            events, ending = _run(exercise, submission.job, printed, seconds, room)
            text = _end_of(printed)
    except OSError as error:  # the machine has no room for a file or a process
        return unjudged(exercise, f"{NOT_STARTED}: {error.strerror or error}")
    return result_of(exercise, events, ending, text)


def _end_of(printed: IO[bytes]) -> str:
    """What was printed last: that stands nearest to what went wrong."""
    length = printed.seek(0, os.SEEK_END)
    printed.seek(max(length - MOST_PRINTED, 0))
    text = printed.read(MOST_PRINTED).decode(errors="replace")
    return text if length <= MOST_PRINTED else f"...\n{text.partition(chr(10))[2] or text}"


def judge_all(exercises: Sequence[Exercise], cells: Sequence[str], work: Path | None = None) -> list[Result]:
    """The results of several exercises in one notebook."""
    return [result for result, _ in judged_all(exercises, cells, work)]


def judged_all(
    exercises: Sequence[Exercise], cells: Sequence[str], work: Path | None = None
) -> list[tuple[Result, Submission | None]]:
    """Results, and the submissions that passed: a process each, as many at a time as there are processors."""
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        return list(pool.map(lambda exercise: judged(exercise, cells, work), exercises))


def unjudged(exercise: Exercise, note: str) -> Result:
    """Nothing to judge: every case is still to do."""
    cases = tuple(CaseResult(case.title, case.points, "todo", section=case.section) for case in exercise.cases)
    return Result(exercise.number, exercise.title, cases, note)


def is_of_the_answer(result: Result) -> bool:
    """Whether it says something about the answer; not if the machine had no room for a check, which may pass."""
    return not result.note.startswith((NOT_STARTED, NOT_FINISHED))


def _run(
    exercise: Exercise, what: dict[str, Any], printed: IO[bytes], seconds: float, room: str
) -> tuple[list[Event], str]:
    """The events that the worker sent, and how it ended: "end", "slow" or a crash in words.

    `room` is the folder that the learner's code may write to.
    """
    token, nonce = secrets.token_hex(16), secrets.token_hex(16)
    limits = [str(exercise.megabytes), str(exercise.seconds)]
    environment = _environment() | {TOKEN: token}
    with tempfile.TemporaryFile() as job:  # a file, since writing to a pipe waits for whoever doesn't read
        job.write(json.dumps(what | {"nonce": nonce}).encode())
        job.seek(0)
        keeper = _start([how(exercise.number), room, *limits, *map(str, others())], environment, job, printed)
    try:
        return _listen(keeper, exercise, seconds, nonce)
    finally:
        _end(keeper, token)


def _environment() -> dict[str, str]:
    paths = os.pathsep.join(filter(None, sys.path))
    # Every room is new to the library of kernels: it would be written beside each answer. And a process that helps to
    # compile takes longer to start than an answer's kernels take here, while the other processors have other checks.
    alone = {EAGER_KERNELS.name: "off", COMPILE_THREADS.name: "1"}
    return {**without_wrong_values(), "PYTHONPATH": paths, **alone}


def prepare() -> None:
    """What a first check would wait for is begun, where there is such a thing (Linux)."""
    if ON_LINUX:
        warm.prepare(_environment())


def _start(arguments: list[str], environment: dict[str, str], job: IO[bytes], printed: IO[bytes]) -> Keeper:
    """The keeper, with the process that judges below it."""
    token = environment[TOKEN]
    if ON_LINUX:
        return warm.start(arguments, token, job, printed, {k: v for k, v in environment.items() if k != TOKEN})
    return subprocess.Popen(
        [*KEEPER, sys.executable, "-P", "-c", WORKER, *arguments],
        stdin=job,
        stdout=subprocess.PIPE,
        stderr=printed,
        start_new_session=True,
        env=environment,
    )


def _listen(keeper: Keeper, exercise: Exercise, seconds: float, nonce: str) -> tuple[list[Event], str]:
    assert keeper.stdout is not None
    lines, events = listen(keeper.stdout), list[Event]()
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            line = lines.get(timeout=0.2)
        except queue.Empty:
            if keeper.poll() is not None:
                return events, "your code ended the process that watches over it"
            if time.monotonic() > deadline:
                return events, "slow"
            continue
        if line is None:
            return events, _death(keeper)
        event = checked(line, len(exercise.cases), nonce)
        if event is None:
            return events, told(line)
        if event["event"] == "died":
            return events, _death_in_words(event["code"])
        if event["event"] == "closed":
            return events, CLOSED
        if event["event"] == "garbage":
            return events, told(event["text"])
        events.append(event)
        if event["event"] == "ready":
            deadline = time.monotonic() + seconds
        if event["event"] == "end":
            return events, "end"


def _death(keeper: Keeper) -> str:
    """What is said where the channel was closed."""
    try:
        return _death_in_words(keeper.wait(timeout=1))
    except subprocess.TimeoutExpired:
        return CLOSED


def _death_in_words(code: int) -> str:
    if code >= 0:
        return f"your code ended its process with exit code {code}"
    names = {int(number): number.name for number in signal.Signals}
    return f"your code ended its process with the signal {names.get(-code, -code)}"


def _end(keeper: Keeper, token: str) -> None:
    """Stop the worker and whatever it started; if the keeper can't do that any more, whatever has the token."""
    keeper.terminate()
    code: int | None = None
    with suppress(subprocess.TimeoutExpired):
        code = keeper.wait(timeout=2 * PATIENCE)
    if code is None:
        keeper.kill()
        with suppress(subprocess.TimeoutExpired):  # a machine at its limit ends it later: what was judged stands
            keeper.wait(timeout=PATIENCE)
    if code != 0:
        of_it = {pid for pid, _ in processes() if is_of(pid, token, keeper.pid)} if ON_LINUX else set[int]()
        send(signal.SIGKILL, of_it)


def result_of(exercise: Exercise, events: list[Event], ending: str, printed: str = "") -> Result:
    """The events, read as a result. `ending` is "end", "slow" or how the process died."""
    verdicts = {event["index"]: event for event in events if event["event"] == "verdict"}
    setup = next((event for event in events if event["event"] == "setup"), None)
    if not any(event["event"] == "ready" for event in events):
        return unjudged(exercise, f"{NOT_STARTED}: {ending}\n{printed.strip()[-800:]}")
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
    line = f"\nyour {setup['line']}" if setup["line"] else ""
    return f"while defining `{exercise.answer}`: {setup['fact']}{line}"


def _slow(exercise: Exercise) -> str:
    return f"still running after {exercise.seconds:g} s. Is there an endless loop?"
