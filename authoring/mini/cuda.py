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
        cuda.syncthreads()
        buf0_row = buf0_all[0]
        for other in range(1, 128):
            buf0_row = buf0_row + buf0_all[other]
        cuda.syncthreads()
        for j0 in range(cuda.threadIdx.x, 1000, cuda.blockDim.x):
            t1 = x0[i0 * 1000 + j0]
            t2 = t1 / buf0_row
            buf1[i0 * 1000 + j0] = t2
        cuda.syncthreads()
"""

from mini import ops
from mini.emit import REDUCTIONS, Kernel, Lowering, at, decompose, fake, fuse, machine_code, trace  # noqa: F401
from mini.program import DECOMPOSITIONS, Program
from numba import config, cuda

# %% given
THREADS = 128  # of a block
BLOCKS = 1024  # at most
config.CUDA_LOW_OCCUPANCY_WARNINGS = False  # a learner's graphs are small


class CudaKernel(Kernel):
    """The text of a group for a GPU: where CPU code loops, threads stand side by side."""

    single, innermost = {}, "range(cuda.threadIdx.x, {}, cuda.blockDim.x)"

    # whether a block shares a row: then its threads share the inside of each stage, too
    cooperative = property(lambda self: any(n != 1 for stage in self.group.stages for n in stage.inner))
    row_range = property(lambda self: self.by_blocks if self.cooperative else self.by_threads)
    by_blocks = "range(low + cuda.blockIdx.x, high, cuda.gridDim.x)"
    by_threads = "range(low + cuda.grid(1), high, cuda.gridsize(1))"

    def end_stage(self, w, reductions):
        """Each thread has reduced its share. All shares lie side by side, and each thread puts them together."""
        for loop in reductions:
            row, shares = f"{loop.buffer.name}_row", f"{loop.buffer.name}_all"
            w.line(f"{shares} = cuda.shared.array({THREADS}, np.{loop.buffer.dtype})")
            w.line(f"{shares}[cuda.threadIdx.x] = {row}")
            w.line("cuda.syncthreads()")
            w.line(f"{row} = {shares}[0]")
            w.line(f"for other in range(1, {THREADS}):")
            w.line(f"    {row} = {REDUCTIONS[loop.reduction].format(row, f'{shares}[other]')}")
        if self.cooperative:
            w.line("cuda.syncthreads()")

    def launch(self, batch):
        """As many blocks as rows, or as few as hold a thread for each."""
        rows = at(self.rows, batch)
        blocks = min(rows if self.cooperative else -(-rows // THREADS), BLOCKS)
        code = machine_code(self.source, cuda.jit, cuda=cuda)
        return lambda memory: blocks and code[blocks, THREADS](0, rows, *[memory[buffer] for buffer in self.buffers])


class CudaProgram(Program):
    """A program whose memory lies on the GPU: inputs go there, outputs come back. Its products are loops."""

    rules = DECOMPOSITIONS | {ops.matmul: lambda x, y: (x[..., None] * y[..., None, :, :]).sum(-2).to(x.dtype)}
    kernel, empty, take = CudaKernel, staticmethod(cuda.device_array), staticmethod(cuda.to_device)
    give = staticmethod(lambda array: array.copy_to_host())
