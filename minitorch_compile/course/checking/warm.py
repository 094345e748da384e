"""One process that has imported everything, from which each check is forked: it answers in a fraction of a second.

It has seen neither the checks nor any learner's code, and runs none itself. It ends with the process that started it.
While nobody asks, it imports what only some checks need: the compiler, and Numba, with all that a first compilation
loads.
Linux only: elsewhere a fork of a process with native libraries can't be trusted, and each check is started anew.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import math
import os
import select
import signal
import socket
import subprocess
import sys
import threading
from contextlib import suppress
from io import RawIOBase
from typing import IO, NoReturn

PROGRAM = f"from {__name__} import main; main()"
MOST_BYTES = 2**16
IDLE_SECONDS = 0.02
_lock = threading.Lock()
_running: list[Warm] = []


class Warm:
    """The process, as the one that started it sees it."""

    def __init__(self, environment: dict[str, str]) -> None:
        self.environment = environment
        here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with there:
            try:
                self.process = subprocess.Popen(
                    [sys.executable, "-P", "-c", PROGRAM],  # a file beside the notebook is none of ours
                    stdin=there.fileno(),
                    stdout=subprocess.DEVNULL,
                    env=environment,
                    start_new_session=True,
                )
            except OSError:
                here.close()
                raise
        self.socket = here

    def start(self, arguments: list[str], token: str, job: IO[bytes], printed: IO[bytes]) -> ForkedKeeper:
        """Begins a check. ConnectionError if the process has ended."""
        events, events_there = os.pipe()
        alive, alive_there = os.pipe()
        try:
            request = json.dumps({"arguments": arguments, "token": token}).encode()
            socket.send_fds(self.socket, [request], [job.fileno(), events_there, printed.fileno(), alive_there])
            answer = self.socket.recv(MOST_BYTES)
            if not answer:
                raise ConnectionError("the warm process has ended")
        except BaseException:
            os.close(events)
            os.close(alive)
            raise
        finally:
            os.close(events_there)
            os.close(alive_there)
        return ForkedKeeper(int(answer), os.fdopen(events, "rb"), os.fdopen(alive, "rb", buffering=0))

    def end(self) -> None:
        self.socket.close()
        self.process.kill()  # it may be in the middle of an import
        self.process.wait()


class ForkedKeeper:
    """A keeper that is no child of ours, with the parts of Popen that a check needs."""

    def __init__(self, pid: int, stdout: IO[bytes], alive: RawIOBase) -> None:
        self.pid, self.stdout, self.alive = pid, stdout, alive
        self.returncode: int | None = None

    def poll(self) -> int | None:
        return self._ended(0)

    def wait(self, timeout: float) -> int:
        code = self._ended(timeout)
        if code is None:
            raise subprocess.TimeoutExpired("keeper", timeout)
        return code

    def terminate(self) -> None:
        self._send(signal.SIGTERM)

    def kill(self) -> None:
        self._send(signal.SIGKILL)

    def _send(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def _ended(self, timeout: float) -> int | None:
        """Its pipe says when it has ended, and that it has ended well."""
        if self.returncode is None and select.select([self.alive], [], [], timeout)[0]:
            self.returncode = 0 if self.alive.read(1) == b"0" else 1
            self.alive.close()
        return self.returncode


def start(arguments: list[str], token: str, job: IO[bytes], printed: IO[bytes], env: dict[str, str]) -> ForkedKeeper:
    """Begins a check in a fork of the warm process, which is started if there is none with this environment."""
    with _lock:
        for _ in range(2):
            try:
                return _process(env).start(arguments, token, job, printed)
            except ConnectionError:
                _running.pop().end()
            except BaseException:  # a notebook's interrupt: its next answer would be to this request
                _running[0].process.kill()
                _running.pop().end()
                raise
    raise ConnectionError("the process from which checks are forked ends at once")


def prepare(env: dict[str, str]) -> None:
    """Starts the warm process, if there is none with this environment, and doesn't wait for it."""
    with _lock:
        _process(env)


def _process(env: dict[str, str]) -> Warm:
    env = {name: value for name, value in env.items() if name != "PYTEST_CURRENT_TEST"}  # another for each test
    if _running and (_running[0].environment != env or _running[0].process.poll() is not None):
        _running.pop().end()
    if not _running:
        _running.append(Warm(env))
    return _running[0]


@atexit.register
def _end() -> None:
    while _running:
        _running.pop().end()


# ---- in the warm process


def main() -> None:
    from . import apart, check_runner, check_worker  # noqa: F401 (what a check needs is there before it is forked)

    requests = socket.socket(fileno=os.dup(0))
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the notebook's interrupt is not for it
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the kernel buries the keepers
    later = [*LATER]
    while True:
        while later and not select.select([requests], [], [], IDLE_SECONDS)[0]:
            with suppress(ImportError):  # which will be told where it is needed
                later.pop(0)()
        try:
            request, given, _, _ = socket.recv_fds(requests, MOST_BYTES, 4)
        except ConnectionError:
            return
        if not request:
            return
        gc.freeze()  # what is there stays: a collection in each fork would look at all of it, and so copy its memory
        child = os.fork()
        if child == 0:
            requests.close()
            _become_keeper(json.loads(request), given)
        for each in given:
            os.close(each)
        requests.send(str(child).encode())


def _compile_once() -> None:
    """What Numba loads and looks up at its first compilations takes a second: a loop such as kernels have.

    It is compiled, and not run: no thread may begin before a fork.
    """
    numba, np = importlib.import_module("numba"), importlib.import_module("numpy")
    row = numba.float32[::1]

    @numba.njit([(numba.int64, numba.int64, row, row)], nogil=True, error_model="numpy", fastmath={"reassoc"})
    def _kernel(low, high, x, out):  # type: ignore[no-untyped-def]
        for i in range(low, high):
            total = np.float32(0)
            for j in range(8):
                value = x[i * 8 + j]
                total = total + value if value >= total or value != value else math.exp(value)
            out[i] = total / np.float32(2)


LATER = (
    lambda: importlib.import_module("numba"),
    _compile_once,
    lambda: importlib.import_module("minitorch_compile.inductor.targets"),
    lambda: importlib.import_module("sklearn.datasets"),
)


def _become_keeper(request: dict[str, list[str]], given: list[int]) -> NoReturn:
    """In the forked process, which keeps an eye on a fork of its own."""
    from . import check_keeper

    code = 1
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.setsid()
        job, events, printed, alive = given
        for place, each in enumerate((job, events, printed)):
            os.dup2(each, place)
            os.close(each)
        os.environ["MTC_CHECK_TOKEN"] = str(request["token"])
        check_keeper.watch(lambda: _fork_worker(request["arguments"], alive))
        os.write(alive, b"0")
        code = 0
    finally:
        os._exit(code)


def _fork_worker(arguments: list[str], alive: int) -> int:
    from . import check_worker

    child = os.fork()
    if child:
        return child
    code = 1
    try:
        os.close(alive)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.setpgid(0, 0)
        check_worker.judge_job(*arguments)
        code = 0
    except BaseException:  # noqa: BLE001 (as Python itself does at the end of a program)
        sys.excepthook(*sys.exc_info())
    finally:
        sys.stderr.flush()
        os._exit(code)
