"""A compilation that takes long says so, where somebody looks, and leaves nothing behind."""

import io
import os
import subprocess
import sys
import threading
import time
from types import SimpleNamespace

import pytest

from minitorch_compile import compile_progress
from minitorch_compile.compile_progress import Notebook, Terminal, compiling, stage


class Console(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def console(monkeypatch):
    """A terminal in which lines appear at once."""
    looked_at = SimpleNamespace(stderr=Console(), modules={})  # pytest has put its own in the place of the real one
    monkeypatch.setattr(compile_progress, "sys", looked_at)
    monkeypatch.setattr(compile_progress, "AFTER", 0.0)
    monkeypatch.setattr(compile_progress, "EVERY", 0.001)
    monkeypatch.delenv("MTC_PROGRESS", raising=False)
    return looked_at.stderr


def wait_for(console, text):
    deadline = time.monotonic() + 60
    while text not in console.getvalue() and time.monotonic() < deadline:
        time.sleep(0.001)
    assert text in console.getvalue()


def test_a_terminal_shows_one_line_which_is_gone_in_the_end(console):
    before = threading.active_count()
    with compiling("train_step"):
        stage("tracing")
        wait_for(console, "\rcompiling train_step: tracing (0 s)")
        stage("kernels", lambda: (3, 12))
        wait_for(console, "\rcompiling train_step: kernels, 3 of 12 (0 s)")
    assert "\n" not in console.getvalue() and console.getvalue().endswith(" \r")
    assert threading.active_count() == before


def test_a_line_is_no_longer_than_the_terminal_is_wide(console, monkeypatch):
    monkeypatch.setenv("COLUMNS", "30")
    with compiling("f" * 500):
        wait_for(console, "compiling")
    assert max(map(len, console.getvalue().split("\r"))) == 29


def test_what_is_compiled_inside_is_a_part_of_it(console):
    with compiling("outer"), compiling("inner"):
        wait_for(console, "compiling outer")
    assert "inner" not in console.getvalue()


def test_an_error_goes_on_and_leaves_nothing(console):
    before = threading.active_count()
    with pytest.raises(KeyError):
        with compiling("f"):
            raise KeyError
    assert threading.active_count() == before and compile_progress._current is None


def test_a_compilation_that_takes_not_long_says_nothing(console, monkeypatch):
    monkeypatch.setattr(compile_progress, "AFTER", 600.0)
    with compiling("f"):
        pass
    assert console.getvalue() == ""


@pytest.mark.parametrize("variable", ["0", "1"])
def test_nothing_is_said_and_no_thread_started_where_nobody_looks(console, monkeypatch, variable):
    monkeypatch.setenv("MTC_PROGRESS", variable)
    if variable == "1":
        console = compile_progress.sys.stderr = io.StringIO()
    before = threading.active_count()
    with compiling("f"):
        assert threading.active_count() == before
    assert console.getvalue() == ""


def test_standard_error_may_be_missing_or_closed(console):
    compile_progress.sys.stderr = None
    with compiling("f"):
        pass
    closed = Console()
    closed.close()
    compile_progress.sys.stderr = closed
    with compiling("f"):
        pass


def test_a_terminal_that_goes_away_is_no_error(console, monkeypatch):
    def gone(line):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(Terminal, "show", lambda self, line: gone(line))
    with compiling("f"):
        time.sleep(0.01)


def test_a_notebook_has_one_output_which_says_in_the_end_how_long_it_took():
    shown = []

    class Handle:
        def update(self, data, raw):
            shown.append(data)

    def display(data, raw, display_id):
        shown.append(data)
        return Handle()

    screen = Notebook(display)
    screen.show("compiling f: tracing (2 s)")
    screen.end("compiled f (2.1 s)")
    assert shown == [{"text/plain": "compiling f: tracing (2 s)"}, {"text/plain": "compiled f (2.1 s)"}]


def test_a_program_whose_errors_go_to_a_pipe_is_quiet():
    program = (
        "import minitorch_compile as t\nfrom minitorch_compile import compile_progress\ncompile_progress.AFTER = 0.0\n"
        "print(t.compile(lambda x: x + 1)(t.zeros(1)).tolist())"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env=os.environ)
    assert (done.stdout, done.stderr) == ("[1.0]\n", "")
