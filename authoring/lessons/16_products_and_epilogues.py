# %% [markdown]
# # 16 Products and epilogues
#
# Fusion was about fetching less. It works so well because most programs do next to nothing with a number once they have
# it. Is there any program for which that isn't so, and what can a compiler do for it? Let's count: operations, and bytes
# that at least have to be fetched or stored, for four programs of float32.

# %%
from minitorch_compile.course.drawings.table import Table


def cost(program, count, numbers):
    intensity = round(count / (4 * numbers), 2)
    return {"program": program, "operations": count, "bytes": 4 * numbers, "per byte": intensity}


N = 960
costs = [
    cost("x + y", N * N, 3 * N * N),
    cost("x.softmax(1)", 5 * N * N, 2 * N * N),
    cost("x @ vector", 2 * N * N, N * N + 2 * N),
    cost("x @ y", 2 * N**3, 3 * N * N),
]
Table(costs)

# %%
from minitorch_compile.course.drawings.bar_chart import draw_bars

draw_bars({row["program"]: row["per byte"] for row in costs}, unit="operations a byte")

# %% [markdown]
# The last line is another world. A matrix product multiplies and adds n³ times, and has only 3n² numbers to do it with.
# So each number is used hundreds of times, and the larger the matrices, the more often. The last column is called
# *arithmetic intensity*. For everything else it is a constant, and a small one.
#
# That changes the question. A sum of two matrices waits for memory whatever you do. A product needn't wait at all, *if*
# each number is still near when it's wanted again. Whether it is, is decided by the order of the work. This lesson is
# about that order: inside a product, and between a product and what follows it.
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
#
# *Predict*: the first of the two programs below sums the columns of a linear layer's result, the second takes a gelu
# of it. In which can the loops be an epilogue of the product, the first or the second?

# %%
from minitorch_compile.course import predict

predict("16.epilogue", None)

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
# ## Beside PyTorch
#
# A linear layer and a gelu, from the package and from PyTorch, without any tuning:

# %% tags=["varies"]
from minitorch_compile.course.drawings.beside import beside


def finished(x, w, b):
    return F.gelu(F.linear(x, w, b))


beside("16_epilogue", torch.compiler.inspect(finished, *layer).schedule)

# %% [markdown]
# Both have one product and one loop. PyTorch leaves the product to a library, which adds the bias, too. Then its
# kernel goes over the whole result and overwrites it in place: so all of it has gone to memory and come back. Ours
# finishes each block while it is near. With `max-autotune` PyTorch would try its own template, whose epilogue is the
# gelu.
#
# ## What PyTorch does differently
#
# - On a GPU, products come from cuBLAS, or from *templates*: Triton source with holes for tile sizes and for the
#   epilogue. Inductor fills the hole with the body of a fused group, so bias and gelu are applied to a tile in
#   registers. CUTLASS templates in C++ are a third choice.
# - On a CPU it has a GEMM template in C++ too, with micro-kernels for AVX2, AVX512 and AMX that do what our `tiles`
#   does, and weights packed in advance, when a model is frozen. Without `max-autotune` a product goes to MKL or oneDNN.
# - A template can have a *prologue*, too: what is done to a factor before it is multiplied, such as turning 8-bit weights
#   into floats, happens while its tile is loaded. Ours are written to memory first.
# - What makes products faster than any order of the work is doing them in fewer bits. Its tensor cores multiply bfloat16
#   or float8 and add in float32; on a CPU, AMX does the same.
#
# Where to read on: `torch/_inductor/kernel/mm.py` and `select_algorithm.py` for the templates, `codegen/cpp_gemm_template.py`
# for the one on the CPU. Lesson 17 is about memory: the product of products that nobody wants to store, and where
# everything else lies.
#
# ## Exercises
#
# Open `work/16_products_and_epilogues.ipynb`. You predict who is under which part of the roof, bring an order of
# multiplications to par in a small cache, repair an epilogue, and say which loops may follow a product. The last one
# goes into the running stack.
#
# ## What you write
#
# `mini/products.py`, in two steps: a product that runs in blocks of rows, with what follows it while they are hot, and the
# question what may follow. The package also packs weights, and writes its own products.
