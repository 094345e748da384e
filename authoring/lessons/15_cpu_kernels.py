# %% [markdown]
# # 15 Numba kernels on the CPU: SIMD math, reductions, threads
#
# Lesson 14 ended with groups: loops that have agreed to run as one. A group is still a plan. Somebody has to write it
# down as a program for a real processor, and here we do. The smallest group there is multiplies each number by
# itself, and this is what we want from it:

# %%
import numpy as np
from numba import types

from minitorch_compile.inductor.runtime.kernel_function import kernel

float32, float64 = types.float32, types.float64


@kernel("lesson_square", float32, float32)
def square(lo, hi, x, out):
    for i in range(lo, hi):
        out[i] = x[i] * x[i]


few, squares = np.arange(8, dtype=np.float32), np.zeros(8, np.float32)
square(2, 6, few, squares)
squares

# %% [markdown]
# That's a *kernel*: a Python function that Numba translates to machine code through LLVM, the compiler below C, Rust and
# many others. The package's decorator `kernel` is thin. It gets a name, says which type stands behind each pointer, and
# compiles at once. The first two arguments are the range that this call is to do. We asked for positions 2 to 5, so the
# others are still zero. Threads will need that later.
#
# A pointer has no length, and nobody checks an index. With `hi = 9` the kernel would have written into memory that
# belongs to somebody else. All checking was done above, by the index algebra of lesson 13. Down here there is only speed,
# and the question of how we know that we have it.
#
# ## Is it vector code?
#
# A processor has registers that hold 4, 8 or 16 floats side by side, and instructions that multiply all of
# them at once. This is called SIMD: single instruction, multiple data. LLVM uses them wherever it can prove that
# iterations don't disturb each other. Where it can't, it says nothing, and your program is right, and eight times
# slower. So we don't hope. We read what came out. On an x86 processor the letters at the end of an instruction tell:
# `mulps` is a *packed* multiplication of *single* floats, `mulss` is one of *scalar single*. ARM says `v0.4s` for four.

# %% tags=["varies"]
import re
from collections import Counter

X86 = re.compile(r"\tv?((?:add|sub|mul|div|sqrt|min|max|fn?m(?:add|sub)\d+)([ps])[sd])\s")
ARM = re.compile(r"\t(f(?:add|sub|mul|div|sqrt|min|max|ml[as]|madd))(?:\.\d\w)?\s+([vsd])\d")


def arithmetic(kernel):
    """A kernel's instructions for floats: packed ones, and those on a single number."""
    found = X86.findall(kernel.assembly()) or ARM.findall(kernel.assembly())
    packed = Counter(name for name, kind in found if kind in "pv")
    single = Counter(name for name, kind in found if kind in "sd")
    return dict(packed), dict(single)


packed, single = arithmetic(square)
print("packed:", packed, " single:", single)

# %% [markdown]
# Several packed ones, since LLVM also does a few rounds of the loop at a time. The single ones are for the rest, the last
# numbers that don't fill a register. Now you have an instrument. Let's use it on three loops that look just as
# innocent.

# %% tags=["varies"]
import math


@kernel("lesson_bare", float32, float32)
def bare(lo, hi, x, out):
    for i in range(lo, hi):
        out[i] = 1.1 * x[i]


@kernel("lesson_library", float32, float32)
def library(lo, hi, x, out):
    for i in range(lo, hi):
        out[i] = math.exp(x[i])


@kernel("lesson_running", float32, float32)
def running(lo, hi, x, out):
    for i in range(lo, hi):
        out[i + 1] = out[i] + x[i]


for each in (bare, library, running):
    packed, single = arithmetic(each)
    calls = len(re.findall(r"\t(?:call|blr)\w*\s", each.assembly()))
    print(f"{each.python.__name__:8} packed {packed}  single {single}  calls {calls}")

# %% [markdown]
# ## What stops the compiler
#
# Three loops, three reasons. (The one call that each of them has, beside those of `library`, is no part of the loop. Numba puts a
# function in front of a kernel through which C code enters it, and that one calls the kernel.)
#
# In `bare` the instructions are packed, but they end in `pd`: packed *double*. A number written as 1.1 is a float64 in
# Python and so in Numba. A float32 that meets a float64 becomes one; that the other was only a number doesn't matter, as
# it did in lesson 02. So each x is converted, multiplied at half the speed, and converted back. The result may even
# differ. The cure is to say what you mean: `float32(1.1)`. That is why each constant in the package's generated code is
# written so.
#
# In `library` there is no arithmetic left, only calls. The C library's exponential takes one number. It has branches and
# tables inside, and LLVM can't look into it. So this loop takes its numbers one by one, however wide the registers are.
#
# In `running` each step needs the step before. No compiler can help. You need another algorithm, and we come to that for
# sums.

# %% tags=["varies"]
import time


@kernel("lesson_typed", float32, float32)
def typed(lo, hi, x, out):
    for i in range(lo, hi):
        out[i] = float32(1.1) * x[i]


def nanoseconds(function, *arguments, numbers):
    """The best time of some calls, for each number."""
    times = []
    for _ in range(15):
        start = time.perf_counter_ns()
        function(*arguments)
        times.append(time.perf_counter_ns() - start)
    return min(times) / numbers


n = 1 << 16
x = np.random.default_rng(0).normal(size=n).astype(np.float32)
out = np.zeros(n + 1, np.float32)
for each in (typed, bare, running, library):
    print(f"{each.python.__name__:8}{nanoseconds(each, 0, n, x, out, numbers=n):7.2f} ns a number")

# %% [markdown]
# ## An exponential without branches
#
# Nearly every network has an exponential in it: softmax, sigmoid, tanh, gelu. So we need one that is nothing but
# additions and multiplications. We build it in NumPy first. There every operation works on all numbers alike,
# so we can't even be tempted to branch.
#
# The idea is two hundred years older than computers. Write `x = n ln 2 + r` with a whole number n. Then `exp(x)` is 2 to
# the n, times `exp(r)`, and r is between -0.35 and 0.35. On such a short stretch, a polynomial is as good as the
# function. Here is one for `(exp(r) - 1 - r) / r**2`, fitted at Chebyshev's points, where the error spreads evenly.

# %%
F = np.float32
nodes = np.cos(np.pi * (np.arange(64) + 0.5) / 64) * math.log(2) / 2
wanted = (np.expm1(nodes) - nodes) / nodes**2
EXP = tuple(F(c) for c in np.polynomial.Polynomial.fit(nodes, wanted, 5).convert().coef)


def small_exp(r):
    """exp(r) for |r| <= ln(2) / 2: Horner's rule, then 1 + r + r**2 * polynomial."""
    total = EXP[-1]
    for c in EXP[-2::-1]:
        total = total * r + c
    return F(1) + (r + r * r * total)


print(*(f"{c:.7f}" for c in EXP))

# %% [markdown]
# These are nearly 1/2, 1/6, 1/24, as in Taylor's series, but not quite. Taylor is perfect at 0 and careless at the ends.
#
# How do you multiply by 2 to the n? A float *is* a power of two times a fraction, and its exponent has bits of its own:
# for a float32 the eight above the lowest 23. So put n + 127 there, and read the bits as a float.


# %%
def power_of_two(n):
    return ((n.astype(np.int32) + 127) << 23).view(F)


print(power_of_two(np.array([-2, 0, 1, 10], F)))
print(power_of_two(np.array([-130, 130], F)), "are beyond the normal exponents")

# %% [markdown]
# The second line is nonsense, and it matters. exp(-100) is a number: 2 to the -144, one of the *denormals*, the small
# ones without a leading 1. And near the upper end, 2 to the 128 doesn't exist, though exp(88.7) does. The trick is to
# multiply by two powers, each of half the exponent. Then both are ordinary, and whatever over- or underflows does it in
# the last multiplication, where the hardware rounds it properly.

# %%
LOG2_E, LN2_HIGH, LN2_LOW = F(1.4426950408889634), F(0.693115234375), F(3.1946184945309415e-05)


def exp_in_arrays(x):
    bounded = np.minimum(np.maximum(x, F(-104)), F(89))
    n = np.rint(bounded * LOG2_E)
    r = (bounded - n * LN2_HIGH) - n * LN2_LOW
    half = np.floor(n * F(0.5))
    with np.errstate(all="ignore"):
        return small_exp(r) * power_of_two(half) * power_of_two(n - half)


awkward = np.array([0.0, 1.0, -100.0, 88.7, 89.5, -np.inf, np.inf, np.nan], F)
print(exp_in_arrays(awkward))
with np.errstate(over="ignore"):
    print(np.exp(awkward))

# %% [markdown]
# Two details carry all of the accuracy. Subtracting `n ln 2` from x cancels most of its digits, so ln 2 is stored in two
# parts. The first has so few bits that `n * LN2_HIGH` is exact. And the numbers beyond the ends are pulled in first:
# exp(89) is infinity already, exp(-104) zero. NaN goes through everything, since NaN plus anything is NaN. (The junk that
# `astype` makes of it is multiplied by NaN, too.)
#
# The lines agree. But seven digits in a printout are no proof. How good is it, in ulps (lesson 12)? A float32 has
# 32 bits, so there are only four billion of them, and you can really try them all. The package's fuzz tests do. We
# take every 4001st pattern of bits. That gives tiny numbers, huge ones, and everything in between a fair chance.


# %%
def floats_of_all_kinds(step):
    found = np.arange(0, 2**32, step, dtype=np.uint64).astype(np.uint32).view(F)
    return found[np.isfinite(found)]


def ulps(result, truth):
    """By how many units in the last place of a float32 each result is off; 0 for equal ones."""
    unit = np.spacing(np.abs(truth).astype(F)).astype(np.float64)
    return np.where(result == truth.astype(F), 0, np.abs(result - truth) / unit)


sample = floats_of_all_kinds(4001)
with np.errstate(all="ignore"):
    truth = np.exp(sample.astype(np.float64))
    errors = ulps(exp_in_arrays(sample), truth)
print(f"{len(sample):,} floats, worst: {errors.max():.2f} ulps at {sample[errors.argmax()]}")
denormal = (truth > 0) & (truth < 2.0**-126)
print(f"{denormal.sum()} denormal results, worst: {errors[denormal].max():.2f} ulps")

# %% [markdown]
# Below one ulp, over the whole line. That is as good as most C libraries. Now the same as a kernel. `native` has the
# instructions that Python has no words for: `select` chooses between two values that are both there, `two_to_the`
# is our trick with the bits. `forceinline` puts the function's body into the loop that calls it, so that LLVM sees no
# call.

# %% tags=["varies"]
from numba import njit

from minitorch_compile.inductor.runtime.native import (
    floor,
    polynomial,
    round_half_even,
    select,
    two_to_the,
)


@njit(forceinline=True, error_model="numpy")
def exp_float32(x):
    x = select(x > F(89), F(89), select(x < F(-104), F(-104), x))
    n = round_half_even(x * LOG2_E)
    r = (x - n * LN2_HIGH) - n * LN2_LOW
    power = F(1) + (r + r * r * polynomial(r, EXP))
    half = floor(n * F(0.5))
    return power * two_to_the(half) * two_to_the(n - half)


@kernel("lesson_own_exp", float32, float32)
def own_exp(lo, hi, x, out):
    for i in range(lo, hi):
        out[i] = exp_float32(x[i])


print("packed:", arithmetic(own_exp)[0])
for each in (own_exp, library):
    print(f"{each.python.__name__:8}{nanoseconds(each, 0, n, x, out, numbers=n):7.2f} ns a number")

# %% [markdown]
# `select(x > 89, 89, ...)` instead of `min` is no accident. A comparison with NaN is false, so NaN falls through both
# selects and stays. The order of arguments decides whether a function tells you about broken data or hides it.
#
# ## Flags that keep NaN
#
# Compilers have a switch called *fastmath*. It is a bundle of promises that you make: no NaN will come (`nnan`), no
# infinity (`ninf`), the sign of zero doesn't matter (`nsz`), sums may be taken in any order (`reassoc`), a product and a
# sum may be rounded once instead of twice (`contract`). LLVM believes you. Ask it whether a number equals itself:
#
# *Predict*: the function below asks whether a number is not equal to itself, and it is asked about NaN. With which of
# these flags will the answer be False: `contract`, `nsz`, `reassoc` or `fast`? (A word, in quotation marks.)

# %%
from minitorch_compile.course import predict

predict("15.flags", None)


# %%
def not_a_number(x):
    return x != x


for flags in ([], ["contract"], ["nsz", "reassoc"], ["fast"]):
    print(f"{str(flags):22}", njit(fastmath=set(flags))(not_a_number)(math.nan))

# %% [markdown]
# With the whole bundle the question is answered before it's asked: you promised. A model that has gone wrong would now
# look healthy. So the package's functions take `contract` only, whose results are if anything more precise, and sums
# `reassoc`, instruction by instruction. The promises about NaN and infinity are never made.
#
# ## Sums
#
# Why does a sum need a promise at all? Here is one with a single accumulator, and one with eight.


# %% tags=["varies"]
@kernel("lesson_one", float32, float32)
def one(lo, hi, x, out):
    total = float32(0)
    for i in range(lo, hi):
        total += x[i]
    out[0] = total


@kernel("lesson_eight", float32, float32)
def eight(lo, hi, x, out):
    for lane in range(8):
        out[lane] = float32(0)
    for i in range(lo, hi, 8):
        for lane in range(8):
            out[lane] += x[i + lane]
    for lane in range(1, 8):
        out[0] += out[lane]


for each in (one, eight):
    each(0, n, x, out)
    rate = nanoseconds(each, 0, n, x, out, numbers=n)
    print(f"{each.python.__name__:6}{rate:6.2f} ns a number, sum {out[0]}")

# %% [markdown]
# An addition takes three or four cycles until its result can be used. With one accumulator each waits for the one
# before. With eight there are eight chains that run side by side, in one register if LLVM sees it. But the two sums
# are not equal to the last digit. Floating-point addition isn't associative, so the compiler may not do this for you. Only
# you can know that any order will do. The package says it with `accumulate_sum`, an addition with the flag `reassoc`,
# and leaves the number of chains to LLVM.
#
# Which is more accurate? A total that has grown large rounds every small number that comes. Let's add ten million times
# 0.1, in float32, in three ways. `np.cumsum` is the single accumulator. The second keeps 1024 of them. The third is
# *pairwise*: add neighbours, then neighbours of those, as in a tournament.


# %%
def pairwise(x):
    while len(x) > 1:
        if len(x) % 2:
            x = np.append(x, F(0))
        x = x[0::2] + x[1::2]
    return x[0]


tenths = np.full(10_000_000, 0.1, F)
true = tenths.sum(dtype=np.float64)
lanes = np.add.reduce(tenths[: 9765 * 1024].reshape(9765, 1024), axis=0)
sums = {
    "one accumulator": np.cumsum(tenths)[-1],
    "1024 accumulators": pairwise(np.append(lanes, pairwise(tenths[9765 * 1024 :]))),
    "pairwise": pairwise(tenths),
}
for name, total in sums.items():
    print(f"{name:18}{total:14.2f}  off by {abs(total - true) / true:.0e}")

# %% [markdown]
# The single one is off by nine percent! Let's watch it go wrong, every hundred thousand numbers.

# %%
from minitorch_compile.course.drawings.line_chart import draw_lines

on_the_way = np.cumsum(tenths)[99_999::100_000]
exact = np.arange(1, 101) * 10_000
draw_lines(
    {"one accumulator": [float(e) for e in 100 * np.abs(on_the_way - exact) / exact]},
    x_label="numbers added, in 100,000s",
    y_label="error in percent",
)

# %% [markdown]
# Each time the total passes a power of two, its digits become twice as coarse. From then on 0.1 is rounded to something
# else, and for millions of additions always to the same: first it's too little, in the end too much. In a tournament
# each number takes part in 24 additions instead of ten million, so the error grows with the logarithm. Accuracy and
# speed want the same thing for once: many short chains. The package sums blocks of 4096 in float32, in as many lanes as
# LLVM likes, and adds up the blocks' results in float64. That costs one conversion in 4096.
#
# ## Rows and columns
#
# Now a matrix. Summing each row is easy: the row lies in one piece, and each row is a sum of its own. For columns,
# the obvious loop goes down one column, then the next. Each step jumps over a whole row. Memory comes in lines
# of 64 bytes, so 15 of 16 floats that were fetched are thrown away, to be fetched again for the next column.


# %% tags=["varies"]
@kernel("lesson_down", float32, float32)
def down(lo, hi, x, out):
    for column in range(lo, hi):
        total = float32(0)
        for row in range(1024):
            total += x[1024 * row + column]
        out[column] = total


@kernel("lesson_along", float32, float32)
def along(lo, hi, x, out):
    for column in range(lo, hi):
        out[column] = float32(0)
    for row in range(1024):
        for column in range(lo, hi):
            out[column] += x[1024 * row + column]


matrix = np.random.default_rng(1).normal(size=(1024, 1024)).astype(F)
for each in (down, along):
    each(0, 1024, matrix, out)
    rate = nanoseconds(each, 0, 1024, matrix, out, numbers=matrix.size)
    right = np.allclose(out[:1024], matrix.sum(0), atol=1e-3)
    print(f"{each.python.__name__:6}{rate:6.2f} ns a number, right: {right}")

# %% [markdown]
# The second one turns the loops around. There is an accumulator for each column now, and the inner loop goes along a row:
# neighbours in memory, which fit a register. Nobody waits for anybody. So for columns, LLVM needs no promise.
#
# A transpose has no good order. If you read along rows, you write down columns, or the other way round. What helps is to
# work in small squares. A square of 32 by 32 is 32 lines of memory on either side, and all of them stay in the nearest
# cache until they have been used up.


# %% tags=["varies"]
@kernel("lesson_turn", float32, float32)
def turn(lo, hi, x, out):
    for i in range(lo, hi):
        for j in range(2048):
            out[2048 * j + i] = x[2048 * i + j]


@kernel("lesson_squares", float32, float32)
def turn_in_squares(lo, hi, x, out):
    for above in range(lo, hi, 32):
        for left in range(0, 2048, 32):
            for j in range(left, left + 32):
                for i in range(above, above + 32):
                    out[2048 * j + i] = x[2048 * i + j]


large = np.random.default_rng(2).normal(size=(2048, 2048)).astype(F)
turned = np.zeros_like(large)
for each in (turn, turn_in_squares):
    rate = nanoseconds(each, 0, 2048, large, turned, numbers=large.size)
    print(f"{each.python.__name__:16}{rate:6.2f} ns a number, right: {(turned == large.T).all()}")

# %% [markdown]
# ## Threads
#
# Your laptop has more than one core, and here the range in a kernel's first two arguments pays off. Cut [0, n) into
# *chunks*, and whoever has time takes the next one. The package has one pool of threads for all kernels. They never touch
# Python. They spin for some microseconds, then sleep, until there is a task. `NativeCall` runs a list of kernels, and
# `Chunks(n, length)` in place of a range says that the pool may share it out.

# %% tags=["varies"]
import minitorch_compile as torch
from minitorch_compile.inductor.runtime.call_steps import Chunks
from minitorch_compile.inductor.runtime.native_call import NativeCall

many = 1 << 21
x, out = sample[:many], np.zeros(many, F)
x = np.resize(x, many)
in_chunks = NativeCall(("x", "out"), [(own_exp, Chunks(many, 32768), "x", "out")])
threads = torch.get_num_threads()
for count in (1, 2):
    torch.set_num_threads(count)
    rate = nanoseconds(in_chunks, (x, out), numbers=many)
    print(f"{count} threads: {rate:.3f} ns a number")
torch.set_num_threads(threads)

# %% [markdown]
# What the second thread gains is a matter of the machine. A core with nothing else to do takes its share of the numbers,
# and saves as much of the time. One that another program uses meanwhile, or one that is only a hardware thread of the
# same core, saves little or nothing, and then both lines are alike.
#
# Waking a sleeping thread takes some ten microseconds. A kernel that is done in two should not ask for help. So there is
# a threshold: the package estimates what a kernel takes from its operations and bytes, and cuts it only if that is more than
# 30 microseconds.

# %%
from minitorch_compile.inductor.runtime.chunks import chunk_length

for extent, microseconds in ((4096, 2), (4096, 200), (1 << 20, 50), (1 << 20, 2000)):
    length = chunk_length(extent, 1000 * microseconds)
    text = f"{-(-extent // length)} chunks of {length}" if length else "not cut"
    print(f"{extent:8} elements, {microseconds:5} us: {text}")

# %% [markdown]
# Something is missing among its arguments: the number of threads. That's on purpose. If chunks were "n divided by
# threads", then a sum over chunks would be taken in another order on another machine, and its last digit would change.
# You would never find out why your training run differs from your colleague's. Here, who does which chunk is
# chance, but what a chunk *is* depends on the kernel alone. Of a range longer than 1024, which may be one of elements, even
# the length is a multiple of 256, so that a number is computed by the same instructions, packed or single, wherever it lies. (A
# shorter one is of rows, each a loop of its own: there any length will do.) Equal to the last bit, then:

# %%
rows = torch.randn(512, 2048)
program = torch.compile(lambda x: ((x * 1.1).tanh().sum(1), x.exp().sum(0)))
results = []
for count in (1, 2, 3):
    torch.set_num_threads(count)
    results.append([each.numpy().copy() for each in program(rows)])
torch.set_num_threads(threads)
print(all(np.array_equal(a, b) for other in results[1:] for a, b in zip(results[0], other)))

# %% [markdown]
# ## One generated file, read together
#
# Now you know every idea in the file that the package writes. Ask for the one of a small program, and
# read its kernel.

# %%
gelu_like = lambda x: (x * 1.1).tanh().sum(1)
source = torch.compiler.inspect(gelu_like, rows).source
print(source[source.index("@kernel") : source.index("SIZES_0")].strip())

# %% [markdown]
# From the top. The name in quotation marks is a digest of the kernel's structure, so that twelve equal layers share one kernel.
# `float32(1.1)` is a typed constant. The loop over rows goes from `lo` to `hi`, so rows can be shared out, and
# `Chunks(512, ...)` further down says into what. Inside, a row is summed in float32 with `accumulate_sum`, and the total is
# a float64: the two levels that you saw. `tanh_float32` comes from `vecmath`, and this is its text:

# %%
import inspect

from minitorch_compile.inductor.kernels import vecmath

print(inspect.getsource(vecmath.tanh_float32.py_func))
print(inspect.getsource(vecmath.exp_float32.py_func))
print({name: bound for name, bound in vecmath.ULP_BOUNDS.items() if name.endswith("32")})

# %% [markdown]
# The exponential is the one that we built. Every function there has a stated bound, and a test that holds it to the bound.
# The rest of the code generator has a room for each idea of this lesson: `codegen/cpu/spelling.py` writes operations with
# typed constants, `rows.py` and `columns.py` are the two orders of summation, `transposed.py` the squares,
# `shared/accumulators.py` the two levels, `runtime/chunks.py` the cutting. The strides of a group's inner axis
# decide which of them writes it, in `schedule/strategy.py`.
#
# And our own exponential, from the cell above? Since a kernel is a text with names in it, another function can take the
# place of the name.

# %%
from minitorch_compile.course.splicing.vecmath_splice import splice_vecmath

with splice_vecmath("exp_float32", exp_float32):
    ours = torch.compile(lambda x: x.exp() + 1)(rows)
print((ours - (rows.exp() + 1)).abs().max().item() < 1e-4)

# %% [markdown]
# ## Beside PyTorch
#
# The same kernel, as PyTorch writes it:

# %%
from minitorch_compile.course.drawings.beside import beside

beside("15_kernel", source[source.index("@kernel") : source.index("SIZES_0")])

# %% [markdown]
# Two loops on either side, and a typed 1.1. PyTorch says outright that it works on vectors: `Vectorized<float>` is
# one register, the inner loop takes 16 numbers at a time, and at the end of a row the lanes are added up. Ours says
# what is computed, and LLVM finds the vectors. The pragmas hand rows to threads in shares, where ours is given a
# range. And the sum stays in float32 there.
#
# ## What PyTorch does differently
#
# - Inductor writes C++ for the CPU, and calls the C++ compiler on your machine, which takes seconds. Ours writes Python and
#   leaves the rest to LLVM, through Numba.
# - It doesn't trust the compiler to vectorise. Its kernels say `Vectorized<float>`, a class for a register of numbers,
#   written by hand for AVX2, AVX512, NEON and others. So it decides what becomes vector code, and a group that it
#   can't say in these words becomes a scalar loop. Ours relies on LLVM and has a test that reads the assembly.
# - Elementary functions come from *sleef*, a library of vector functions with stated bounds, 1 ulp for most. Ours are a few
#   hundred lines of our own, since Numba brings no such library.
# - Threads are OpenMP's: `#pragma omp parallel` around a kernel, the range divided by the number of threads. So a sum of
#   everything may differ in its last digit when that number changes.
# - Its sums are in float32 too, in cascades of vectors in eager mode; compiled ones add Welford's method for
#   variances. The promises about order are made by writing several accumulators, not by a flag.
#
# ## Exercises
#
# Open `work/15_cpu_kernels.ipynb`. Two exercises first, half an hour: you hunt a float64 that nobody asked for, and sum ten
# million numbers without float64. Then come the seven steps, two hours.
#
# ## What you write
#
# `mini/emit.py`, the emitter of your own stack, in seven steps: an exponential, a handler that writes lines, the loop over the
# rows, stages, what is kept in memory, machine code and threads. After it your groups are kernels. The package's emitter also
# writes tiles of rows and columns, partial sums on several threads, half precision, and gathers; and it keeps its machine code on
# disk.
