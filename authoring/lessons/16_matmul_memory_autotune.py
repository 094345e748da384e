# %% [markdown]
# # 16 Matmul, epilogues, memory planning, autotune
#
# Fusion was about fetching less. It works so well because most programs do next to nothing with a number once they have
# it. Let's count that: operations, and bytes that at least have to be fetched or stored, for four programs of float32.

# %%
from minitorch_compile.course.drawings.table import Table


def cost(program, count, numbers):
    intensity = round(count / (4 * numbers), 2)
    return {"program": program, "operations": count, "bytes": 4 * numbers, "per byte": intensity}


N = 960
Table(
    [
        cost("x + y", N * N, 3 * N * N),
        cost("x.softmax(1)", 5 * N * N, 2 * N * N),
        cost("x @ vector", 2 * N * N, N * N + 2 * N),
        cost("x @ y", 2 * N**3, 3 * N * N),
    ]
)

# %% [markdown]
# The last line is another world. A matrix product multiplies and adds n³ times, and has only 3n² numbers to do it with.
# So each number is used hundreds of times, and the larger the matrices, the more often. The last column is called
# *arithmetic intensity*. For everything else it is a constant, and a small one.
#
# That changes the question. A sum of two matrices waits for memory whatever you do. A product needn't wait at all, *if*
# each number is still near when it's wanted again. Whether it is, is decided by the order of the work. This lesson is
# about that order: inside a product, between a product and what follows it, and over a whole graph.
#
# Look at the third line, too. A vector is a matrix with one column, and the same code computes it. But each number of x
# is used once, so this product waits for memory like a sum. A language model that writes a single answer word by word
# does nothing else. That's why people who serve such models collect the questions of many users in one batch.
#
# ## The roof
#
# Lesson 14 mentioned the roofline. Now we draw the one of your machine. It has two parameters: how many bytes a second
# come from memory, and how many operations a second the arithmetic units do when nothing keeps them waiting. The first
# is measured by adding large arrays. For the second we need a loop that fetches next to nothing. The package has one,
# as we'll see. It is called `outer_products`, and multiplies a few numbers that lie in the nearest cache again and
# again.

# %%
import math
import time

import numpy as np
from numba import njit, types

import minitorch_compile as torch
from minitorch_compile.inductor.runtime.blas import Matrix, gemm
from minitorch_compile.inductor.kernels.vector_tiles import (
    outer_products,
    tile_filters,
    tile_vectors,
)
from minitorch_compile.inductor.runtime.kernel_function import kernel
from minitorch_compile.inductor.machine import current
from minitorch_compile.inductor.runtime.raw_memory import advance

torch.set_num_threads(1)
rng = np.random.default_rng(0)
float32, int64 = types.float32, types.int64
FILTERS, VECTORS = tile_filters(), tile_vectors()  # as many as this machine has registers for
WIDTH = VECTORS * current().vector_bytes // 4
multiply = outer_products(FILTERS, VECTORS)


@kernel("lesson_add", float32, float32, float32)
def add(lo, hi, x, y, out):
    for i in range(lo, hi):
        out[i] = x[i] + y[i]


@kernel("lesson_again", float32, float32, float32, int64)
def again(lo, hi, x, y, out, zeros):
    for _ in range(lo, hi):
        multiply(x, zeros, y, 256, out, WIDTH)


# %% [markdown]
# A clock that is read once tells you about your machine's other programs. So we run each candidate several times, let
# them take turns, and keep the best time of each. We use one thread, and count processor time.


# %% tags=["varies"]
def milliseconds(calls, rounds=10):
    best = dict.fromkeys(calls, math.inf)
    for _ in range(rounds):
        for name, call in calls.items():
            start = time.process_time_ns()
            call()
            best[name] = min(best[name], (time.process_time_ns() - start) / 1e6)
    return best


large = [np.ones(1 << 24, np.float32) for _ in range(3)]
small = [np.ones(WIDTH, np.float32), np.ones(256 * FILTERS, np.float32)]
small += [np.zeros(WIDTH * FILTERS, np.float32), np.zeros(256, np.int64)]
roof = milliseconds(
    {"add": lambda: add(0, 1 << 24, *large), "again": lambda: again(0, 1000, *small)}
)
bandwidth = 3 * large[0].nbytes / roof["add"] / 1e6
peak = 2 * 1000 * 256 * FILTERS * WIDTH / roof["again"] / 1e6
print(f"{bandwidth:.0f} GB/s and {peak:.0f} GFLOP/s: they meet at {peak / bandwidth:.1f} per byte")

# %% [markdown]
# Work that has fewer operations for a byte than this last number waits for memory. Work that has more of them could be
# limited by arithmetic alone. Could be: now we write a product, and see how far below the roof we land.
#
# ## A ladder
#
# The definition says that each number of the result is a sum over a row of a and a column of b. So that's three loops.
# The second kernel has the same three loops, and the two inner ones have changed places. It adds a multiple of a row of
# b to a row of the result.


# %%
@kernel("lesson_naive", float32, float32, float32)
def naive(lo, hi, a, b, c):
    for i in range(lo, hi):
        for j in range(N):
            total = float32(0)
            for k in range(N):
                total += a[N * i + k] * b[N * k + j]
            c[N * i + j] = total


@kernel("lesson_by_rows", float32, float32, float32)
def by_rows(lo, hi, a, b, c):
    for i in range(lo, hi):
        for j in range(N):
            c[N * i + j] = float32(0)
        for k in range(N):
            for j in range(N):
                c[N * i + j] += a[N * i + k] * b[N * k + j]


# %% [markdown]
# It is lesson 15's story of rows and columns again. The first walks down a column of b. Each step fetches a line of
# memory for a single number, and the sum is a chain in which nothing can be packed. The second walks along rows, all of
# it vector code.
#
# But look at what it fetches. For each row of the result, all of b passes by, nearly four megabytes. That doesn't fit
# into the near caches, so b comes from far away 960 times. The cure is to do a *block* of b for many rows, before we go
# to the next block. A block of 48 by 96 numbers has 18 kB, and stays in the nearest cache while all rows use it.


# %%
@kernel("lesson_blocked", float32, float32, float32)
def blocked(lo, hi, a, b, c):
    for p in range(N * lo, N * hi):
        c[p] = float32(0)
    for left in range(0, N, 96):
        for top in range(0, N, 48):
            for i in range(lo, hi):
                for k in range(top, top + 48):
                    for j in range(left, left + 96):
                        c[N * i + j] += a[N * i + k] * b[N * k + j]


# %% [markdown]
# There is one memory that is nearer still. In all of these loops, each multiplication loads a number of c and stores it
# again. A processor has no more units for loads and stores than it has for multiplications, so the latter wait. c
# should *be* in registers. There are 16 or 32 of them, a small *tile* of the result. For each k, the tile takes a few
# numbers of a column of a, and a few vectors of a row of b, and multiplies each with each. With 8 numbers and 3 vectors
# that's 11 loads for 24 multiplications, and no store until the tile is finished.
#
# LLVM doesn't find this by itself, and Python has no word for a vector. So the package says it in LLVM's own language.
# It is `outer_products`, which you have just used for the roof, and its convolutions are made of it. It wants its part
# of a *packed*: in the order in which the numbers are needed.


# %%
@kernel("lesson_tiles", float32, float32, float32, float32, int64)
def tiles(lo, hi, a, b, c, packed, rows_of_b):
    for k in range(N):
        rows_of_b[k] = N * k
    for i in range(lo, hi, FILTERS):
        for k in range(N):
            for r in range(FILTERS):
                packed[FILTERS * k + r] = a[N * (i + r) + k]
        for left in range(0, N, WIDTH):
            multiply(advance(b, left), rows_of_b, packed, N, advance(c, N * i + left), N)


# %% [markdown]
# The last rung is a library: BLAS, the *basic linear algebra subprograms*, of which every processor has a version that
# somebody has tuned for years. How a kernel calls it comes in the next section. First, all five. We compute only 96
# rows of the result, as the first one takes its time.

# %% tags=["varies"]
from minitorch_compile.course.drawings.bar_chart import draw_bars


@kernel("lesson_blas", float32, float32, float32)
def blas(lo, hi, a, b, c):
    rows = Matrix(advance(a, N * lo), N, False)
    gemm(hi - lo, N, N, rows, Matrix(b, N, False), 0.0, advance(c, N * lo), N)


ROWS = 96
a, b = rng.normal(size=(2, N, N)).astype(np.float32)
packing = np.zeros(FILTERS * N, np.float32), np.zeros(N, np.int64)
more = {"tiles": packing}
kernels = {"naive": naive, "by rows": by_rows, "blocked": blocked, "tiles": tiles, "blas": blas}
calls, correct = {}, {}
for name, each in kernels.items():
    c = np.zeros((N, N), np.float32)
    calls[name] = lambda each=each, c=c, more=more.get(name, ()): each(0, ROWS, a, b, c, *more)
    calls[name]()
    correct[name] = np.allclose(c[:ROWS], a[:ROWS] @ b, atol=1e-3)
times = milliseconds(calls)
speed = {name: 2 * ROWS * N * N / ms / 1e6 for name, ms in times.items()}
print(correct)
draw_bars(speed, unit="GFLOP/s")

# %% [markdown]
# The same multiplications in every bar. Nothing has been saved but trips to memory, then trips to the cache.
#
# A real BLAS has the last two ideas for each memory that there is. Registers hold a tile, the nearest cache a panel of
# b that all tiles of a strip use, the next one a block of a that all panels meet, and the farthest one a slab of b.
# Each is as large as its memory allows, and each is packed, so that it is read from beginning to end. That's all there
# is to say about a fast product, and getting the sizes right for one processor takes weeks.
#
# And here is the roof, with our products under it, and three programs that nobody can lift.

# %% tags=["varies"]
from minitorch_compile.course.drawings.roofline import draw_roofline
from minitorch_compile.inductor.runtime.native import accumulate_sum
from minitorch_compile.inductor.kernels.vecmath import exp_float32


@kernel("lesson_exps", float32, float32)
def exps(lo, hi, x, out):
    for i in range(lo, hi):
        out[i] = exp_float32(x[i])


@kernel("lesson_vector", float32, float32, float32)
def by_vector(lo, hi, x, y, out):
    for i in range(lo, hi):
        total = float32(0)
        for k in range(4096):
            total = accumulate_sum(total, x[4096 * i + k] * y[k])
        out[i] = total


size = large[0].size
others = {"exp": lambda: exps(0, size, *large[:2]), "vector": lambda: by_vector(0, 4096, *large)}
other = milliseconds(others)
points = {"x + y": (1 / 12, size / roof["add"] / 1e6)}
points["exp"] = (18 / 8, 18 * size / other["exp"] / 1e6)
points["matrix @ vector"] = (1 / 2, 2 * size / other["vector"] / 1e6)
points |= {name: (ROWS * N / (2 * N + 4 * ROWS), rate) for name, rate in speed.items()}
draw_roofline(bandwidth, peak, points)

# %% [markdown]
# An exponential is about 18 operations on 8 bytes. Even that is near the slope. The products stand far to the right,
# one above the other, since they do the same work on the same bytes. (We computed only 96 rows, so each number of b is
# used 96 times. That's why they don't stand at 160.) The height of that ladder is what this section was about. For the
# others there is no ladder to climb: they are close to the roof already. All you can do for them is to move them to the
# right, and that's called fusion.
#
# ## BLAS without Python
#
# SciPy is linked to a BLAS, and publishes its routines as *function pointers*: the address of machine code, in a
# capsule that also states the C signature.

# %%
import ctypes

from scipy.linalg import cython_blas

capsule = cython_blas.__pyx_capi__["sgemm"]
get_name = ctypes.pythonapi.PyCapsule_GetName
get_name.restype, get_name.argtypes = ctypes.c_char_p, [ctypes.py_object]
get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
get_pointer.restype, get_pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
print(get_name(capsule).decode())
print("at", hex(get_pointer(capsule, get_name(capsule))))

# %% [markdown]
# An address is all that a native call needs. The package tells LLVM that the symbol `minitorch_sgemm` stands for it,
# and `gemm` writes a call of that symbol. There's one oddity. BLAS comes from Fortran, and thinks in columns, so for it
# our matrices are transposed. It is asked for bᵀaᵀ, and that, read by rows, is ab. Here is the call in the code of our
# kernel, and what it spares us when matrices are small.

# %% tags=["varies"]
code = blas.compiled._library.get_llvm_str()
print(next(line for line in code.splitlines() if "call void @minitorch_sgemm" in line).strip()[:80])


@kernel("lesson_small", float32, float32, float32)
def small_products(lo, hi, a, b, c):
    for n in range(lo, hi):
        gemm(8, 8, 8, Matrix(a, 8, False), Matrix(b, 8, False), 0.0, c, 8)


def from_python(a, b, c):
    for _ in range(1000):
        np.matmul(a, b, out=c)


eights = [np.ones((8, 8), np.float32) for _ in range(3)]
ways = {"Python": from_python, "a kernel": lambda *eights: small_products(0, 1000, *eights)}
each = milliseconds({name: lambda way=way: way(*eights) for name, way in ways.items()})
draw_bars({f"from {name}": 1000 * ms for name, ms in each.items()}, unit="ns a product of 8 by 8")

# %% [markdown]
# A whole graph is one native call, as you know from lesson 15, with products and groups side by side in its list of
# steps. Threads share a large product out, too: it is cut into strips of rows and tiles of columns, eight at most, as
# each part packs its factors for itself. As in lesson 15, what a part is depends on the sizes alone, so the last digit
# doesn't depend on the number of threads.
#
# ## While it's hot
#
# After a product nearly always comes something small: a bias, an activation. It's called an *epilogue*. The scheduler
# of lesson 14 couldn't put it into the product's kernel, since a library has no place for it. So the result goes out to
# memory and comes back.
#
# The way out is to ask for the product in *blocks of rows*. After each block the epilogue does its work on those rows,
# while they are still in the cache, and only then are they written to where they belong. The product's own memory is
# used again for the next block, so it never leaves the cache. Here is bias and gelu. With a single block for all rows
# it is the plain way, so one kernel is enough to compare.


# %%
from minitorch_compile.inductor.kernels.vecmath import erf_float32


@njit(forceinline=True, error_model="numpy")
def finish(rows, columns, bias, product, out):
    for i in range(rows):
        for j in range(columns):
            x = product[columns * i + j] + bias[j]
            bell = float32(1) + erf_float32(x * float32(0.70710678))
            out[columns * i + j] = float32(0.5) * x * bell


@kernel("lesson_linear_gelu", float32, float32, float32, float32, float32, sizes=3)
def linear_gelu(lo, hi, block, inner, columns, x, w, bias, product, out):
    for top in range(lo, hi, block):
        rows = min(block, hi - top)
        first, second = Matrix(advance(x, inner * top), inner, False), Matrix(w, columns, False)
        gemm(rows, columns, inner, first, second, 0.0, product, columns)
        finish(rows, columns, bias, product, advance(out, columns * top))


def candidates(rows, inner, columns, heights=(32, 128, 512)):
    """A call for each height of a block."""
    shapes = (rows, inner), (inner, columns), columns
    x, w, bias = (rng.normal(size=shape).astype("f") for shape in shapes)
    product, out = np.zeros((rows, columns), np.float32), np.zeros((rows, columns), np.float32)

    def call(height):
        return lambda: linear_gelu(0, rows, height, inner, columns, x, w, bias, product, out)

    return {f"blocks of {h}": call(h) for h in heights} | {"all at once": call(rows)}


# %% tags=["varies"]
draw_bars(milliseconds(candidates(32768, 32, 480), rounds=6), unit="ms, inner size 32")

# %% [markdown]
# The same with eight times as much to multiply for each number of the result:

# %% tags=["varies"]
draw_bars(milliseconds(candidates(8192, 256, 480), rounds=6), unit="ms, inner size 256")

# %% [markdown]
# Here low blocks probably lose on your machine. BLAS does what our `tiles` did: it packs its factors. It does so anew
# in each call, so for each 32 rows all of w is packed again. What an epilogue saves is a trip to memory for each number
# of the result, whatever the inner size. What it costs in this way grows with the inner size.
#
# The cure is to write the product ourselves. `tiles` packs a few rows of x, and needs nothing of w to be packed. So any
# rows can be had at any time, and each strip can be finished as soon as it has left the registers.


# %% tags=["varies"]
@kernel("lesson_tiles_gelu", *[float32] * 5, int64, float32, sizes=2)
def tiles_gelu(lo, hi, inner, columns, x, w, bias, packed, product, rows_of_w, out):
    for k in range(inner):
        rows_of_w[k] = columns * k
    for i in range(lo, hi, FILTERS):
        for k in range(inner):
            for r in range(FILTERS):
                packed[FILTERS * k + r] = x[inner * (i + r) + k]
        for left in range(0, columns, WIDTH):
            strip = advance(product, left)
            multiply(advance(w, left), rows_of_w, packed, inner, strip, columns)
        finish(FILTERS, columns, bias, product, advance(out, columns * i))


x, w, bias, packed, product, out = (
    rng.normal(size=size).astype("f")
    for size in ((8192, 256), (256, 480), 480, 256 * FILTERS, (FILTERS, 480), (8192, 480))
)
rows_of_w = np.zeros(256, np.int64)
calls = candidates(8192, 256, 480)
arguments = 256, 480, x, w, bias, packed, product, rows_of_w, out
calls["own tiles"] = lambda: tiles_gelu(0, 8192, *arguments)
draw_bars(milliseconds(calls, rounds=6), unit="ms, inner size 256")

# %% [markdown]
# That's why compilers write their own products. The package's are in `kernels/product_tiles.py`: tiles again, with w packed
# once for all blocks, into *panels* that a tile reads from beginning to end. They take over from BLAS where they are
# quicker.
#
# The protocol for epilogues is in `schedule/fused_call.py`. When no more loops can be fused, the scheduler looks at each product
# again. An extern kernel that can make its result in pieces says so: this many positions, this many elements for each.
# Products do, and so do convolutions. A group may be the epilogue if each step of its outermost loop reads only the
# piece that has just been made. That is lesson 14's question, and the addresses answer it. So a bias, an activation,
# even a layer normalisation along the rows fits, and a sum down the columns doesn't.

# %% tags=["varies"]
from minitorch_compile.nn import functional as F

layer = torch.randn(8192, 128), torch.randn(512, 128), torch.randn(512)
for program in (
    lambda x, w, b: F.linear(x, w, b).sum(0),
    lambda x, w, b: F.gelu(F.linear(x, w, b)),
):
    seen = torch.compiler.inspect(program, *layer)
    print(seen.schedule, *seen.schedule.why_not, "", sep="\n")

# %% [markdown]
# In the first program, w is packed, x is multiplied by it, and the sum waits for all of that. The reason stands below.
# In the second, the product and its epilogue are a single kernel, and of the product only a block is ever there. This
# is how it looks in the generated file. `InTurns` is a step of the native call. It has two kernels, each with its
# arguments, and what goes from the one to the other is a `ScratchBlock`: scratch memory for one block, which each thread has
# for itself.

# %% tags=["varies"]
print(*[line.strip() for line in seen.source.splitlines() if " InTurns(" in line], sep="\n")

# %% [markdown]
# ## Attention without the scores
#
# The finest epilogue of all is between two products. Attention asks of each query how well it matches each key, turns
# the scores into shares by softmax, and adds up the values by these shares:


# %%
def attention(q, k, v):
    scores = q @ k.T / math.sqrt(q.shape[1])
    e = np.exp(scores - scores.max(1, keepdims=True))
    return e @ v / e.sum(1, keepdims=True)


# %% [markdown]
# The scores are a matrix of all queries by all keys. For 4,000 words that's 16 million numbers, for each head of each
# layer, and nobody wants to have them. But softmax is in the way. It divides by a sum over *all* keys, and subtracts
# the largest of *all* scores, so that nothing overflows. How can you begin before you've seen them?
#
# You begin with what you know, and correct it. Keep the largest score so far, and the sum of exponentials below it.
# When a larger one comes, the old sum was taken with the wrong reference. But exp(s - old) is exp(s - new) times
# exp(new - old), so a single factor puts it right:

# %%
largest, total = -math.inf, 0.0
for score in (2.0, 1.0, 5.0, 3.0):
    new = max(largest, score)
    total = total * math.exp(largest - new) + math.exp(score - new)
    largest = new
    print(f"after {score}: largest {largest}, sum {total:.4f}")
print(f"all at once: {sum(math.exp(s - 5) for s in (2.0, 1.0, 5.0, 3.0)):.4f}")

# %% [markdown]
# This is the *online softmax*. At the start the largest is minus infinity, its factor exp(-inf) is zero, and the first
# score needs no special case. What works for the sum works for everything that's a sum of these exponentials times
# something, so for the values, too. And instead of one score at a time, take a block of keys: a product, an epilogue, a
# product, and the scores of the block can be forgotten.


# %%
def attention_in_blocks(q, k, v, block):
    largest = np.full((len(q), 1), -np.inf, np.float32)
    total = np.zeros((len(q), 1), np.float32)
    weighted = np.zeros((len(q), v.shape[1]), np.float32)
    for first in range(0, len(k), block):
        scores = q @ k[first : first + block].T / math.sqrt(q.shape[1])
        new = np.maximum(largest, scores.max(1, keepdims=True))
        e = np.exp(scores - new)
        correction = np.exp(largest - new)
        total = total * correction + e.sum(1, keepdims=True)
        weighted = weighted * correction + e @ v[first : first + block]
        largest = new
    return weighted / total


q, k, v = rng.normal(size=(3, 1000, 64)).astype(np.float32)
print(np.abs(attention_in_blocks(q, k, v, 96) - attention(q, k, v)).max() < 1e-6)
print(np.abs(attention_in_blocks(100 * q, k, v, 96) - attention(100 * q, k, v)).max() < 2e-3)

# %% [markdown]
# Not an approximation: the same sums, in another order. The second line has scores of some hundreds. They overflow any
# float32 exponential that isn't measured against the largest. Here is the memory that both take at the worst moment, as
# NumPy reports it, for lengths up to 2048.

# %%
import tracemalloc

from minitorch_compile.course.drawings.line_chart import draw_lines


def megabytes(function, *arguments):
    tracemalloc.start()
    function(*arguments)
    peak_bytes = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return round(peak_bytes / 1e6, 1)


of_length = [rng.normal(size=(3, 256 * n, 64)).astype(np.float32) for n in range(1, 9)]
draw_lines(
    {
        "all scores": [megabytes(attention, *qkv) for qkv in of_length],
        "blocks of 64": [megabytes(attention_in_blocks, *qkv, 64) for qkv in of_length],
    },
    x_label="length, in 256s",
    y_label="MB",
)

# %% [markdown]
# Twice the length is four times the scores, but only twice the rest. Cut the queries into blocks as well, and what's
# needed beside the result doesn't grow at all. This is FlashAttention.
#
# What about the backward pass? It needs the shares again, all of them, and they were never kept. But each can be
# computed from its score, the largest and the total. So the forward pass saves two numbers for a query, and the
# backward pass goes over the blocks a second time and makes the scores anew. That's lesson 11's recomputation, decided
# by hand: a product more, and a matrix of all by all less.
#
# In the package it is an operation, `flash_attention`, with a kernel in `kernels/attention.py`. You needn't know. A pass
# looks for softmax between two products in whatever you have written, and puts the operation there if the scores
# wouldn't fit into the cache anyway.


# %% tags=["varies"]
def by_hand(q, k, v):
    return (q @ k.transpose(-1, -2) / 8).softmax(-1) @ v


heads = [torch.randn(1, 4, 1024, 64) for _ in range(3)]
seen = torch.compiler.inspect(by_hand, *heads)
print(seen.schedule)
print(seen.memory)

# %% [markdown]
# One kernel. The scores alone would have been sixteen megabytes. The second buffer, with two numbers for each query, is
# the one that a backward pass would want, and each thread has scratch memory for a block.
#
# ## Many lives in one block
#
# Now the whole graph. A compiled call asks for memory once: for its results, and for one *arena* in which all
# temporaries lie. Lesson 14 had the rule: two buffers may overlap in place if they don't overlap in time. So a buffer
# is a rectangle, as long as its life and as high as its bytes, and planning memory is packing rectangles that can be
# moved up and down but not sideways. Here is a network that makes them interesting. It goes from wide to narrow and
# back, and keeps what it had on the way down for the way up.

# %%
from minitorch_compile import prims
from minitorch_compile.aot.passes import simplify
from minitorch_compile.aot.tracing import trace
from minitorch_compile.inductor.lowering import lower
from minitorch_compile.inductor.schedule.memory_plan import Life, last_uses
from minitorch_compile.inductor.schedule.scheduler import schedule
from minitorch_compile.tensor import empty_fake


def hourglass(x, a, b, c, d, e):
    wide = (x @ a).softmax(1)
    middle = (wide @ b).softmax(1)
    narrow = (middle @ c).softmax(1)
    back = (narrow @ d).softmax(1) + middle
    return (((back @ e).softmax(1) + wide).sum(0),)


sizes = (256, 32), (32, 512), (512, 256), (256, 128), (128, 256), (256, 512)
graph = trace(hourglass, [empty_fake(each) for each in sizes])
planned = schedule(lower(simplify(prims.decompose(graph))))


def lives_of(planned):
    last, results = last_uses(planned), {view.buffer for view in planned.graph.outputs}
    return [
        Life(buffer, number, last[buffer], buffer.nbytes)
        for number, step in enumerate(planned.steps)
        for buffer in step.outputs
        if buffer not in planned.internal and buffer not in results
    ]


lives = lives_of(planned)
steps = range(len(planned.steps))
alive = [sum(each.nbytes for each in lives if each.first <= n <= each.last) for n in steps]
total_bytes = sum(each.nbytes for each in lives)
print(f"{total_bytes:,} bytes in all, {max(alive):,} alive at the worst moment")

# %% [markdown]
# No plan can do with less than the second number. To get near it there are two choices. In which *order* do we place
# the buffers? And if there are several gaps, which one? *First fit* takes the lowest, *best fit* the tightest. We write
# it so that both can be exchanged.


# %%
def gaps(life, placed):
    """The free places (offset, size) while it is alive; the last one has no end."""
    others = [each for each in placed if each.first <= life.last and life.first <= each.last]
    found, end = [], 0
    for other in sorted(others, key=placed.get):
        found.append((end, placed[other] - end))
        end = max(end, placed[other] + other.nbytes)
    return [*found, (end, math.inf)]


def plan(lives, order, fit):
    placed = {}
    for life in sorted(lives, key=order):
        placed[life] = fit([gap for gap in gaps(life, placed) if gap[1] >= life.nbytes])[0]
    return placed


def first_fit(gaps):
    return gaps[0]


def best_fit(gaps):
    return min(gaps, key=lambda gap: gap[1])


# %%
from minitorch_compile.course.drawings.lives import draw_lives

placed = plan(lives, lambda life: -life.nbytes, best_fit)
draw_lives([(n.name.name, n.first, n.last, placed[n], n.nbytes) for n in lives])

# %% [markdown]
# As low as it can be. In the middle, where the network is narrow, much of the arena is empty, and the rest holds what
# waits for its way up. One network proves nothing, so here are two hundred random sets of thirty buffers, and by how
# much each method exceeds the worst moment on average.


# %%
def random_lives(seed):
    draw = np.random.default_rng(seed)
    starts, lengths = draw.integers(0, 40, 30), draw.integers(1, 10, 30)
    ends, sizes = starts + lengths, 64 * draw.integers(1, 50, 30)
    return [Life(n, *map(int, each)) for n, each in enumerate(zip(starts, ends, sizes))]


def excess(lives, order, fit):
    placed = plan(lives, order, fit)
    worst = max(sum(e.nbytes for e in lives if e.first <= n <= e.last) for n in range(50))
    return max(offset + life.nbytes for life, offset in placed.items()) / worst - 1


samples = [random_lives(seed) for seed in range(200)]
orders = {"as they come": lambda life: life.first, "largest first": lambda life: -life.nbytes}
for name, order in orders.items():
    for fit in (first_fit, best_fit):
        average = sum(excess(lives, order, fit) for lives in samples) / len(samples)
        print(f"{name:13} {fit.__name__:9} {100 * average:4.1f}% more")

# %% [markdown]
# The order matters, the gap hardly does. So the package, in `memory_plan.py`, places the largest first at the lowest
# offset. There is a bigger saving, and it comes before any packing. Each softmax reads a product for the last time, and
# writes a result of the same size. If a kernel reads each number no later than it overwrites it, both may have the
# *same* memory. To know that, compare addresses, as in lesson 14. It must be read where it is written, by the same
# loop, and in no later stage than the one that writes. With this, `in_place` makes fewer and longer lives of our
# picture:

# %%
from minitorch_compile.inductor.schedule.memory_plan import in_place, plan_memory

final = plan_memory(planned, in_place(planned))
homes = {}
for life in lives:
    homes.setdefault(final.same[life.name], []).append(life)
rows = []
for home, those in homes.items():
    name, first, last = "+".join(n.name.name for n in those), those[0].first, those[-1].last
    rows += [(name, first, last, final.offsets[home], home.nbytes)] if home in final.offsets else []
draw_lives(rows)

# %% [markdown]
# All sizes are known when the graph is compiled, so the peak of a call is known before it runs. `memory_report.py` adds
# it up, and you can ask for the one of any program. Here is a training step. The results of its forward pass contain
# what is saved for the backward pass, and those are its arguments then.

# %% tags=["varies"]
layers = [torch.nn.Linear(512, 512) for _ in range(4)]


def deep(x):
    for layer in layers:
        x = layer(x).tanh()
    return x.square().mean()


batch = torch.ones(1024, 512)
with torch.no_grad():
    print("inference:", torch.compiler.inspect(deep, batch).memory)
seen = torch.compiler.inspect(deep, batch)
print("forward:  ", seen.memory)
print("backward: ", seen.backward_memory)

# %% [markdown]
# Without gradients, the arena is that of two layers however many there are. With them, each layer's result has to be
# kept: that is the memory that the partitioner of lesson 11 fights for.
#
# `mode="reduce-overhead"` goes one step further, and keeps the arena from call to call. Fresh memory isn't free: the
# operating system hands it out page by page, on the first touch of each 4096 bytes. The memory of results is used again
# as well, but these belong to the caller, who may still hold those of the last call. So the references to a result are
# counted first, and one that somebody can still reach is never overwritten.
#
# ## Let the machine decide
#
# How high should a block of rows be? You saw that the answer depends on sizes, and it depends on caches, on the BLAS,
# on the number of threads. A formula for all of that would be wrong by next year. So compile all candidates and time
# them. This is *autotuning*. First, look at what you'd measure: sixty calls of two of our candidates, in turns.

# %% tags=["varies"]
calls = candidates(8192, 32, 480)
measured = {"all at once": [], "blocks of 128": []}
for _ in range(60):
    for name, times in measured.items():
        start = time.perf_counter_ns()
        calls[name]()
        times.append((time.perf_counter_ns() - start) / 1e6)
draw_lines(measured, x_label="call", y_label="ms")

# %% [markdown]
# Now imagine that you had called each of them once. The first call finds cold caches and may even compile something.
# Some calls are disturbed by other programs. And if the whole machine becomes slower for a while, it hits whoever is
# running then. So don't count the first call, let the candidates take turns, and don't compare means, which a single
# disturbed call can spoil. A *median* survives until half of the calls are spoilt. The *shortest* time survives as long
# as one call wasn't disturbed, because whatever happens to a call makes it longer, never shorter.
#
# Measuring takes time, so the result should be remembered, also by the next process. That needs a *key*, made of
# everything that the choice depends on. If something is missing from the key, a choice made for another machine will be
# used on yours, and nothing will tell you.

# %%
import json
import platform
import tempfile
from pathlib import Path


def fastest(calls, rounds=7):
    times = {name: [] for name in calls}
    for turn in range(rounds + 1):
        for name, call in calls.items():
            start = time.perf_counter_ns()
            call()
            times[name] += [time.perf_counter_ns() - start] if turn else []
    return min(times, key=lambda name: min(times[name]))


def chosen(shape, file):
    """The name of the fastest candidate, and whether it had to be measured."""
    key = f"linear_gelu {shape} float32 threads {torch.get_num_threads()} {platform.processor()}"
    remembered = json.loads(file.read_text()) if file.exists() else {}
    if known := remembered.get(key):
        return known, "remembered"
    remembered[key] = fastest(candidates(*shape))
    file.write_text(json.dumps(remembered))
    return remembered[key], "measured"


# %% tags=["varies"]
file = Path(tempfile.mkdtemp()) / "choices.json"
for shape in (16384, 32, 480), (4096, 256, 480), (16384, 32, 480):
    print(shape, *chosen(shape, file))

# %% [markdown]
# One more thing to know before you let a clock decide: the candidates give the same values, but perhaps not to the last
# bit, since each sums in its own order. A program whose last digit depends on who was disturbed while it was tuned
# can't be debugged. That is another reason to write the choice down.
#
# The package does this with `mode="max-autotune"`. For each product, together with the loops that follow it, it asks:
# BLAS or tiles, an epilogue or not, and how many rows in a block? Each way is compiled as a small graph of its own.
# Then come the limits of fusion, for the whole graph. The times are kept beside the machine code, named by a digest of
# what is computed, the number of threads, the processor and all versions. With the log artifact `perf_hints` you see
# the tables:

# %% tags=["varies"]
from minitorch_compile import logs

tuned = torch.compile(lambda x, w, b: F.gelu(F.linear(x, w, b)), mode="max-autotune")
with logs.capture("perf_hints") as records:
    tuned(*layer)
print(*(record.text for record in records), sep="\n")

# %% [markdown]
# Run the notebook a second time, and it says "remembered". Without the mode nothing is timed. Then a few numbers in
# `packed_products.py` decide, which were measured on the author's machines, and the same program is compiled in the
# same way each time.
#
# ## What PyTorch does differently
#
# - On a GPU, products come from cuBLAS, or from *templates*: Triton source with holes for tile sizes and for the
#   epilogue. Inductor fills the hole with the body of a fused group, so bias and gelu are applied to a tile in
#   registers. CUTLASS templates in C++ are a third choice.
# - On a CPU it has a GEMM template in C++ too, with micro-kernels for AVX2, AVX512 and AMX that do what our `tiles`
#   does, and weights packed in advance, when a model is frozen. Without `max-autotune` a product goes to MKL or oneDNN.
# - `mode="max-autotune"` compiles dozens of configurations of each template in parallel, times them against the
#   library, and keeps the choices on disk, keyed by sizes, strides, dtypes and the device.
# - Attention is a set of hand-written kernels behind `scaled_dot_product_attention`: FlashAttention, memory-efficient,
#   cuDNN. Products with a softmax between them are found by pattern matching, as here, and FlexAttention compiles
#   variants from a template.
# - `mode="reduce-overhead"` means CUDA graphs there: a recorded sequence of launches that is replayed as one. Graphs of
#   one program share a memory pool (*CUDA graph trees*), so an output is overwritten by the next run. Reading it then
#   is an error that tells you to clone it before.
# - Buffers are reused when sizes are equal; planning offsets in one pool is an option (`config.memory_planning`). The
#   caching allocator below makes asking for memory cheap in any case.
#
# ## Exercises
#
# Open `work/16_matmul_memory_autotune.ipynb`. You predict who is under which part of the roof, bring
# an order of multiplications to par in a small cache, repair an epilogue, and say which loops may follow a product. You
# write the heart of attention, the rule for overwriting the dead, and the clock of the tuner. Three of your functions
# go into the running stack.
#
# ## What you write
#
# `mini/program.py` and `mini/front.py`, in six steps: products with their epilogues, the program, a plan of its memory, a call,
# and the door, `compile`. With them your stack is complete, and trains models. The package also packs weights, writes its own
# products, reuses memory in place, tunes by timing, and turns the whole program into one native function.
