"""Numbers of two bytes on the GPU: kernels have their bits, and compute with them in float32.

float16 is converted by instructions of the device. bfloat16 is the upper half of a float32; rounding to it is an
instruction, too, of newer ones (`single_instructions.py`).

>>> from minitorch_compile.cuda_simulator import cuda as simulated, simulate
>>> @simulated.jit
... def rounded(x):
...     i = simulated.threadIdx.x
...     x[i] = float32_of_bfloat16(bfloat16_of_float32(x[i])) if i < 2 else float32_of_float16(float16_of_float32(x[i]))
>>> x = np.array([1.005, np.inf, 1.005, 65520], np.float32)
>>> run = simulate(rounded)[1, 4](x)
>>> x.tolist()
[1.0078125, inf, 1.0048828125, inf]
"""

from __future__ import annotations

import numpy as np
from numba import cuda
from numba.cuda import libdevice

from minitorch_compile.inductor.codegen.cuda.single_instructions import (  # noqa: F401  (kernels call them)
    bfloat16_of_float32,
    float32_by_bfloat16,
)


@cuda.jit(device=True)
def float32_of_bfloat16(bits):
    """The number whose bfloat16 bits these are."""
    return libdevice.int_as_float(np.int32(np.uint32(bits) << 16))


@cuda.jit(device=True)
def float32_of_float16(bits):
    return libdevice.half2float(np.int16(bits))


@cuda.jit(device=True)
def float16_of_float32(x):
    """The bits of the nearest float16, the even one of two; infinity from 65520 on."""
    return np.uint16(libdevice.float2half_rn(x))
