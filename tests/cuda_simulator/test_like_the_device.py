"""The same kernels on a GPU give the same bits: arithmetic, conversions, shuffles, votes, bits, atomics.

Without a GPU only the simulator runs, against numbers that are known.
"""

import math

import numpy as np
import pytest
from numba import cuda, float32, int32, uint8

from minitorch_compile.cuda_simulator import simulate

F = np.float32
ALL = 0xFFFFFFFF


@cuda.jit
def arithmetic(out, x, n):
    i = cuda.grid(1)
    out[0, i] = x[i] * 2.5
    out[1, i] = x[i] * float32(2.5) + n[i]
    out[2, i] = x[i] / float32(3) - n[i] // 3 + n[i] % 5
    out[3, i] = -x[i] if n[i] > 3 and x[i] < 10 else abs(x[i])
    out[4, i] = min(x[i], float32(n[i])) + max(n[i], 4)
    out[5, i] = math.sqrt(abs(x[i])) + math.floor(x[i]) + math.copysign(x[i], float32(n[i]))
    out[6, i] = cuda.fma(x[i], x[i], -x[i])
    out[7, i] = x[i] % float32(0.7) + cuda.selp(n[i] > 2, x[i], float32(1))


@cuda.jit
def whole_numbers(out, n):
    i = cuda.grid(1)
    out[0, i] = n[i] * n[i] * 100003
    out[1, i] = int32(n[i] * 100003) + uint8(n[i])
    out[2, i] = (n[i] << 3) ^ (n[i] >> 2) | 1 & ~n[i]
    out[3, i] = cuda.popc(n[i]) + 100 * cuda.clz(n[i]) + 10000 * cuda.ffs(n[i])
    out[4, i] = cuda.brev(n[i])
    out[5, i] = n[i] // 7 * 7 + n[i] % 7 - n[i]


@cuda.jit
def quotients(out, x, n):
    """With divisors that are 0, too."""
    i = cuda.grid(1)
    out[0, i] = x[i] // float32(0.7) + x[i] / (n[i] // 50)
    out[1, i] = x[i] // (n[i] // 50) + n[i] / 7
    out[2, i] = x[i] % float32(-3) + (x[i] - x[i]) / (x[i] - x[i])
    out[3, i] = n[i] ** 2 + x[i] ** 2
    out[4, i] = math.fmod(x[i], float32(3)) + round(x[i]) + (n[i] > 0) + (not n[i])
    out[5, i] = float32(n[i]) * float32(1e38) * float32(10)


@cuda.jit
def functions(out, x):
    i = cuda.grid(1)
    near, positive = x[i] / float32(50), abs(x[i]) + float32(0.1)
    out[0, i] = math.exp(near) + math.expm1(near) + math.log(positive) + math.log1p(positive)
    out[1, i] = math.sin(x[i]) + math.cos(x[i]) + math.tanh(near) + math.erf(near) + math.atan2(x[i], near)
    out[2, i] = math.pow(positive, near) + positive**near + math.log2(positive) + math.hypot(near, positive)
    out[3, i] = math.exp(np.float64(near)) + math.lgamma(np.float64(positive)) + math.asinh(near) + cuda.cbrt(x[i])


@cuda.jit
def conversions(out, x):
    i = cuda.grid(1)
    out[0, i] = int32(x[i])
    out[1, i] = np.int64(x[i])
    out[2, i] = np.int64(np.float64(x[i]) * 1e10)


@cuda.jit
def in_warps(out, n):
    i = cuda.grid(1)
    out[0, i] = cuda.shfl_sync(ALL, n[i], 7)
    out[1, i] = cuda.shfl_up_sync(ALL, n[i], 5)
    out[2, i] = cuda.shfl_down_sync(ALL, n[i], 9)
    out[3, i] = cuda.shfl_xor_sync(ALL, n[i], 12)
    out[4, i] = cuda.ballot_sync(ALL, n[i] > 3)
    out[5, i] = 2 * cuda.any_sync(ALL, n[i] > 8) + cuda.all_sync(ALL, n[i] > 1)
    out[6, i] = cuda.activemask() if n[i] % 2 == 0 else 0
    out[7, i] = cuda.laneid + 100 * cuda.warpsize + 100000 * cuda.lanemask_lt()


@cuda.jit
def together(out, n):
    i, block = cuda.grid(1), cuda.blockIdx.x
    shared = cuda.shared.array(64, int32)
    shared[cuda.threadIdx.x] = n[i]
    cuda.syncthreads()
    out[0, i] = shared[63 - cuda.threadIdx.x]
    out[1, i] = cuda.syncthreads_count(int32(n[i] > 3))
    out[2, i] = cuda.syncthreads_or(int32(n[i] > 8)) + 10 * cuda.syncthreads_and(int32(n[i] > 0))
    value = np.uint64(n[i])
    cuda.atomic.add(out, (3, block), value)
    cuda.atomic.max(out, (4, block), value)
    cuda.atomic.min(out, (5, block), value)
    cuda.atomic.xor(out, (6, block), value)
    cuda.atomic.inc(out, (7, block), np.uint64(50))


NUMBERS = np.random.default_rng(0).standard_normal(128).astype(F) * 20
WHOLE = np.random.default_rng(1).integers(-100, 100, 128).astype(np.int32)
SPECIAL = np.resize(np.array([0.5, -2.9, 3e9, -3e9, 1e20, -1e20, np.nan, np.inf, -np.inf, 255.5], F), 128)
KERNELS = {
    "arithmetic": (arithmetic, np.float64, (NUMBERS, WHOLE)),
    "quotients": (quotients, np.float64, (NUMBERS, WHOLE)),
    "whole numbers": (whole_numbers, np.int64, (WHOLE,)),
    "conversions": (conversions, np.int64, (SPECIAL,)),
    "in warps": (in_warps, np.int64, (WHOLE,)),
    "together": (together, np.uint64, (np.abs(WHOLE),)),
}


def on_a_gpu(test):
    return pytest.mark.gpu(pytest.mark.skipif(not cuda.is_available(), reason="no CUDA device")(test))


def ran(kernel, dtype, arrays):
    out = np.zeros((8, 128), dtype)
    kernel[2, 64](out, *arrays)
    return out


@on_a_gpu
@pytest.mark.parametrize("name", KERNELS)
def test_a_gpu_gives_the_same(name):
    kernel, dtype, arrays = KERNELS[name]
    np.testing.assert_array_equal(ran(simulate(kernel), dtype, arrays), ran(kernel, dtype, arrays))


@on_a_gpu
def test_a_gpu_gives_the_same_but_for_the_last_bits_of_functions():
    mine, its = ran(simulate(functions), np.float64, (NUMBERS,)), ran(functions, np.float64, (NUMBERS,))
    np.testing.assert_allclose(mine, its, rtol=3e-6, atol=3e-6)


def test_what_the_simulator_gives_is_what_numpy_computes():
    kernel, dtype, (x, n) = KERNELS["arithmetic"]
    out = ran(simulate(kernel), dtype, (x, n))
    np.testing.assert_array_equal(out[0], x.astype(np.float64) * 2.5)
    np.testing.assert_array_equal(out[1], (x * F(2.5)).astype(np.float64) + n)
    np.testing.assert_array_equal(out[6], (x.astype(np.float64) ** 2 - x).astype(F))
    kernel, dtype, (n,) = KERNELS["whole numbers"]
    out = ran(simulate(kernel), dtype, (n,))
    np.testing.assert_array_equal(out[0], n.astype(np.int64) ** 2 * 100003)
    np.testing.assert_array_equal(out[5], 0 * n)


def test_every_kernel_runs_in_the_simulator_without_a_fault():
    for kernel, dtype, arrays in (*KERNELS.values(), (functions, np.float64, (NUMBERS,))):
        assert ran(simulate(kernel), dtype, arrays).any()
