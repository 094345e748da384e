"""How the threads of a CUDA block combine their values: in shared memory, halving the number of values at each step.

    thread   0   1   2   3
             a   b   c   d
            a+c b+d
          a+b+c+d

Numbers of four and eight bytes are passed around within each warp first (`warp_sum`), and only what the warps found
meets in shared memory (`warps_sum`, `warp_columns_sum`): two barriers instead of one for each step. Short rows are a
part of a warp's (`part_sum`).

Every thread gets the result. `shared` has a place for each thread; the number of threads is a power of two.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import cuda

from minitorch_compile.inductor.codegen.cuda.device_functions import maximum, minimum


@cuda.jit(device=True)
def add(x, y):
    return x + y


@cuda.jit(device=True)
def multiply(x, y):
    return x * y


def warp_reduction(combine: Callable[..., Any]) -> Any:
    """A device function (value) that combines the values of all threads of a warp, which pass them to each other."""

    @cuda.jit(device=True)
    def reduce(value):
        for step in (16, 8, 4, 2, 1):
            value = combine(value, cuda.shfl_xor_sync(0xFFFFFFFF, value, step))
        return value

    return reduce


def reduction_of_part(combine: Callable[..., Any]) -> Any:
    """The same for so many neighbouring threads of a warp, a power of two; others of it may have nothing to do."""

    @cuda.jit(device=True)
    def reduce(value, threads):
        mine = np.uint32(((1 << threads) - 1) << (cuda.threadIdx.x % 32 // threads * threads))
        for step in (16, 8, 4, 2, 1):
            if step < threads:
                value = combine(value, cuda.shfl_xor_sync(mine, value, step))
        return value

    return reduce


def block_reduction(combine: Callable[..., Any]) -> Any:
    """A device function (value, shared) that combines the values of all threads of a block."""

    @cuda.jit(device=True)
    def reduce(value, shared):
        thread = cuda.threadIdx.x
        shared[thread] = value
        cuda.syncthreads()
        step = cuda.blockDim.x // 2
        while step > 0:
            if thread < step:
                shared[thread] = combine(shared[thread], shared[thread + step])
            cuda.syncthreads()
            step //= 2
        result = shared[0]
        cuda.syncthreads()  # nobody overwrites shared[0] before everyone has read it
        return result

    return reduce


def column_reduction(combine: Callable[..., Any]) -> Any:
    """The same (value, shared, side) for each of `side` columns, a power of two: thread t has column t % side."""

    @cuda.jit(device=True)
    def reduce(value, shared, side):
        thread = cuda.threadIdx.x
        shared[thread] = value
        cuda.syncthreads()
        step = cuda.blockDim.x // 2
        while step >= side:
            if thread < step:
                shared[thread] = combine(shared[thread], shared[thread + step])
            cuda.syncthreads()
            step //= 2
        result = shared[thread % side]
        cuda.syncthreads()  # nobody overwrites a result before everyone has read it
        return result

    return reduce


def column_reduction_by_warps(combine: Callable[..., Any]) -> Any:
    """The same for what a warp's threads can pass to each other, of up to 32 columns: those of a column in each warp do
    first, and each warp combines for itself what all warps found."""

    @cuda.jit(device=True)
    def reduce(value, shared, side):
        for step in (16, 8, 4, 2, 1):
            if step >= side:
                value = combine(value, cuda.shfl_xor_sync(0xFFFFFFFF, value, step))
        lane, found = cuda.threadIdx.x % 32, np.int32(cuda.blockDim.x // 32 * side)
        if lane < side:
            shared[cuda.threadIdx.x // 32 * side + lane] = value
        cuda.syncthreads()
        place = lane & (found - 1)
        result = shared[place]
        while place + 32 < found:
            place += 32
            result = combine(result, shared[place])
        for step in (16, 8, 4, 2, 1):
            if side <= step < found:
                result = combine(result, cuda.shfl_xor_sync(0xFFFFFFFF, result, step))
        cuda.syncthreads()  # nobody overwrites what others have yet to read
        return result

    return reduce


def strip_reduction(combine: Callable[..., Any]) -> Any:
    """A device function (shared, place, side) that combines what lies at a place and every `side` elements behind it,
    one for each line of a block's threads. The thread that calls it goes through them alone."""

    @cuda.jit(device=True)
    def reduce(shared, place, side):
        result = shared[place]
        for line in range(1, cuda.blockDim.x // side):
            result = combine(result, shared[place + line * side])
        return result

    return reduce


def reduction_by_warps(combine: Callable[..., Any], of_warp: Any) -> Any:
    """The same for what a warp's threads can pass to each other, in a block of so many warps: a power of two. What
    these found, each warp combines for itself."""

    @cuda.jit(device=True)
    def reduce(value, shared, warps):
        mine = of_warp(value)
        lane = cuda.threadIdx.x % 32
        if lane == 0:
            shared[cuda.threadIdx.x // 32] = mine
        cuda.syncthreads()
        result = shared[lane % warps]
        for step in (16, 8, 4, 2, 1):
            if step < warps:
                result = combine(result, cuda.shfl_xor_sync(0xFFFFFFFF, result, step))
        cuda.syncthreads()  # nobody overwrites what others have yet to read
        return result

    return reduce


def two_reductions_by_warps(combine: Callable[..., Any], of_warp: Any) -> Any:
    """The same for two numbers of each thread: they meet together."""

    @cuda.jit(device=True)
    def reduce(first, second, shared, warps):
        mine, other = of_warp(first), of_warp(second)
        lane = cuda.threadIdx.x % 32
        if lane == 0:
            shared[cuda.threadIdx.x // 32] = mine
            shared[warps + cuda.threadIdx.x // 32] = other
        cuda.syncthreads()
        result, another = shared[lane % warps], shared[warps + lane % warps]
        for step in (16, 8, 4, 2, 1):
            if step < warps:
                result = combine(result, cuda.shfl_xor_sync(0xFFFFFFFF, result, step))
                another = combine(another, cuda.shfl_xor_sync(0xFFFFFFFF, another, step))
        cuda.syncthreads()  # nobody overwrites what others have yet to read
        return result, another

    return reduce


block_sum, block_prod = block_reduction(add), block_reduction(multiply)
block_amax, block_amin = block_reduction(maximum), block_reduction(minimum)
column_sum, column_prod = column_reduction(add), column_reduction(multiply)
column_amax, column_amin = column_reduction(maximum), column_reduction(minimum)
warp_columns_sum, warp_columns_prod = column_reduction_by_warps(add), column_reduction_by_warps(multiply)
warp_columns_amax, warp_columns_amin = column_reduction_by_warps(maximum), column_reduction_by_warps(minimum)
strip_sum, strip_prod = strip_reduction(add), strip_reduction(multiply)
strip_amax, strip_amin = strip_reduction(maximum), strip_reduction(minimum)
warp_sum, warp_prod = warp_reduction(add), warp_reduction(multiply)
warp_amax, warp_amin = warp_reduction(maximum), warp_reduction(minimum)
part_sum, part_prod = reduction_of_part(add), reduction_of_part(multiply)
part_amax, part_amin = reduction_of_part(maximum), reduction_of_part(minimum)
warps_sum, warps_prod = reduction_by_warps(add, warp_sum), reduction_by_warps(multiply, warp_prod)
two_warps_sum = two_reductions_by_warps(add, warp_sum)
warps_amax, warps_amin = reduction_by_warps(maximum, warp_amax), reduction_by_warps(minimum, warp_amin)
