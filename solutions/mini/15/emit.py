"""Lesson 15. A group becomes the text of a Python function, and that becomes machine code.

>>> graph = decompose(trace(lambda x: x / x.sum(1, True), fake((8, 100))))
>>> (group,) = fuse(Lowering(graph))
>>> print(Kernel(group, {group.loops[-1].buffer}).source)
def kernel(low, high, x0, buf1):
    for i0 in range(low, high):
        buf0_row = np.float32(0)
        for j0 in range(100):
            t0 = x0[i0 * 100 + j0]
            buf0_row = buf0_row + t0
        for j0 in range(100):
            t1 = x0[i0 * 100 + j0]
            t2 = t1 / buf0_row
            buf1[i0 * 100 + j0] = t2
"""

import functools
import math
import os
from concurrent.futures import ThreadPoolExecutor, wait

import numba
import numpy as np
from mini.fusion import Lowering, decompose, fake, flatten, fuse, numel, trace  # noqa: F401
from mini.interpreter import Unsupported
from mini.sizes import at


# %% 15.3 an exponential that vectorizes
@numba.njit(nogil=True)
def exp32(x):
    """2^n times a polynomial of the rest (Cephes' expf); the exponent is written into the number's bits."""
    x = min(max(x, np.float32(-104.0)), np.float32(88.8))
    n = np.floor(x * np.float32(1.44269504) + np.float32(0.5))
    r = x - n * np.float32(0.693359375) + n * np.float32(2.12194440e-4)
    p = np.float32(1.9875691500e-4) * r + np.float32(1.3981999507e-3)
    for c in (8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1):
        p = p * r + np.float32(c)
    half = np.int32(n) >> np.int32(1)  # in two steps: 2^n alone may be too great, or too small, for a float
    p = (p * r * r + r + np.float32(1)) * power_of_two(half)
    return p * power_of_two(np.int32(n) - half)


@numba.njit(nogil=True)
def power_of_two(n):
    return np.int32((n + np.int32(127)) << np.int32(23)).view(np.float32)


# %% given
GREATER = "{0} if {0} >= {1} or {0} != {0} else {1}"  # NaN wins
EXPRESSIONS = {
    "add": "{} + {}", "sub": "{} - {}", "mul": "{} * {}", "div": "{} / {}", "eq": "{} == {}", "lt": "{} < {}",
    "maximum": GREATER, "where": "{1} if {0} else {2}", "log": "math.log({})", "sqrt": "math.sqrt({})",
    "sin": "math.sin({})", "cos": "math.cos({})", "exp": "math.exp({})", "tanh": "math.tanh({})",
}  # fmt: skip
REDUCTIONS = {"sum": "{0} + {1}", "amax": GREATER}


def start(reduction, dtype):
    """What a reduction begins with: nothing changes when it is added, or compared."""
    return 0 if reduction == "sum" else -math.inf if dtype.kind == "f" else dtype.kind == "i" and np.iinfo(dtype).min


# %% 15.4 a handler that writes lines
class Writer:
    """The handler under which a body writes its lines: each value that it computes gets a name."""

    def __init__(self, kernel):
        self.kernel, self.memo, self.lines, self.depth, self.count = kernel, {}, [], 1, 0

    def line(self, text):
        self.lines.append("    " * self.depth + text)

    def name(self, expression):
        self.count += 1
        self.line(f"t{self.count - 1} = {expression}")
        return f"t{self.count - 1}"

    def load(self, buffer, index):
        if (buffer, str(index)) in self.kernel.made:
            return self.kernel.made[buffer, str(index)]
        return self.name(f"{self.kernel.argument(buffer)}[{index}]")

    def index(self, index, dtype):
        return f"np.{dtype}({index})"

    # %% 15.5 values, calls and branches
    def value(self, number, dtype):
        if dtype.kind == "b":
            return str(bool(number))
        finite = not isinstance(number, float) or math.isfinite(number)
        return f"np.{dtype}({number if finite else f'np.{number}'.replace('np.-', '-np.')})"

    def call(self, op, args, dtype, dtypes):
        if op == "to":
            return self.name(f"{args[0]} != 0" if dtype.kind == "b" else f"np.{dtype}({args[0]})")
        single = self.kernel.single.get(op) if dtype == np.float32 else None
        text = (single or EXPRESSIONS[op]).format(*args)
        return self.name(f"np.{dtype}({text})" if dtype.kind == "i" else text)  # Numba computes all integers in 64 bits

    def inside(self, conditions, value, dtype):
        """A branch: what is computed in it is not known after it."""
        name, memo = self.name(self.value(0, dtype)), dict(self.memo)
        self.line(f"if {' and '.join(f'{low} <= {i} < {high}' for i, low, high in conditions)}:")
        self.depth += 1
        self.line(f"{name} = {value()}")
        self.depth, self.memo = self.depth - 1, memo
        return name


# %% 15.6 the loop over the rows
class Kernel:
    """The text of a group. Buffers that nobody outside needs, and no later stage, live in variables."""

    single = {"exp": "exp32({})"}  # what single precision has of its own
    row_range, innermost = "range(low, high)", "range({})"

    def __init__(self, group, wanted):
        self.group, self.wanted, self.arguments, self.made = group, wanted, {}, {}
        self.rows, w = numel(group.rows), Writer(self)
        self.work = self.rows * sum(numel(stage.inner) for stage in group.stages)
        self.write(w)
        if any("s0" in line for line in w.lines):
            self.arguments["s0"] = "s0"
        self.buffers = list(self.arguments)
        self.source = "\n".join([f"def kernel(low, high, {', '.join(self.arguments.values())}):", *w.lines])

    def argument(self, buffer):
        if buffer.dtype.name not in ("bool", "int32", "int64", "float32", "float64"):
            raise Unsupported(f"a kernel for {buffer.dtype}: use float32, float64, int32, int64 or bool")
        return self.arguments.setdefault(buffer, buffer.name)

    def write(self, w):
        """For each row: where it is in each dimension, then stage after stage."""
        rows, step = self.group.rows, self.rows
        w.line(f"for {'i0' if len(rows) == 1 else 'row'} in {self.row_range}:")
        w.depth += 1
        for d, n in enumerate(rows if len(rows) > 1 else ()):
            step = step // max(n, 1)
            w.line(f"i{d} = row // {step} % {n}" if n > 1 else f"i{d} = 0")
        for stage in self.group.stages:
            self.write_stage(w, stage)

    # %% given
    def launch(self, batch):
        """All rows at a batch, as a function of the memory: what can be known before a call is found out once."""
        code, counts = machine_code(self.source), at((self.rows, self.work), batch)
        return lambda memory: run_rows(code, *counts, [memory[buffer] for buffer in self.buffers])

    def run_part(self, memory, low, high):
        """The rows from low to high, on this thread."""
        machine_code(self.source)(low, high, *[memory[buffer] for buffer in self.buffers])

    def __repr__(self):
        return str(self.group)

    # %% 15.7 a stage
    def write_stage(self, w, stage):
        """A loop over the inside of the row, around all that the stage computes; what it reduced is known after it."""
        reductions = [loop for loop in stage.loops if loop.reduction]
        for loop in reductions:
            w.line(f"{loop.buffer.name}_row = {w.value(start(loop.reduction, loop.buffer.dtype), loop.buffer.dtype)}")
        before = w.depth, dict(w.memo), dict(self.made)
        dims = [d for d, n in enumerate(stage.inner) if n != 1]
        for d in dims:
            w.line(f"for j{d} in {(self.innermost if d == dims[-1] else 'range({})').format(stage.inner[d])}:")
            w.depth += 1
        for loop in stage.loops:
            self.write_loop(w, loop)
        if dims:
            w.depth, w.memo, self.made = before  # what was computed for one j is not known after its loop
        self.end_stage(w, reductions if dims else [])
        for loop in reductions:
            self.store(w, loop, flatten(loop.index()[: len(loop.sizes)], loop.sizes), f"{loop.buffer.name}_row")

    def end_stage(self, w, reductions):
        """Where several threads share a row, they meet here."""

    # %% 15.8 a value, and where it is kept
    def write_loop(self, w, loop):
        """One element: computed, and then added up or stored."""
        index, name = loop.index(self.group.rows), f"{loop.buffer.name}_row"
        value = loop.body(w, index)
        if loop.reduction:
            w.line(f"{name} = {REDUCTIONS[loop.reduction].format(name, value)}")
        else:
            self.store(w, loop, flatten(index, loop.sizes), value)

    def store(self, w, loop, index, value):
        """Known by name from here on; in memory only if another kernel, or a later stage, reads it there."""
        self.made[loop.buffer, str(index)] = value
        if loop.buffer in self.wanted or (not loop.reduction and self.read_later(loop)):
            w.line(f"{self.argument(loop.buffer)}[{index}] = {value}")

    def read_later(self, loop):
        others = [other for stage in self.group.stages if loop not in stage.loops for other in stage.loops]
        return any(buffer is loop.buffer for other in others for buffer, _ in other.reads())


# %% 15.9 machine code, and threads
FAST = numba.njit(nogil=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz"})


@functools.cache
def machine_code(source, compiler=FAST, **names):
    """Equal kernels are compiled once: twelve layers alike cost one."""
    names |= {"np": np, "math": math, "exp32": exp32}
    exec(source, names)
    return compiler(names["kernel"])


THREADS = min(os.cpu_count() or 1, 8)
ENOUGH = 100_000  # elements for which a second thread pays
pool = ThreadPoolExecutor(THREADS)


def run_rows(code, rows, work, arrays):
    """All rows, or equal shares of them side by side: machine code runs without the interpreter's lock."""
    shares = max(min(THREADS, rows), 1) if work >= ENOUGH else 1
    bounds = [rows * i // shares for i in range(shares + 1)]
    others = [pool.submit(code, low, high, *arrays) for low, high in zip(bounds[1:], bounds[2:], strict=False)]
    try:
        code(0, bounds[1], *arrays)
    finally:
        wait(others)  # also after an error: they write into the arrays
    for share in others:
        share.result()
