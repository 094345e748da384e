"""The process between a check and the learner's code: whatever that code starts ends with it.

    python -I check_keeper.py COMMAND...       run by `check_process`, by its path, so that it imports nothing of ours

A program may start others, in sessions of their own, which outlive it. On Linux the keeper adopts those that lost
their parent, so all of them are below it, and it ends them when the command has ended, when it is told to (SIGTERM),
and when the process that started it is gone. Elsewhere it finds those whose parents are still there. It writes two
lines of JSON, as the command does: the command's process id, and how it ended.

>>> 1 in descendants(os.getpid())
False
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from types import FrameType

ON_LINUX = sys.platform.startswith("linux")
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36  # from linux/prctl.h
PATIENCE = 5.0  # seconds in which a killed process must be gone


class Told(BaseException):
    """To end now."""


def main(command: list[str]) -> None:
    watch(lambda: os.posix_spawn(command[0], command, os.environ, setpgroup=0))  # a group that it may well kill


def watch(start: Callable[[], int]) -> None:
    """Starts a process, waits for its end, and ends all that it has started."""
    signal.signal(signal.SIGTERM, tell)
    parent = os.getppid()
    try:
        if ON_LINUX:
            prctl = ctypes.CDLL(None).prctl
            prctl(PR_SET_CHILD_SUBREAPER, 1)
            prctl(PR_SET_PDEATHSIG, int(signal.SIGTERM))
            if os.getppid() != parent:
                return
        worker = start()
        say({"event": "worker", "pid": worker})
        code = end_of(worker)
        end_all()
        say({"event": "died", "code": code})
    except Told:
        end_all()


def tell(number: int, frame: FrameType | None) -> None:
    """Told once is enough: when a process of several threads is killed, the kernel tells as each of them ends."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise Told


def say(event: dict[str, object]) -> None:
    os.write(1, json.dumps(event).encode() + b"\n")


def end_of(worker: int) -> int:
    """Waits for the worker; its exit code, or minus the signal that ended it. Others that end meanwhile are buried."""
    while True:
        pid, status = os.waitpid(-1, 0)
        if pid == worker:
            return os.waitstatus_to_exitcode(status)


def end_all() -> None:
    """Ends every process below this one: first all are stopped, until there are no new ones, then killed.

    On a busy machine stopping them may take as long as it likes: who only stops them leaves them to go on later, when
    the kernel continues what an orphaned group has stopped.
    """
    stopped = set[int]()
    while new := descendants(os.getpid()) - stopped:
        send(signal.SIGSTOP, new)
        stopped |= new
    deadline = time.monotonic() + PATIENCE
    while True:
        send(signal.SIGKILL, descendants(os.getpid()))
        if all_buried() or time.monotonic() > deadline:
            return
        time.sleep(0.002)


def all_buried() -> bool:
    """Takes note of the children that have ended; whether there are no others."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return True
    return False


def send(number: int, processes: set[int]) -> None:
    for pid in processes:
        try:
            os.kill(pid, number)
        except (ProcessLookupError, PermissionError):  # it is gone, or became another user's
            pass


def descendants(root: int) -> set[int]:
    """The processes that `root` started, and those that they started."""
    children: dict[int, list[int]] = {}
    for pid, parent in processes():
        children.setdefault(parent, []).append(pid)
    found, waiting = set[int](), [root]
    while waiting:
        new = [pid for pid in children.get(waiting.pop(), []) if pid not in found]
        found.update(new)
        waiting += new
    return found


def processes() -> list[tuple[int, int]]:
    """All processes with their parents."""
    if not ON_LINUX:
        listing = subprocess.run(["ps", "-A", "-o", "pid=,ppid="], capture_output=True, check=True).stdout
        return [(int(pid), int(parent)) for pid, parent in map(bytes.split, listing.splitlines())]
    found = []
    for name in os.listdir("/proc"):
        if name.isdecimal():
            try:
                with open(f"/proc/{name}/stat", "rb") as file:
                    found.append((int(name), int(file.read().rpartition(b")")[2].split()[1])))
            except (OSError, IndexError):  # it has just ended
                pass
    return found


def is_of(pid: int, token: str, session: int) -> bool:
    """Whether a process was started with this word in its environment, or is of this session (Linux only)."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as file, open(f"/proc/{pid}/stat", "rb") as statistics:
            return token.encode() in file.read() or int(statistics.read().rpartition(b")")[2].split()[3]) == session
    except (OSError, IndexError):  # another user's, or gone
        return False


if __name__ == "__main__":
    main(sys.argv[1:])
