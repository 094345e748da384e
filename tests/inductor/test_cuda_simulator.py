"""CUDA kernels, run by Numba's simulator in a process of their own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from minitorch_compile.inductor import compile_graph
from minitorch_compile.inductor.codegen.cuda.kernels import write_cuda_kernel
from minitorch_compile.inductor.lowering import lower
from minitorch_compile.inductor.schedule.scheduler import schedule
from tests.inductor.prim_graphs import record, tensors_of
from tests.inductor.programs import PROGRAMS, floats

# Threads of a block that wait for each other are slow when simulated, so those with reductions are small ones.
SIMULATED = [
    "every_unary_function", "every_binary_function", "every_comparison", "integer_arithmetic", "conversions",
    "broadcast_and_transpose", "slices_and_reversal", "concatenation", "reductions_of_columns", "empty_and_scalar",
    "random_numbers", "choosing_elements", "storing_elements", "running_totals",
    "scans_fused_with_what_surrounds_them", "softmax", "layer_norm",
    "matrix_products", "extremes_and_their_places",
]  # fmt: skip


def test_simulated_kernels_give_what_prims_give():
    environment = {**os.environ, "NUMBA_ENABLE_CUDASIM": "1"}
    command = [sys.executable, "-m", "tests.inductor.simulate", *SIMULATED]
    root = Path(__file__).parents[2]
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.split("\n")[:-1] == [f"right: {name}" for name in SIMULATED]


def kernels(function, *arrays):
    result = schedule(lower(record(function, tensors_of(arrays))))
    return [write_cuda_kernel(step, result.internal) for step in result.steps]


def test_a_row_is_shared_by_the_threads_of_a_block():
    function, arrays = PROGRAMS["softmax"]
    (kernel,) = kernels(function, *arrays)
    assert "for i0 in range(cuda.blockIdx.x, 16, cuda.gridDim.x):" in kernel.body
    assert "for r0 in range(thread, 24, THREADS):" in kernel.body
    assert "block_amax(best0, shared_float32)" in kernel.body


def test_points_are_dealt_out_in_strides_of_the_grid():
    (kernel,) = kernels(lambda p, x: p.exp(x), floats(4, 6))
    assert kernel.body.startswith("for i0 in range(cuda.grid(1), 24, cuda.gridsize(1)):")


def test_columns_are_reduced_by_one_thread_each():
    (kernel,) = kernels(lambda p, x: p.sum(x, (0,)), floats(9, 20))
    assert "for i0 in range(cuda.grid(1), 20, cuda.gridsize(1)):" in kernel.body
    assert "shared" not in kernel.body


@pytest.mark.skipif(bool(os.environ.get("NUMBA_ENABLE_CUDASIM")), reason="this process has the simulator")
def test_asking_for_the_simulator_too_late_says_what_to_do():
    module = record(lambda p, x: p.neg(x), tensors_of([floats(3)]))
    with pytest.raises(RuntimeError, match="NUMBA_ENABLE_CUDASIM=1"):
        compile_graph(module, target="cuda_sim")
