"""Lesson 17. The same groups on a GPU: a thread for each element, or a block of threads for each row.

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
from mini.emit import REDUCTIONS, Kernel
from mini.fusion import Lowering, decompose, fake, fuse, numel, trace  # noqa: F401
from mini.interpreter import Unsupported
from mini.program import KernelStep, ProductStep, Program, flat
from mini.tensor import Layout, Storage, Tensor
from numba import config, cuda, float32

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
    code = CudaKernel

    def run_part(self, memory, part):
        low, high = part or (0, self.kernel.rows)
        blocks = high - low if self.kernel.cooperative else -(-(high - low) // THREADS)
        if blocks > 0:
            arrays = [memory[buffer] for buffer in self.buffers]
            gpu_code(self.kernel.source)[min(blocks, BLOCKS), THREADS](low, high, *arrays)


TILE = 16


@cuda.jit
def product(out, x, y, sizes, x_strides, y_strides, x_starts, y_starts):
    """A block makes a tile of out: it walks along the inner dimension, a tile of x and one of y in shared memory."""
    rows, columns, inner = sizes
    batch, i, j = cuda.blockIdx.z, cuda.blockIdx.y * TILE + cuda.threadIdx.y, cuda.blockIdx.x * TILE + cuda.threadIdx.x
    a = cuda.shared.array((TILE, TILE), float32)
    b = cuda.shared.array((TILE, TILE), float32)
    total = float32(0)
    for first in range(0, inner, TILE):
        k, l = first + cuda.threadIdx.x, first + cuda.threadIdx.y
        inside_x, inside_y = i < rows and k < inner, l < inner and j < columns
        at_x = x_starts[batch] + i * x_strides[0] + k * x_strides[1]
        at_y = y_starts[batch] + l * y_strides[0] + j * y_strides[1]
        a[cuda.threadIdx.y, cuda.threadIdx.x] = x[at_x] if inside_x else float32(0)
        b[cuda.threadIdx.y, cuda.threadIdx.x] = y[at_y] if inside_y else float32(0)
        cuda.syncthreads()
        for n in range(TILE):
            total += a[cuda.threadIdx.y, n] * b[n, cuda.threadIdx.x]
        cuda.syncthreads()
    if i < rows and j < columns:
        out[(batch * rows + i) * columns + j] = total


class CudaProductStep(ProductStep):
    def __init__(self, call):
        super().__init__(call)
        if any(buffer.dtype != np.float32 for buffer in self.buffers):
            raise Unsupported("products of other dtypes than float32 on the GPU")

    def takes(self, step):
        return False  # no cache that a block of rows would stay in

    def run(self, memory):
        (x, x_layout), (y, y_layout), out = *self.call.arguments, self.call.buffer
        *batch, rows, columns = out.sizes
        starts = [starts_of(layout, (*batch, *layout.sizes[-2:])) for layout in (x_layout, y_layout)]
        if numel(out.sizes):
            sizes = rows, columns, x_layout.sizes[-1]
            strides = x_layout.strides[-2:], y_layout.strides[-2:]
            grid = -(-columns // TILE), -(-rows // TILE), numel(batch)
            product[grid, (TILE, TILE)](memory[out], memory[x], memory[y], sizes, *strides, *starts)


def starts_of(layout, sizes):
    """Where each matrix of a batch begins."""
    strides, starts = layout.expand(sizes).strides[:-2], np.full(1, layout.offset)
    for n, stride in zip(sizes[:-2], strides, strict=True):
        starts = np.add.outer(starts, np.arange(n) * stride).reshape(-1)
    return cuda.to_device(starts)


class CudaProgram(Program):
    """A program whose memory lies on the GPU: inputs go there, outputs come back."""

    kernel_step, product_step = CudaKernelStep, CudaProductStep

    def allocate(self, places, sizes):
        return {buffer: cuda.device_array(max(numel(buffer.sizes), 1), buffer.dtype) for buffer in places}

    def __call__(self, *inputs):
        memory = {**self.arena, **{buffer: cuda.to_device(data) for buffer, data in self.constants.items()}}
        for buffer, tensor in zip(self.lowering.inputs, inputs, strict=True):
            memory[buffer] = cuda.to_device(flat(tensor, buffer.layout))
        for buffer in self.lowering.outputs:
            memory[buffer] = cuda.device_array(max(numel(buffer.sizes), 1), buffer.dtype)
        for step in self.steps:
            step.run(memory)
        results = [(b, memory[b].copy_to_host()[: numel(b.sizes)]) for b in self.lowering.outputs]
        return [Tensor(Storage(data, b.dtype), Layout.dense(b.sizes)) for b, data in results]
