# %% [markdown]
# # 19 CUDA kernels: threads, shared memory, tensor cores
#
# The cores of your laptop are few and clever: they guess branches, reorder instructions, and keep what they may need in
# large caches. A GPU spends the same silicon on arithmetic. An H200 keeps 270,000 threads on the go, none of them
# clever, and hides every wait behind another thread's work. Whoever writes a kernel for it writes down what *one*
# thread does. How many there are is said at the launch.
#
# Here is the whole model in a dozen lines. Threads come in *blocks*. The threads of a block have some memory in common,
# and can wait for each other at a *barrier*. A thread of ours is a Python generator, and `yield` is the barrier: it
# stops there until all others of its block have come as far.

# %%
import math

import numpy as np


def launch(kernel, blocks, threads, *arrays, order=list):
    """Each block in turn: all its threads run to the next barrier, until all have ended."""
    for block in range(blocks):
        shared = {}
        running = [kernel(block, thread, shared, *arrays) for thread in range(threads)]
        while running:
            running = [each for each in order(running) if next(each, "ended") != "ended"]


def reverse_each_block(block, thread, shared, x, out):
    i = 8 * block + thread
    shared[thread] = x[i]
    yield
    out[i] = shared[7 - thread]


sixteen, mirrored = np.arange(16), np.zeros(16, int)
launch(reverse_each_block, 2, 8, sixteen, mirrored)
mirrored

# %% [markdown]
# Two blocks of eight threads turned around eight numbers each. `shared` is the memory that the threads of a block have
# in common, and it's gone when the block has ended. A thread knows two things about itself: its place in the block, and
# its block's place in the *grid* of all blocks. From these it works out which element is its own. Nobody says in which
# order threads run, so a right kernel gives the same in any:

# %%
backwards = np.zeros(16, int)
launch(reverse_each_block, 2, 8, sixteen, backwards, order=lambda running: running[::-1])
print((backwards == mirrored).all())


def without_barrier(block, thread, shared, x, out):
    i = 8 * block + thread
    shared[thread] = x[i]
    out[i] = shared.get(7 - thread, -1)
    yield


unordered = np.zeros(16, int)
launch(without_barrier, 2, 8, sixteen, unordered)
print("without the barrier:", unordered)

# %% [markdown]
# Where a thread reads what nobody has written yet, our machine gives -1. A real one gives whatever lies there, which
# may be the right number on Monday. That's a *race*: two threads, one address, one of them writes, and nothing says who
# comes first. Blocks can't wait for each other at all. That's their point: a small GPU runs a few of them at a time,
# and a large one hundreds, and the program is the same.
#
# ## The package's machine
#
# A kernel is written for Numba like this. `cuda.grid(1)` is the thread's place in the whole grid, `syncthreads` the
# barrier, and a shared array belongs to the block. On a GPU Numba compiles it. Here the package's simulator runs the
# same text, and says what it does wrong.

# %%
from minitorch_compile.cuda_simulator import Recorder, cuda, simulate
from minitorch_compile.course.drawings.block_steps import draw_block


def reverse(x, out):
    tile = cuda.shared.array(32, np.float32)
    thread, i = cuda.threadIdx.x, cuda.grid(1)
    tile[thread] = x[i]
    cuda.syncthreads()
    out[i] = tile[31 - thread]


x = np.arange(64, dtype=np.float32)
out, recorder = np.zeros(64, np.float32), Recorder()
simulate(reverse, counts=recorder)[2, 32](x, out)
draw_block(recorder.events)

# %% [markdown]
# Run the cell, and there are buttons to go through it step by step. Above are the threads of the first block, below the
# memory that they touch. And without the barrier?


# %%
def racing(x, out):
    tile = cuda.shared.array(32, np.float32)
    thread, i = cuda.threadIdx.x, cuda.grid(1)
    tile[thread] = x[i]
    out[i] = tile[31 - thread]


raced = np.zeros(64, np.float32)
run = simulate(racing, collect=True)[2, 32](x, raced)
print((raced.reshape(2, 32) == x.reshape(2, 32)[:, ::-1]).all())
print(str(run.faults[0]).splitlines()[0])

# %% [markdown]
# The numbers are right, and the program is wrong. All threads took each line together, so the first line was done
# before the second began. The simulator notes for each address who wrote it and when, and reports the pair.
#
# Luck like this ends with the next compiler, or the next GPU, or a block that is larger. That's why no kernel should be
# released on the strength of its results alone.
#
# Why did they go together? Because that is what the hardware does, nearly. The package's machine is no list of
# generators, for a second reason, too: stepping a million generators takes minutes. A block is one vector machine. Each
# line is a NumPy operation for all threads, under a *mask* that says who takes part.
#
# ## Warps
#
# On the device 32 threads take each step together. They are a *warp*, and have one instruction pointer. At an `if` on
# which they differ, the warp goes both ways, one after the other, with some threads asleep. That's *divergence*. The
# simulator counts it, and how many threads are awake in an average step. Here are two kernels with the same work.


# %%
from minitorch_compile.course.drawings.table import Table


def by_parity(x, out):
    i = cuda.grid(1)
    if i % 2 == 0:
        out[i] = 2 * x[i]
    else:
        out[i] = 3 * x[i]


def by_warp(x, out):
    i = cuda.grid(1)
    if i // 32 % 2 == 0:
        out[i] = 2 * x[i]
    else:
        out[i] = 3 * x[i]


def counted(columns, kernel, blocks, threads, *arrays):
    """A row of a table: what a launch costs, of each heading the count of that name."""
    counts = simulate(kernel, counts=True)[blocks, threads](*arrays).counts.total
    return {"kernel": kernel.__name__} | {name: getattr(counts, columns[name]) for name in columns}


numbers = np.random.default_rng(0).normal(size=4096).astype(np.float32)
columns = {"divergent": "divergent_branches", "steps": "warp_steps", "awake": "efficiency"}
columns |= {"sectors": "load_sectors"}
arrays = numbers[:256], np.zeros(256, np.float32)
Table([counted(columns, kernel, 2, 128, *arrays) for kernel in (by_parity, by_warp)])

# %% [markdown]
# The second one asks a question that all threads of a warp answer alike, and each warp goes one way only. A branch
# costs nothing. A branch *within* a warp costs both of its sides. The `if i < out.size` that kernels begin with is of
# the first kind in all warps but one.
#
# ## Which thread reads what, and when
#
# The table's last column is what matters most. Memory answers a warp in *sectors* of 32 bytes, which are eight floats.
# If the 32 threads ask for 32 neighbours, that's four sectors, and nothing is fetched in vain: the access is
# *coalesced*.
#
# Say there are more numbers than threads. Who takes which? On a CPU each worker gets a piece of its own, as in lesson
# 15. Do the same here, and let each of 64 threads copy 32 numbers in a row. The other way is a *grid-stride* loop: the
# grid takes as many neighbours as it has threads, then steps on by its own width.
#
# *Predict*: how many times as many sectors do the loads of `pieces` fetch as those of `neighbours`?

# %%
from minitorch_compile.course import predict

predict("19.sectors", None)


# %%
def neighbours(x, out):
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        out[i] = x[i]


def pieces(x, out):
    each = x.size // cuda.gridsize(1)
    for k in range(each):
        i = each * cuda.grid(1) + k
        out[i] = x[i]


columns = {"loads": "load_requests", "sectors": "load_sectors", "needed": "ideal_load_sectors"}
arrays = numbers[:2048], np.zeros(2048, np.float32)
Table([counted(columns, kernel, 2, 32, *arrays) for kernel in (neighbours, pieces)])

# %% [markdown]
# What you learned for threads of a CPU is upside down here. The threads of a warp move *together*, so the question is
# not what one of them reads over time, but what all read at once. Watch the first step:

# %%
recorder = Recorder()
simulate(pieces, counts=recorder)[2, 32](numbers[:256], np.zeros(256, np.float32))
draw_block(recorder.events[:2])

# %% [markdown]
# (With fewer numbers, so that it fits: each thread has four of them.) The frames are the sectors that are fetched, the
# green words those that somebody asked for. Some of the others may still be in a cache when their turn comes. The
# simulator has no cache and no clock. It counts what is asked for, and that's the same on every machine.
#
# ## Shared memory, and its banks
#
# A transpose can't be coalesced on both sides: whoever reads along rows writes down columns. So take a tile of 32 by 32
# into shared memory, row by row, wait, and write it out row by row of the *other* matrix. Shared memory has no sectors
# and takes accesses in any order, with one exception. It consists of 32 *banks*, word after word in turn, and each bank
# gives one word at a time. In which bank is `tile[row, column]` of 32 by 32? In number `column`, whatever the row. So a
# whole column lies in one bank.


# %%
def turner(width):
    def turn(x, out):
        tile = cuda.shared.array((32, width), np.float32)
        lane, top, left = cuda.threadIdx.x, 32 * cuda.blockIdx.y, 32 * cuda.blockIdx.x
        for row in range(32):
            tile[row, lane] = x[top + row, left + lane]
        cuda.syncthreads()
        for row in range(32):
            out[left + row, top + lane] = tile[lane, row]

    return turn


matrix, turned = numbers.reshape(64, 64), np.zeros((64, 64), np.float32)
columns = {"sectors": "store_sectors", "passes": "shared_passes", "conflicts": "bank_conflicts"}
rows = [counted(columns, turner(width), (2, 2), 32, matrix, turned) for width in (32, 33)]
print((turned == matrix.T).all())
Table([{"width": width} | row for width, row in zip((32, 33), rows)])

# %% [markdown]
# With a width of 32, each read of a column takes 32 passes instead of one. The cure is a column that nobody uses. With
# a width of 33 the next row begins one bank further, and a column goes across all banks.

# %%
for width in (32, 33):
    recorder = Recorder()
    simulate(turner(width), counts=recorder)[1, 32](matrix, np.zeros_like(matrix))
    reads = [event for event in recorder.events if (event.what, event.array) == ("load", "tile")]
    display(draw_block(reads[:1]))

# %% [markdown]
# ## A sum, three ways
#
# Each result so far was one thread's own. A sum is everybody's, and adding up a million numbers with a million threads
# is a matter of who waits for whom. First way: there is one total, and everybody adds to it. An *atomic* addition
# reads, adds and writes as one step, so nothing is lost. But additions to one address come one after another. Second
# way: a tournament in shared memory, as in lesson 15, with a barrier after each round. Third way: a warp needs no
# memory at all for it. A *shuffle* hands a register of one thread to another one of its warp.


# %%
ALL = 0xFFFFFFFF  # the lanes that take part in a shuffle, as bits


def one_by_one(x, out):
    cuda.atomic.add(out, 0, x[cuda.grid(1)])


def tournament(x, out):
    tile = cuda.shared.array(128, np.float32)
    thread, step = cuda.threadIdx.x, cuda.blockDim.x // 2
    tile[thread] = x[cuda.grid(1)]
    cuda.syncthreads()
    while step > 0:
        if thread < step:
            tile[thread] += tile[thread + step]
        cuda.syncthreads()
        step //= 2
    if thread == 0:
        cuda.atomic.add(out, 0, tile[0])


def by_shuffles(x, out):
    value = x[cuda.grid(1)]
    for step in (16, 8, 4, 2, 1):
        value += cuda.shfl_down_sync(ALL, value, step)
    if cuda.laneid == 0:
        cuda.atomic.add(out, 0, value)


kernels, sums = (one_by_one, tournament, by_shuffles), np.zeros((3, 1), np.float32)
columns = {name: name for name in ("atomics", "barriers", "shared_passes", "warp_steps")}
rows = [counted(columns, kernel, 32, 128, numbers, out) for kernel, out in zip(kernels, sums)]
print(sums.ravel().round(3))
Table(rows)

# %% [markdown]
# Of 4,096 atomic additions, 32 are left in the tournament, and 128 with shuffles, one for each warp. The tournament
# pays with eight barriers a block, and with steps in which most threads sleep. These are the rounds of one warp, as far
# as they write:

# %%
recorder = Recorder()
simulate(tournament, counts=recorder)[1, 32](numbers[:32], np.zeros(1, np.float32))
draw_block([event for event in recorder.events if event.what != "load"])

# %% [markdown]
# (The loads are left out of the picture.) The step is halved, not doubled, for a reason: those who are awake are
# neighbours, so whole warps fall asleep at once, and what they read lies in different banks.
#
# ## Softmax in one walk
#
# Lesson 17 had a softmax that begins before it has seen all: keep the largest so far and the sum below it, and correct
# the sum when a larger one comes. That makes it a reduction like the others. Two halves that each know their largest
# and their sum can be put together, in any order, and so can 32 threads.


# %%
def softmax(x, out):
    lane, row = cuda.threadIdx.x, cuda.blockIdx.x
    largest, total = np.float32(-np.inf), np.float32(0)
    for j in range(lane, x.shape[1], 32):
        value = x[row, j]
        new = max(largest, value)
        total = total * math.exp(largest - new) + math.exp(value - new)
        largest = new
    for step in (16, 8, 4, 2, 1):
        other = cuda.shfl_xor_sync(ALL, largest, step)
        their_total = cuda.shfl_xor_sync(ALL, total, step)
        new = max(largest, other)
        total = total * math.exp(largest - new) + their_total * math.exp(other - new)
        largest = new
    for j in range(lane, x.shape[1], 32):
        out[row, j] = math.exp(x[row, j] - largest) / total


scores = 50 * numbers.reshape(32, 128)
out = np.zeros_like(scores)
counts = simulate(softmax, counts=True)[32, 32](scores, out).counts
expected = np.exp(scores - scores.max(1, keepdims=True))
expected /= expected.sum(1, keepdims=True)
print(np.abs(out - expected).max() < 1e-6, counts.total.load_sectors, counts.total.store_sectors)

# %% [markdown]
# `shfl_xor` is a shuffle in which all 32 get the result: at each step two lanes exchange what they have. Each number is
# loaded twice and stored once, where the textbook's softmax loads it three times. Where a row fits into the registers
# of its threads, even the second load can be saved, too.
#
# ## How many fit
#
# A load from memory takes some 600 cycles. A multiprocessor has nothing to do meanwhile, unless other warps are there
# to go on. It can hold 64 of them. But each thread keeps its registers as long as it lives, and each block its shared
# memory, and when either is used up no further block comes in. The share that is filled is the *occupancy*. It's
# arithmetic:


# %%
def warps_at_once(threads, registers, shared_bytes):
    """Warps on one multiprocessor of an H200, and what limits them."""
    warps, packs = -(-threads // 32), -(-registers // 8)  # registers come in packs of eight
    blocks = {
        "warps": 64 // warps,
        "blocks": 32,
        "registers": 65536 // (warps * 32 * 8 * packs),
        "shared memory": 233472 // (shared_bytes + 1024),
    }
    least = min(blocks, key=blocks.get)
    return warps * blocks[least], least


rows = []
for threads, registers, kilobytes in (
    (256, 32, 0),
    (256, 64, 0),
    (256, 32, 48),
    (32, 32, 4),
    (1024, 40, 0),
):
    warps, limit = warps_at_once(threads, registers, 1024 * kilobytes)
    rows.append({"threads": threads, "registers": registers, "shared kB": kilobytes})
    rows[-1] |= {"warps": warps, "of 64": f"{warps / 64:.0%}", "limited by": limit}
Table(rows)

# %% [markdown]
# The last column says what to change if you want more of them in. Look at the last two. Blocks of one warp are at most
# 32, whatever else they need. And with 40 registers a thread, one block of 1,024 is all that fits, and more than a
# third of the register file lies idle. More is not always better: a thread with many registers that works on eight
# numbers at once hides its own waits.
#
# ## A product in tiles
#
# The obvious product has a thread for each element of the result, which walks along a row and down a column. All its
# loads are fine, and there are far too many. In a block of 16 by 16 threads, sixteen need the same row. So fetch a tile
# of each matrix into shared memory together, wait, take all that can be had from it, wait, and go on to the next.


# %%
def product(a, b, out):
    column, row = cuda.grid(2)
    value = np.float32(0)
    for k in range(a.shape[1]):
        value += a[row, k] * b[k, column]
    out[row, column] = value


def product_in_tiles(a, b, out):
    left = cuda.shared.array((16, 16), np.float32)
    right = cuda.shared.array((16, 16), np.float32)
    column, row = cuda.grid(2)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    value = np.float32(0)
    for first in range(0, a.shape[1], 16):
        left[y, x] = a[row, first + x]
        right[y, x] = b[first + y, column]
        cuda.syncthreads()
        for k in range(16):
            value += left[y, k] * right[k, x]
        cuda.syncthreads()
    out[row, column] = value


small, out = matrix[:32, :32].copy(), np.zeros((32, 32), np.float32)
columns = {name: name for name in ("load_sectors", "barriers", "shared_passes", "bank_conflicts")}
kernels = product, product_in_tiles
rows = [counted(columns, kernel, (2, 2), (16, 16), small, small, out) for kernel in kernels]
print(np.abs(out - small @ small).max() < 1e-5)
Table(rows)

# %% [markdown]
# An eighth of the sectors. Each number that was fetched is used sixteen times, and with larger tiles more often: this
# is lesson 16's blocking for a cache, with a cache that you fill by hand. The second barrier is easily forgotten.
# Without it a quick warp overwrites a tile that a slow one still reads. And why has nobody a bank conflict? In `left[y,
# k]` sixteen threads ask for the same word, and a bank gives it to all of them at once. In `right[k, x]` they ask for
# neighbours.
#
# ## Tensor cores
#
# The inner loop is still one multiplication a thread and step: 32 a warp. A *tensor core* does more in one instruction.
# The warp as a whole multiplies a matrix of 16 by 16 by one of 16 by 8, halves or bfloat16, and adds up in float32. For
# that the matrices are spread over the registers of its 32 threads, and who has what is fixed by the hardware: each
# thread has a *fragment*. Numba has no name for these instructions. The package writes them as PTX, the assembly
# language of GPUs, with a twin in the simulator that knows the places.


# %%
from minitorch_compile.inductor.codegen.cuda.tensor_cores import (
    ldmatrix_x4,
    ldmatrix_x4_transposed,
    mma_float16,
)


def on_tensor_cores(a, b, out):
    left, right = cuda.shared.array(256, np.uint16), cuda.shared.array(128, np.uint16)
    lane, zero = cuda.threadIdx.x, np.float32(0)
    for k in range(8):
        left[32 * k + lane] = a[32 * k + lane]
        if k < 4:
            right[32 * k + lane] = b[32 * k + lane]
    cuda.syncthreads()
    of_a = ldmatrix_x4(left, 16 * (lane % 16) + 8 * (lane // 16))
    of_b = ldmatrix_x4_transposed(right, 8 * (lane % 16))
    sums = mma_float16(of_a, (of_b[0], of_b[1]), (zero, zero, zero, zero))
    for n in range(4):
        out[lane // 4 + 8 * (n // 2), 2 * (lane % 4) + n % 2] = sums[n]


halves, out = matrix.astype(np.float16), np.zeros((16, 8), np.float32)
a, b = halves[:16, :16].copy(), halves[16:32, :8].copy()
words = a.view(np.uint16).ravel(), b.view(np.uint16).ravel()
mma = simulate(on_tensor_cores, counts=True)[1, 32](*words, out).counts
print(np.abs(out - a.astype(np.float32) @ b.astype(np.float32)).max() < 1e-5)
print(
    "steps of the product:",
    mma.of("mma_float16").warp_steps,
    "where one by one takes",
    16 * 16 * 8 // 32,
)

# %% [markdown]
# `ldmatrix` reads rows from shared memory and hands each thread its fragment. In the last two lines you see where the
# sums lie: thread 5 has two numbers of row 1, and two of row 9. Everything else about a fast product is how to keep
# these cores fed: copies from memory to the next tile while this one is multiplied (`cp.async`), tiles shifted so that
# `ldmatrix` meets no bank twice, and sums that stay in registers to the end. The package's template does all of that.
# Its strips wait in shared memory some steps ahead, and the same instructions stand in its innermost loop:

# %%
from minitorch_compile.inductor.device_calls.tensor_core_product import (
    ProductKernel,
    Side,
    Tile,
)

template = ProductKernel(Tile(2, 4, 4), "float16", Side(along_k=True), Side(along_k=False))
print(template.name)
for name in ("cp_async_16(", "ldmatrix_x4", "mma_float16("):
    print(f"{template.text.count(name):3} x {name.strip('(')}")

# %% [markdown]
# A tile of 128 by 128, at which eight warps work, and for each step along k a thread begins four copies, its warp loads
# twelve sets of fragments, and multiplies 32 times. The more a warp multiplies for each load, the better the cores are
# fed; what limits it is how many sums fit into its registers. The tests run this kernel in the simulator and find no
# race and no bank conflict.
#
# ## What the package writes
#
# You know all that is in a kernel of the package now. Here is the one that it makes of a softmax. `CudaProgram` is what
# stands behind the backends `cuda` and `cuda_sim`: the groups of lesson 14, each written as a kernel.

# %%
from minitorch_compile import prims
from minitorch_compile.aot.passes import simplify
from minitorch_compile.aot.tracing import trace
from minitorch_compile.cuda_simulator import Counts
from minitorch_compile.inductor.codegen.cuda.program import CudaProgram
from minitorch_compile.inductor.lowering import lower
from minitorch_compile.inductor.schedule.scheduler import schedule
from minitorch_compile.tensor import empty_fake

shares = lambda x: x.softmax(1)
graph = trace(lambda x: (shares(x),), [empty_fake((32, 128))])
groups = schedule(lower(simplify(prims.decompose(graph))))
program = CudaProgram(groups, simulated=True, counts=Counts())
written = program.source[program.source.index("@cuda.jit") :]
print(written.partition("\n\n\nkernel =")[0])

# %% [markdown]
# It's longer than ours, and you can read it. Half a warp has a row, and a thread twice four neighbours of it, which come by
# one load of 16 bytes. The row stays in registers between the largest, the sum and the quotient. `part_amax` and `part_sum`
# are our shuffles among 16 threads, in `codegen/cuda/reductions.py`; longer rows are a block's. Elementary functions are in
# `device_functions.py`, and everything above the text of the kernel (lowering, fusion, memory plan) has never heard of a
# GPU. Run it, and compare its counts with those of the one that we wrote by hand:

# %%
(theirs,) = program([scores.ravel()])
print(np.abs(theirs - expected).max() < 1e-6)
names = "load_sectors", "store_sectors", "barriers", "divergent_branches", "warp_steps"
both = {"ours": counts.total, "the package's": program.counts.total}
Table([{"kernel": who} | {name: getattr(t, name) for name in names} for who, t in both.items()])

# %% [markdown]
# Both are right, and the package's loads each number once, where ours does so twice. It needs no idea about softmax for
# that, only a row that fits into the registers of its threads. Where it doesn't fit, the walks count, and the one that
# lesson 17 saves is worth having.
#
# ## One launch for many
#
# A kernel of a microsecond is no use if it takes longer to ask for it. On an H200 a launch through Numba takes some 25
# microseconds of Python, and one by the driver, with its arguments laid out beforehand, some five. A training step of a
# small network has hundreds of them. But they are the same ones each time, so write them down once:


# %%
class Launches:
    """What a program launches, noted instead of done; `replay` does it, on the same memory."""

    def __init__(self):
        self.noted = []

    def __call__(self, *launch):
        self.noted.append(launch)

    def replay(self):
        for kernel, blocks, threads, *arrays in self.noted:
            simulate(kernel)[blocks, threads](*arrays)


given, turned, result = (
    np.arange(32, dtype=np.float32),
    np.zeros(32, np.float32),
    np.zeros(1, np.float32),
)
launches = Launches()
launches(reverse, 1, 32, given, turned)
launches(by_shuffles, 1, 32, turned, result)
print("noted:", len(launches.noted), "launches, result", result)
for value in (1, 2):
    given[:], result[:] = value, 0
    launches.replay()
    print(f"of {value}s: {result}")

# %% [markdown]
# This is a *CUDA graph*. The driver notes what is put into a stream, with its order, and launches all of it in one
# call, of about two microseconds for twenty kernels. You see the price, too. A recording knows addresses. A new input
# must be written where the old one was, and a result lies where the last one lay. Python isn't asked again, so its
# `if`s are decided for good, as in a trace. Here is the package's own, by PyTorch's names, on a driver that stands in
# for a GPU:

# %%
import minitorch_compile as torch
from minitorch_compile.cuda.runtime import using
from minitorch_compile.cuda_runtime.fake_driver import FakeDriver

with using(FakeDriver()):
    given, recorded = torch.ones(4, device="cuda"), torch.cuda.CUDAGraph()
    squares = lambda x: (x + 1).square().sum()
    squares(given)  # once, so that its kernels are compiled
    with torch.cuda.graph(recorded):
        y = squares(given)
    for value in (1.0, 2.0):
        given.fill_(value)
        recorded.replay()
        print(y.item())

# %% [markdown]
# `mode="reduce-overhead"` does this for you: forward, backward, or a whole training step with its optimizer is recorded
# at the second call, inputs are copied to where the recording wants them, and a result that was overwritten says so
# when you use it.
#
# ## On a GPU
#
# If there is one in your machine, Numba compiles the same texts for it. `on_gpu` does that, compares all arrays with
# the simulator's, and times a launch. Of these small arrays you see little but the launch itself.

# %% tags=["varies"]
from minitorch_compile.course.on_gpu import on_gpu

empty = np.zeros_like(small)
for kernel, blocks, threads, *arrays in (
    (reverse, 2, 32, numbers[:64], np.zeros(64, np.float32)),
    (by_shuffles, 32, 128, numbers, np.zeros(1, np.float32)),
    (softmax, 32, 32, scores, np.zeros_like(scores)),
    (product_in_tiles, (2, 2), (16, 16), small, small, empty),
    (on_tensor_cores, 1, 32, *words, out),
):
    print(on_gpu(kernel, blocks, threads, *arrays))

# %% [markdown]
# ## Beside PyTorch
#
# PyTorch writes Triton, a language of its own inside Python. (This was recorded without a GPU: Inductor was told to
# write Triton for a CPU. The kernel's text is the same.)

# %%
from minitorch_compile.course.drawings.beside import beside

beside("19_kernel", written.partition("\n\n\nkernel =")[0])

# %% [markdown]
# Where are the threads? There are none. A Triton program says what a *block* does, with arrays in place of numbers:
# `tl.arange` is all positions of a row at once, and `tl.sum` a reduction. Triton's compiler deals them out to threads,
# puts in the barriers, and chooses what lies in shared memory. The row is loaded once, as in the package's.
#
# ## What PyTorch does differently
#
# - Inductor writes Triton, where ours writes kernels for Numba, a thread at a time. With Triton nobody forgets a
#   barrier, and nobody places one, either.
# - Sizes of blocks come with each kernel as a list of configurations that are timed at the first call, as in lesson 17.
# - It records CUDA graphs through a tree: each path that a program takes through its graphs is a branch, and all share
#   one pool of memory.
# - For products it has templates in Triton with tensor cores, and calls cuBLAS where that is quicker.
# - There is no simulator. NVIDIA's `compute-sanitizer` finds races and reads out of bounds on the device, and Nsight
#   Compute counts sectors, conflicts and divergence; the names that we use for them are its names.
#
# ## Exercises
#
# Open `work/19_cuda_kernels.ipynb`: eight exercises, two hours. You predict counts, write a kernel for any grid, mend
# the barriers of a tournament, transpose, and write a kernel that is right by luck. Then come the large ones: a warp
# for each row, the softmax of masked rows, and a product of any sizes. Each check runs your kernel in the simulator,
# and judges its values, its faults and its counts. If there is a GPU in your machine, the kernels that pass run there,
# too.
