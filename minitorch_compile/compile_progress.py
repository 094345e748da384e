"""A compilation that takes long says so: what it compiles, and how far it is.

The first call of a compiled model may take a minute, in which a program that says nothing looks like one that hangs. So
after two seconds one line appears, which is written anew until the code is there: in a terminal it is gone then, in a
notebook it says how long it took. Nothing is written where nobody looks: where standard error is a file or a pipe, and
with `MTC_PROGRESS=0`. A call that is compiled already never comes here.

>>> with compiling("train_step"):  # under the tests nobody looks
...     stage("tracing")
>>> shown = Compilation("train_step")
>>> shown.stage = "tracing"
>>> print(shown.text(5.2))
compiling train_step: tracing (5 s)
>>> shown.stage, shown.count = "kernels", lambda: (3, 12)
>>> print(shown.text(9.8))
compiling train_step: kernels, 3 of 12 (9 s)
"""

from __future__ import annotations

import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import copy_context
from typing import Any, Protocol

from minitorch_compile.environment_variables import PROGRESS

AFTER, EVERY = 2.0, 0.2  # seconds until the line appears, and between its versions


class Compilation:
    """What is compiled at the moment."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.stage = "tracing"
        self.count: Callable[[], tuple[int, int]] | None = None
        self.started = time.monotonic()

    def text(self, seconds: float) -> str:
        done = ", {} of {}".format(*self.count()) if self.count is not None else ""
        return f"compiling {self.name}: {self.stage}{done} ({int(seconds)} s)"


class Screen(Protocol):
    """Where the line appears."""

    def show(self, line: str) -> None: ...

    def end(self, line: str) -> None:
        """The code is there; `line` says how long it took."""


class Terminal:
    """One line of standard error, which is empty again in the end."""

    def __init__(self) -> None:
        self.written = 0

    def show(self, line: str) -> None:
        line = line[: shutil.get_terminal_size().columns - 1]  # a longer one would become two
        sys.stderr.write("\r" + line.ljust(self.written))
        sys.stderr.flush()
        self.written = len(line)

    def end(self, line: str) -> None:
        self.show("")
        sys.stderr.write("\r")
        sys.stderr.flush()


class Notebook:
    """One output of the cell that runs, replaced again and again; plain text, which needs no widgets."""

    def __init__(self, display: Callable[..., Any]) -> None:
        self.display = display
        self.handle: Any = None

    def show(self, line: str) -> None:
        if self.handle is None:
            self.handle = self.display({"text/plain": line}, raw=True, display_id=True)
        else:
            self.handle.update({"text/plain": line}, raw=True)

    end = show


_current: Compilation | None = None


@contextmanager
def compiling(name: str) -> Iterator[None]:
    """Within the block something of this name is compiled. A block inside another one is a part of that one's work."""
    global _current
    screen = _screen() if _current is None else None
    if screen is None:
        yield
        return
    _current, done = Compilation(name), threading.Event()
    arguments = (_show_until, _current, screen, done)
    # In a copy of the context, since that is where a notebook remembers which cell the output belongs to.
    thread = threading.Thread(target=copy_context().run, args=arguments, name="minitorch_compile progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        _current = None
        done.set()
        thread.join()


def stage(name: str, count: Callable[[], tuple[int, int]] | None = None) -> None:
    """What is done now, and, asked when the line is written, how many of how many things are ready."""
    compilation = _current
    if compilation is not None:
        compilation.stage, compilation.count = name, count


def _screen() -> Screen | None:
    """Where somebody looks; None if nobody does."""
    if not PROGRESS.value():
        return None
    if "ipykernel" in sys.modules and "IPython" in sys.modules:
        from IPython import display, get_ipython

        if getattr(get_ipython(), "kernel", None) is not None:
            return Notebook(display.display)
    try:
        return Terminal() if sys.stderr.isatty() else None
    except (AttributeError, ValueError):  # it was replaced by something simpler, or closed
        return None


def _show_until(compilation: Compilation, screen: Screen, done: threading.Event) -> None:
    if done.wait(AFTER):
        return
    try:
        while True:
            screen.show(compilation.text(time.monotonic() - compilation.started))
            if done.wait(EVERY):
                break
        screen.end(f"compiled {compilation.name} ({time.monotonic() - compilation.started:.1f} s)")
    except (OSError, ValueError):  # nobody looks any more: the terminal is gone, or standard error was closed
        pass
