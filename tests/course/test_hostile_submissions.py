"""Whatever a submission does to its process, there is a result with a reason, and nothing that it started goes on."""

from __future__ import annotations

import dataclasses
import os
import signal
import subprocess
import sys
import time
import warnings

import pytest

from minitorch_compile.course.checking import check_process, warm
from minitorch_compile.course.checking.check_events import MOST_BYTES, checked
from minitorch_compile.course.checking.check_keeper import ON_LINUX
from minitorch_compile.course.checking.check_process import judge
from minitorch_compile.course.checking.lessons import find_exercise
from minitorch_compile.course.sandbox import landlock
from minitorch_compile.course.sandbox.room import a_room

STRIDES = dataclasses.replace(find_exercise("01.1"), seconds=60.0)
# Of the two pipes to the judge the one that is written to.
CHANNEL = """import fcntl, os, stat
def writes(fd):
    try:
        return stat.S_ISFIFO(os.fstat(fd).st_mode) and fcntl.fcntl(fd, fcntl.F_GETFL) & os.O_ACCMODE == os.O_WRONLY
    except OSError:
        return False
channel = next(fd for fd in range(3, 99) if writes(fd))
"""


def told(setup: str, body: str = "return 0", seconds: float = 60.0) -> str:
    exercise = dataclasses.replace(STRIDES, seconds=seconds)
    body = "\n".join("    " + line for line in body.splitlines())
    result = judge(exercise, [setup, f"def contiguous_strides(sizes):\n    {USED}\n{body}"])
    assert "check itself failed" not in str(result)
    return " ".join(str(result).split())


USED = "channel, os, subprocess, sys, time"
NAMES = "import subprocess, sys, time\n" + CHANNEL

GARBAGE = {
    "bytes": r"os.write(channel, bytes(range(256)) + b'\n')",
    "a long line": "for _ in range(3000):\n    os.write(channel, b'x' * 1000)\nos.write(channel, b'\\n')",
}


@pytest.mark.parametrize("name", GARBAGE)
def test_garbage_in_the_channel_is_told_of(name):
    text = told(NAMES, GARBAGE[name])
    assert "0 of 4 points" in text and "your code wrote into the channel of the check: '" in text


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"\xff",
        b"null",
        b"7",
        b"[]",
        b"{}",
        b'{"event": null}',
        b'{"event": []}',
        b'{"event": "case"}',
        b'{"event": "case", "index": true}',
        b'{"event": "case", "index": -1}',
        b'{"event": "case", "index": 1e0}',
        b'{"event": "setup"}',
        b'{"event": "setup", "verdict": [], "fact": "", "why": "", "line": ""}',
        b'{"event": "verdict", "index": 0, "verdict": "pass", "fact": 7, "why": "", "line": ""}',
        b'{"event": "died", "code": "many"}',
        b'{"event": "garbage", "text": 7}',
        b"9" * 10_000,
        b"[" * MOST_BYTES,
    ],
)
def test_a_line_of_the_wrong_shape_is_no_event(line):
    for sent in (line, line.replace(b'{"event"', b'{"nonce": "6f", "event"')):
        assert checked(sent, cases=3, nonce="6f") is None


def test_an_event_without_the_nonce_is_none():
    event = b'{"event": "verdict", "index": 0, "verdict": "pass", "fact": "", "why": "", "line": ""'
    assert checked(event + b', "nonce": "6f"}', cases=3, nonce="6f") is not None
    assert checked(event + b"}", 3, "6f") is None and checked(event + b', "nonce": "6e"}', 3, "6f") is None


def test_what_no_terminal_can_show_is_told_escaped():
    text = told(NAMES, "raise ValueError('\\ud83d \\x1b[2J' + 'x' * 10**5)")
    text.encode()
    assert "ValueError: \\ud83d \\x1b[2J" in text and len(text) < 20_000


# Where the kernel can say which processes a process may signal, the judge is not among them.
KILLED = "Operation not permitted" if landlock.version() >= 6 else "the signal SIGKILL"
ENDINGS = {
    "all files closed": ("os.closerange(0, 99); os._exit(3)", "exit code 3", 60),
    "an unnamed signal": ("os.kill(os.getpid(), 40)", "the signal 40", 60),
    "a stopped process": ("os.kill(os.getpid(), 19)", "still running after 2 s", 2),
    "its group": ("os.killpg(0, 9)", "the signal SIGKILL", 60),
    "its judge": ("os.kill(os.getppid(), 9); time.sleep(60)", KILLED, 60),
}


@pytest.mark.skipif(not ON_LINUX, reason="signals have other numbers")
@pytest.mark.parametrize("name", ENDINGS)
def test_however_a_process_ends_is_told_of(name):
    body, reason, seconds = ENDINGS[name]
    assert reason in told(NAMES, body, seconds)


SLEEPER = "[sys.executable, '-c', 'import time; time.sleep(600)', {mark!r}]"
CHILDREN = {
    "of all kinds": """
subprocess.Popen({sleeper})
subprocess.Popen({sleeper}, start_new_session=True)
subprocess.Popen({sleeper}, start_new_session=True, env={{}})
subprocess.Popen({sleeper}, pass_fds=[channel])
if not os.fork():
    os.setsid()
    if not os.fork():
        os.execv(sys.executable, {sleeper})
    os._exit(0)
time.sleep(0.2)""",
    "of a process that is gone": "subprocess.Popen({sleeper}, start_new_session=True); os._exit(0)",
    "where the keeper was killed": "subprocess.Popen({sleeper}, start_new_session=True); os.kill(os.getppid(), 9)",
    "of a process that took too long": "subprocess.Popen({sleeper}, start_new_session=True); time.sleep(600)",
}


def running(mark: str) -> list[str]:
    found = []
    for name in os.listdir("/proc"):
        try:
            with open(f"/proc/{name}/cmdline", "rb") as file:
                if name.isdecimal() and mark.encode() in file.read().split(b"\0"):
                    found.append(name)
        except OSError:  # no process, or none any more
            pass
    return found


@pytest.mark.skipif(not ON_LINUX, reason="only Linux gives orphans to who asks for them")
@pytest.mark.parametrize("name", CHILDREN)
def test_what_a_submission_started_ends_with_it(name):
    mark = f"mark-{os.getpid()}-{name.replace(' ', '-')}"
    told(NAMES, CHILDREN[name].format(sleeper=SLEEPER.format(mark=mark)), seconds=3.0 if "too long" in name else 60.0)
    deadline = time.monotonic() + 10
    while running(mark) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert running(mark) == []


@pytest.mark.skipif(not ON_LINUX, reason="only Linux tells a process that its parent is gone")
def test_nothing_goes_on_when_the_notebook_is_killed():
    mark = f"mark-{os.getpid()}-killed"
    body = f"import subprocess, sys, time\n    subprocess.Popen({SLEEPER.format(mark=mark)}, start_new_session=True)"
    cell = f"def contiguous_strides(*a):\n    {body}\n    time.sleep(600)"
    program = f"from minitorch_compile.course import check\ncheck('01.1', [{cell!r}])"
    process = subprocess.Popen([sys.executable, "-c", program])
    deadline = time.monotonic() + 120
    while not running(mark) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert running(mark)
    process.kill()
    process.wait()
    deadline = time.monotonic() + 60
    while running(mark) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert running(mark) == []


def test_a_keeper_without_time_kills_all_the_same():
    program = """
import subprocess, sys
from minitorch_compile.course.checking import check_keeper
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
check_keeper.PATIENCE = -1.0  # as if the machine had let it wait
check_keeper.end_all()
try:
    child.wait(timeout=60)
    print("it has ended")
finally:
    child.kill()
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert done.stdout == "it has ended\n", done.stderr


@pytest.mark.skipif(not ON_LINUX, reason="there checks are forked from the warm process")
def test_a_keeper_that_a_busy_machine_does_not_end_yet_is_no_fault_of_the_check(monkeypatch):
    alive, held = os.pipe()
    deaf = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(flush=True); time.sleep(600)"
    with subprocess.Popen([sys.executable, "-c", deaf], stdout=subprocess.PIPE, start_new_session=True) as process:
        process.stdout.readline()
        monkeypatch.setattr(check_process, "PATIENCE", 0.05)
        keeper = warm.ForkedKeeper(process.pid, process.stdout, os.fdopen(alive, "rb", buffering=0))
        check_process._end(keeper, "no such token")
    os.close(held)
    assert process.returncode == -signal.SIGKILL


def test_a_machine_without_room_for_a_process_is_told_of(monkeypatch):
    def no_room(*arguments, **options):
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(check_process, "_start", no_room)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = judge(STRIDES, ["def contiguous_strides(sizes): return 0"])
    assert result.points == 0 and result.note == "the check could not start: Resource temporarily unavailable"


def test_a_room_is_removed_however_deep_and_whatever_its_links_lead_to(tmp_path, monkeypatch):
    (tmp_path / "kept").write_text("x", encoding="utf-8")
    with a_room() as room:
        monkeypatch.chdir(room)
        for _ in range(1100):  # more than Python calls itself
            os.symlink(tmp_path, "link")
            os.mkdir("deeper")
            os.chdir("deeper")
        os.chmod("..", 0)
        os.chdir(tmp_path)
    assert not os.path.exists(room) and (tmp_path / "kept").exists()
