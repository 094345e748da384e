"""Lesson 15. A group becomes the text of a Python function, and that becomes machine code.

>>> graph = decompose(trace(lambda x: x / x.sum(1, True), fake((8, 100))))
>>> (group,) = fuse(Lowering(graph))
>>> print(Kernel(group, {group.loops[-1].buffer}).source)
def kernel(low, high, x0, buf1):
    for i0 in range(low, high):
        buf0_row = np.float32(0.0)
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
from concurrent.futures import ThreadPoolExecutor

import numba
import numpy as np
from mini.fusion import Lowering, decompose, fake, fuse, numel, trace  # noqa: F401
from mini.index import flatten

# --- functions that kernels call: in single precision made of what vectorizes -----------------------------------------


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
    a, b = half, np.int32(n) - half
    p = (p * r * r + r + np.float32(1)) * np.int32((a + np.int32(127)) << np.int32(23)).view(np.float32)
    return p * np.int32((b + np.int32(127)) << np.int32(23)).view(np.float32)


@numba.njit(nogil=True)
def tanh32(x):
    small = min(max(x, np.float32(-9)), np.float32(9))
    e = exp32(small + small)
    return x - x * x * x * np.float32(1 / 3) if abs(x) < np.float32(0.02) else (e - np.float32(1)) / (e + np.float32(1))


EXPRESSIONS = {
    "add": "{} + {}", "sub": "{} - {}", "mul": "{} * {}", "div": "{} / {}", "eq": "{} == {}", "lt": "{} < {}",
    "maximum": "{0} if {0} >= {1} or {0} != {0} else {1}", "where": "{1} if {0} else {2}", "log": "math.log({})",
    "sqrt": "math.sqrt({})", "sin": "math.sin({})", "cos": "math.cos({})", "exp": "math.exp({})", "tanh": "math.tanh({})",
}  # fmt: skip
SINGLE = {"exp": "exp32({})", "tanh": "tanh32({})"}
REDUCE = {"sum": "{0} + {1}", "amax": "{0} if {0} >= {1} or {0} != {0} else {1}"}
START = {"sum": "0", "amax": "-np.inf"}


class Writer:
    """The handler under which a loop's body writes its lines."""

    def __init__(self, kernel):
        self.kernel, self.memo, self.lines, self.count, self.depth = kernel, {}, [], 0, 1

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

    def value(self, number, dtype):
        if dtype.kind == "f" and not math.isfinite(number):
            return f"np.{dtype}({'np.nan' if number != number else 'np.inf' if number > 0 else '-np.inf'})"
        return f"np.{dtype}({number})" if dtype.kind == "f" else str(number)

    def index(self, index, dtype):
        return f"np.{dtype}({index})"

    def call(self, op, args, dtype, dtypes):
        if op == "to":
            return self.name(f"{args[0]} != 0" if dtype.kind == "b" else f"np.{dtype}({args[0]})")
        form = SINGLE.get(op) if dtype == np.float32 else None
        return self.name((form or EXPRESSIONS[op]).format(*args))

    def inside(self, conditions, value, dtype):
        """A branch: what is computed in it is not known after it."""
        name, memo = self.name(self.value(0, dtype)), dict(self.memo)
        self.line(f"if {' and '.join(f'{low} <= {i} < {high}' for i, low, high in conditions)}:")
        self.depth += 1
        self.line(f"{name} = {value()}")
        self.depth, self.memo = self.depth - 1, memo
        return name


class Kernel:
    """The text of a group. Buffers that nobody outside needs, and no later stage, live in variables."""

    header = "def kernel(low, high, {}):"
    loop = "for row in range(low, high):"

    def __init__(self, group, wanted):
        self.group, self.wanted, self.arguments, self.made = group, wanted, {}, {}
        self.rows = numel(group.rows)
        self.work = sum(self.rows * numel(stage.inner) for stage in group.stages)
        writer = Writer(self)
        self.write(writer)
        self.source = "\n".join([self.header.format(", ".join(self.arguments.values())), *writer.lines])

    def argument(self, buffer):
        return self.arguments.setdefault(buffer, buffer.name)

    def write(self, w):
        rows = self.group.rows
        w.line(self.loop.replace("row", "i0") if len(rows) == 1 else self.loop)
        w.depth += 1
        if len(rows) > 1:
            step = self.rows
            for d, n in enumerate(rows):
                step //= max(n, 1)
                w.line(f"i{d} = row // {step} % {n}" if n > 1 else f"i{d} = 0")
        if not rows:
            w.line("pass")
        for stage in self.group.stages:
            self.write_stage(w, stage)

    def write_stage(self, w, stage):
        for loop in stage.loops:
            if loop.reduction:
                w.line(
                    f"{loop.buffer.name}_row = {w.value(float(START[loop.reduction].replace('np.', '')), loop.buffer.dtype)}"
                )
        depth, made, memo = w.depth, dict(self.made), dict(w.memo)
        for d, n in enumerate(stage.inner):
            if n != 1:
                w.line(f"for j{d} in range({n}):")
                w.depth += 1
        for loop in stage.loops:
            self.write_loop(w, loop)
        w.depth = depth
        if stage.inner:
            self.made, w.memo = made, memo
        for loop in stage.loops:
            if loop.reduction:
                index = flatten(self.group.index(loop)[: len(self.group.rows)], loop.sizes)
                self.made[loop.buffer, str(index)] = f"{loop.buffer.name}_row"
                if loop.buffer in self.wanted:
                    w.line(f"{self.argument(loop.buffer)}[{index}] = {loop.buffer.name}_row")

    def write_loop(self, w, loop):
        value, name = loop.body(w, self.group.index(loop)), f"{loop.buffer.name}_row"
        if loop.reduction:
            w.line(f"{name} = {REDUCE[loop.reduction].format(name, value)}")
            return
        index = flatten(self.group.index(loop), loop.sizes)
        self.made[loop.buffer, str(index)] = value
        if loop.buffer in self.wanted or self.read_later(loop):
            w.line(f"{self.argument(loop.buffer)}[{index}] = {value}")

    def read_later(self, loop):
        mine = next(i for i, stage in enumerate(self.group.stages) if loop in stage.loops)
        return any(
            loop.buffer in {b for b, _ in self.group.reads(l)} for s in self.group.stages[mine + 1 :] for l in s.loops
        )


@functools.cache
def machine_code(source):
    """Equal kernels are compiled once: twelve layers alike cost one."""
    names = {"np": np, "math": math, "exp32": exp32, "tanh32": tanh32}
    exec(source, names)
    return numba.njit(nogil=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz"})(names["kernel"])


THREADS = min(os.cpu_count() or 1, 8)
pool = ThreadPoolExecutor(THREADS)
ENOUGH = 100_000  # elements for which a second thread pays


def run_rows(code, rows, work, arrays):
    """All rows, or equal shares of them side by side: Numba's code runs without the interpreter's lock."""
    shares = min(THREADS, rows) if work >= ENOUGH else 1
    if shares <= 1:
        return code(0, rows, *arrays)
    bounds = [rows * i // shares for i in range(shares + 1)]
    rest = [pool.submit(code, low, high, *arrays) for low, high in zip(bounds[1:], bounds[2:], strict=False)]
    code(0, bounds[1], *arrays)
    for share in rest:
        share.result()
