"""CUDA kernels, run by the simulator: they give what the loops mean, and do nothing that no device promises."""

import numpy as np
import pytest

from minitorch_compile.cuda_simulator import Counts, cuda, simulate
from minitorch_compile.inductor import compile_graph
from minitorch_compile.inductor.codegen.cuda.kernels import write_cuda_kernel
from minitorch_compile.inductor.codegen.cuda.program import CudaProgram
from minitorch_compile.inductor.codegen.cuda.reductions import block_sum
from minitorch_compile.inductor.lowering import lower
from minitorch_compile.inductor.schedule.scheduler import schedule
from tests.inductor.prim_graphs import assert_close, expected, record, tensors_of
from tests.inductor.programs import BINARY, COMPARE, INTEGER, PROGRAMS, UNARY, floats, ints


def simulated(function, arrays):
    """What the kernels of a program give, and what the prims do."""
    tensors = tensors_of(arrays)
    module = record(function, tensors)
    return compile_graph(module, target="cuda_sim")(*tensors), expected(module, tensors)


# Compiled alone, these are refused; in a backend, such operations run as they are.
NOT_ON_CUDA = {name for name in PROGRAMS if "half_floats" in name or "float16" in name or name.startswith("series_")}
# One thread goes through 70,000 elements. `test_every_reduction...` has such reductions of fewer.
TOO_LONG = {"reductions_of_everything_in_parts"}
SIMULATED = [name for name in PROGRAMS if name not in NOT_ON_CUDA | TOO_LONG]


@pytest.mark.parametrize("name", SIMULATED)
def test_simulated_kernels_give_what_prims_give(name):
    for place, (result, reference) in enumerate(zip(*simulated(*PROGRAMS[name]))):
        assert_close(result.array, reference, f"{name}, output {place}")


def kernels(function, *arrays):
    result = schedule(lower(record(function, tensors_of(arrays))))
    return [write_cuda_kernel(step, result.internal) for step in result.steps]


def test_a_short_row_is_shared_by_some_threads_of_a_warp():
    function, arrays = PROGRAMS["softmax"]
    (kernel,) = kernels(function, *arrays)
    assert "for i0 in range(cuda.grid(1) // 2, 16, cuda.gridsize(1) // 2):" in kernel.body
    assert "first = 4 * (thread + step * 2)" in kernel.body
    assert "reductions.part_amax(total1, 2)" in kernel.body


def test_points_are_dealt_out_by_vectors_and_the_rest_one_by_one():
    (kernel,) = kernels(lambda p, x: p.exp(x), floats(4, 6))
    assert "vectors.load_4(row0, 4 * step, in0, first, True)" in kernel.body
    assert "for i0 in range(16 * THREADS * whole + cuda.grid(1), 24, cuda.gridsize(1)):" in kernel.body


def test_columns_are_reduced_by_one_thread_for_four():
    (kernel,) = kernels(lambda p, x: p.sum(x, (0,)), floats(2, 1 << 15))
    assert "whole = 8192 if vectors.is_aligned(in0) and vectors.is_aligned(out0) else 0" in kernel.body
    assert "for group in range(cuda.grid(1), whole, cuda.gridsize(1)):" in kernel.body
    assert "shared" not in kernel.body


REDUCTIONS = ["sum", "prod", "amax", "amin"]
DTYPES = [np.float32, np.float64, np.int64, np.int32, np.int16, np.int8, np.uint8]


def values(dtype, *sizes):
    return floats(*sizes, dtype=dtype) if np.dtype(dtype).kind == "f" else ints(*sizes, low=0, high=5).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", REDUCTIONS)
def test_every_reduction_agrees_with_the_loops_it_was_written_from(kind, dtype):
    x = tensors_of([values(dtype, 5, 200)])
    module = record(lambda p, x: tuple(getattr(p, kind)(x, dims) for dims in ((0,), (1,), (0, 1))), x)
    for kernel, loop in zip(compile_graph(module, target="cuda_sim")(*x), compile_graph(module, target="loops")(*x)):
        assert_close(kernel.array, loop.array)


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_pointwise_operation_agrees_with_the_loops_it_was_written_from(dtype):
    """On long rows, so that all threads of all blocks take part."""
    floating = np.dtype(dtype).kind == "f"
    binary, unary = (BINARY, UNARY) if floating else (INTEGER, ["neg", "abs", "bitwise_not"])
    x = tensors_of([values(dtype, 3, 100), values(dtype, 3, 100) + np.dtype(dtype).type(1)])

    def program(p, x, y):
        return (*(getattr(p, n)(x) for n in unary), *(getattr(p, n)(x, y) for n in (*binary, *COMPARE)))

    module = record(program, x)
    for kernel, loop in zip(compile_graph(module, target="cuda_sim")(*x), compile_graph(module, target="loops")(*x)):
        assert_close(kernel.array, loop.array)


def test_block_reductions_of_row_after_row_dont_race():
    """What all generated reductions stand on: nobody overwrites a row's result before everyone has read it."""

    def rows(out, x):
        shared = cuda.shared.array(64, np.float32)
        for row in range(2):
            out[row] = block_sum(x[row, cuda.threadIdx.x], shared)

    out = np.zeros(2, np.float32)
    assert simulate(rows)[1, 64](out, np.ones((2, 64), np.float32)).faults == []
    assert out.tolist() == [64, 64]


def test_an_index_out_of_range_is_reported_with_values_of_one_thread():
    tensors = tensors_of([np.arange(4.0), np.array([0, 9, 7, 3] * 30)])
    run = compile_graph(record(lambda p, x, i: p.index(x, (i,)), tensors), target="cuda_sim")
    with pytest.raises(IndexError, match="index 9 is out of bounds for dimension with size 4"):
        run(*tensors)


def softmax(p, x):
    powers = p.exp(p.sub(x, p.broadcast_in_dim(p.amax(x, (1,)), x.meta["val"].sizes, (0,))))
    return p.div(powers, p.broadcast_in_dim(p.sum(powers, (1,)), x.meta["val"].sizes, (0,)))


# For each: the sectors that kernels move, as a multiple of the fewest, and how often a bank is met once more. What a
# vector brings to a square meets each bank twice.
COUNTED = {
    "pointwise": (lambda p, x: p.exp(x), 1.0, 0),
    "softmax": (softmax, 1.0, 0),
    "row sums": (lambda p, x: p.sum(x, (1,)), 1.0, 0),
    "column sums": (lambda p, x: p.sum(x, (0,)), 1.0, 0),
    "a transpose": (lambda p, x: p.exp(p.transpose(x, (1, 0))), 1.0, 64 * 64 // 32 * 2),
}


@pytest.mark.parametrize("name", COUNTED)
def test_how_well_generated_kernels_read_and_write_side_by_side(name):
    function, times_as_many, conflicts = COUNTED[name]
    x = floats(64, 64)
    counts = Counts()
    program = CudaProgram(schedule(lower(record(function, tensors_of([x])))), simulated=True, counts=counts)
    program([x.reshape(-1)])
    assert 1 / counts.total.coalescing == times_as_many
    assert counts.total.bank_conflicts == conflicts
