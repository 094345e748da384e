# %% [markdown]
# # 15 Exercises: Numba kernels on the CPU
#
# Nine exercises, two hours and a half: two about kernels, half an hour, and seven steps of your own `mini/emit.py`, two
# hours. Each is a sentence, a signature, an example and a check. Write your answer in place of the `raise` line or the
# `...`, run the cell, run the check below it. If you are stuck, `hint("15.1")` gives the first of three hints, and
# calling it again the next; hints cost nothing.

# %%
from numba.types import float32

import minitorch_compile as torch
from minitorch_compile.course import check, hint, own_parts, passed, progress
from minitorch_compile.inductor.runtime.native import accumulate_sum

# %% [markdown]
# ## 15.1 Find the float64
#
# This kernel is right, and all its arrays are float32. Still, most of its work is done in float64. Change it so that there
# is no float64 in its machine code, and the values stay as they are, but for rounding.


# %% tags=["stub"]
def warped(lo, hi, x, out):
    for i in range(lo, hi):
        ramp = i / (hi - lo)
        bent = x[i] * (1.0 + 0.1 * x[i])
        out[i] = ramp * bent


# %% tags=["solution"]
def warped(lo, hi, x, out):
    for i in range(lo, hi):
        ramp = float32(i) / float32(hi - lo)
        bent = x[i] * (float32(1.0) + float32(0.1) * x[i])
        out[i] = ramp * bent


# %%
check("15.1")


# %% tags=["wrong"] says="A whole number divided by a whole number"
def warped(lo, hi, x, out):
    for i in range(lo, hi):
        ramp = i / (hi - lo)
        bent = x[i] * (float32(1.0) + float32(0.1) * x[i])
        out[i] = ramp * bent


# %% tags=["wrong"] says="A number with a point is a float64"
def warped(lo, hi, x, out):
    for i in range(lo, hi):
        ramp = float32(i) / float32(hi - lo)
        bent = x[i] * (1.0 + 0.1 * x[i])
        out[i] = ramp * bent


# %% tags=["wrong"] says="converting the result comes too late"
def warped(lo, hi, x, out):
    for i in range(lo, hi):
        ramp = i / (hi - lo)
        bent = x[i] * (1.0 + 0.1 * x[i])
        out[i] = float32(ramp * bent)


# %% tags=["wrong"] says="Change the types of its numbers, and nothing else"
def warped(lo, hi, x, out):
    for i in range(lo, hi):
        ramp = float32(i // (hi - lo))
        bent = x[i] * (float32(1.0) + float32(0.1) * x[i])
        out[i] = ramp * bent


# %% [markdown]
# ## 15.2 Ten million numbers
#
# Sum `x[lo]` to `x[hi - 1]` into `out[0]`, within 8 ulps even for ten million numbers, without a float64. `out` has 64 places,
# all yours to work with; they aren't zero at the beginning. The lesson's tournament needs no second array: blocks of 128 numbers
# play in the order in which they come, and `out` has room for one waiting sum of each round. `accumulate_sum(total, x)` is an
# addition that may be reordered. It is a kernel, so `float32(0)` makes a number, and there are no lists and no NumPy. If x is [1, 2, 4], then
# `total(1, 3, x, out)` leaves 6 in `out[0]`.


# %%
def total(lo, hi, x, out):
    """out[0] = x[lo] + ... + x[hi - 1]."""
    ### BEGIN SOLUTION
    blocks = 0
    for start in range(lo, hi, 128):
        part = float32(0)
        for i in range(start, min(start + 128, hi)):
            part = accumulate_sum(part, x[i])
        level = 0
        while blocks >> level & 1:
            part += out[level]
            level += 1
        out[level] = part
        blocks += 1
    result, level = float32(0), 0
    while blocks >> level:
        if blocks >> level & 1:
            result += out[level]
        level += 1
    out[0] = result
    ### END SOLUTION


# %%
check("15.2")


# %% tags=["wrong"] says="A total that has grown large"
def total(lo, hi, x, out):
    result = float32(0)
    for i in range(lo, hi):
        result += x[i]
    out[0] = result


# %% tags=["wrong"] says="only half as many fit a register"
def total(lo, hi, x, out):
    result = 0.0
    for i in range(lo, hi):
        result += x[i]
    out[0] = result


# %% tags=["wrong"] says="The last block may be shorter"
def total(lo, hi, x, out):
    result = float32(0)
    for start in range(lo, hi, 128):
        part = float32(0)
        if start + 128 <= hi or start == lo:
            for i in range(start, min(start + 128, hi)):
                part += x[i]
        result += part
    out[0] = result


# %% tags=["wrong"] says="The range begins at lo"
def total(lo, hi, x, out):
    result = float32(0)
    for i in range(hi):
        result += x[i]
    out[0] = result


# %% tags=["wrong"] says="is inf - inf here"
def total(lo, hi, x, out):
    result, lost = float32(0), float32(0)
    for i in range(lo, hi):
        y = x[i] - lost
        t = result + y
        lost = (t - result) - y
        result = t
    out[0] = result


# %% [markdown]
# ## Your own stack: `mini/emit.py`
#
# Your lowering gives loops, and your fusion puts them into groups. This file turns a group into the text of a Python function
# and that into machine code: after it, your own `compile` makes kernels. It imports from your
# `fusion` (and by it `flatten` of 13.6, and `numel`, the product of sizes), `interpreter` (`Unsupported`) and `sizes` (`at`).
# Its grown-up version is `inductor/codegen/shared/emit.py`, and `inductor/codegen/cpu/` around it.

# %% [markdown]
# ## 15.3 An exponential that vectorizes
#
# `math.exp` is a call, and a loop with a call in it is no vector code. Write e^x for float32 out of sums, products and bits:
# put x between -104 and 88.8; n is the whole number nearest to x / log(2); r is the rest, x - n log(2), with log(2) given as
# 0.693359375 - 2.12194440e-4; e^r is a polynomial in r, by Horner from the constants 1.9875691500e-4, 1.3981999507e-3,
# 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1, then p r^2 + r + 1; and 2^n is the float32 whose bits are
# n + 127, shifted left by 23. (These constants are those of the Cephes library; the lesson fitted its own, and pulls x in with
# `select`. Here `min` and `max` do: with x as the first argument NaN goes through them.) Every constant is an `np.float32(...)`, or the loop computes in float64. Write
# `power_of_two(n)`, for -126 <= n <= 127, beneath it, and use it twice: 2^128 is no float32, though e^88.5 is one.

# %% step="15.3"
@numba.njit(nogil=True)
def exp32(x):
    """e^x for a float32: within 1.5e-7 of it, inf above, 0 far below, NaN for NaN."""


# %%
check("15.3")

# %% tags=["wrong"] step="15.3" says="the bits wrap round"
# -     x = min(max(x, np.float32(-104.0)), np.float32(88.8))

# %% tags=["wrong"] step="15.3" says="A number with a point is a float64"
# -     n = np.floor(x * np.float32(1.44269504) + np.float32(0.5))
# -     r = x - n * np.float32(0.693359375) + n * np.float32(2.12194440e-4)
# +     n = np.floor(x * 1.44269504 + 0.5)
# +     r = x - n * 0.693359375 + n * 2.12194440e-4

# %% tags=["wrong"] step="15.3" says="A call takes one number at a time"
# -     n = np.floor(x * np.float32(1.44269504) + np.float32(0.5))
# +     return np.float32(math.exp(x))
# +     n = np.floor(x * np.float32(1.44269504) + np.float32(0.5))

# %% tags=["wrong"] step="15.3" says="in two steps, n >> 1 and the rest"
# -     p = (p * r * r + r + np.float32(1)) * power_of_two(half)
# -     return p * power_of_two(np.int32(n) - half)
# +     return (p * r * r + r + np.float32(1)) * power_of_two(np.int32(n))

# %% tags=["wrong"] step="15.3" says="subtract it in two parts"
# -     r = x - n * np.float32(0.693359375) + n * np.float32(2.12194440e-4)
# +     r = x - n * np.float32(0.69314718)

# %% tags=["wrong"] step="15.3" says="take n nearest"
# -     n = np.floor(x * np.float32(1.44269504) + np.float32(0.5))
# +     n = np.floor(x * np.float32(1.44269504))

# %% [markdown]
# ## 15.4 A handler that writes lines
#
# A loop's body is a function of a handler: under `Text` it became a line to read, and a list of buffers. Under a
# `Writer` it writes code. Write the class: it begins with a kernel, an empty `memo` (where boxes look up what they have
# already computed), no `lines`, `depth` 1 and no names. `line(text)` appends the text, four spaces for each level of depth.
# `name(expression)` writes `t0 = expression` and gives `"t0"`, the next time `t1`. `load(buffer, index)` gives a name to
# `x0[i0 * 8]`, where x0 is what `kernel.argument(buffer)` says; but if `kernel.made` has `(buffer, str(index))`, the name that
# stands there is all you need. So `name` and `load` give names. `index(index, dtype)` gives text, and writes no line: a position used
# as a number, `"np.int64(i0 * 8)"`.

# %% step="15.4"
class Writer:
    """The handler under which a body writes its lines: each value that it computes gets a name."""


# %%
check("15.4")

# %% tags=["wrong"] step="15.4" says="would be computed twice"
# -         self.line(f"t{self.count - 1} = {expression}")
# -         return f"t{self.count - 1}"
# +         return f"({expression})"

# %% tags=["wrong"] step="15.4" says="Four spaces for each level"
# -         self.lines.append("    " * self.depth + text)
# +         self.lines.append("    " + text)

# %% tags=["wrong"] step="15.4" says="look into kernel.made"
# -         if (buffer, str(index)) in self.kernel.made:
# -             return self.kernel.made[buffer, str(index)]

# %% tags=["wrong"] step="15.4" says="Each name is used once"
# -         self.count += 1
# +         self.count = 1

# %% [markdown]
# ## 15.5 Values, calls and branches
#
# The other half of the class, three methods. `value(number, dtype)`: text that evaluates to the number in that dtype, also for
# infinities and NaN; a boolean is `True` or `False`. `call(op, args, dtype, dtypes)`: `EXPRESSIONS[op]`, filled with the arguments, gets a name; for float32
# `kernel.single` may have a better form; `"to"` is a conversion; and since Numba computes all integers in 64 bits, a result of
# an integer dtype is wrapped in it again. `inside(conditions, value, dtype)`: conditions are triples (i, low, high), as text
# `low <= i < high`; a name is zero unless all of them hold, else what the call `value()` gives, whose lines belong into the
# branch. What a branch computed is not known after it.

# %% step="15.5"
def value(self, number, dtype):
    """The number as text."""

def call(self, op, args, dtype, dtypes):
    """The name of an op's result."""

def inside(self, conditions, value, dtype):
    """A branch: zero, or what value() gives where low <= i < high for all (i, low, high)."""


# %%
check("15.5")

# %% tags=["wrong"] step="15.5" says="Python has no names inf and nan"
# -         finite = not isinstance(number, float) or math.isfinite(number)
# +         finite = True

# %% tags=["wrong"] step="15.5" says="have 64 bits until they are stored"
# -         return self.name(f"np.{dtype}({text})" if dtype.kind == "i" else text)  # Numba computes all integers in 64 bits
# +         return self.name(text)

# %% tags=["wrong"] step="15.5" says="exp32 is for float32 only"
# -         single = self.kernel.single.get(op) if dtype == np.float32 else None
# +         single = self.kernel.single.get(op)

# %% tags=["wrong"] step="15.5" says="in their order"
# -         text = (single or EXPRESSIONS[op]).format(*args)
# +         text = (single or EXPRESSIONS[op]).format(*args[::-1])

# %% tags=["wrong"] step="15.5" says="In the branch the name gets the value"
# -         self.line(f"{name} = {value()}")
# +         value()

# %% tags=["wrong"] step="15.5" says="go back to the depth from before"
# -         self.depth, self.memo = self.depth - 1, memo
# +         self.memo = memo

# %% tags=["wrong"] step="15.5" says="A writer writes"
# -         return f"np.{dtype}({number if finite else f'np.{number}'.replace('np.-', '-np.')})"
# +         return np.dtype(dtype).type(number)

# %% tags=["wrong"] step="15.5" says="must leave the memo"
# -         self.depth, self.memo = self.depth - 1, memo
# +         self.depth = self.depth - 1

# %% tags=["wrong"] step="15.5" says="whatever is not zero is True"
# -             return self.name(f"{args[0]} != 0" if dtype.kind == "b" else f"np.{dtype}({args[0]})")
# +             return self.name(f"{args[0]} == 1" if dtype.kind == "b" else f"np.{dtype}({args[0]})")

# %% [markdown]
# ## 15.6 The loop over the rows
#
# A `Kernel` is a group's text. Its constructor notes the group, the buffers that somebody `wanted` outside, no `arguments` (a
# dictionary, from a buffer to its name) and nothing `made`; `rows` (how many) and `work` (rows times the inside of all stages);
# then it writes itself and keeps the `source`, which begins `def kernel(low, high, x0, ...):` with the names of all arguments,
# and their `buffers` in that order. Where a line speaks of `s0`, the batch of lesson 05, that is an argument, too, the last:
# `arguments["s0"] = "s0"`. `argument(buffer)` notes a buffer and gives its name; Numba has no float16 on a CPU, so for
# such a buffer it raises `Unsupported`, which says so. `write(w)`: a loop from `low` to `high`, over `i0` if the rows have one
# dimension, else over `row`, from which a line each takes the indices: `i0 = row // 4 % 3`. These lines are text: `Index`
# and `split` aren't imported, and `numel(sizes)`, the product of sizes, is. Then `self.write_stage(w, stage)` for all stages. The range itself is `self.row_range`: on a GPU it will be another one.

# %% step="15.6"
class Kernel:
    """The text of a group. Buffers that nobody outside needs, and no later stage, live in variables."""

    single = {"exp": "exp32({})"}  # what single precision has of its own
    row_range, innermost = "range(low, high)", "range({})"

    def __init__(self, group, wanted):
        """group.rows are sizes, group.stages its stages; each stage's `inner` are the sizes inside of a row."""


# %%
check("15.6")

# %% tags=["wrong"] step="15.6" says="must begin at low and end before high"
# -         w.line(f"for {'i0' if len(rows) == 1 else 'row'} in {self.row_range}:")
# +         w.line(f"for {'i0' if len(rows) == 1 else 'row'} in range({self.rows}):")

# %% tags=["wrong"] step="15.6" says="Is `row` taken apart rightly"
# -             w.line(f"i{d} = row // {step} % {n}" if n > 1 else f"i{d} = 0")
# +             w.line(f"i{d} = row // {step}" if n > 1 else f"i{d} = 0")

# %% tags=["wrong"] step="15.6" says="from each buffer to its name"
# -         self.group, self.wanted, self.arguments, self.made = group, wanted, {}, {}
# +         self.group, self.wanted, self.arguments, self.made = group, wanted, [], {}
# -         if any("s0" in line for line in w.lines):
# -             self.arguments["s0"] = "s0"
# -         self.buffers = list(self.arguments)
# -         self.source = "\n".join([f"def kernel(low, high, {', '.join(self.arguments.values())}):", *w.lines])
# +         self.buffers = self.arguments
# +         names = [buffer.name for buffer in self.arguments]
# +         self.source = "\n".join([f"def kernel(low, high, {', '.join(names)}):", *w.lines])
# -         return self.arguments.setdefault(buffer, buffer.name)
# +         if buffer not in self.arguments:
# +             self.arguments.append(buffer)
# +         return buffer.name

# %% tags=["wrong"] step="15.6" says="the batch, needs it"
# -         if any("s0" in line for line in w.lines):
# -             self.arguments["s0"] = "s0"

# %% tags=["wrong"] step="15.6" says="in the order of the names"
# -         self.buffers = list(self.arguments)
# +         self.buffers = set(self.arguments)

# %% tags=["wrong"] step="15.6" says="refuse it, by name"
# -         if buffer.dtype.name not in ("bool", "int32", "int64", "float32", "float64"):
# -             raise Unsupported(f"a kernel for {buffer.dtype}: use float32, float64, int32, int64 or bool")

# %% tags=["wrong"] step="15.6" says="rows times what is inside of one"
# -         self.work = self.rows * sum(numel(stage.inner) for stage in group.stages)
# +         self.work = sum(numel(stage.inner) for stage in group.stages)

# %% tags=["wrong"] step="15.6" says="Stage comes after stage"
# -         self.work = self.rows * sum(numel(stage.inner) for stage in group.stages)
# +         self.work = self.rows * max(numel(stage.inner) for stage in group.stages)

# %% tags=["wrong"] step="15.6" says="Of no dimension there is no i0"
# -         w.line(f"for {'i0' if len(rows) == 1 else 'row'} in {self.row_range}:")
# +         w.line(f"for {'i0' if len(rows) < 2 else 'row'} in {self.row_range}:")

# %% [markdown]
# ## 15.7 A stage
#
# A stage is what runs side by side over the inside of a row. `write_stage(w, stage)` writes, in this order: for each loop with a
# `reduction`, the variable `buf0_row` (the buffer's name, and `_row`) with what it begins with; a `for j0 in ...` for each size
# of `stage.inner` that is not 1, one inside the other; `self.write_loop(w, loop)` for each loop. Then it comes back out: `depth`,
# `memo` and `made` are what they were. Call `self.end_stage(w, reductions)`, a method that does nothing here (pass it no
# reductions where there was no loop); and last give each reduction's variable to `self.store(w, loop, index, name)`, at the
# row's position. The range of n positions is `range(n)`, that of the loop inside all others `self.innermost.format(n)`: on a GPU it
# will be another one.

# %% step="15.7"
def write_stage(self, w, stage):
    """A loop over the inside of the row, around all that the stage computes; what it reduced is known after it."""

def end_stage(self, w, reductions):
    """Where several threads share a row, they meet here: nothing to do on a CPU."""


# %%
check("15.7")

# %% tags=["wrong"] step="15.7" says="Put memo and made back"
# -             w.depth, w.memo, self.made = before  # what was computed for one j is not known after its loop
# +             w.depth = before[0]

# %% tags=["wrong"] step="15.7" says="to 0 for sums and to the least value for amax"
# -             w.line(f"{loop.buffer.name}_row = {w.value(start(loop.reduction, loop.buffer.dtype), loop.buffer.dtype)}")
# +             w.line(f"{loop.buffer.name}_row = {w.value(0, loop.buffer.dtype)}")

# %% tags=["wrong"] step="15.7" says="Count the columns"
# -         for d in dims:
# -             w.line(f"for j{d} in {(self.innermost if d == dims[-1] else 'range({})').format(stage.inner[d])}:")
# -             w.depth += 1
# +         for d in dims:
# +             w.line(f"for j{d} in {(self.innermost if d == dims[-1] else 'range({})').format(stage.inner[d])}:")
# +         w.depth += 1

# %% tags=["wrong"] step="15.7" says="none where there was no loop"
# -         self.end_stage(w, reductions if dims else [])
# +         self.end_stage(w, reductions)

# %% tags=["wrong"] step="15.7" says="Once for each stage"
# -         self.end_stage(w, reductions if dims else [])

# %% tags=["wrong"] step="15.7" says="self.innermost.format(n)"
# -             w.line(f"for j{d} in {(self.innermost if d == dims[-1] else 'range({})').format(stage.inner[d])}:")
# +             w.line(f"for j{d} in range({stage.inner[d]}):")

# %% [markdown]
# ## 15.8 A value, and where it is kept
#
# `write_loop(w, loop)`: the loop's body, run under w for `loop.index(self.group.rows)`, gives the name of one element. A reduction
# takes it into its variable, by `REDUCTIONS`; else it goes to `store`, with the one place in memory that
# `flatten(index, loop.sizes)` makes of these variables. `store(w, loop, index, value)` gets that place as
# `index`, and notes in `self.made`, for `(loop.buffer, str(index))`, the name. It writes it to memory only if the buffer is in `self.wanted`, or if
# `self.read_later(loop)` and the loop is no reduction. `read_later(loop)`: does a loop of another stage of this group read the
# loop's buffer (`other.reads()` are pairs of buffer and index)?

# %% step="15.8"
def write_loop(self, w, loop):
    """One element: computed, and then added up or stored."""

def store(self, w, loop, index, value):
    """Known by name from here on; in memory only if another kernel, or a later stage, reads it there."""

def read_later(self, loop):
    """Whether a later stage reads what the loop makes."""


# %%
check("15.8")

# %% tags=["wrong"] step="15.8" says="any stage of the group that has the loop"
# - others = [other for stage in self.group.stages if loop not in stage.loops for other in stage.loops]
# + others = [other for stage in self.group.stages[1:] for other in stage.loops if other is not loop]

# %% tags=["wrong"] step="15.8" says="memory that is written for nobody"
# -         if loop.buffer in self.wanted or (not loop.reduction and self.read_later(loop)):
# -             w.line(f"{self.argument(loop.buffer)}[{index}] = {value}")
# +         w.line(f"{self.argument(loop.buffer)}[{index}] = {value}")

# %% tags=["wrong"] step="15.8" says="it must find the elements in memory"
# -         if loop.buffer in self.wanted or (not loop.reduction and self.read_later(loop)):
# +         if loop.buffer in self.wanted:

# %% tags=["wrong"] step="15.8" says="note its name in self.made"
# -         self.made[loop.buffer, str(index)] = value
# -         if loop.buffer in self.wanted or (not loop.reduction and self.read_later(loop)):
# +         if loop.reduction:
# +             self.made[loop.buffer, str(index)] = value
# +         if loop.buffer in self.wanted or not loop.reduction:

# %% tags=["wrong"] step="15.8" says="asks the loops of other stages only"
# -         others = [other for stage in self.group.stages if loop not in stage.loops for other in stage.loops]
# +         others = [other for stage in self.group.stages for other in stage.loops if other is not loop]

# %% [markdown]
# ## 15.9 Machine code, and threads
#
# `machine_code(source, compiler, **names)` makes the text a function (`exec`, with `np`, `math`, `exp32` and what else is given
# as its names) and gives it to the compiler. That is `FAST`: `numba.njit`, such that it lets other threads run, divides by zero
# as NumPy does (`error_model`), and may reorder sums but must keep NaN (`fastmath`, a set of flags). Equal texts are compiled once. `run_rows(code, rows, work, arrays)` calls `code(low, high, *arrays)`: all rows at once if `work` is
# less than `ENOUGH`, else in `THREADS` shares (but not more than rows, and at least one: there may be no rows), the first here and
# the others in the `pool`. It comes back when all are done, also where one of them raises, and raises what that one raised.
# `wait(shares)`, of `concurrent.futures`, waits for all and raises nothing.

# %% step="15.9"
FAST = numba.njit(nogil=True)


@functools.cache
def machine_code(source, compiler=FAST, **names):
    """Equal kernels are compiled once: twelve layers alike cost one."""


THREADS = min(os.cpu_count() or 1, 8)
ENOUGH = 100_000  # elements for which a second thread pays
pool = ThreadPoolExecutor(THREADS)


def run_rows(code, rows, work, arrays):
    """All rows, or equal shares of them side by side: machine code runs without the interpreter's lock."""


# %%
check("15.9")

# %% tags=["wrong"] step="15.9" says="keep machine code by its source"
# - @functools.cache

# %% tags=["wrong"] step="15.9" says="forget that NaN and inf exist"
# - FAST = numba.njit(nogil=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz"})
# + FAST = numba.njit(nogil=True, error_model="numpy", fastmath=True)

# %% tags=["wrong"] step="15.9" says="cuts without a rest"
# -     bounds = [rows * i // shares for i in range(shares + 1)]
# +     bounds = [rows // shares * i for i in range(shares + 1)]

# %% tags=["wrong"] step="15.9" says="ask each share for its result()"
# -     for share in others:
# -         share.result()

# %% tags=["wrong"] step="15.9" says="only who may reorder it can make it vectors"
# - FAST = numba.njit(nogil=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz"})
# + FAST = numba.njit(nogil=True, error_model="numpy")

# %% tags=["wrong"] step="15.9" says="checks each division"
# - FAST = numba.njit(nogil=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz"})
# + FAST = numba.njit(nogil=True, fastmath={"reassoc", "contract", "nsz"})

# %% tags=["wrong"] step="15.9" says="keeps all other threads waiting"
# - FAST = numba.njit(nogil=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz"})
# + FAST = numba.njit(error_model="numpy", fastmath={"reassoc", "contract", "nsz"})

# %% tags=["wrong"] step="15.9" says="Give the others to the pool first"
# -     others = [pool.submit(code, low, high, *arrays) for low, high in zip(bounds[1:], bounds[2:], strict=False)]
# -     try:
# -         code(0, bounds[1], *arrays)
# -     finally:
# -         wait(others)  # also after an error: they write into the arrays
# -     for share in others:
# -         share.result()
# +     code(0, bounds[1], *arrays)
# +     for low, high in zip(bounds[1:], bounds[2:], strict=False):
# +         pool.submit(code, low, high, *arrays).result()

# %% tags=["wrong"] step="15.9" says="A second thread costs more than so little work"
# -     shares = max(min(THREADS, rows), 1) if work >= ENOUGH else 1
# +     shares = max(min(THREADS, rows), 1)

# %% tags=["wrong"] step="15.9" says="`work` decides, not rows"
# -     shares = max(min(THREADS, rows), 1) if work >= ENOUGH else 1
# +     shares = max(min(THREADS, rows), 1) if rows >= ENOUGH else 1

# %% tags=["wrong"] step="15.9" says="An error of the first share waits, too"
# -     try:
# -         code(0, bounds[1], *arrays)
# -     finally:
# -         wait(others)  # also after an error: they write into the arrays
# +     code(0, bounds[1], *arrays)

# %% tags=["wrong"] step="15.9" says="An error of another share waits, too"
# -     finally:
# -         wait(others)  # also after an error: they write into the arrays
# -     for share in others:
# -         share.result()
# +     finally:
# +         for share in others:
# +             share.result()

# %% [markdown]
# A softmax, written by your own emitter. Read it as you read the package's. Your `softmax` is `exp(log_softmax(x))`, so the last
# stage takes the exponential of a difference, where the package divides by the sum.

# %%
if passed("15.9"):
    from mini.emit import Kernel, Lowering, decompose, fake, fuse, trace

    lowering = Lowering(decompose(trace(lambda x: x.softmax(1), fake((8, 100)))))
    (group,) = fuse(lowering)
    print(Kernel(group, {*lowering.outputs}).source)

# %% [markdown]
# ## All of them
#
# How far you are, and the whole stack on your own parts: every answer that passes and has a place in the package.

# %%
progress("15")

# %%
with own_parts():
    print(torch.compile(lambda x: x.tanh().sum(1))(torch.ones(2, 2)))
