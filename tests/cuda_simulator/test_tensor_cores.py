"""Tensor cores in the simulator, each instruction alone: against NumPy's products, and what goes wrong around them."""

import numpy as np
import pytest
from numba import cuda, int32

from minitorch_compile.cuda_simulator import KernelFault, simulate
from minitorch_compile.cuda_simulator.tensor_cores import LANES, place_in_a, place_in_b, place_in_sums
from minitorch_compile.inductor.codegen.cuda import tensor_cores
from minitorch_compile.inductor.codegen.cuda.tensor_cores import (
    cp_async_8,
    cp_async_16,
    cp_async_commit,
    cp_async_wait_0,
    cp_async_wait_1,
    ldmatrix_x4,
    ldmatrix_x4_transposed,
    load_four,
)


def product_of(mma):
    """A kernel in which a warp multiplies what lies in global memory, a register a word."""

    def kernel(a, b, c, out):
        lane = cuda.threadIdx.x
        of_a = (a[0, lane], a[1, lane], a[2, lane], a[3, lane])
        of_c = (c[0, lane], c[1, lane], c[2, lane], c[3, lane])
        sums = mma(of_a, (b[0, lane], b[1, lane]), of_c)
        for n in range(4):
            out[n, lane] = sums[n]

    return kernel


def words(matrix: np.ndarray, place_in, count: int) -> np.ndarray:
    """A matrix as registers [register, lane]."""
    each = 4 // matrix.itemsize
    place = place_in(LANES[:, None], np.arange(count)[:, None, None], np.arange(each), each)
    return np.ascontiguousarray(matrix[place]).view(np.int32)[..., 0]


def bits_of_bfloat16(x: np.ndarray) -> np.ndarray:
    """Of numbers that are bfloat16."""
    return (x.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)


def numbers(rows: int, columns: int) -> np.ndarray:
    """Small whole ones, which each element type has, and whose sums are exact."""
    return np.random.default_rng(rows + columns).integers(-8, 8, (rows, columns)).astype(np.float32)


@pytest.mark.parametrize(
    "name, k, as_elements",
    [
        ("bfloat16", 16, bits_of_bfloat16),
        ("float16", 16, lambda x: x.astype(np.float16)),
        ("float32", 8, lambda x: x),
        ("int8", 32, lambda x: x.astype(np.int8)),
    ],
)
def test_mma_multiplies_matrices_of_its_element(name, k, as_elements):
    a, b, c = numbers(16, k), numbers(k, 8), numbers(16, 8)
    sums = np.int32 if name == "int8" else np.float32
    of_a, of_b = words(as_elements(a), place_in_a, 4), words(as_elements(b), place_in_b, 2)
    place = place_in_sums(LANES, np.arange(4)[:, None])
    out = np.zeros((4, 32), sums)
    simulate(product_of(getattr(tensor_cores, f"mma_{name}")))[1, 32](of_a, of_b, c[place].astype(sums), out)
    np.testing.assert_array_equal(out, (a @ b + c)[place])


def test_tf32_looks_at_ten_bits_of_a_fraction():
    a, b = np.full((16, 8), 1 + 2**-11, np.float32), np.eye(8, dtype=np.float32)
    out = np.zeros((4, 32), np.float32)
    of_a, of_b = words(a, place_in_a, 4), words(b, place_in_b, 2)
    simulate(product_of(tensor_cores.mma_float32))[1, 32](of_a, of_b, np.zeros((4, 32), np.float32), out)
    assert (out == 1).all()


def test_mma_needs_all_lanes_of_a_warp():
    def kernel(a):
        of_a = (a[0], a[0], a[0], a[0])
        if cuda.threadIdx.x != 5:
            tensor_cores.mma_int8(of_a, (a[0], a[0]), of_a)

    with pytest.raises(KernelFault, match="inactive lane: thread 5 of block 0 doesn't take part in mma_int8"):
        simulate(kernel)[1, 32](np.zeros(1, np.int32))


@pytest.mark.parametrize("load, turned", [(ldmatrix_x4, False), (ldmatrix_x4_transposed, True)])
def test_ldmatrix_gives_each_lane_a_word_of_each_of_four_matrices(load, turned):
    def kernel(x, out):
        shared = cuda.shared.array(256, int32)
        lane = cuda.threadIdx.x
        for n in range(lane, 128, 32):
            shared[n] = x[n]
        cuda.syncthreads()
        found = load(shared, 4 * lane)
        for n in range(4):
            out[n, lane] = found[n]

    x, out = np.arange(256, dtype=np.uint16), np.zeros((4, 32), np.int32)
    run = simulate(kernel, counts=True)[1, 32](x.view(np.int32), out)
    matrices = x.reshape(4, 8, 8)
    expected = matrices.swapaxes(1, 2) if turned else matrices
    np.testing.assert_array_equal(out.view(np.uint16).reshape(4, 8, 8), expected)
    assert run.counts.of("load(").bank_conflicts == 0


def test_rows_of_128_bytes_would_all_begin_in_one_bank():
    def kernel(x):
        shared = cuda.shared.array(1024, int32)
        lane = cuda.threadIdx.x
        for n in range(lane, 1024, 32):
            shared[n] = x[n]
        cuda.syncthreads()
        ldmatrix_x4(shared, 32 * lane)
        ldmatrix_x4(shared, 32 * lane + 4 * (lane & 7))

    run = simulate(kernel, counts=True)[1, 32](np.zeros(1024, np.int32))
    assert run.counts.of("32 * lane)").bank_conflicts == 28  # each of four times 8 rows takes 8 passes, not 1
    assert run.counts.of("4 * (lane & 7))").bank_conflicts == 0


def copied(x, out, count, waits=True, meets=True):
    """16 bytes for each lane, read by its neighbour."""

    def kernel(x, out, count):
        shared = cuda.shared.array(32 * 8, np.uint16)
        lane = cuda.threadIdx.x
        for n in range(8):
            shared[8 * lane + n] = 7
        cuda.syncthreads()
        cp_async_16(shared, 8 * lane, x, 8 * lane, int32(count))
        cp_async_commit()
        if waits:
            cp_async_wait_0()
        else:
            cp_async_wait_1()
        if meets:
            cuda.syncthreads()
        for n in range(8):
            out[8 * lane + n] = shared[8 * (lane ^ 1) + n]

    return simulate(kernel, counts=True)[1, 32](x, out, count)


X = np.arange(256, dtype=np.uint16)


def test_cp_async_copies_and_fills_with_zeros():
    out = np.zeros(256, np.uint16)
    run = copied(X, out, np.int64(16))
    np.testing.assert_array_equal(out.reshape(16, 2, 8), X.reshape(16, 2, 8)[:, ::-1])
    counted = run.counts.of("cp_async_16(")
    assert (counted.load_sectors, counted.ideal_load_sectors, counted.bank_conflicts) == (16, 16, 0)
    copied(X, out, np.int64(6))
    np.testing.assert_array_equal(out.reshape(32, 8)[0], [8, 9, 10, 0, 0, 0, 0, 0])


def test_pairs_are_copied_and_two_of_them_read_at_once():
    def kernel(x, out):
        shared = cuda.shared.array(64, int32)
        lane = cuda.threadIdx.x
        cp_async_8(shared, 2 * lane, x, 2 * lane, int32(8) if lane < 30 else int32(0))
        cp_async_commit()
        cp_async_wait_0()
        cuda.syncthreads()
        if lane < 16:
            out[lane, 0], out[lane, 1], out[lane, 2], out[lane, 3] = load_four(shared, 4 * (15 - lane))

    x, out = np.arange(64, dtype=np.float32), np.full((16, 4), np.nan, np.float32)
    run = simulate(kernel, counts=True)[1, 32](x, out)
    np.testing.assert_array_equal(out[::-1].reshape(-1), np.where(x < 60, x, 0))
    assert run.counts.total.bank_conflicts == 0


def test_what_is_not_waited_for_is_not_there():
    out = np.zeros(256, np.uint16)
    copied(X, out, np.int64(16), waits=False)
    assert (out == 7).all()


def test_what_another_thread_copied_needs_a_barrier():
    with pytest.raises(KernelFault, match="data race"):
        copied(X, np.zeros(256, np.uint16), np.int64(16), meets=False)


def test_a_copy_begins_at_a_multiple_of_16_bytes():
    whole = np.zeros(300, np.uint16)
    with pytest.raises(KernelFault, match="misaligned access: thread 0 of block 0 reaches x.0. for 16 bytes at once"):
        copied(whole[4:260], np.zeros(256, np.uint16), np.int64(16))


def test_copying_over_what_is_still_read_is_a_race():
    def kernel(x, out):
        shared = cuda.shared.array(32 * 8, np.uint16)
        lane = cuda.threadIdx.x
        cp_async_16(shared, 8 * lane, x, 8 * lane, int32(16))
        cp_async_commit()
        cp_async_wait_0()
        cuda.syncthreads()
        out[lane] = shared[8 * (lane ^ 1)]
        cp_async_16(shared, 8 * lane, x, 8 * lane, int32(16))

    with pytest.raises(KernelFault, match="data race"):
        simulate(kernel)[1, 32](X, np.zeros(32, np.uint16))


def test_packed_floats_and_powers_of_two():
    def kernel(x, out, powers):
        lane = cuda.threadIdx.x
        tensor_cores.store_word(out, 2 * lane, tensor_cores.pack_bfloat16(x[lane], x[lane ^ 1]))
        tensor_cores.store_word(out, 64 + 2 * lane, tensor_cores.pack_float16(x[lane], x[lane ^ 1]))
        powers[lane] = tensor_cores.exp2(x[lane])

    x, out, powers = np.linspace(-3, 3, 32, dtype=np.float32), np.zeros(128, np.uint16), np.zeros(32, np.float32)
    x[0] = -140  # 2**-140 is no normal number
    simulate(kernel)[1, 32](x, out, powers)
    pairs = np.stack([x, x.reshape(16, 2)[:, ::-1].ravel()], 1).ravel()
    np.testing.assert_array_equal(out[64:].view(np.float16), pairs.astype(np.float16))
    np.testing.assert_allclose((out[:64].astype(np.uint32) << 16).view(np.float32), pairs, rtol=2**-8)
    np.testing.assert_allclose(powers, np.where(x == -140, 0, np.exp2(x)), rtol=1e-6)


def test_words_of_global_memory_and_quotients_of_32_bits():
    def kernel(x, out):
        lane = int32(cuda.threadIdx.x)
        out[lane] = tensor_cores.load_word(x, 2 * lane) + tensor_cores.quotient(int32(7 * lane), int32(lane + 1))

    out, lane = np.zeros(32, np.int32), np.arange(32)
    run = simulate(kernel, counts=True)[1, 32](X, out)
    np.testing.assert_array_equal(out, X[:64].view(np.int32) + 7 * lane // (lane + 1))
    assert run.counts.total.load_sectors == 4
