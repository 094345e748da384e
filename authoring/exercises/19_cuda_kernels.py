# %% [markdown]
# # 19 Exercises: CUDA kernels
#
# Four exercises, an hour. Each is a sentence, a signature, an example and a check, which runs your kernel in the
# simulator and judges values, faults and counts. Write your answer in place of the `raise` line or the `...`, run the cell, run
# the check below it. If you are stuck, `hint("19.1")` gives the first of three hints, and calling it again the next; hints cost
# nothing. After an exercise that passes, `on_gpu` runs your kernel on this machine's GPU, if it has one.

# %%
import math

import numpy as np

from minitorch_compile.course import check, hint, passed, progress
from minitorch_compile.course.drawings.block_steps import draw_block
from minitorch_compile.course.on_gpu import on_gpu
from minitorch_compile.cuda_simulator import Recorder, cuda, draw_counts, simulate

rng = np.random.default_rng(0)

# %% [markdown]
# ## 19.1 Counts to predict
#
# Each of these kernels is launched with one block of 32 threads, the last one with 64, on arrays of float32 that are long enough.
# Fill in whole numbers before you run anything: `sectors` of 32 bytes, `passes` over the banks of shared memory, and warps
# that go both ways. For example, a kernel with `out[i] = x[i]` loads 4 sectors.


# %%
def shifted(x, out):
    i = cuda.grid(1)
    out[i] = x[i + 1]


def every_fourth(x, out):
    i = cuda.grid(1)
    out[i] = x[4 * i]


def the_same(x, out):
    out[cuda.grid(1)] = x[0]


# pairs reads its tile as `out[thread] = tile[2 * thread]`, triples as `out[thread] = tile[3 * thread]`


def front(x, out):
    i = cuda.grid(1)
    if i < 40:
        out[i] = x[i]


# %% tags=["stub"]
predicted = {
    "sectors that shifted loads": ...,
    "sectors that every_fourth loads": ...,
    "sectors that the_same loads": ...,
    "passes in which pairs reads": ...,
    "passes in which triples reads": ...,
    "warps that diverge in front": ...,
}

# %% tags=["solution"]
predicted = {
    "sectors that shifted loads": 5,
    "sectors that every_fourth loads": 16,
    "sectors that the_same loads": 1,
    "passes in which pairs reads": 2,
    "passes in which triples reads": 1,
    "warps that diverge in front": 1,
}

# %%
check("19.1")

# %% tags=["wrong"] says="sectors begin at x[0]"
predicted = predicted | {"sectors that shifted loads": 4}

# %% tags=["wrong"] says="How many of the numbers asked for lie in one sector"
predicted = predicted | {"sectors that every_fourth loads": 32}

# %% tags=["wrong"] says="How often is its sector fetched"
predicted = predicted | {"sectors that the_same loads": 32}

# %% tags=["wrong"] says="In which banks are these"
predicted = predicted | {"passes in which pairs reads": 1}

# %% tags=["wrong"] says="for the second time"
predicted = predicted | {"passes in which triples reads": 3}

# %% tags=["wrong"] says="some go and some not"
predicted = predicted | {"warps that diverge in front": 2}

# %% [markdown]
# ## 19.2 Any grid, any length
#
# `out[i] = a * x[i] + y[i]` for all i, whatever the sizes of grid and arrays. No sector is to be fetched in vain, and no
# number computed twice. With `axpy[2, 32]` on 100 numbers, 36 threads have two of them, and 28 one.


# %%
def axpy(a, x, y, out):
    """A kernel: a is a number, x, y and out are arrays of one length."""
    ### BEGIN SOLUTION
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        out[i] = a * x[i] + y[i]
    ### END SOLUTION


# %%
check("19.2")

# %%
if passed("19.2"):
    x, y = rng.normal(size=(2, 1000)).astype(np.float32)
    print(on_gpu(axpy, 2, 64, np.float32(2), x, y, np.zeros_like(x)))
    print(simulate(axpy, counts=True)[2, 64](np.float32(2), x, y, np.zeros_like(x)).counts)


# %% tags=["wrong"] says="after its first one, each thread steps on"
def axpy(a, x, y, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = a * x[i] + y[i]


# %% tags=["wrong"] says="asks whether its number is there"
def axpy(a, x, y, out):
    for k in range(-(-x.size // cuda.gridsize(1))):
        i = k * cuda.gridsize(1) + cuda.grid(1)
        out[i] = a * x[i] + y[i]


# %% tags=["wrong"] says="Let neighbours take neighbours"
def axpy(a, x, y, out):
    each = -(-x.size // cuda.gridsize(1))
    for k in range(each):
        i = each * cuda.grid(1) + k
        if i < x.size:
            out[i] = a * x[i] + y[i]


# %% tags=["wrong"] says="as wide as the grid, not the block"
def axpy(a, x, y, out):
    for i in range(cuda.threadIdx.x, x.size, cuda.blockDim.x):
        out[i] = a * x[i] + y[i]


# %% tags=["wrong"] says="out[i] is a * x[i] + y[i]"
def axpy(a, x, y, out):
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        out[i] = a * (x[i] + y[i])


# %% [markdown]
# ## 19.3 The barriers of a tournament
#
# This kernel sums the numbers of each block into `out[block]`, by the lesson's tournament. The additions are right. Its barriers
# aren't: the simulator finds two faults. Mend them, with no more barriers than are needed: eight for a block of 128 threads.


# %% tags=["stub"]
def block_sums(x, out):
    tile = cuda.shared.array(128, np.float32)
    thread, step = cuda.threadIdx.x, cuda.blockDim.x // 2
    tile[thread] = x[cuda.grid(1)]
    while step > 0:
        if thread < step:
            tile[thread] += tile[thread + step]
            cuda.syncthreads()
        step //= 2
    if thread == 0:
        out[cuda.blockIdx.x] = tile[0]


# %% tags=["solution"]
def block_sums(x, out):
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
        out[cuda.blockIdx.x] = tile[0]


# %%
check("19.3")

# %%
if passed("19.3"):
    x, recorder = rng.normal(size=64).astype(np.float32), Recorder()
    simulate(block_sums, counts=recorder)[2, 32](x, np.zeros(2, np.float32))
    display(draw_block([event for event in recorder.events if event.what != "load"]))
    print(on_gpu(block_sums, 2, 32, x, np.zeros(2, np.float32)))


# %% tags=["wrong"] says="does a barrier that both reach stand between"
def block_sums(x, out):
    tile = cuda.shared.array(128, np.float32)
    thread, step = cuda.threadIdx.x, cuda.blockDim.x // 2
    tile[thread] = x[cuda.grid(1)]
    while step > 0:
        if thread < step:
            tile[thread] += tile[thread + step]
        cuda.syncthreads()
        step //= 2
    if thread == 0:
        out[cuda.blockIdx.x] = tile[0]


# %% tags=["wrong"] says="The others must come, too"
def block_sums(x, out):
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
        out[cuda.blockIdx.x] = tile[0]


# %% tags=["wrong"] says="syncwarp is for a warp"
def block_sums(x, out):
    tile = cuda.shared.array(128, np.float32)
    thread, step = cuda.threadIdx.x, cuda.blockDim.x // 2
    tile[thread] = x[cuda.grid(1)]
    cuda.syncwarp()
    while step > 0:
        if thread < step:
            tile[thread] += tile[thread + step]
        cuda.syncwarp()
        step //= 2
    if thread == 0:
        out[cuda.blockIdx.x] = tile[0]


# %% tags=["wrong"] says="between two rounds one barrier is enough"
def block_sums(x, out):
    tile = cuda.shared.array(128, np.float32)
    thread, step = cuda.threadIdx.x, cuda.blockDim.x // 2
    tile[thread] = x[cuda.grid(1)]
    cuda.syncthreads()
    while step > 0:
        cuda.syncthreads()
        if thread < step:
            tile[thread] += tile[thread + step]
        cuda.syncthreads()
        step //= 2
    if thread == 0:
        out[cuda.blockIdx.x] = tile[0]


# %% tags=["wrong"] says="one thread does the work of all"
def block_sums(x, out):
    tile = cuda.shared.array(128, np.float32)
    thread = cuda.threadIdx.x
    tile[thread] = x[cuda.grid(1)]
    cuda.syncthreads()
    if thread == 0:
        total = np.float32(0)
        for other in range(cuda.blockDim.x):
            total += tile[other]
        out[cuda.blockIdx.x] = total


# %% [markdown]
# ## 19.4 A transpose of any sizes
#
# `out[j, i] = x[i, j]`. There is a block of 32 threads for each tile of 32 by 32 of x: `cuda.blockIdx.y` counts tiles downwards,
# `cuda.blockIdx.x` to the right. Those at the edges may not be full. Read and write in whole sectors, and let no bank give two words at
# a time. With x of 5 by 40 the second block has 8 columns.


# %%
def transpose(x, out):
    """A kernel: x has any sizes, and out has them the other way round."""
    ### BEGIN SOLUTION
    tile = cuda.shared.array((32, 33), np.float32)
    lane, top, left = cuda.threadIdx.x, 32 * cuda.blockIdx.y, 32 * cuda.blockIdx.x
    for row in range(32):
        if top + row < x.shape[0] and left + lane < x.shape[1]:
            tile[row, lane] = x[top + row, left + lane]
    cuda.syncthreads()
    for row in range(32):
        if left + row < x.shape[1] and top + lane < x.shape[0]:
            out[left + row, top + lane] = tile[lane, row]
    ### END SOLUTION


# %%
check("19.4")

# %%
if passed("19.4"):
    x = rng.normal(size=(40, 70)).astype(np.float32)
    display(
        draw_counts(
            simulate(transpose, counts=True)[(3, 2), 32](x, np.zeros((70, 40), np.float32)).counts
        )
    )
    print(on_gpu(transpose, (3, 2), 32, x, np.zeros((70, 40), np.float32)))


# %% tags=["wrong"] says="Go through shared memory"
def transpose(x, out):
    lane, top, left = cuda.threadIdx.x, 32 * cuda.blockIdx.y, 32 * cuda.blockIdx.x
    for row in range(32):
        if top + row < x.shape[0] and left + lane < x.shape[1]:
            out[left + lane, top + row] = x[top + row, left + lane]


# %% tags=["wrong"] says="Where does the next row begin"
def transpose(x, out):
    tile = cuda.shared.array((32, 32), np.float32)
    lane, top, left = cuda.threadIdx.x, 32 * cuda.blockIdx.y, 32 * cuda.blockIdx.x
    for row in range(32):
        if top + row < x.shape[0] and left + lane < x.shape[1]:
            tile[row, lane] = x[top + row, left + lane]
    cuda.syncthreads()
    for row in range(32):
        if left + row < x.shape[1] and top + lane < x.shape[0]:
            out[left + row, top + lane] = tile[lane, row]


# %% tags=["wrong"] says="a barrier that both reach must stand between"
def transpose(x, out):
    tile = cuda.shared.array((32, 33), np.float32)
    lane, top, left = cuda.threadIdx.x, 32 * cuda.blockIdx.y, 32 * cuda.blockIdx.x
    for row in range(32):
        if top + row < x.shape[0] and left + lane < x.shape[1]:
            tile[row, lane] = x[top + row, left + lane]
    for row in range(32):
        if left + row < x.shape[1] and top + lane < x.shape[0]:
            out[left + row, top + lane] = tile[lane, row]


# %% tags=["wrong"] says="A tile at the edge is not full"
def transpose(x, out):
    tile = cuda.shared.array((32, 33), np.float32)
    lane, top, left = cuda.threadIdx.x, 32 * cuda.blockIdx.y, 32 * cuda.blockIdx.x
    for row in range(32):
        tile[row, lane] = x[top + row, left + lane]
    cuda.syncthreads()
    for row in range(32):
        out[left + row, top + lane] = tile[lane, row]


# %% tags=["wrong"] says="can't stand where only some go"
def transpose(x, out):
    tile = cuda.shared.array((32, 33), np.float32)
    lane, top, left = cuda.threadIdx.x, 32 * cuda.blockIdx.y, 32 * cuda.blockIdx.x
    for row in range(32):
        if top + row < x.shape[0] and left + lane < x.shape[1]:
            tile[row, lane] = x[top + row, left + lane]
            cuda.syncthreads()
    for row in range(32):
        if left + row < x.shape[1] and top + lane < x.shape[0]:
            out[left + row, top + lane] = tile[lane, row]


# %% tags=["wrong"] says="of rows that were columns"
def transpose(x, out):
    tile = cuda.shared.array((32, 33), np.float32)
    lane, top, left = cuda.threadIdx.x, 32 * cuda.blockIdx.y, 32 * cuda.blockIdx.x
    for row in range(32):
        if top + row < x.shape[0] and left + lane < x.shape[1]:
            tile[row, lane] = x[top + row, left + lane]
    cuda.syncthreads()
    for row in range(32):
        if left + row < x.shape[1] and top + lane < x.shape[0]:
            out[left + row, top + lane] = tile[row, lane]


# %% [markdown]
# ## All of them

# %%
progress("19")
