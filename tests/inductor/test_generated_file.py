"""The generated file: readable, typed, one native call, and plain Python if Numba is told to stand aside."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np

from minitorch_compile import logs
from minitorch_compile.inductor import compile_graph
from minitorch_compile.inductor.codegen.cpu.wrapper import write_file
from minitorch_compile.inductor.lowering import lower
from minitorch_compile.inductor.runtime import code_cache
from minitorch_compile.inductor.schedule.scheduler import schedule
from minitorch_compile.tensor.numerics.dtype import float32
from tests.inductor.prim_graphs import record, tensors_of
from tests.inductor.programs import PROGRAMS, floats

ROOT = Path(__file__).parents[2]


def source(function, *arrays):
    return write_file(schedule(lower(record(function, tensors_of(arrays))))).source


def scaled(p, x):
    return p.exp(p.mul(x, p.full((4, 4), 2.0, float32)))


def test_each_statement_names_the_line_it_came_from():
    assert "        # exp: model.py:4  exp(...)\n        t3 = exp_float32(t2)\n" in source(scaled, floats(4, 4))


def test_constants_are_typed_and_stand_before_the_loop():
    text = source(scaled, floats(4, 4))
    assert text.index("t1 = float32(2.0)") < text.index("for i0 in range(lo, hi)")


def test_the_shorter_of_two_axes_that_change_places_runs_inside():
    swap = lambda p, x: p.transpose(x, (0, 2, 1, 3))
    for sizes in ((2, 200, 3, 100), (2, 3, 200, 100)):
        loops = re.findall(r"for i\d in range\(([^)]*)\)", source(swap, floats(*sizes)))
        assert loops == ["lo, hi", "200", "3", "100"]


def test_axes_on_which_all_arrays_agree_keep_their_order():
    rows = lambda p, x, row: p.mul(x, p.broadcast_in_dim(row, (20, 3, 100), (1,)))
    assert re.findall(r"in range\(([^)]*)\)", source(rows, floats(20, 3, 100), floats(3))) == ["lo, hi", "3", "100"]


def test_the_file_begins_with_its_schedule():
    text = source(scaled, floats(4, 4))
    assert "kernel 0: buf0 = exp(arg0 * 2.0)  [i0:16]  reads arg0; writes buf0\n1 kernel, 128 bytes moved" in text


def test_the_whole_graph_is_one_native_call():
    function, arrays = PROGRAMS["training_step_of_a_classifier"]
    text = source(function, *arrays)
    run = text[text.index("def run(") :]
    assert run.count("call(") == 1 and "product" not in run and "fused" not in run


def test_kernels_of_equal_structure_are_written_once():
    def layers(p, x):
        for _ in range(5):
            x = p.tanh(p.mm(x, x))
        return x

    text = source(layers, floats(8, 8))
    assert text.count("@kernel(") == 1 and text.count("        (fused_tanh_0, 0, 64, ") == 5


def running_product(p, x):
    """An unrolled recurrence: each step reads one column further."""
    columns = lambda n: p.slice(x, (0, n), (8, n + 2), (1, 1))
    total = columns(0)
    for step in range(1, 6):
        total = p.mm(p.mul(p.add(total, columns(step)), columns(step + 1)), p.full((2, 2), 1.0, float32))
    return total


def test_steps_of_an_unrolled_loop_are_one_kernel_that_is_told_where_to_begin():
    array = floats(8, 8)
    text = source(running_product, array)
    assert text.count("@kernel(") == 2 + 1  # the first step has another beginning, and there is the matrix of ones
    steps = [line.strip() for line in text.splitlines() if line.strip().startswith("(fused_mul_2, ")]
    assert [step.split(", ")[3:5] for step in steps] == [[str(n), str(n + 1)] for n in range(2, 6)]
    tensors = tensors_of([array])
    (result,) = compile_graph(record(running_product, tensors))(*tensors)
    total = array[:, :2]
    for step in range(1, 6):
        total = ((total + array[:, step : step + 2]) * array[:, step + 1 : step + 3]) @ np.ones((2, 2), np.float32)
    assert np.allclose(result.array, total, rtol=1e-6)


def test_the_file_is_readable_without_numba():
    """With NUMBA_DISABLE_JIT=1 the same text runs as plain Python, so a debugger can step through it."""
    names = ["softmax", "layer_norm", "matrix_products", "reductions_of_columns", "choosing_elements", "convolutions",
             "pooling", "integer_arithmetic", "random_numbers", "conversions", "padding"]  # fmt: skip
    program = f"""
import warnings; warnings.simplefilter("ignore")
from minitorch_compile.inductor import compile_graph
from minitorch_compile.inductor.runtime import code_cache
from tests.inductor.prim_graphs import assert_close, expected, record, tensors_of
from tests.inductor.programs import PROGRAMS
for name in {names}:
    function, arrays = PROGRAMS[name]
    tensors = tensors_of(arrays)
    module = record(function, tensors)
    for result, reference in zip(compile_graph(module)(*tensors), expected(module, tensors)):
        assert_close(result.array, reference, name)
"""
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]


def test_every_stage_has_its_log():
    names = ["ir_pre_fusion", "ir_post_fusion", "fusion", "schedule", "memory_plan", "output_code"]
    function, arrays = PROGRAMS["matrix_products"]
    with logs.capture(*names) as records:
        code_cache.forget()
        compile_graph(record(function, tensors_of(arrays)))
    texts = {r.name: r.text for r in records}
    assert set(texts) == set(names)
    assert "for i0 in 8, for i1 in 7:" in texts["ir_pre_fusion"]
    assert "is an extern kernel (mm)" in texts["fusion"]
    assert "bytes of temporaries" in texts["memory_plan"]
    assert "call = NativeCall(" in texts["output_code"]
