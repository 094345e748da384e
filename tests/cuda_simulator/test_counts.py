"""What is counted is what the architecture says: sectors of 32 bytes, banks of 4 bytes, warps of 32 threads."""

import numpy as np
import pytest

from minitorch_compile.cuda_simulator import cuda, simulate

TILE = 32


def counted(kernel, blocks, threads, *arrays):
    return simulate(kernel, counts=True)[blocks, threads](*arrays).counts


def copy(out, x, stride):
    i = cuda.grid(1)
    out[i] = x[stride * i]


# 32 float32 are four sectors; with a stride of 2 eight; from a stride of 8 on, each thread has a sector of its own.
@pytest.mark.parametrize("stride, per_warp", [(1, 4), (2, 8), (4, 16), (8, 32), (16, 32), (0, 1)])
def test_sectors_of_a_strided_copy(stride, per_warp):
    total = counted(copy, 4, 256, np.zeros(1024, np.float32), np.ones(1024 * 16, np.float32), stride).total
    assert (total.load_requests, total.load_sectors) == (32, 32 * per_warp)
    assert total.ideal_load_sectors == 32 * (4 if stride else 1)
    assert (total.store_requests, total.store_sectors, total.ideal_store_sectors) == (32, 128, 128)


@pytest.mark.parametrize("dtype, per_warp", [(np.int8, 1), (np.float16, 2), (np.float32, 4), (np.float64, 8)])
def test_sectors_grow_with_the_size_of_elements(dtype, per_warp):
    total = counted(copy, 1, 32, np.zeros(32, dtype), np.ones(32, dtype), 1).total
    assert (total.load_sectors, total.ideal_load_sectors) == (per_warp, per_warp)


def test_a_copy_that_begins_between_sectors_takes_one_more():
    total = counted(copy, 1, 32, np.zeros(32, np.float32), np.ones(64, np.float32)[1:], 1).total
    assert (total.load_sectors, total.ideal_load_sectors) == (5, 4)


def naive(out, x):
    column, row = cuda.grid(2)
    out[column, row] = x[row, column]


def transpose(width):
    @cuda.jit
    def through_shared_memory(out, x):
        tile = cuda.shared.array((TILE, width), np.float32)
        tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
        left, top = cuda.blockIdx.x * TILE, cuda.blockIdx.y * TILE
        tile[ty, tx] = x[top + ty, left + tx]
        cuda.syncthreads()
        out[left + ty, top + tx] = tile[tx, ty]

    return through_shared_memory


# (kernel, sectors stored, bank conflicts) for 64 x 64 float32: 128 warps, 512 sectors at least.
TRANSPOSES = {
    "naive": (naive, 128 * 32, 0),
    "shared": (transpose(TILE), 512, 128 * 31),
    "padded": (transpose(TILE + 1), 512, 0),
}


@pytest.mark.parametrize("name", TRANSPOSES)
def test_transposes(name):
    kernel, stored, conflicts = TRANSPOSES[name]
    x = np.arange(64 * 64, dtype=np.float32).reshape(64, 64)
    out = np.zeros_like(x)
    total = counted(kernel, (2, 2), (TILE, TILE), out, x).total
    assert np.array_equal(out, x.T)
    assert (total.load_sectors, total.store_sectors, total.bank_conflicts) == (512, stored, conflicts)
    assert total.shared_requests == (0 if name == "naive" else 256)


def interleaved(x, out):
    shared = cuda.shared.array(256, np.float32)
    thread, step = cuda.threadIdx.x, 1
    shared[thread] = x[cuda.grid(1)]
    cuda.syncthreads()
    while step < 256:
        if thread % (2 * step) == 0:
            shared[thread] += shared[thread + step]
        cuda.syncthreads()
        step *= 2
    if thread == 0:
        out[cuda.blockIdx.x] = shared[0]


def sequential(x, out):
    shared = cuda.shared.array(256, np.float32)
    thread, step = cuda.threadIdx.x, 128
    shared[thread] = x[cuda.grid(1)]
    cuda.syncthreads()
    while step > 0:
        if thread < step:
            shared[thread] += shared[thread + step]
        cuda.syncthreads()
        step //= 2
    if thread == 0:
        out[cuda.blockIdx.x] = shared[0]


def by_shuffles(x, out):
    shared = cuda.shared.array(8, np.float32)
    thread, value, step = cuda.threadIdx.x, x[cuda.grid(1)], 16
    while step > 0:
        value += cuda.shfl_down_sync(0xFFFFFFFF, value, step)
        step //= 2
    if thread % 32 == 0:
        shared[thread // 32] = value
    cuda.syncthreads()
    if thread == 0:
        for warp in range(1, 8):
            value += shared[warp]
        out[cuda.blockIdx.x] = value


# Warps that disagree at the `if` of the tree: all 8 of a block as long as each has a thread that works, then 4, 2, 1;
# or the first one alone, once fewer than 32 threads work.
REDUCTIONS = {
    "interleaved": (interleaved, 5 * 8 + 4 + 2 + 1),
    "sequential": (sequential, 5),
    "shuffles": (by_shuffles, 8),
}


@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions_three_ways(name):
    kernel, divergent = REDUCTIONS[name]
    x, out = np.arange(512, dtype=np.float32), np.zeros(2, np.float32)
    counts = counted(kernel, 2, 256, x, out)
    assert out.tolist() == x.reshape(2, 256).sum(1).tolist()
    assert counts.of("if thread").divergent_branches == 2 * (
        divergent + 1
    )  # one more at the end, where thread 0 writes
    assert counts.total.load_sectors == counts.total.ideal_load_sectors == 64
    assert counts.total.barriers == 2 * (1 if name == "shuffles" else 9)


def test_bank_conflicts_of_strided_shared_accesses():
    def kernel(stride):
        shared = cuda.shared.array(32 * 33, np.float32)
        shared[cuda.threadIdx.x * stride] = 1.0

    passes = [counted(kernel, 1, 32, stride).total.shared_passes for stride in (1, 2, 4, 8, 16, 32, 33, 3)]
    assert passes == [1, 2, 4, 8, 16, 32, 1, 1]


def test_elements_of_eight_bytes_take_two_passes_and_no_conflict():
    def kernel():
        shared = cuda.shared.array(32, np.float64)
        shared[cuda.threadIdx.x] = 1.0

    total = counted(kernel, 1, 32).total
    assert (total.shared_passes, total.bank_conflicts) == (2, 0)


def test_one_word_for_all_is_one_pass():
    def kernel(out):
        shared = cuda.shared.array(4, np.float32)
        if cuda.threadIdx.x == 0:
            shared[2] = 5
        cuda.syncthreads()
        out[cuda.threadIdx.x] = shared[2]

    assert counted(kernel, 1, 32, np.zeros(32)).of("out[").shared_passes == 1


def test_steps_of_warps_and_threads():
    def kernel(out):
        thread = cuda.threadIdx.x
        if thread % 4 == 0:
            out[thread] = 1
        else:
            out[thread] = 2

    counts = counted(kernel, 1, 64, np.zeros(64))
    assert (counts.of("= 1").warp_steps, counts.of("= 1").thread_steps, counts.of("= 1").efficiency) == (2, 16, 0.25)
    assert counts.of("= 2").efficiency == 0.75
    assert (counts.of("if ").branches, counts.of("if ").divergent_branches) == (2, 2)


def test_a_loop_costs_a_warp_its_longest_thread():
    def kernel(out):
        for k in range(cuda.threadIdx.x % 32):
            out[cuda.threadIdx.x] += k

    line = counted(kernel, 1, 64, np.zeros(64)).of("+=")
    assert (line.warp_steps, line.thread_steps) == (2 * 31, 2 * 31 * 16)


def test_the_table_shows_the_source_with_its_counts():
    table = str(counted(copy, 1, 64, np.zeros(64, np.float32), np.zeros(64, np.float32), 1)).split("\n")
    assert table[0].split() == ["steps", "threads", "diverge", "sectors", "ideal", "passes", "conflicts"]
    assert table[1].split() == ["---", "copy"]
    assert table[3].split()[:4] == ["2", "100%", "16", "16"] and table[3].endswith("out[i] = x[stride * i]")
    assert table[-1].split() == ["4", "100%", "16", "16", "all", "lines"]


def test_counting_changes_no_result_and_is_off_unless_asked():
    x, out = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    assert simulate(copy)[1, 64](out, x, 1).counts is None
    assert np.array_equal(out, x)
