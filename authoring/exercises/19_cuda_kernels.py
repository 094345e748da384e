# %% [markdown]
# # 19 Exercises: CUDA kernels
#
# Eight exercises, two hours. Each is a sentence, a signature, an example and a check, which runs your kernel in the
# simulator and judges values, faults and counts. Write your answer in place of the `raise` line or the `...`, run the
# cell, run the check below it. If you are stuck, `hint("19.1")` gives the first of three hints, and calling it again
# the next; hints cost nothing. After an exercise that passes, `on_gpu` runs your kernel on this machine's GPU, if it
# has one.

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
# Each of these kernels is launched with one block of 32 threads, the last one with 64, on arrays of float32 that are
# long enough. Fill in whole numbers before you run anything: `sectors` of 32 bytes, `passes` over the banks of shared
# memory, and warps that go both ways. For example, a kernel with `out[i] = x[i]` loads 4 sectors.


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
# `out[i] = a * x[i] + y[i]` for all i, whatever the sizes of grid and arrays. No sector is to be fetched in vain, and
# no number computed twice. With `axpy[2, 32]` on 100 numbers, 36 threads have two of them, and 28 one.


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
# This kernel sums the numbers of each block into `out[block]`, by the lesson's tournament. The additions are right. Its
# barriers aren't: the simulator finds two faults. Mend them, with no more barriers than are needed: eight for a block
# of 128 threads.


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
# `out[j, i] = x[i, j]`. There is a block of 32 threads for each tile of 32 by 32 of x: `cuda.blockIdx.y` counts tiles
# downwards, `cuda.blockIdx.x` to the right. Those at the edges may not be full. Read and write in whole sectors, and
# let no bank give two words at a time. With x of 5 by 40 the second block has 8 columns.


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
# ## 19.5 Right by luck
#
# Write a kernel that is wrong. `lucky[1, 32](x, out)` leaves the sum of 32 numbers in `out[0]`, and the simulator gets
# it right. But it has a data race in shared memory, which the simulator reports, and no fault besides. On a device the
# compiler may put its lines in another order, or the warp's threads may drift apart, and the sum with them. For years
# such kernels were taught.


# %%
def lucky(x, out):
    """A kernel for one warp: out[0] is the sum of x, as it happens."""
    ### BEGIN SOLUTION
    tile = cuda.shared.array(32, np.float32)
    thread = cuda.threadIdx.x
    tile[thread] = x[thread]
    for step in (16, 8, 4, 2, 1):
        if thread < step:
            tile[thread] += tile[thread + step]
    if thread == 0:
        out[0] = tile[0]
    ### END SOLUTION


# %%
check("19.5")

# %%
if passed("19.5"):
    run = simulate(lucky, collect=True)[1, 32](np.ones(32, np.float32), np.zeros(1, np.float32))
    print(*run.faults, sep="\n")


# %% tags=["wrong"] says="This kernel is simply right"
def lucky(x, out):
    tile = cuda.shared.array(32, np.float32)
    thread = cuda.threadIdx.x
    tile[thread] = x[thread]
    cuda.syncwarp()
    for step in (16, 8, 4, 2, 1):
        if thread < step:
            tile[thread] += tile[thread + step]
        cuda.syncwarp()
    if thread == 0:
        out[0] = tile[0]


# %% tags=["wrong"] says="another kind of fault"
def lucky(x, out):
    tile = cuda.shared.array(32, np.float32)
    thread = cuda.threadIdx.x
    tile[thread] = x[thread]
    for step in (16, 8, 4, 2, 1):
        tile[thread] += tile[thread + step]
    if thread == 0:
        out[0] = tile[0]


# %% tags=["wrong"] says="the luck must hold in the simulator"
def lucky(x, out):
    thread = cuda.threadIdx.x
    out[0] += x[thread]


# %% tags=["wrong"] says="a race for global memory"
def lucky(x, out):
    value = x[cuda.threadIdx.x]
    for step in (16, 8, 4, 2, 1):
        value += cuda.shfl_xor_sync(0xFFFFFFFF, value, step)
    out[0] = cuda.threadIdx.x
    if cuda.threadIdx.x == 0:
        out[0] = value


# %% [markdown]
# ## 19.6 A warp for each row
#
# `out[row]` is the largest number of row `row` of x. There is a block of 32 threads for each row, which may be longer
# than 32, or shorter. Use no shared memory, no barrier and no atomics, and load each sector once. `max(a, b)` works in
# kernels. A row [3, -1] gives 3.


# %%
def row_max(x, out):
    """A kernel: x has two dimensions, out one."""
    ### BEGIN SOLUTION
    lane, row = cuda.threadIdx.x, cuda.blockIdx.x
    largest = np.float32(-np.inf)
    for j in range(lane, x.shape[1], 32):
        largest = max(largest, x[row, j])
    for step in (16, 8, 4, 2, 1):
        largest = max(largest, cuda.shfl_xor_sync(0xFFFFFFFF, largest, step))
    if lane == 0:
        out[row] = largest
    ### END SOLUTION


# %%
check("19.6")

# %%
if passed("19.6"):
    x = rng.normal(size=(8, 1000)).astype(np.float32)
    print(on_gpu(row_max, 8, 32, x, np.zeros(8, np.float32)))


# %% tags=["wrong"] says="What is smaller than every number"
def row_max(x, out):
    lane, row = cuda.threadIdx.x, cuda.blockIdx.x
    largest = np.float32(0)
    for j in range(lane, x.shape[1], 32):
        largest = max(largest, x[row, j])
    for step in (16, 8, 4, 2, 1):
        largest = max(largest, cuda.shfl_xor_sync(0xFFFFFFFF, largest, step))
    if lane == 0:
        out[row] = largest


# %% tags=["wrong"] says="each lane goes on in steps of 32"
def row_max(x, out):
    lane, row = cuda.threadIdx.x, cuda.blockIdx.x
    largest = np.float32(-np.inf)
    if lane < x.shape[1]:
        largest = x[row, lane]
    for step in (16, 8, 4, 2, 1):
        largest = max(largest, cuda.shfl_xor_sync(0xFFFFFFFF, largest, step))
    if lane == 0:
        out[row] = largest


# %% tags=["wrong"] says="put the shuffles after the loop"
def row_max(x, out):
    lane, row = cuda.threadIdx.x, cuda.blockIdx.x
    largest = np.float32(-np.inf)
    for j in range(lane, x.shape[1], 32):
        largest = max(largest, x[row, j])
        for step in (16, 8, 4, 2, 1):
            largest = max(largest, cuda.shfl_xor_sync(0xFFFFFFFF, largest, step))
    if lane == 0:
        out[row] = largest


# %% tags=["wrong"] says="from register to register"
def row_max(x, out):
    tile = cuda.shared.array(32, np.float32)
    lane, row = cuda.threadIdx.x, cuda.blockIdx.x
    largest = np.float32(-np.inf)
    for j in range(lane, x.shape[1], 32):
        largest = max(largest, x[row, j])
    tile[lane] = largest
    cuda.syncthreads()
    if lane == 0:
        for other in range(32):
            largest = max(largest, tile[other])
        out[row] = largest


# %% tags=["wrong"] says="one lane walks along the row"
def row_max(x, out):
    row, largest = cuda.blockIdx.x, np.float32(-np.inf)
    if cuda.threadIdx.x == 0:
        for j in range(x.shape[1]):
            largest = max(largest, x[row, j])
        out[row] = largest


# %% tags=["wrong"] says="each lane knows of all 32"
def row_max(x, out):
    lane, row = cuda.threadIdx.x, cuda.blockIdx.x
    largest = np.float32(-np.inf)
    for j in range(lane, x.shape[1], 32):
        largest = max(largest, x[row, j])
    for step in (8, 4, 2, 1):
        largest = max(largest, cuda.shfl_xor_sync(0xFFFFFFFF, largest, step))
    if lane == 0:
        out[row] = largest


# %% tags=["wrong"] says="a lane without a number has nothing to load"
def row_max(x, out):
    lane, row = cuda.threadIdx.x, cuda.blockIdx.x
    largest = x[row, lane]
    for j in range(lane, x.shape[1], 32):
        largest = max(largest, x[row, j])
    for step in (16, 8, 4, 2, 1):
        largest = max(largest, cuda.shfl_xor_sync(0xFFFFFFFF, largest, step))
    if lane == 0:
        out[row] = largest


# %% [markdown]
# ## 19.7 Softmax of masked rows
#
# The lesson's softmax, a warp for each row, fails for rows of less than 17 numbers, and for rows in which many are
# -inf, as masked scores of attention are. Write one that doesn't. It loads each number twice at most, and has no
# barrier. The row [0, -inf] gives [1, 0]; a row of -inf only gives NaN, as PyTorch's does.


# %%
def shares(x, out):
    """A kernel: out[row] is the softmax of x[row], a block of 32 threads for each."""
    ### BEGIN SOLUTION
    lane, row = cuda.threadIdx.x, cuda.blockIdx.x
    largest, total = np.float32(-np.inf), np.float32(0)
    for j in range(lane, x.shape[1], 32):
        value = x[row, j]
        new = max(largest, value)
        if new > -np.inf:
            total = total * math.exp(largest - new) + math.exp(value - new)
        largest = new
    for step in (16, 8, 4, 2, 1):
        other = cuda.shfl_xor_sync(0xFFFFFFFF, largest, step)
        their_total = cuda.shfl_xor_sync(0xFFFFFFFF, total, step)
        new = max(largest, other)
        if new > -np.inf:
            total = total * math.exp(largest - new) + their_total * math.exp(other - new)
        largest = new
    for j in range(lane, x.shape[1], 32):
        out[row, j] = math.exp(x[row, j] - largest) / total
    ### END SOLUTION


# %%
check("19.7")

# %%
if passed("19.7"):
    x = rng.normal(size=(8, 1000)).astype(np.float32)
    x[:, 500:] = -np.inf
    print(on_gpu(shares, 8, 32, x, np.zeros_like(x)))


# %% tags=["wrong"] says="has nothing to correct and nothing to add"
def shares(x, out):
    lane, row = cuda.threadIdx.x, cuda.blockIdx.x
    largest, total = np.float32(-np.inf), np.float32(0)
    for j in range(lane, x.shape[1], 32):
        value = x[row, j]
        new = max(largest, value)
        total = total * math.exp(largest - new) + math.exp(value - new)
        largest = new
    for step in (16, 8, 4, 2, 1):
        other = cuda.shfl_xor_sync(0xFFFFFFFF, largest, step)
        their_total = cuda.shfl_xor_sync(0xFFFFFFFF, total, step)
        new = max(largest, other)
        total = total * math.exp(largest - new) + their_total * math.exp(other - new)
        largest = new
    for j in range(lane, x.shape[1], 32):
        out[row, j] = math.exp(x[row, j] - largest) / total


# %% tags=["wrong"] says="it loads each number three times"
def shares(x, out):
    lane, row = cuda.threadIdx.x, cuda.blockIdx.x
    largest, total = np.float32(-np.inf), np.float32(0)
    for j in range(lane, x.shape[1], 32):
        largest = max(largest, x[row, j])
    for step in (16, 8, 4, 2, 1):
        largest = max(largest, cuda.shfl_xor_sync(0xFFFFFFFF, largest, step))
    for j in range(lane, x.shape[1], 32):
        total += math.exp(x[row, j] - largest)
    for step in (16, 8, 4, 2, 1):
        total += cuda.shfl_xor_sync(0xFFFFFFFF, total, step)
    for j in range(lane, x.shape[1], 32):
        out[row, j] = math.exp(x[row, j] - largest) / total


# %% tags=["wrong"] says="taken with the old reference"
def shares(x, out):
    lane, row = cuda.threadIdx.x, cuda.blockIdx.x
    largest, total = np.float32(-np.inf), np.float32(0)
    for j in range(lane, x.shape[1], 32):
        new = max(largest, x[row, j])
        if new > -np.inf:
            total += math.exp(x[row, j] - new)
        largest = new
    for step in (16, 8, 4, 2, 1):
        other = cuda.shfl_xor_sync(0xFFFFFFFF, largest, step)
        their_total = cuda.shfl_xor_sync(0xFFFFFFFF, total, step)
        new = max(largest, other)
        if new > -np.inf:
            total = total * math.exp(largest - new) + their_total * math.exp(other - new)
        largest = new
    for j in range(lane, x.shape[1], 32):
        out[row, j] = math.exp(x[row, j] - largest) / total


# %% tags=["wrong"] says="corrected to the larger of the two"
def shares(x, out):
    lane, row = cuda.threadIdx.x, cuda.blockIdx.x
    largest, total = np.float32(-np.inf), np.float32(0)
    for j in range(lane, x.shape[1], 32):
        value = x[row, j]
        new = max(largest, value)
        if new > -np.inf:
            total = total * math.exp(largest - new) + math.exp(value - new)
        largest = new
    for step in (16, 8, 4, 2, 1):
        largest = max(largest, cuda.shfl_xor_sync(0xFFFFFFFF, largest, step))
        total += cuda.shfl_xor_sync(0xFFFFFFFF, total, step)
    for j in range(lane, x.shape[1], 32):
        out[row, j] = math.exp(x[row, j] - largest) / total


# %% tags=["wrong"] says="is no float32"
def shares(x, out):
    lane, row, total = cuda.threadIdx.x, cuda.blockIdx.x, np.float32(0)
    for j in range(lane, x.shape[1], 32):
        total += math.exp(x[row, j])
    for step in (16, 8, 4, 2, 1):
        total += cuda.shfl_xor_sync(0xFFFFFFFF, total, step)
    for j in range(lane, x.shape[1], 32):
        out[row, j] = math.exp(x[row, j]) / total


# %% [markdown]
# ## 19.8 A product of any sizes
#
# `out = a @ b`, in tiles of 16 by 16 and blocks of as many threads, for matrices of any sizes: `cuda.grid(2)` gives
# column and row. Tiles at the edges stick out of their matrix. In each round a block loads two tiles, and has two
# barriers; no bank gives two words at a time. With a of 5 by 20 and b of 20 by 7 there is one block and two rounds.


# %%
def product(a, b, out):
    """A kernel for blocks of 16 by 16 threads."""
    ### BEGIN SOLUTION
    left = cuda.shared.array((16, 16), np.float32)
    right = cuda.shared.array((16, 16), np.float32)
    column, row = cuda.grid(2)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    value = np.float32(0)
    for first in range(0, a.shape[1], 16):
        left[y, x] = np.float32(0)
        right[y, x] = np.float32(0)
        if row < a.shape[0] and first + x < a.shape[1]:
            left[y, x] = a[row, first + x]
        if first + y < b.shape[0] and column < b.shape[1]:
            right[y, x] = b[first + y, column]
        cuda.syncthreads()
        for k in range(16):
            value += left[y, k] * right[k, x]
        cuda.syncthreads()
    if row < out.shape[0] and column < out.shape[1]:
        out[row, column] = value
    ### END SOLUTION


# %%
check("19.8")

# %%
if passed("19.8"):
    a, b = rng.normal(size=(2, 40, 40)).astype(np.float32)
    print(on_gpu(product, (3, 3), (16, 16), a, b, np.zeros_like(a)))


# %% tags=["wrong"] says="Fetch a tile together, and share it"
def product(a, b, out):
    column, row = cuda.grid(2)
    if row < out.shape[0] and column < out.shape[1]:
        value = np.float32(0)
        for k in range(a.shape[1]):
            value += a[row, k] * b[k, column]
        out[row, column] = value


# %% tags=["wrong"] says="nothing may be read or written"
def product(a, b, out):
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


# %% tags=["wrong"] says="must be filled with zeros"
def product(a, b, out):
    left = cuda.shared.array((16, 16), np.float32)
    right = cuda.shared.array((16, 16), np.float32)
    column, row = cuda.grid(2)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    value = np.float32(0)
    for first in range(0, a.shape[1], 16):
        if row < a.shape[0] and first + x < a.shape[1]:
            left[y, x] = a[row, first + x]
        if first + y < b.shape[0] and column < b.shape[1]:
            right[y, x] = b[first + y, column]
        cuda.syncthreads()
        for k in range(16):
            value += left[y, k] * right[k, x]
        cuda.syncthreads()
    if row < out.shape[0] and column < out.shape[1]:
        out[row, column] = value


# %% tags=["wrong"] says="wait twice a round"
def product(a, b, out):
    left = cuda.shared.array((16, 16), np.float32)
    right = cuda.shared.array((16, 16), np.float32)
    column, row = cuda.grid(2)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    value = np.float32(0)
    for first in range(0, a.shape[1], 16):
        inside = row < a.shape[0] and first + x < a.shape[1]
        left[y, x] = a[row, first + x] if inside else np.float32(0)
        inside = first + y < b.shape[0] and column < b.shape[1]
        right[y, x] = b[first + y, column] if inside else np.float32(0)
        cuda.syncthreads()
        for k in range(16):
            value += left[y, k] * right[k, x]
    if row < out.shape[0] and column < out.shape[1]:
        out[row, column] = value


# %% tags=["wrong"] says="they must come to each barrier"
def product(a, b, out):
    left = cuda.shared.array((16, 16), np.float32)
    right = cuda.shared.array((16, 16), np.float32)
    column, row = cuda.grid(2)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    if row >= out.shape[0] or column >= out.shape[1]:
        return
    value = np.float32(0)
    for first in range(0, a.shape[1], 16):
        left[y, x] = a[row, first + x] if first + x < a.shape[1] else np.float32(0)
        right[y, x] = b[first + y, column] if first + y < b.shape[0] else np.float32(0)
        cuda.syncthreads()
        for k in range(16):
            value += left[y, k] * right[k, x]
        cuda.syncthreads()
    out[row, column] = value


# %% tags=["wrong"] says="asks one bank for several words"
def product(a, b, out):
    left = cuda.shared.array((16, 16), np.float32)
    right = cuda.shared.array((16, 16), np.float32)
    column, row = cuda.grid(2)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    value = np.float32(0)
    for first in range(0, a.shape[1], 16):
        inside = row < a.shape[0] and first + x < a.shape[1]
        left[y, x] = a[row, first + x] if inside else np.float32(0)
        inside = first + y < b.shape[0] and column < b.shape[1]
        right[x, y] = b[first + y, column] if inside else np.float32(0)
        cuda.syncthreads()
        for k in range(16):
            value += left[y, k] * right[x, k]
        cuda.syncthreads()
    if row < out.shape[0] and column < out.shape[1]:
        out[row, column] = value


# %% tags=["wrong"] says="a round has two barriers"
def product(a, b, out):
    left = cuda.shared.array((16, 16), np.float32)
    right = cuda.shared.array((16, 16), np.float32)
    column, row = cuda.grid(2)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    value = np.float32(0)
    for first in range(0, a.shape[1], 16):
        inside = row < a.shape[0] and first + x < a.shape[1]
        left[y, x] = a[row, first + x] if inside else np.float32(0)
        cuda.syncthreads()
        inside = first + y < b.shape[0] and column < b.shape[1]
        right[y, x] = b[first + y, column] if inside else np.float32(0)
        cuda.syncthreads()
        for k in range(16):
            value += left[y, k] * right[k, x]
        cuda.syncthreads()
    if row < out.shape[0] and column < out.shape[1]:
        out[row, column] = value


# %% [markdown]
# ## All of them

# %%
progress("19")
