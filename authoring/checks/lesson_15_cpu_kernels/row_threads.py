"""Exercise 15.9: machine code once for each text, and rows in shares."""

from __future__ import annotations

import threading
import time
from typing import Any

import numpy as np

from minitorch_compile.course.checking.exercise import WrongAnswer
from minitorch_compile.course.checking.step import Step

from ..comparing import expect

ROW_THREADS = Step(
    "15.9",
    "machine code, and threads",
    file="emit",
    minutes=20,
    hints=(
        "machine_code: exec the text in a namespace with np, math and exp32, take its `kernel`, and give it"
        " to numba.njit;"
        " functools.cache makes equal texts one.",
        "nogil=True lets threads run side by side, error_model='numpy' divides by zero as NumPy does,"
        " fastmath={'reassoc',"
        " 'contract', 'nsz'} lets sums be vectors and keeps NaN.",
        "Shares: bounds[i] = rows * i // shares never leaves a row out. The first share is this thread's own, the"
        " others go to"
        " pool.submit; wait for each with .result(), which also raises what was raised there.",
    ),
)
SECTION = "Threads"
ONCE = "Compiling takes a second, and twelve layers have the same text: keep machine code by its source."
NAN = "`fastmath=True` allows the compiler to forget that NaN and inf exist."
LOST = "A row was left out, or run twice: bounds[i] = rows * i // shares cuts without a rest."
WAIT = "run_rows came back before all rows were done: ask each share for its result()."
SIDE = "Give the others to the pool first, then run your own, and only then ask each of them for its result()."
VECTOR = "A sum is a chain of additions; only who may reorder it can make it vectors: fastmath={'reassoc', ...}."
DIVIDE = "NumPy divides by zero and gives inf or nan; Python raises, and checks each division: error_model='numpy'."
LOCK = "Who holds the interpreter's lock keeps all other threads waiting: nogil=True."
MUCH = "`work` decides, not rows: from ENOUGH on, give all shares but the first to the pool, also of few rows."
UNTOLD = "An error is kept until somebody asks for it: ask each share for its result(), which raises it."
FIRST = "An error of the first share waits, too: the others write into the arrays until they are done (try, finally)."
OTHER = "An error of another share waits, too: wait(others) for all of them, and only then ask each for its result()."
FEW = "A second thread costs more than so little work: below ENOUGH all rows are one share, run right here."


@ROW_THREADS.case("machine code", points=1, section="Flags that keep NaN")
def _(mini: Any) -> None:
    source = "def kernel(low, high, x, out):\n    for i in range(low, high):\n        out[i] = x[i] + np.float32(1)"
    code = mini.emit.machine_code(source)
    if mini.emit.machine_code("" + source[:9] + source[9:]) is not code:
        raise WrongAnswer("machine_code of the same text gives another function", ONCE)
    x, out = np.array([1, np.nan, np.inf], np.float32), np.zeros(3, np.float32)
    code(0, 3, x, out)
    if not np.array_equal(out, x + 1, equal_nan=True):
        raise WrongAnswer(f"x + 1 of {x.tolist()} gives {out.tolist()}", NAN)
    isnan = mini.emit.machine_code(
        "def kernel(low, high, x, out):\n    for i in range(low, high):\n        out[i] = x[i] != x[i]"
    )
    isnan(0, 3, x, out)
    if out.tolist() != [0, 1, 0]:
        raise WrongAnswer(f"x != x of {x.tolist()} gives {out.tolist()}", NAN)


@ROW_THREADS.case("flags", points=1, section="Flags that keep NaN")
def _(mini: Any) -> None:
    lines = "def kernel(low, high, x, out):\n    for i in range(low, high):\n        "
    code = mini.emit.machine_code(lines + "out[i] = np.float32(1) / x[i]")
    x, out = np.array([0.0, 2.0], np.float32), np.zeros(2, np.float32)
    try:
        code(0, 2, x, out)
    except ZeroDivisionError as error:
        raise WrongAnswer(f"1 / x of {x.tolist()}: {error}", DIVIDE) from None
    expect("1 / x of [0, 2]", [np.inf, 0.5], out.tolist(), DIVIDE)
    added = mini.emit.machine_code(lines + "out[0] = out[0] + x[i]")
    added(0, 2, x, out)
    if "reassoc" not in "".join(added.inspect_llvm().values()):
        raise WrongAnswer("the additions of a sum may not be reordered", VECTOR)
    if not added.targetoptions.get("nogil"):
        raise WrongAnswer("machine code that holds the interpreter's lock", LOCK)


def ranges(mini: Any, rows: int, work: int, threads: int) -> list[tuple[int, int, int]]:
    """Which rows ran, and on which thread."""
    found: list[tuple[int, int, int]] = []

    def code(low: int, high: int, array: Any) -> None:
        if threading.get_ident() != here:
            time.sleep(0.05)
        found.append((low, high, threading.get_ident()))

    here = threading.get_ident()
    before, mini.emit.THREADS = mini.emit.THREADS, threads
    try:
        mini.emit.run_rows(code, rows, work, [np.zeros(1)])
    finally:
        mini.emit.THREADS = before
    return sorted(found)


@ROW_THREADS.case("all rows, each once", points=2, section=SECTION)
def _(mini: Any) -> None:
    for rows, threads in ((10, 1), (10, 2), (10, 3), (7, 4), (2, 4), (1, 4)):
        found = ranges(mini, rows, 10**6, threads)
        if not found or max(high for _, high, _ in found) < rows and len(found) < min(rows, threads):
            raise WrongAnswer(f"{rows} rows for {threads} threads: only {[f[:2] for f in found]} ran", WAIT)
        covered = [i for low, high, _ in found for i in range(low, high)]
        if covered != list(range(rows)):
            raise WrongAnswer(f"{rows} rows for {threads} threads: ran {[f[:2] for f in found]}", LOST)
    if len({ident for _, _, ident in ranges(mini, 10, 10**6, 2)}) < 2:
        raise WrongAnswer("10 rows with much work on two threads: all ran on one", MUCH)
    ranges(mini, 0, 10**6, 2)  # nothing to do, and nothing raised


@ROW_THREADS.case("side by side", points=1, section=SECTION)
def _(mini: Any) -> None:
    meeting = threading.Barrier(2)

    def code(low: int, high: int, array: Any) -> None:
        meeting.wait(3)

    before, mini.emit.THREADS = mini.emit.THREADS, 2
    try:
        mini.emit.run_rows(code, 10, 10**6, [np.zeros(1)])
    except threading.BrokenBarrierError:
        raise WrongAnswer("two shares, each of which waits for the other: they never meet", SIDE) from None
    finally:
        mini.emit.THREADS = before


@ROW_THREADS.case("little work, and errors", points=1, section=SECTION)
def _(mini: Any) -> None:
    found = ranges(mini, 10, 10, 2)
    if [f[:2] for f in found] != [(0, 10)] or found[0][2] != threading.get_ident():
        raise WrongAnswer(f"10 rows of little work ran as {[f[:2] for f in found]}", FEW)

    def code(low: int, high: int, array: Any) -> None:
        if low:
            raise ZeroDivisionError("in the other share")

    before, mini.emit.THREADS = mini.emit.THREADS, 2
    try:
        mini.emit.run_rows(code, 10, 10**6, [np.zeros(1)])
    except ZeroDivisionError:
        return
    finally:
        mini.emit.THREADS = before
    raise WrongAnswer("an error in another thread's share is lost", UNTOLD)


@ROW_THREADS.case("back when all are done", points=1, section=SECTION)
def _(mini: Any) -> None:
    for failing, why in ((0, FIRST), (1, OTHER)):
        done: list[int] = []

        def code(low: int, high: int, array: Any, failing: int = failing, done: list[int] = done) -> None:
            if low == failing:
                raise ZeroDivisionError("in one share")
            if low == 2:
                time.sleep(0.1)
            done.append(low)

        before, mini.emit.THREADS = mini.emit.THREADS, 3
        try:
            mini.emit.run_rows(code, 3, 10**6, [np.zeros(1)])
        except ZeroDivisionError:
            if 2 not in done:
                said = f"three shares, of which number {failing} raises: run_rows raised before the last was done"
                raise WrongAnswer(said, why) from None
        finally:
            mini.emit.THREADS = before
