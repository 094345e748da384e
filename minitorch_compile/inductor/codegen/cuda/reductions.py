"""How the threads of a CUDA block combine their values: in shared memory, halving the number of values at each step.

    thread   0   1   2   3
             a   b   c   d
            a+c b+d
          a+b+c+d

Every thread gets the result. `shared` has a place for each thread; the number of threads is a power of two.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import cuda

from minitorch_compile.inductor.codegen.cuda.device_functions import maximum, minimum


@cuda.jit(device=True)
def add(x, y):
    return x + y


@cuda.jit(device=True)
def multiply(x, y):
    return x * y


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


block_sum, block_prod = block_reduction(add), block_reduction(multiply)
block_amax, block_amin = block_reduction(maximum), block_reduction(minimum)
