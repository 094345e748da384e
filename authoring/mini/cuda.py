"""The same groups on a GPU: a thread for each element, or a block of threads for each row.

>>> graph = decompose(trace(lambda x: x / x.sum(1, True), fake((8, 1000))))
>>> (group,) = fuse(Lowering(graph))
>>> print(CudaKernel(group, {group.loops[-1].buffer}).source)
def kernel(low, high, x0, buf1):
    for i0 in range(low + cuda.blockIdx.x, high, cuda.gridDim.x):
        buf0_row = np.float32(0)
        for j0 in range(cuda.threadIdx.x, 1000, cuda.blockDim.x):
            t0 = x0[i0 * 1000 + j0]
            buf0_row = buf0_row + t0
        buf0_all = cuda.shared.array(128, np.float32)
        buf0_all[cuda.threadIdx.x] = buf0_row
        for half in (64, 32, 16, 8, 4, 2, 1):
            cuda.syncthreads()
            if cuda.threadIdx.x < half:
                buf0_all[cuda.threadIdx.x] = buf0_all[cuda.threadIdx.x] + buf0_all[cuda.threadIdx.x + half]
        cuda.syncthreads()
        buf0_row = buf0_all[0]
        cuda.syncthreads()
        for j0 in range(cuda.threadIdx.x, 1000, cuda.blockDim.x):
            t1 = x0[i0 * 1000 + j0]
            t2 = t1 / buf0_row
            buf1[i0 * 1000 + j0] = t2
        cuda.syncthreads()
"""

import functools
import math

import numpy as np
from mini.emit import REDUCTIONS, Kernel, KernelStep
from mini.fusion import Lowering, decompose, fake, fuse, trace  # noqa: F401
from mini.loops import Box, broadcast
from mini.program import Program
from mini.sizes import at
from numba import config, cuda

# %% given
THREADS = 128  # of a block: a power of two
BLOCKS = 1024  # at most
config.CUDA_LOW_OCCUPANCY_WARNINGS = False  # a learner's graphs are small


class CudaKernel(Kernel):
    """The text of a group for a GPU: where CPU code loops, threads stand side by side."""

    single = {}

    @property
    def cooperative(self):
        """Whether a block shares a row: then its threads share the inside of each stage, too."""
        return any(n != 1 for stage in self.group.stages for n in stage.inner)

    def row_range(self):
        first, step = ("blockIdx.x", "gridDim.x") if self.cooperative else ("grid(1)", "gridsize(1)")
        return f"range(low + cuda.{first}, high, cuda.{step})"

    def inner_range(self, n, innermost):
        return f"range(cuda.threadIdx.x, {n}, cuda.blockDim.x)" if innermost else super().inner_range(n, innermost)

    def end_stage(self, w, reductions):
        """Each thread has reduced its share; halves are put together until one is left, which all read."""
        me = "cuda.threadIdx.x"
        for loop in reductions:
            name = loop.buffer.name
            combined = REDUCTIONS[loop.reduction].format(f"{name}_all[{me}]", f"{name}_all[{me} + half]")
            w.line(f"{name}_all = cuda.shared.array({THREADS}, np.{loop.buffer.dtype})")
            w.line(f"{name}_all[{me}] = {name}_row")
            w.line(f"for half in {tuple(THREADS >> k for k in range(1, THREADS.bit_length()))}:")
            w.line("    cuda.syncthreads()")
            w.line(f"    if {me} < half:")
            w.line(f"        {name}_all[{me}] = {combined}")
            w.line("cuda.syncthreads()")
            w.line(f"{name}_row = {name}_all[0]")
        if self.cooperative:
            w.line("cuda.syncthreads()")


@functools.cache
def gpu_code(source):
    names = {"np": np, "math": math, "cuda": cuda}
    exec(source, names)
    return cuda.jit(names["kernel"], fastmath=False)


class CudaKernelStep(KernelStep):
    """A group's kernel, launched: as many blocks as rows, or as few as hold a thread for each."""

    code = CudaKernel

    def launch(self, batch):
        rows = at(self.kernel.rows, batch)
        blocks = min(rows if self.kernel.cooperative else -(-rows // THREADS), BLOCKS)
        if not blocks:
            return lambda memory: None
        code = gpu_code(self.kernel.source)[blocks, THREADS]
        return lambda memory: code(0, rows, *[memory[buffer] for buffer in self.buffers])


class CudaLowering(Lowering):
    """Products are loops like others here: a sum over the inner dimension, each element of the result a row."""

    def product(self, value, x, y):
        def body(h, index):
            *batch, i, j, k = index
            left, right = broadcast((*batch, i, k), x.sizes), broadcast((*batch, k, j), y.sizes)
            return h.call("mul", [x.at(h, left), y.at(h, right)], value.dtype, [x.dtype, y.dtype])

        return self.store(Box(value.sizes, value.dtype, body), x.sizes[-1:], "sum")


class CudaProgram(Program):
    """A program whose memory lies on the GPU: inputs go there, outputs come back."""

    lower, kernel_step, take = CudaLowering, CudaKernelStep, staticmethod(cuda.to_device)

    @staticmethod
    def empty(count, dtype):
        return cuda.device_array(count, dtype)

    @staticmethod
    def give(array):
        return array.copy_to_host()
